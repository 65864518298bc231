"""XMP's Tables 1 to 3 with loss recoveries that fail more often than NewReno.

Not an experiment of the paper: it asks whether loss recovery explains the goodput of LIA and TCP.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.rows import mean, show, told
from linkpool.experiments.xmp import fattree, goodputs
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, about
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Table
from linkpool.units import show_number

RECOVERIES: dict[str, Table] = {
    # No window has so many packets.
    "timeouts": {"dupack_threshold": 1_000_000},
    "reno": {"recovery": "reno"},
}
WORDS = {"timeouts": "by timeouts alone", "reno": "by Reno's fast recovery"}

PAPER_SLOW = {"lia-2": 0.101, "lia-4": 0.125}
"""Table 3: the share of jobs that take more than 300 ms."""


class Cell(NamedTuple):
    """A cell of Table 1 (the pattern) or of Table 2 (`beside`, that is beside XMP-2)."""

    pattern: str
    scheme: str
    limit: int

    @property
    def name(self) -> str:
        """Name it as claims do."""
        end = f"-{self.limit}" if self.pattern == BESIDE else ""
        return f"{self.pattern}-{self.scheme}{end}"

    @property
    def paper_bps(self) -> float:
        """The paper's mean goodput."""
        if self.pattern == BESIDE:
            return 1e6 * goodputs.BESIDE_MBPS[self.limit, self.scheme][1]
        return 1e6 * goodputs.PAPER_MBPS[self.pattern][self.scheme]


BESIDE = "beside"
CELLS = (
    *(Cell(p, s, fattree.LIMIT) for p in fattree.PATTERNS for s in ("lia-2", "lia-4")),
    *(Cell(BESIDE, scheme, limit) for scheme in ("lia-2", "tcp") for limit in goodputs.LIMITS),
)


@dataclass(frozen=True)
class Recovery(fattree.LargeFlows):
    """Mean goodputs of large flows, by the loss recovery of all transports of a run."""

    id: str = "X-recovery"
    large_flows: int = 300
    cells: tuple[Cell, ...] = CELLS
    recoveries: ClassVar = tuple(RECOVERIES)
    over: ClassVar = ("recoveries", "cells")
    apart: ClassVar = ("recovery", "recoveries")
    columns: ClassVar = declared.columns("xmp", "X-recovery")

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

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the paper's numbers with each recovery."""
        how, of = WORDS[str(ledger.setting)], self._means(data)
        for cell in self.cells:
            mine = of.get(cell)
            words = {"cell": cell.name, "where": _where(cell), "scheme": cell.scheme, "how": how}
            judged = about(mine, cell.paper_bps, 0.15)
            shown = show(mine, "Mbps", 1e-6)
            ledger.judge("{cell}", shown, judged, **words, mbps=1e-6 * cell.paper_bps)
        for scheme, paper in PAPER_SLOW.items():
            slow = mean(data, "slow_jobs", pattern="incast", scheme=scheme)
            words = {"scheme": scheme, "how": how}
            ledger.judge("slow-{scheme}", told("{:.1%}", slow), slow, **words, paper=paper)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge whether the paper's numbers lie between both."""
        low, high = (self._means(data.filter(recovery=r)) for r in ("timeouts", "reno"))
        known = [cell for cell in self.cells if cell in low and cell in high]
        hits = [low[cell] <= cell.paper_bps <= high[cell] for cell in known]
        share = sum(hits) / len(known) if known else None
        ledger.judge("between", f"{sum(hits)} of {len(known)} cells", share)

    def _means(self, data: pl.DataFrame) -> Mapping[Cell, float]:
        means = {c: mean(data, "goodput_bps", **c._asdict()) for c in self.cells}
        return {cell: value for cell, value in means.items() if value is not None}

    def frame(self) -> Frame:
        """Return the goodput of each cell with each recovery, and the paper's as lines."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            names = [f"{NAMES[cell.scheme]}\n{_below(cell)}" for cell in self.cells]
            means = {r: self._means(data.filter(recovery=r)) for r in RECOVERIES}
            mbps = {
                recovery: [1e-6 * of[cell] if cell in of else None for cell in self.cells]
                for recovery, of in means.items()
            }
            style.bars(axes, names, mbps)
            x = np.arange(len(self.cells))
            paper = [1e-6 * cell.paper_bps for cell in self.cells]
            axes.hlines(paper, x - 0.42, x + 0.42, color="black", linewidth=1.2, label="the paper")
            axes.tick_params(axis="x", labelsize=7)

        panel = Panel(paint, y="mean goodput (Mbps)")
        return Frame([panel], self.title, (9.0, 3.4), together=True)


def _where(cell: Cell) -> str:
    if cell.pattern == BESIDE:
        return f"beside XMP-2, {show_number(cell.limit)} packets"
    return cell.pattern.capitalize()


def _below(cell: Cell) -> str:
    """Name the cell in three short lines at most, as bars have little room."""
    return _where(cell).replace(", ", ",\n")


EXPERIMENT = Recovery()
