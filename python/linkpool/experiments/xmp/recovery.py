"""XMP's Tables 1 to 3 with loss recoveries that fail more often than NewReno.

Not an experiment of the paper: it asks whether loss recovery explains the goodput of LIA and TCP.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.formulas import Found
from linkpool.experiments.xmp import fattree, goodputs
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Table

RECOVERIES: dict[str, Table] = {
    # No window has so many packets.
    "timeouts": {"dupack_threshold": 1_000_000},
    "reno": {"recovery": "reno"},
}
NEXT = ",\n"


class Cell(NamedTuple):
    """A cell of Table 1 (the pattern) or of Table 2 (`beside`, that is beside XMP-2)."""

    pattern: str
    scheme: str
    limit: int


BESIDE = "beside"


@dataclass(frozen=True)
class Recovery(fattree.LargeFlows):
    """Mean goodputs of large flows, by the loss recovery of all transports of a run."""

    large_flows: int = 300
    recoveries: ClassVar = tuple(RECOVERIES)
    over: ClassVar = ("recoveries", "cells")
    apart: ClassVar = ("recovery", "recoveries")

    @property
    def cells(self) -> list[Cell]:
        """The cells of the paper's tables that are run again."""
        return [Cell(row["pattern"], row["scheme"], row["limit"]) for row in self.table("cells")]

    def point(self, seed: int, recovery: str, cell: Cell) -> Point:
        """Return the run of a cell."""
        settings = RECOVERIES[recovery]
        if cell.pattern == BESIDE:
            found = goodputs.point_beside(cell.scheme, cell.limit, self.large_flows, seed, settings)
        else:
            found = fattree.point(cell.pattern, cell.scheme, self.large_flows, seed, settings)
        return replace(found, keys={"recovery": recovery, **cell._asdict()})

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row for the large flows of the cell's scheme."""
        of = (pl.col("transport") == point.keys["scheme"], pl.col("label") == fattree.LARGE)
        flows = result.flows.filter(*of, pl.col("fct_s").is_not_null())
        timeouts = result.subflows.join(flows.select("flow"), on="flow")["timeouts"].sum()
        incast = point.keys["pattern"] == "incast"
        jct = result.jobs["jct_s"].drop_nulls() if incast else pl.Series(dtype=pl.Float64)
        row = {
            "flows": flows.height,
            "goodput_bps": flows["goodput_bps"].mean(),
            "timeouts": timeouts / flows.height if flows.height else None,
            "slow_jobs": (jct > 0.3).mean() if len(jct) else None,
        }
        return pl.DataFrame([row], schema={**dict.fromkeys(row, pl.Float64), "flows": pl.Int64})

    def between(self, data: pl.DataFrame) -> Found:
        """Say of how many cells the paper's goodput lies between those with both recoveries."""
        low, high = (self._mbps(data.filter(recovery=r)) for r in ("timeouts", "reno"))
        paper = (row["mbps"] for row in self.table("cells"))
        each = zip(low, paper, high, strict=True)
        hits = [a <= mbps <= b for a, mbps, b in each if a is not None and b is not None]
        share = sum(hits) / len(hits) if hits else None
        return Found.of(f"{sum(hits)} of {len(hits)} cells", share)

    def _mbps(self, data: pl.DataFrame) -> list[float | None]:
        of = self.of("1e-6 * mean goodput_bps")
        return [of(data.filter(**cell._asdict())) for cell in self.cells]

    def frame(self) -> Frame:
        """Return the goodput of each cell with each recovery, and the paper's as lines."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            rows = self.table("cells")
            # In three short lines at most, as bars have little room.
            names = [f"{NAMES[of['scheme']]}\n{of['where'].replace(', ', NEXT)}" for of in rows]
            style.bars(axes, names, {r: self._mbps(data.filter(recovery=r)) for r in RECOVERIES})
            x, paper = np.arange(len(rows)), [row["mbps"] for row in rows]
            axes.hlines(paper, x - 0.42, x + 0.42, color="black", linewidth=1.2, label="the paper")
            axes.tick_params(axis="x", labelsize=7)

        panel = Panel(paint, y="mean goodput (Mbps)")
        return Frame([panel], self.title, (9.0, 3.4), together=True)
