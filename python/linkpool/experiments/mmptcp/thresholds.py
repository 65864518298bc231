"""MMPTCP, Figures 6 and 7: the switching threshold, with two distributions of sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments.mmptcp import mixed, mixed_table
from linkpool.experiments.mmptcp.mixed import NOTHING, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import number
from linkpool.study import style
from linkpool.study.claims import Claim, Ledger, alike, grade, no_data
from linkpool.study.experiment import KEY_SEED, Point
from linkpool.study.toml import Value

THRESHOLDS_KB = (100, 200, 400, 600, 800, 1024)
ARRIVALS = 256.0
UNIFORM: Value = {"uniform": ["1KB", "1024KB"]}
PACKET = 1400
MEASURED: Value = {
    "cdf": [
        [1, 0.0],
        [PACKET, 0.5],
        [2 * PACKET, 0.6],
        [3 * PACKET, 0.7],
        [7 * PACKET, 0.8],
        [267 * PACKET, 0.9],
        [2107 * PACKET, 1.0],
    ],
    "interpolation": "linear",
}
"""Half of the flows are of one packet, 90% of fewer than 267, and none reaches 3 MB."""


@dataclass(frozen=True)
class Thresholds(Mixed):
    """All flows are MMPTCP's; sizes of short flows vary."""

    id: str = "M-fig6"
    title: str = "the switching threshold, sizes of 1 KB to 1 MB"
    paper: str = "MMPTCP, section 3.7, Figure 6"
    size: str = "uniform"
    thresholds_kb: tuple[int, ...] = THRESHOLDS_KB
    seeds: int = 1
    columns: ClassVar[tuple[Column, ...]] = (
        Column("threshold_kb", "i32", "KB", "phase 1 ends when more has been sent"),
        KEY_SEED,
        *mixed.COLUMNS,
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every threshold and seed."""
        size = UNIFORM if self.size == "uniform" else MEASURED
        return [
            Mix(
                "mmptcp",
                "mmptcp",
                ARRIVALS,
                self.duration_s,
                size=size,
                keys={"switch_bytes": f"{threshold}KB"},
            ).point({"threshold_kb": threshold}, seed)
            for threshold in self.thresholds_kb
            for seed in seeds
        ]

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the tail and the middle of the distribution at the ends of the thresholds."""
        ledger = Ledger(self.id)
        cells = _cells(data)
        low, high = min(self.thresholds_kb), max(self.thresholds_kb)
        first, last = (cells.get(str(t), NOTHING) for t in (low, high))
        for name, q in (("tail-99", 0.99), ("tail-999", 0.999)):
            values = [_quantile(cell, q) for cell in (first, last)]
            note = f"the {q:.1%} percentile at most 0.8 times as long; partly: shorter"
            before, after = values
            known = before is not None and after is not None
            mine, bound = after or 0.0, before or 0.0
            ledger.add(
                name,
                "the tail of completion times falls as the threshold nears the largest short flow",
                "decreases",
                f"{number(before, 'ms')} at {low} KB, {number(after, 'ms')} at {high} KB",
                grade(mine <= 0.8 * bound, mine < bound, note) if known else no_data(note),
            )
        medians = [_quantile(cell, 0.5) for cell in (first, last)]
        ledger.add(
            "median",
            "a low threshold lengthens some flows, at the end of the tail",
            "the median stays",
            f"{number(medians[0], 'ms')} at {low} KB, {number(medians[1], 'ms')} at {high} KB",
            alike(medians[0], medians[1]),
        )
        return ledger.claims

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw mean, percentiles and tail by threshold."""
        figure, axes = style.panels(1, 2, f"{self.id}: {self.title}", (4.6, 3.0), sharey=False)
        cells = _cells(data)
        left, right = axes[0]
        shades = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7")
        for threshold, colour in zip(self.thresholds_kb, shades, strict=False):
            cell = cells.get(str(threshold), NOTHING)
            times = 1e3 * cell.short["fct_established_s"].drop_nulls().to_numpy()
            mixed_table.draw_tail(right, times, "mmptcp")
            if right.get_lines():
                right.get_lines()[-1].set(color=colour, label=f"{threshold} KB")
        percentiles = ((0.5, "median", "o"), (0.99, "99th", "s"), (0.999, "99.9th percentile", "^"))
        for q, name, marker in percentiles:
            values = [_quantile(cells.get(str(t), NOTHING), q) for t in self.thresholds_kb]
            y = [float("nan") if value is None else value for value in values]
            left.plot(self.thresholds_kb, y, marker=marker, label=name)
        left.set_xlabel("switching threshold (KB)")
        left.set_ylabel("FCT of short flows (ms)")
        left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        right.set_xlabel("FCT at least (ms)")
        right.set_ylabel("share of short flows")
        right.legend()
        style.from_zero(left)
        return figure


def _cells(data: pl.DataFrame) -> dict[str, Cell]:
    return mixed.cells(data, "threshold_kb")


def _quantile(cell: Cell, q: float) -> float | None:
    value = cell.short["fct_established_s"].drop_nulls().quantile(q, "linear")
    return None if value is None else 1e3 * value


FIG6 = Thresholds()
FIG7 = Thresholds(
    id="M-fig7",
    title="the switching threshold, measured sizes",
    paper="MMPTCP, section 3.7, Figure 7",
    size="measured",
)
