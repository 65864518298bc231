"""Flows: the points of the scatter plot, and percentiles of all."""

from typing import Any

import numpy as np
import polars as pl

from linkpool.figures.kind import FigureError, Request
from linkpool.figures.kinds import slowdown
from linkpool.report.data.numbers import columns
from linkpool.result import Result
from linkpool.study.arms import Arm
from linkpool.unfinished import so_far

MOST = 4000
"""Flows on the page; a browser draws as many dots at once."""
SLOWEST = 300
"""Of these, so many are the slowest ones; the others are spread evenly over all by size."""

SHOWN = [
    "flow",
    "label",
    "transport",
    "control",
    "src",
    "dst",
    "locality",
    "size_bytes",
    "start_s",
    "end_s",
    "fct_s",
    "slowdown",
    "at_least",
    "goodput_bps",
    "segments",
    "retransmits",
    "timeouts",
    "recoveries",
    "marked_acks",
    "reinjected_bytes",
    "subflows",
    "suppressions",
    "failed",
]


def flows(result: Result, with_lanes: list[int]) -> dict[str, Any]:
    """Return the flows of a result: at most `MOST`, with the slowest and the flows with lanes.

    A flow that had not finished when the run ended (`at_least`) has the time that it had taken by
    then as `fct_s`, and the least that its slowdown may be.
    """
    rows = so_far(result.scan("flows").filter("measured")).select(SHOWN).collect()
    total = rows.height
    if total > MOST:
        by_slowdown = rows.sort("slowdown", "flow", descending=True, nulls_last=False)
        kept = pl.concat(
            [by_slowdown["flow"].head(SLOWEST), pl.Series("flow", with_lanes, pl.UInt32)]
        )
        rest = rows.filter(~pl.col("flow").is_in(kept.implode())).sort("size_bytes", "flow")
        at = np.linspace(0, rest.height - 1, max(MOST - kept.n_unique(), 0)).round()
        kept = pl.concat([kept, rest["flow"].gather(np.unique(at.astype(np.int64)))])
        rows = rows.filter(pl.col("flow").is_in(kept.implode()))
    try:
        arm = Arm(result.dir.name, (result,))
        bands = columns(slowdown.data(Request([arm])))
    except FigureError:
        bands = None
    # Times need their digits: flows are short, and runs are long.
    return {"total": total, "columns": columns(rows.sort("flow"), 9), "slowdowns": bands}
