"""The MPTCP talk: MPTCP against TCP with ECMP, flow by flow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.talk import trees
from linkpool.experiments.talk.paths import FULL, Paths
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.statistics import Spread

ONE = 1
LABELS = {ONE: ("TCP, a path by ECMP", "#7f7f7f"), FULL: (f"MPTCP, {FULL} paths", "#0072b2")}


@dataclass(frozen=True)
class Ecmp(Paths):
    """Two of the runs of T-paths: with one path a flow is TCP's, with eight MPTCP's."""

    id: str = "T-ecmp"
    subflows: tuple[int, ...] = (ONE, FULL)
    columns: ClassVar[tuple[Column, ...]] = (
        Column("subflows", "i32", "", "subflows of each flow, each on a random path"),
        KEY_SEED,
        trees.KEY_FLOW,
        trees.GOODPUT,
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs with one and with eight paths."""
        return [self._point(n, seed) for n in (ONE, FULL) for seed in seeds]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return trees.goodputs(result)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the mean, the fairness and the slowest tenth."""
        for name, of in (("higher", _mean), ("slowest", _tenth)):
            one, full = (of(data, n) for n in (ONE, FULL))
            gain = full.value / one.value if full.value is not None and one.value else None
            ledger.judge(name, f"{full} against {one} Mbps", gain)
        one, full = (_fairness(data, n) for n in (ONE, FULL))
        more = None if one.value is None or full.value is None else full.value - one.value
        ledger.judge("fairer", f"Jain's index {full} against {one}", more)

    def frame(self) -> Frame:
        """Return the goodput of each flow of the first seed, ranked."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            first = data.filter(pl.col("seed") == data["seed"].min())
            for subflows, (label, colour) in LABELS.items():
                values = first.filter(pl.col("subflows") == subflows)["goodput_bps"].to_numpy()
                axes.plot(np.sort(1e-6 * values), color=colour, label=label)
            axes.legend(loc="lower right")

        panel = Panel(paint, "", "rank of the flow", "goodput (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


def _by_seed(data: pl.DataFrame, subflows: int) -> list[pl.Series]:
    rows = data.filter(pl.col("subflows") == subflows)
    return [part["goodput_bps"] for part in rows.partition_by("seed")] if rows.height else []


def _mean(data: pl.DataFrame, subflows: int) -> Spread:
    means = [1e-6 * float(part.to_numpy().mean()) for part in _by_seed(data, subflows)]
    return Spread.of(means)


def _tenth(data: pl.DataFrame, subflows: int) -> Spread:
    tenths = [1e-6 * float(np.percentile(part.to_numpy(), 10)) for part in _by_seed(data, subflows)]
    return Spread.of(tenths)


def _fairness(data: pl.DataFrame, subflows: int) -> Spread:
    found = [jain(part.to_list()) for part in _by_seed(data, subflows)]
    return Spread.of([index for index in found if index is not None])


EXPERIMENT = Ecmp()
