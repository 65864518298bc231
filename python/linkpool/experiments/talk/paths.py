"""The MPTCP talk: how many paths each pair of hosts needs in a fat-tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table

FULL = 8
"""The talk's number of paths."""


@dataclass(frozen=True)
class Paths(trees.Timed):
    """A permutation in a fat-tree of 128 hosts, each flow over some random paths."""

    id: str = "T-paths"
    k: int = 8
    subflows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
    columns: ClassVar[tuple[Column, ...]] = (
        Column("subflows", "i32", "", "subflows of each flow, each on a random path"),
        KEY_SEED,
        trees.KEY_FLOW,
        trees.GOODPUT,
        Column("fair_bps", "f64", "bit/s", "max-min fair payload rate over the flow's own paths"),
        Column("optimum_bps", "f64", "bit/s", "payload rate that all flows can have at once"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every number of subflows and every seed."""
        return [self._point(n, seed) for n in self.subflows for seed in seeds]

    def _point(self, subflows: int, seed: int) -> Point:
        workload: Table = {"permutation": [{"transport": "mptcp"}]}
        name, mptcp = f"permutation, {subflows} subflows", trees.mptcp(subflows)
        fabric = trees.fat_tree(self.k)
        text = trees.long_flows(name, self.duration_s, fabric, "mptcp", mptcp, workload)
        keys: Keys = {"subflows": subflows}
        cost = trees.packets(self.k**3 // 4, self.duration_s)
        return Point(keys, text, seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow, and its rate under the best sharing."""
        measured = Measured.of(result)
        fair = pl.Series("fair_bps", measured.restricted.max_min())
        best = pl.lit(trees.concurrent(measured.problem)).alias("optimum_bps")
        return trees.goodputs(result).with_columns(fair, best)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the share of the optimum at 8 paths, and with more and fewer paths."""
        share = {n: _share(data, n, "goodput_bps") for n in self.subflows}
        full = share.get(FULL, Spread.of([])).value
        ledger.judge("eight", f"{share.get(FULL, Spread.of([]))}", full)
        one = share.get(1, Spread.of([])).value
        ledger.judge("one", f"{share.get(1, Spread.of([]))} with one path", one)
        most = share.get(max(self.subflows), Spread.of([])).value
        gain = None if full is None or most is None else most - full
        ledger.judge(
            "enough",
            "no data" if gain is None else f"{gain:+.3f} from {FULL} to {max(self.subflows)} paths",
            gain,
        )

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


def _share(data: pl.DataFrame, subflows: int, column: str) -> Spread:
    """Return the mean rate over the optimum, by seed."""
    rows = data.filter(pl.col("subflows") == subflows)
    means = rows.group_by("seed", maintain_order=True).agg(
        (pl.col(column).mean() / pl.col("optimum_bps").mean()).alias("share")
    )
    return Spread.of(means["share"].to_list())


EXPERIMENT = Paths()
