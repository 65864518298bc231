"""MMPTCP, Figures 6 and 7: the switching threshold, with two distributions of sizes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed_table
from linkpool.experiments.mmptcp.mixed import SHORT, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import number
from linkpool.experiments.mmptcp.setting import ENDS
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value

SCHEMES = {f"mmptcp{end}": end for end in ENDS}
"""The schemes, and the ends of their claims' names."""
NOTHING = pl.Series("fct_established_s", dtype=pl.Float64)
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
    size: str = "uniform"
    thresholds_kb: tuple[int, ...] = THRESHOLDS_KB
    columns: ClassVar = declared.columns("mmptcp", "M-fig6")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both schemes and every threshold and seed."""
        size = UNIFORM if self.size == "uniform" else MEASURED
        return [
            Mix(
                scheme,
                scheme,
                ARRIVALS,
                self.duration_s,
                size=size,
                keys={"switch_bytes": f"{threshold}KB"},
            ).point({"scheme": scheme, "threshold_kb": threshold}, seed)
            for scheme in SCHEMES
            for threshold in self.thresholds_kb
            for seed in seeds
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per short flow that was established: the paper counts only these."""
        short = result.flows.filter(pl.col("label") == SHORT, pl.col("established_s").is_not_null())
        return short.select("fct_established_s")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the tail and the middle of the distribution at the ends of the thresholds."""
        cells = _cells(data)
        low, high = min(self.thresholds_kb), max(self.thresholds_kb)
        for scheme, suffix in SCHEMES.items():
            first, last = (cells.get((t, scheme), NOTHING) for t in (low, high))
            for tail, q in (("tail-99", 0.99), ("tail-999", 0.999)):
                before, after = (fct.quantile(q, "linear") for fct in (first, last))
                ledger.judge(
                    "{tail}{suffix}",
                    f"{number(before, 'ms')} at {low} KB, {number(after, 'ms')} at {high} KB",
                    after / before if before and after is not None else None,
                    tail=tail,
                    suffix=suffix,
                    scheme=scheme,
                    percentile=f"{q:.1%}",
                )
            medians = [fct.quantile(0.5, "linear") for fct in (first, last)]
            ledger.judge(
                "median{suffix}",
                f"{number(medians[0], 'ms')} at {low} KB, {number(medians[1], 'ms')} at {high} KB",
                medians[0],
                medians[1],
                suffix=suffix,
                scheme=scheme,
            )

    def frame(self) -> Frame:
        """Return percentiles and tails by threshold, of each scheme."""

        def panel(scheme: str, draw: _Draw, title: str, x: str) -> Panel:
            last = scheme == list(SCHEMES)[-1]

            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = _cells(data)
                draw(axes, {t: cells.get((t, scheme), NOTHING) for t in self.thresholds_kb})
                if last:
                    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)

            return Panel(paint, title, x if last else "")

        panels = []
        for scheme in SCHEMES:
            times = f"{NAMES[scheme]}: FCT of short flows (ms)"
            panels += [
                panel(scheme, _draw_percentiles, times, "switching threshold (KB)"),
                panel(scheme, _draw_tails, "share of short flows", "FCT at least (ms)"),
            ]
        return Frame(panels, self.title, (4.6, 2.8), sharey=False, legend=0, columns=2)


_Draw = Callable[[Axes, Mapping[int, pl.Series]], None]


def _cells(data: pl.DataFrame) -> dict[tuple[int, str], pl.Series]:
    """Return the completion times of short flows that finished, in ms."""
    parts = data.partition_by("threshold_kb", "scheme", as_dict=True)
    times = {at: 1e3 * rows["fct_established_s"].drop_nulls() for at, rows in parts.items()}
    return {(int(kb), str(scheme)): fct for (kb, scheme), fct in times.items()}


def _draw_percentiles(axes: Axes, of: Mapping[int, pl.Series]) -> None:
    percentiles = ((0.5, "median", "o"), (0.99, "99th", "s"), (0.999, "99.9th percentile", "^"))
    for q, name, marker in percentiles:
        values = [fct.quantile(q, "linear") for fct in of.values()]
        y = [float("nan") if value is None else value for value in values]
        axes.plot(list(of), y, marker=marker, label=name)
    style.from_zero(axes)


def _draw_tails(axes: Axes, of: Mapping[int, pl.Series]) -> None:
    shades = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7")
    for (threshold, fct), colour in zip(of.items(), shades, strict=False):
        drawn = len(axes.get_lines())
        mixed_table.draw_tail(axes, fct.to_numpy(), "mmptcp")
        for line in axes.get_lines()[drawn:]:
            line.set(color=colour, label=f"{threshold} KB")


FIG6 = Thresholds()
FIG7 = Thresholds(
    id="M-fig7",
    size="measured",
)
