"""An experiment whose title, place and claims its paper's file declares."""

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, product
from typing import Any, ClassVar, NamedTuple, TypeVar

import polars as pl

from linkpool.experiments import formulas, panels
from linkpool.experiments.columns import columns
from linkpool.experiments.formulas import Quantity
from linkpool.experiments.papers import EXPERIMENTS, Declared
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import Experiment, each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.stated import Stated
from linkpool.study.toml import dumps
from linkpool.units import counted


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


_P = TypeVar("_P", bound="Published")


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
        varied: the column that varies, and the attribute that has its values, the least and the
            greatest of which are the words `low` and `high` of claims.
        terms: what its claims call so in their formulas, beside its methods and the quantities
            that the paper's file declares.
        kinds: kinds of panels of its own, beside those of all experiments.
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
    varied: ClassVar[tuple[str, str] | None] = None
    terms: ClassVar[Mapping[str, Quantity]] = {}
    kinds: ClassVar[Mapping[str, Callable[..., Panel]]] = {}
    said: ClassVar[str] = ""
    cuts: ClassVar[Mapping[str, tuple[int, float]]] = {}
    declared: Declared = field(default=None, kw_only=True, repr=False)  # type: ignore[assignment]

    @classmethod
    def named(cls: type[_P], name: str) -> _P:
        """Return the experiment of this class that the paper's file declares by this name."""
        settings = EXPERIMENTS[name].settings.items()
        given: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in settings}
        return cls(name, **given)

    def __post_init__(self) -> None:
        """Take title, place and columns from the paper's file."""
        declared = self.declared or EXPERIMENTS[self.id]
        of_file: dict[str, Any] = {
            "declared": declared,
            "title": declared.title,
            "paper": declared.paper,
        }
        if not hasattr(self, "columns"):
            of_file["columns"] = columns(declared.folder, declared.columns or self.id)
        for name, value in of_file.items():
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

    def run(
        self, name: str, keys: Keys, seed: int, active_s: float, packets: float, /, **words: Any
    ) -> Point:
        """Return a run of a scenario of the paper's file.

        Args:
            name: of the scenario.
            keys: what sets the run apart, which are words of the scenario, too.
            seed: the seed.
            active_s: the seconds in which its work is done.
            packets: its data packets, roughly.
            words: what else stands for words of the scenario.

        """
        written = scenario(self.declared.folder, name, **{**keys, **words})
        return Point(keys, dumps(written), seed, active_s, packets)

    def point(self, *of: Any, **keys: Any) -> Point:
        """Return the run with a seed, and a value of each of the attributes in `over`."""
        raise NotImplementedError(f"{self.id} has neither a run of each combination nor points")

    @property
    def stated(self) -> dict[str, Stated]:
        """The claims as the paper's file states them."""
        return {name: Stated.read(of) for name, of in self.declared.claims.items()}

    def ledger(self, setting: str | None = None) -> Ledger:
        """Return a ledger of the claims that the paper's file states."""
        return Ledger(self.id, setting, self.stated)

    def table(self, name: str, **given: object) -> list[dict[str, Any]]:
        """Return the rows of a table of the paper's file that have what is given of their columns.

        Column `at` has the setting at which a row counts.
        """
        columns, *rows = self.declared.tables[name]
        named = (dict(zip(columns, row, strict=True)) for row in rows)
        return [row for row in named if all(row.get(k, v) == v for k, v in given.items())]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim of a setting by its formulas."""
        self.judge_stated(ledger, data)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the claims about all settings by their formulas."""
        self.judge_stated(ledger, data, together=True)

    def judge_stated(
        self, ledger: Ledger, data: pl.DataFrame, *names: str, together: bool = False
    ) -> None:
        """Judge claims that have formulas: these, or all; row by row of the table that they share.

        All are judged once for each row of the table `rounds`, if there is one.
        """
        claims = [
            (name, stated)
            for name, stated in self.stated.items()
            if (name in names if names else stated.how.value)
            if stated.how.together == together
            if stated.how.at in ("", ledger.setting)
        ]
        at = {"at": ledger.setting} if ledger.setting else {}
        rounds = (
            self.table("rounds", **at)
            if "rounds" in self.declared.tables and not together
            else [{}]
        )
        values = getattr(self, self.varied[1]) if self.varied else ()
        ends = {"low": min(values), "high": max(values)} if values else {}
        for of_round in rounds:
            for table, of_table in groupby(claims, key=lambda claim: claim[1].how.each):
                group = list(of_table)
                for row in self.table(table, **{**at, **of_round}) if table else [{}]:
                    words = {**self.declared.words, **ends, **of_round, **row}
                    for name, stated in group:
                        found = formulas.judged(stated, words, data, self.quantity)
                        ledger.judge(name, found.text, *found.values, **words)

    def quantity(self, name: str) -> Quantity:
        """Return the quantity that formulas call so."""
        if name in self.declared.quantities:
            formula = self.declared.quantities[name]
            return lambda rows: formulas.value(formula, rows, self.quantity)
        found: Quantity = self.terms.get(name) or getattr(self, name.replace("-", "_"))
        return found

    def of(self, formula: str) -> "Callable[[pl.DataFrame], float | None]":
        """Return what computes a formula of rows, for figures."""
        return lambda rows: formulas.number(formulas.value(formula, rows, self.quantity))

    def frame(self) -> Frame:
        """Return the figure that the paper's file declares."""
        of: dict[str, Any] = {"title": "{title}", **self.declared.frame}
        common, rows, title = of.pop("common", {}), of.pop("panels"), of.pop("title")
        if isinstance(of.get("columns"), str):
            of["columns"] = len(getattr(self, of["columns"]))
        shown = [panel for row in rows for panel in self._panels(**{**row, **common})]
        return Frame(shown, title.format(title=self.title), **of)

    def _panels(self, kind: str, each: Sequence[str] = (), **row: Any) -> list[Panel]:
        """Return a panel, or one for each value of a column: its name and the attribute's."""
        panel = {**panels.KINDS, **self.kinds}[kind]
        if kind in panels.KINDS:
            row.setdefault("schemes", "schemes")
        for key, value in row.items():
            if key in ("of", "around"):
                row[key] = partial(formulas.value, value, named=self.quantity)
            elif key in ("schemes", "at") and isinstance(value, str):
                row[key] = getattr(self, value)
        if not each:
            return [panel(**row)]
        column, values = each
        keys, title = row.pop("keys", {}), row.pop("title")
        return [
            panel(keys={**keys, column: one}, title=title.replace("{each}", str(one)), **row)
            for one in getattr(self, values)
        ]


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
        return f"{self.duration_s:g} s of {counted(self.seeds, 'seed')}"

    def shortened(self, scale: float) -> Experiment:
        """Return fewer seeds, and below one seed less time."""
        seeds = max(round(self.seeds * scale), 1)
        share = min(scale * self.seeds / seeds, 1.0)
        steps = round(self.duration_s * share / self.step_s)
        return replace(
            self, seeds=seeds, duration_s=max(round(steps * self.step_s, 6), self.least_s)
        )
