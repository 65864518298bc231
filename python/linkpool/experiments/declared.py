"""An experiment whose title, place and claims its paper's file declares."""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, NamedTuple

import polars as pl

from linkpool.experiments.papers import EXPERIMENTS, Declared
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import Experiment, each
from linkpool.study.point import Point
from linkpool.study.stated import Stated


class Kept(NamedTuple):
    """Rows of a table of a run that the data keeps as they are.

    Attributes:
        table: its name.
        columns: which of its columns, or expressions of them.
        rows: which of its rows; None: all.

    """

    table: str
    columns: Sequence[str | pl.Expr]
    rows: pl.Expr | None = None


@dataclass(frozen=True)
class Published(Experiment, ABC):
    """A figure or table of a paper, or an open question.

    Attributes:
        id: its name in its paper's file; one that is `replace`d may have another.
        over: the names of its attributes whose values its runs combine, that of the outermost loop
            first.
        kept: what the data has of a run, unless `measure` is another.
        apart: the column by whose values claims are judged apart, and the attribute that has these
            values, unless `parts` is another; None: all together.
        said: its extent in words, in which attributes stand in braces; "": its seeds.
        cuts: the attributes that `shortened` cuts, with the decimal places and the least value of
            each; none: its seeds.
        declared: what that file says of it.

    """

    id: str
    title: str = field(init=False)
    paper: str = field(init=False)
    seeds: int = field(default=5, kw_only=True)
    over: ClassVar[tuple[str, ...]] = ()
    kept: ClassVar[Kept | None] = None
    apart: ClassVar[tuple[str, str] | None] = None
    said: ClassVar[str] = ""
    cuts: ClassVar[Mapping[str, tuple[int, float]]] = {}
    declared: Declared = field(default=None, kw_only=True, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Take title and place from the paper's file."""
        declared = self.declared or EXPERIMENTS[self.id]
        for name, value in (
            ("declared", declared),
            ("title", declared.title),
            ("paper", declared.paper),
        ):
            object.__setattr__(self, name, value)

    def extent(self) -> str:
        """Say how much is run."""
        return self.said.format(**vars(self)) if self.said else super().extent()

    def shortened(self, scale: float) -> Experiment:
        """Return less of what is cut."""
        cut = {
            name: max(round(getattr(self, name) * scale, places or None), least)
            for name, (places, least) in self.cuts.items()
        }
        return replace(self, **cut) if cut else super().shortened(scale)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the rows that are kept of a run."""
        assert self.kept is not None, f"{self.id} has neither kept rows nor a measure"
        table, columns, rows = self.kept
        of_run: pl.DataFrame = getattr(result, table)
        return (of_run if rows is None else of_run.filter(rows)).select(*columns)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the settings that are judged apart."""
        return each(self.apart[0], getattr(self, self.apart[1])) if self.apart else {}

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of all combinations and seeds."""
        axes = [getattr(self, name) for name in self.over]
        return [self.point(seed, *of) for of in product(*axes) for seed in seeds]

    def point(self, *of: Any, **keys: Any) -> Point:
        """Return the run with a seed, and a value of each of the attributes in `over`."""
        raise NotImplementedError(f"{self.id} has neither a run of each combination nor points")

    def ledger(self, setting: str | None = None) -> Ledger:
        """Return a ledger of the claims that the paper's file states."""
        claims = {name: Stated(*of) for name, of in self.declared.claims.items()}
        return Ledger(self.id, setting, claims)


@dataclass(frozen=True)
class LongRuns(Published, ABC):
    """An experiment of few and long runs, which is shortened by seeds, then by simulated time.

    Attributes:
        duration_s: simulated seconds, without the drain.
        step_s: shorter durations are multiples of it.
        least_s: none is shorter.

    """

    duration_s: float = 20.0
    step_s: ClassVar[float] = 1.0
    least_s: ClassVar[float] = 1.0

    def extent(self) -> str:
        """Say how much time is simulated, with how many seeds."""
        return f"{self.duration_s:g} s of {self.seeds} seed{'s' if self.seeds > 1 else ''}"

    def shortened(self, scale: float) -> Experiment:
        """Return fewer seeds, and below one seed less time."""
        seeds = max(round(self.seeds * scale), 1)
        share = min(scale * self.seeds / seeds, 1.0)
        steps = round(self.duration_s * share / self.step_s)
        return replace(
            self, seeds=seeds, duration_s=max(round(steps * self.step_s, 6), self.least_s)
        )
