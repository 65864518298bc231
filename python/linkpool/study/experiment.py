"""An experiment: its runs, the values measured in each, a figure and claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import polars as pl

from linkpool.columns import Column
from linkpool.result import Result
from linkpool.study.claims import Claim, Ledger
from linkpool.study.point import Point
from linkpool.units import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkpool.study.frame import Frame


class Experiment(ABC):
    """A published figure or table: its runs, and the claims about it.

    Attributes:
        id: its name on the command line.
        title: what it shows.
        paper: where it stands.
        columns: the columns of its data.
        seeds: how many seeds it runs by default.
        of_single_seeds: the data of one seed is enough to judge its claims.

    """

    id: str
    title: str
    paper: str
    columns: ClassVar[tuple[Column, ...]]
    seeds: int
    of_single_seeds: ClassVar[bool] = True

    def extent(self) -> str:
        """Say how much is run, in the terms in which `shortened` cuts it."""
        return counted(self.seeds, "seed")

    def shortened(self, scale: float) -> Experiment:
        """Return this experiment with about `scale` of its work, on the same fabric.

        By fewer seeds, unless an experiment says otherwise: one of few and long runs shortens
        its simulated time.
        """
        return with_seeds(self, max(round(self.seeds * scale), 1))

    @abstractmethod
    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return all runs, for the seeds given; runs without randomness only for the first."""

    def runs(self) -> int:
        """Return how many runs it makes: each seed after the first adds the same number.

        Its points say so, too, but scenarios with thousands of flows take seconds to write.
        """
        first, second = len(self.points([1])), len(self.points([1, 2]))
        return first + (self.seeds - 1) * (second - first)

    @abstractmethod
    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the rows of the data that one run gives."""

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the settings whose claims are judged apart, and which rows are of each.

        Without any, all rows are judged together, and names of claims have no setting.
        """
        return {}

    def frame(self) -> Frame:
        """Return the panels of the figure; unless `draw` is another."""
        raise NotImplementedError(f"{self.id} has neither a frame nor a figure of its own")

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the figure as the paper draws it: a row of the frame's panels for each setting."""
        frame = self.frame()
        apart = {} if frame.together else self._split(data)
        return frame.draw(self.id, apart or {"": data})

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim of the paper by the rows of a setting; unless `claims` is another."""
        raise NotImplementedError(f"{self.id} has neither claims nor a judge")

    def judge_together(  # noqa: B027 - most experiments have no such claims
        self, ledger: Ledger, data: pl.DataFrame
    ) -> None:
        """Judge the claims about the rows of all settings, after those of each."""

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge each claim of the paper by the data, at each setting and of all together."""
        parts = self._split(data)
        ledgers = {setting: self.ledger(setting) for setting in parts} or {"": self.ledger()}
        for setting, ledger in ledgers.items():
            self.judge(ledger, parts.get(setting, data))
        whole = self.ledger()
        self.judge_together(whole, data)
        return [claim for ledger in (*ledgers.values(), whole) for claim in ledger.claims]

    def ledger(self, setting: str | None = None) -> Ledger:
        """Return a ledger of its claims, at a setting if there are several."""
        return Ledger(self.id, setting)

    def _split(self, data: pl.DataFrame) -> dict[str, pl.DataFrame]:
        return {setting: data.filter(rows) for setting, rows in self.parts().items()}


KINDS: Mapping[str, type[pl.DataType]] = {
    "u32": pl.UInt32,
    "i32": pl.Int32,
    "i64": pl.Int64,
    "f64": pl.Float64,
    "bool": pl.Boolean,
    "string": pl.String,
}
"""What polars calls the types of columns."""


def nothing(of: Iterable[Column]) -> pl.DataFrame:
    """Return no rows of these columns."""
    return pl.DataFrame(schema={column.name: KINDS[column.type] for column in of})


def each(column: str, values: Iterable[object]) -> dict[str, pl.Expr]:
    """Return a setting for each value of a column, by its text."""
    return {str(value): pl.col(column).eq(value) for value in values}


_E = TypeVar("_E", bound=Experiment)


def with_seeds(experiment: _E, seeds: int) -> _E:
    """Return the experiment with seeds 1 to `seeds`."""
    return replace(experiment, seeds=seeds)  # type: ignore[type-var]


KEY_DELAY = Column("delay", "string", "", "one-way propagation delay of every link")
KEY_SCHEME = Column("scheme", "string", "", "congestion control: dctcp, dcm, xmp, amp, ...")
KEY_SEED = Column("seed", "i32", "", "seed of the run")
