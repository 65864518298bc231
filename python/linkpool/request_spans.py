"""What requests to models did over time, from the times in `requests.parquet`."""

import polars as pl

from linkpool.result import Result

DOING = ("wait", "prefill", "transfer", "step", "decode")
"""What a request does, one after another:

- `wait`: it waits for its prefill instance;
- `prefill`: its prompt is computed;
- `transfer`: then its keys and values are sent, until its decode instance has all;
- `step`: it has no first token yet: it waits for the end of the step that goes on, and for that of
  its own first step. None where prefill instances generate the first token;
- `decode`: it gets the other tokens.
"""


def request_spans(result: Result) -> pl.DataFrame:
    """Return what each request did, from its arrival to its last token without a gap.

    Columns: `workload`, `request`, `doing`, `start_s` and `end_s`. A request that the end of the
    run cut off has a last span up to then. Spans of no length are left out.
    """
    # What has no time had not happened by the end of the request, or of the run.
    until = pl.coalesce("end_s", pl.lit(float(result.run["simulated_s"])))
    arrival, begins, computed, there, first = (
        pl.coalesce(name, until)
        for name in (
            "arrival_s",
            "prefill_start_s",
            "prefill_end_s",
            "kv_arrived_s",
            "first_token_s",
        )
    )
    # The first token of a prefill instance is there before keys and values are.
    edges = result.requests.select(
        "workload",
        "request",
        edges=pl.concat_list(
            arrival, begins, computed, there, pl.max_horizontal(first, there), until
        ),
    )
    return (
        edges.select(
            "workload",
            "request",
            doing=pl.lit(list(DOING)),
            start_s=pl.col("edges").list.head(len(DOING)),
            end_s=pl.col("edges").list.tail(len(DOING)),
        )
        .explode("doing", "start_s", "end_s")
        .filter(pl.col("end_s") > pl.col("start_s"))
        .sort("workload", "request", maintain_order=True)
    )
