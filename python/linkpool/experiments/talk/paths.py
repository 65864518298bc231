"""The MPTCP talk: how many paths a pair of hosts needs in a fat-tree, and MPTCP against ECMP."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.rows import difference, ratio, spread, told, values
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table

ONE, FULL = 1, 8
"""The talk's numbers of paths."""


@dataclass(frozen=True)
class Paths(trees.Timed):
    """A permutation in a fat-tree of 128 hosts, each flow over some random paths."""

    id: str = "T-paths"
    k: int = 8
    subflows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
    over: ClassVar = ("subflows",)
    columns: ClassVar = declared.columns("talk", "T-paths")

    def point(self, seed: int, subflows: int) -> Point:
        """Return the run with so many subflows."""
        workload: Table = {"permutation": [{"transport": "mptcp"}]}
        name, mptcp = f"permutation, {subflows} subflows", trees.mptcp(subflows)
        fabric = trees.fat_tree(self.k)
        text = trees.long_flows(name, self.duration_s, fabric, "mptcp", mptcp, workload)
        cost = trees.packets(self.k**3 // 4, self.duration_s)
        return Point({"subflows": subflows}, text, seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow, and its rate under the best sharing."""
        measured = Measured.of(result)
        fair = pl.Series("fair_bps", measured.restricted.max_min())
        best = pl.lit(trees.concurrent(measured.problem)).alias("optimum_bps")
        return trees.goodputs(result).with_columns(fair, best)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the share of the optimum at 8 paths, and with more and fewer paths."""
        most = max(self.subflows)
        share = {n: _share(data, n) for n in (ONE, FULL, most)}
        ledger.judge("eight", f"{share[FULL]}", share[FULL].value)
        ledger.judge("one", f"{share[ONE]} with one path", share[ONE].value)
        gain = difference(share[most].value, share[FULL].value)
        ledger.judge("enough", told(f"{{:+.3f}} from {FULL} to {most} paths", gain), gain)

    def frame(self) -> Frame:
        """Return the share of the optimum against the number of paths."""
        looks = {
            "fair_bps": ("max-min fair over the same paths", "#7f7f7f", "--"),
            "goodput_bps": ("MPTCP", "#0072b2", "-"),
        }

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for column, (label, colour, dash) in looks.items():
                found = [(n, _share(data, n, column)) for n in self.subflows]
                rows = [(n, s.value, s.low, s.high) for n, s in found if s.value is not None]
                x, y, low, high = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
                error = np.array([y - low, high - y])
                axes.errorbar(
                    x, y, error, fmt=f"o{dash}", color=colour, ms=3, capsize=2, label=label
                )
            axes.axhline(0.9, color="#d55e00", lw=1.0, ls=":", label="90%")
            axes.legend(loc="lower right")

        x, y = "paths, chosen at random, of each flow", "mean rate over the optimum"
        panel = Panel(paint, "", x, y, from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


def _share(data: pl.DataFrame, subflows: int, column: str = "goodput_bps") -> Spread:
    """Return the mean rate over the optimum, by seed."""
    return spread(data, pl.col(column).mean() / pl.col("optimum_bps").mean(), subflows=subflows)


@dataclass(frozen=True)
class Ecmp(Paths):
    """Two of the runs of T-paths: with one path a flow is TCP's, with eight MPTCP's."""

    id: str = "T-ecmp"
    subflows: tuple[int, ...] = (ONE, FULL)
    ends: ClassVar = (ONE, FULL)
    over: ClassVar = ("ends",)
    columns: ClassVar = declared.columns("talk", "T-ecmp")

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return trees.goodputs(result)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the mean, the fairness and the slowest tenth."""
        mbps = 1e-6 * pl.col("goodput_bps")
        for name, of in (("higher", mbps.mean()), ("slowest", mbps.quantile(0.1, "linear"))):
            one, full = (spread(data, of, subflows=n) for n in (ONE, FULL))
            ledger.judge(name, f"{full} against {one} Mbps", ratio(full.value, one.value))
        one, full = (spread(data, _fairness, subflows=n) for n in (ONE, FULL))
        more = difference(full.value, one.value)
        ledger.judge("fairer", f"Jain's index {full} against {one}", more)

    def frame(self) -> Frame:
        """Return the goodput of each flow of the first seed, ranked."""
        looks = {ONE: ("TCP, a path by ECMP", "#7f7f7f"), FULL: (f"MPTCP, {FULL} paths", "#0072b2")}

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            first = data.filter(pl.col("seed") == data["seed"].min())
            for subflows, (label, colour) in looks.items():
                mbps = np.sort(1e-6 * values(first, "goodput_bps", subflows=subflows))
                axes.plot(mbps, color=colour, label=label)
            axes.legend(loc="lower right")

        panel = Panel(paint, "", "rank of the flow", "goodput (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


def _fairness(rows: pl.DataFrame) -> float | None:
    return jain(rows["goodput_bps"].to_list())


PATHS, ECMP = Paths(), Ecmp()
