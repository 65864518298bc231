"""The minimum window syndrome as goodput ratios: the common part of Figure 4 and its remarks."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.amp import longflows, setting
from linkpool.experiments.amp.longflows import Mix
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.frame import Panel
from linkpool.study.point import Point
from linkpool.study.statistics import Spread


@dataclass(frozen=True)
class Syndrome(setting.Delayed):
    """An experiment that compares the goodputs of multipath and DCTCP flows in several mixes."""

    delays: tuple[str, ...] = setting.DELAYS
    duration_s: float = longflows.DURATION_S
    columns: ClassVar[tuple[Column, ...]] = longflows.COLUMNS

    @abstractmethod
    def mixes(self) -> list[Mix]:
        """Return the mixes, whatever the delay."""

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return every mix at every delay with every seed."""
        return [
            point
            for delay in self.delays
            for mix in self.mixes()
            for point in replace(mix, delay=delay, duration_s=self.duration_s).points(seeds)
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        return longflows.flows(result)


class Table:
    """Goodputs of each mix, at one delay."""

    def __init__(self, data: pl.DataFrame) -> None:
        """Take the rows of one delay."""
        self._data = data

    def rows(self, mix: Mix) -> pl.DataFrame:
        """Return the flows of a mix."""
        names = ("scheme", "multipath", "dctcp", "subflows", "mark", "cwnd_min")
        return self._data.filter(*(pl.col(name) == getattr(mix, name) for name in names))

    def ratio(self, mix: Mix) -> Spread:
        """Return a multipath flow's goodput over a DCTCP flow's."""
        return longflows.ratio(self.rows(mix))

    def goodputs(self, mix: Mix) -> tuple[Spread, Spread]:
        """Return the goodputs of a multipath and of a DCTCP flow, bit/s."""
        return longflows.goodputs(self.rows(mix))

    def first(self, mixes: Sequence[tuple[int, Mix]]) -> int | None:
        """Return the first number whose mix shows the syndrome."""
        for number, mix in mixes:
            mean = self.ratio(mix).value
            if mean is not None and mean > longflows.SYNDROME:
                return number
        return None


def goodputs(mixes: Sequence[tuple[int, Mix]], title: str, x: str = "", y: str = "") -> Panel:
    """Return a panel of the mean goodput of a multipath and of a DCTCP flow, and their ratio."""
    return Panel(partial(_draw, mixes=mixes), f"{title}, {{}} links", x, y)


def _draw(axes: Axes, data: pl.DataFrame, mixes: Sequence[tuple[int, Mix]]) -> None:
    table = Table(data)
    both = [table.goodputs(mix) for _, mix in mixes]
    scheme = mixes[0][1].scheme
    columns = {scheme: [m for m, _ in both], "dctcp": [d for _, d in both]}
    heights = {name: [_gbps(x.value) for x in row] for name, row in columns.items()}
    whiskers = {name: [_half(x) for x in row] for name, row in columns.items()}
    style.bars(axes, [str(name) for name, _ in mixes], heights, whiskers)
    for i, (_, mix) in enumerate(mixes):
        ratio, height, whisker = table.ratio(mix).value, heights[scheme][i], whiskers[scheme][i]
        if ratio is not None and height is not None and whisker is not None:
            axes.annotate(
                f"{ratio:.2f}",
                (i - 0.2, height + whisker),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
    axes.margins(y=0.12)


def _gbps(value: float | None) -> float | None:
    return None if value is None else value / 1e9


def _half(spread: Spread) -> float | None:
    if spread.low is None or spread.high is None:
        return None
    return (spread.high - spread.low) / 2e9
