"""What ranks of jobs did over time, and how each iteration's time was spent."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.job_plan import job_plan
from linkpool.report.data.numbers import column
from linkpool.report.data.tables import MOST_ROWS, table
from linkpool.result import Result

KINDS = ("computation", "straggling", "communication", "wait", "checkpoint", "recovery")
"""Values of `doing`; the page has them by number."""
SPENT = ("computation", "straggling", "communication", "wait", "checkpoint", "lost")
"""What the time of an iteration is made of."""
MOST_RANKS = 64
"""Rows of a job: those that waited least, as others waited for them."""
MOST_SPANS = 60_000
"""A job of more has what its ranks did for most of each of so many parts of its time:"""
PARTS = 2000


def ranks(result: Result) -> dict[str, Any] | None:
    """Return what ranks did, by job, and the time of iterations; None: it was not recorded."""
    if not result.has("rank_spans"):
        return None
    spans = result.rank_spans.with_columns(time=pl.col("end_s") - pl.col("start_s"))
    if spans.is_empty():
        return None
    rows = iterations(spans)
    shown, note = rows, ""
    if rows.height > MOST_ROWS:
        shown = rows.sort("time_s", descending=True, maintain_order=True).head(MOST_ROWS)
        note = f"The table has the {MOST_ROWS} longest of {rows.height}."
    found = shown.select("label", "iteration", "time_s", *(f"{kind}_share" for kind in SPENT))
    return {
        "jobs": [_job(of) for of in spans.partition_by("workload", maintain_order=True)],
        "kinds": list(KINDS),
        "table": table("", note, found),
        "plan": job_plan(result.scenario),
        "when": [column(row, 10) for row in shown.select("start_s", "end_s").iter_rows()],
        "end": float(spans["end_s"].max()),  # type: ignore[arg-type]
    }


def iterations(spans: pl.DataFrame) -> pl.DataFrame:
    """Return the time of each iteration of each job, means over its ranks, and shares of it.

    Lost are attempts at an iteration that were made again after a failure, and recoveries. A job
    of several iterations has a row for all of them, too: its time is that from start to end.
    """
    key = ["workload", "label"]
    again = pl.col("restart") < pl.col("restart").max().over("workload", "iteration")
    of = spans.with_columns(
        ranks=pl.col("rank").n_unique().over("workload"),
        kind=pl.when(again | (pl.col("doing") == "recovery"))
        .then(pl.lit("lost"))
        .otherwise("doing"),
    )
    parts = [
        (pl.col("time").filter(kind=kind).sum() / pl.col("time").sum()).alias(f"{kind}_share")
        for kind in SPENT
    ]
    numbers = [
        (pl.col("time").sum() / pl.col("ranks").first()).alias("time_s"),
        pl.col("start_s").min(),
        pl.col("end_s").max(),
        *parts,
    ]
    each = of.group_by(*key, "iteration", maintain_order=True).agg(*numbers)
    each = each.sort("workload", "iteration").with_columns(pl.col("iteration").cast(pl.String))
    several = each.group_by("workload").len().filter(pl.col("len") > 1)["workload"]
    whole = (
        of.filter(pl.col("workload").is_in(several.to_list()))
        .group_by(key, maintain_order=True)
        .agg(pl.lit("all").alias("iteration"), *numbers)
    )
    return pl.concat([whole.select(each.columns), each]).sort("workload", maintain_order=True)


def _job(spans: pl.DataFrame) -> dict[str, Any]:
    """Return the rows of a job: of each rank the edges of its spans, and what each is."""
    waited = (
        spans.group_by("rank", "host")
        .agg(pl.col("time").filter(doing="wait").sum())
        .sort("time", "rank")
    )
    chosen = waited.head(MOST_RANKS)
    of = {rank: own for (rank,), own in spans.group_by("rank", maintain_order=True)}
    drawn = [of[rank] for rank in chosen["rank"]]
    in_parts = sum(own.height for own in drawn) > MOST_SPANS
    return {
        "name": spans["label"][0],
        "of": waited.height,
        "ranks": chosen["rank"].to_list(),
        "hosts": chosen["host"].to_list(),
        "parts": PARTS if in_parts else None,
        "rows": [_in_parts(own) if in_parts else _whole(own) for own in drawn],
    }


def _whole(own: pl.DataFrame) -> dict[str, Any]:
    edges = [own["start_s"][0], *own["end_s"]]
    return {"t": column(edges, 10), "k": _kinds(own).tolist(), "i": own["iteration"].to_list()}


def _kinds(own: pl.DataFrame) -> npt.NDArray[np.int64]:
    return np.array([KINDS.index(doing) for doing in own["doing"]], np.int64)


def _in_parts(own: pl.DataFrame) -> dict[str, Any]:
    """Return what a rank did for most of each part of its time."""
    edges = np.array([own["start_s"][0], *own["end_s"]])
    parts = np.linspace(edges[0], edges[-1], PARTS + 1)
    kinds, times = _kinds(own), own["time"].to_numpy()
    did = [
        np.diff(np.interp(parts, edges, np.concatenate([[0.0], np.cumsum(times * (kinds == k))])))
        for k in range(len(KINDS))
    ]
    most = np.argmax(did, axis=0)
    # Parts beside each other that are alike are one.
    first = np.concatenate([[True], np.diff(most) != 0])
    return {
        "t": column([*parts[:-1][first].tolist(), float(parts[-1])], 10),
        "k": most[first].tolist(),
        "i": None,
    }
