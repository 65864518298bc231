"""What requests to models did over time, and where the time to the first token went."""

from typing import Any

import polars as pl

from linkpool.report.data.numbers import column, rounded
from linkpool.report.data.tables import MOST_ROWS, table
from linkpool.request_spans import DOING, request_spans
from linkpool.result import Result
from linkpool.summary import FctStats

BEFORE = DOING[:-1]
"""What the time to the first token is made of."""
MOST_REQUESTS = 64
"""Rows of a job: half of them the slowest, the others spread evenly by arrival."""
TIMES = ("mean_s", "p50_s", "p90_s", "p99_s", "max_s")
FEWEST = 10
"""Requests of a label that are divided into faster and slower ones."""
SHOWN = [
    *("request", "label", "ttft_s", *(f"{doing}_s" for doing in BEFORE), "tpot_s", "arrival_s"),
    *("prompt_tokens", "output_tokens", "tokens", "prefill_host", "decode_host", "measured"),
]


def requests(result: Result) -> dict[str, Any] | None:
    """Return what requests did, by job, and what their first tokens took; None: there are none."""
    if not result.has("requests") or result.requests.is_empty():
        return None
    spans = request_spans(result)
    rows = _with_parts(result, spans)
    found = rows.sort("ttft_s", "workload", "request", descending=[True, False, False])
    shown = found.head(MOST_ROWS)
    notes = [f"the {MOST_ROWS} slowest of {found.height}"] * (shown.height < found.height)
    if found["first_token_s"].has_nulls():
        notes.append("a request without tokens counts as old as it was when the run ended")
    labels = rows["label"].unique(maintain_order=True).to_list()
    return {
        "kinds": list(DOING),
        "jobs": [
            _job(of, spans.filter(workload=of["workload"][0]))
            for of in rows.partition_by("workload", maintain_order=True)
        ],
        "times": [
            {"label": of.label, "requests": of.requests, "answered": of.answered}
            | {"ttft": _times(of.ttft), "tpot": _times(of.tpot)}
            for of in sorted(result.summary.requests, key=lambda of: labels.index(of.label))
        ],
        "bands": [
            band
            for of in rows.filter("measured").partition_by("label", maintain_order=True)
            for band in _bands(of)
        ],
        "table": table("Requests", "; ".join(notes), shown.select(SHOWN)),
        "when": [column(row, 10) for row in shown.select("arrival_s", "until_s").iter_rows()],
        "end": float(spans["end_s"].max() or 0.0),  # type: ignore[arg-type]
    }


def _with_parts(result: Result, spans: pl.DataFrame) -> pl.DataFrame:
    """Return the requests with what their times to the first token are made of.

    A request without a first token counts as old as it was when the run ended.
    """
    key = ["workload", "request"]
    rows = result.requests.join(
        spans.group_by(key).agg(until_s=pl.col("end_s").max()), on=key, how="left"
    ).with_columns(until_s=pl.coalesce("until_s", "arrival_s"))
    rows = rows.with_columns(first_s=pl.coalesce("first_token_s", "until_s"))
    before = spans.join(rows.select(*key, "first_s"), on=key).with_columns(
        time=pl.min_horizontal("end_s", "first_s") - pl.min_horizontal("start_s", "first_s")
    )
    parts = before.group_by(key).agg(
        pl.col("time").filter(doing=doing).sum().alias(f"{doing}_s") for doing in BEFORE
    )
    return (
        rows.join(parts, on=key, how="left")
        .with_columns(pl.col(f"{doing}_s").fill_null(0.0) for doing in BEFORE)
        .with_columns(ttft_s=pl.col("first_s") - pl.col("arrival_s"))
        .sort(*key)
    )


def _times(of: FctStats) -> dict[str, Any]:
    """Return the statistics of times; `at_least` names those that are lower bounds."""
    return {name: getattr(of, name) for name in TIMES} | {"at_least": list(of.at_least)}


def _bands(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the mean times of all requests of a label, and of faster and of slower ones."""
    rows = rows.sort("ttft_s", "workload", "request")
    n = rows.height
    bands = [("all", 0, n)]
    if n >= FEWEST:
        half, tenth, last = n - n // 2, n - n // 10, n - n // 100
        bands += [("fastest 50%", 0, half), ("50% to 90%", half, tenth)]
        if last < n:
            bands += [("90% to 99%", tenth, last), ("slowest 1%", last, n)]
        else:
            bands += [("slowest 10%", tenth, n)]
    return [
        {
            "label": of["label"][0],
            "band": name,
            "requests": of.height,
            "waiting": of["first_token_s"].null_count(),
            "ttft_s": rounded(_mean(of, "ttft")),
            "parts": [rounded(_mean(of, doing)) for doing in BEFORE],
        }
        for name, start, end in bands
        for of in [rows[start:end]]
    ]


def _mean(rows: pl.DataFrame, name: str) -> float:
    return float(rows[f"{name}_s"].mean())  # type: ignore[arg-type]


def _job(rows: pl.DataFrame, spans: pl.DataFrame) -> dict[str, Any]:
    """Return the rows of a job in order of arrival: the edges of spans, and what each is."""
    chosen = _chosen(rows)
    drawn = spans.filter(pl.col("request").is_in(chosen["request"].implode()))
    own = {request: of for (request,), of in drawn.group_by("request", maintain_order=True)}
    return {
        "name": rows["label"][0],
        "of": rows.height,
        "requests": chosen["request"].to_list(),
        "hosts": [list(two) for two in chosen.select("prefill_host", "decode_host").iter_rows()],
        "first": column(chosen["first_token_s"], 10),
        "rows": [
            _row(arrival, own.get(request, spans.clear()))
            for request, arrival in chosen.select("request", "arrival_s").iter_rows()
        ],
    }


def _chosen(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the requests that are drawn: the slowest, and others spread evenly by arrival."""
    if rows.height <= MOST_REQUESTS:
        return rows.sort("request")
    order = rows.sort("ttft_s", "request", descending=[True, False])
    slowest = order.head(MOST_REQUESTS // 2)
    others = order.tail(-slowest.height).sort("request")
    count = MOST_REQUESTS - slowest.height
    spread = others[[i * others.height // count for i in range(count)]]
    return pl.concat([slowest, spread]).sort("request")


def _row(arrival: float, own: pl.DataFrame) -> dict[str, Any]:
    return {
        "t": column([arrival, *own["end_s"]], 10),
        "k": [DOING.index(doing) for doing in own["doing"]],
    }
