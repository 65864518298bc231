"""Tables of a result, and numbers that describe it in a line."""

from typing import Any

import polars as pl

from linkpool.report.data.numbers import column
from linkpool.result import Result
from linkpool.summary import Group

MOST_ROWS = 200

LINKS = ["link", "utilisation", "packets", "drops", "drops_down", "drops_loss", "marks"]


def table(title: str, note: str, rows: pl.DataFrame) -> dict[str, Any]:
    """Return a table as the page shows it."""
    return {
        "title": title,
        "note": note,
        "names": rows.columns,
        "rows": [column(row) for row in rows.iter_rows()],
    }


def overview(result: Result) -> dict[str, Any]:
    """Return the summary of the flows, by group and all together."""
    summary = result.summary
    groups = summary.groups if len(summary.groups) == 1 else [*summary.groups, summary.overall]
    return {
        "period": [summary.period_start_s, summary.period_end_s],
        "drops": summary.drops,
        "lost": summary.drops_down + summary.drops_loss,
        "marks": summary.marks,
        "groups": [_group(group) for group in groups],
        "overall": _group(summary.overall),
    }


def _group(group: Group) -> dict[str, Any]:
    names = [name for name in (group.transport, group.control, group.label) if name]
    return {
        "name": ", ".join(dict.fromkeys(names)) or "all flows",
        "flows": group.flows,
        "finished": group.finished,
        "unfinished": group.unfinished,
        "unlimited": group.unlimited,
        "fct_mean_s": group.fct.mean_s,
        "fct_p50_s": group.fct.p50_s,
        "fct_p99_s": group.fct.p99_s,
        "at_least": [f"fct_{name}" for name in group.fct.at_least],
        "goodput_bps": group.goodput_mean_bps,
        "jain": group.jain,
        "timeouts": group.timeouts,
        "retransmits": group.retransmits,
        "segments": group.segments,
        "suppressions": group.suppressions,
    }


def tables(result: Result) -> list[dict[str, Any]]:
    """Return the tables of links, layers, jobs and workloads."""
    links = result.links.sort("utilisation", "link", descending=[True, False], nulls_last=True)
    note = "" if links.height <= MOST_ROWS else f"the {MOST_ROWS} busiest of {links.height}"
    found = [table("Links", note, links.select([*LINKS, "max_queue_pkts"]).head(MOST_ROWS))]
    layers = pl.DataFrame([vars(layer) for layer in result.summary.layers], strict=False)
    found.insert(0, table("Links by layer", "", layers))
    if result.has("jobs"):
        jobs = result.jobs.sort("jct_s", descending=True, nulls_last=False)
        note = "" if jobs.height <= MOST_ROWS else f"the {MOST_ROWS} slowest of {jobs.height}"
        chosen = ["label", "kind", "job", "start_s", "jct_s", "flows", "measured"]
        found.append(table("Jobs", note, jobs.select(chosen).head(MOST_ROWS)))
    if result.has("decode_steps") and not result.decode_steps.is_empty():
        steps = decode_steps(result.decode_steps)
        note = "by the sequences of their batches; 0: an instance takes part for its experts alone"
        found.append(table("Decode steps", note, steps.head(MOST_ROWS)))
    workloads = result.workloads.select(
        "label", "kind", "transport", "sizes", "mean_bytes", "load", "not_started"
    )
    found.append(table("Workloads", "", workloads))
    return found


def decode_steps(steps: pl.DataFrame) -> pl.DataFrame:
    """Return how long the steps took that were over, by label and size of the batch."""
    took = steps.drop_nulls("end_s").with_columns(time_s=pl.col("end_s") - pl.col("start_s"))
    return (
        took.group_by("label", "sequences")
        .agg(
            pl.len().alias("steps"),
            pl.col("time_s").mean().alias("mean_s"),
            pl.col("time_s").median().alias("p50_s"),
            pl.col("time_s").max().alias("max_s"),
            (pl.col("computed_s").sum() / pl.col("time_s").sum()).alias("computed_share"),
            pl.col("tokens").sum(),
        )
        .sort("label", "sequences")
    )
