"""An open question: what its file declares, quantities of each run, and hypotheses.

A hypothesis was written before its experiment ran. It is judged by the confidence interval of 95%
over the seeds: it holds if the whole interval is where the hypothesis says, holds partly if only
the value is, and does not hold otherwise.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from linkpool.columns import Column
from linkpool.experiments.declared import Published
from linkpool.experiments.papers import QUESTIONS
from linkpool.experiments.scenarios import filled, read, transport
from linkpool.intervals import Interval, mean_interval, ratio_interval
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Claim, Judged, Ledger, grade, no_data
from linkpool.study.experiment import KEY_SCHEME, KEY_SEED
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Table, Value, dumps


class Panel(NamedTuple):
    """A panel of the figure: a quantity, in what unit it is drawn, and how."""

    quantity: str
    label: str
    factor: float = 1.0
    log: bool = False
    only: str = ""
    """The settings that it shows begin with this."""


@dataclass(frozen=True)
class Setup:
    """The declared part of a question.

    Attributes:
        settings: the settings, and how the figure names them.
        schemes: the schemes, and the transport of each, if that is declared.
        panels: of the figure.
        figure_rows: rows of panels.
        scenarios: the scenario in whose texts words stand in braces; several have names.
        words: what stands for words in all runs, then in those of a setting or of a scheme, by its
            name. `kind` names a scenario; `active_s` is the seconds in which the work of a run is
            done, and `packets` its data packets, roughly.
        more: tables that the class of the question reads.

    """

    settings: Mapping[str, str]
    schemes: Mapping[str, Table]
    panels: tuple[Panel, ...]
    figure_rows: int
    scenarios: Mapping[str, Table]
    words: Mapping[str, Mapping[str, Any]]
    more: Mapping[str, Any]

    @classmethod
    @cache
    def read(cls, name: str) -> "Setup":
        """Read the file of a question, which has the tables of another if it is `like` this."""
        of: dict[str, Any] = dict(read(QUESTIONS, name))
        if "like" in of:
            other = read(QUESTIONS, of.pop("like"))
            both = {**other.get("scenarios", {}), **of.get("scenarios", {})}
            of = {**other, **of, "scenarios": both}
        settings: dict[str, Any] = of.pop("settings")
        tables = {key: dict(each) for key, each in settings.items() if isinstance(each, dict)}
        words = {"": of.pop("words", {}), **of.pop("of", {})}
        labels = {key: each for key, each in settings.items() if key not in tables}
        labels |= {key: each.pop("label") for key, each in tables.items()}
        return cls(
            settings={key: labels[key] for key in settings},
            schemes={key: transport(QUESTIONS, each) for key, each in of.pop("schemes").items()},
            panels=tuple(Panel(**each) for each in of.pop("panels")),
            figure_rows=of.pop("figure_rows", 1),
            scenarios={"": of.pop("scenario", {}), **of.pop("scenarios", {})},
            words={**words, **tables},
            more=of,
        )

    def said(self, setting: str, scheme: str) -> dict[str, Any]:
        """Return what stands for words in the runs of a setting and scheme; None: nothing."""
        names: dict[str, Any] = dict.fromkeys(key for of in self.words.values() for key in of)
        own = {"scheme": scheme, "transport": self.schemes[scheme]}
        for name in ("", setting, scheme):
            own |= self.words.get(name, {})
        return {**names, **own}


Quantities = Mapping[str, float | None]
"""What one run gives, by name; None: the run has nothing of it."""


Words: TypeAlias = Mapping[str, "Value | None"]
"""What stands for words of a scenario; None: their keys are left out."""


class Case(NamedTuple):
    """A scenario, the seconds in which its work is done, and its data packets, roughly."""

    scenario: Mapping[str, Value]
    active_s: float
    packets: float


class Found:
    """What was measured, by setting, scheme and quantity."""

    def __init__(self, data: pl.DataFrame) -> None:
        """Take the data of the experiment."""
        self._values: dict[tuple[str, str, str], dict[int, float]] = {}
        for row in data.select("setting", "scheme", "quantity", "seed", "value").iter_rows():
            self._values.setdefault(row[:3], {})[row[3]] = row[4]

    def by_seed(self, setting: str, scheme: str, quantity: str) -> dict[int, float]:
        """Return a quantity of each seed."""
        return self._values.get((setting, scheme, quantity), {})

    def mean(self, setting: str, scheme: str, quantity: str) -> Interval:
        """Return the mean over the seeds, with its interval."""
        return mean_interval(list(self.by_seed(setting, scheme, quantity).values()))

    def ratio(self, quantity: str, of: tuple[str, str], to: tuple[str, str]) -> Interval:
        """Return the ratio of a quantity of two settings and schemes, paired by seed."""
        one, other = self.by_seed(*of, quantity), self.by_seed(*to, quantity)
        both = [seed for seed in one if seed in other]
        return ratio_interval([one[seed] for seed in both], [other[seed] for seed in both])


def show(interval: Interval, unit: str = "", factor: float = 1.0) -> str:
    """Write a value with its interval.

    >>> show(Interval(0.002, 0.001, 0.003), "ms", 1e3)
    '2 ms (1 to 3)'
    """
    if interval.value is None:
        return "no data"
    text = f"{factor * interval.value:.3g}{f' {unit}' if unit else ''}"
    if interval.low is None or interval.high is None:
        return text
    return f"{text} ({factor * interval.low:.3g} to {factor * interval.high:.3g})"


def between(interval: Interval, low: float | None, high: float | None) -> Judged:
    """Judge the hypothesis that a value is between two bounds, of which one may be missing."""
    parts = [f"above {low:g}"] if low is not None else []
    parts += [f"below {high:g}"] if high is not None else []
    note = f"the interval of 95% is {' and '.join(parts)}; partly: the value is"
    value, least, most = interval
    if value is None:
        return no_data(note)

    def inside(x: float) -> bool:
        return (low is None or x > low) and (high is None or x < high)

    ends = least is not None and most is not None and inside(least) and inside(most)
    return grade(ends, inside(value), note)


class Hypothesis(NamedTuple):
    """A hypothesis: a quantity of an arm, or of one arm over another, is within bounds.

    An arm is a setting and a scheme. With a second one, the quantity is over that of the second,
    paired by seed. `said` is the bounds in words, or the number that was expected.
    """

    text: str
    quantity: str
    of: tuple[str, str]
    over: tuple[str, str] | None
    above: float | None
    below: float | None
    said: str

    @classmethod
    def read(cls, row: Sequence[Any]) -> "Hypothesis":
        """Return the hypothesis of a row: text, quantity, one arm or two, bounds, what was said.

        >>> row = ["AMP takes less time", "fct_s", ["256", "amp"], ["256", "lia"], "0.5 to 0.8"]
        >>> Hypothesis.read(row)[2:]
        (('256', 'amp'), ('256', 'lia'), 0.5, 0.8, '0.5 to 0.8')
        """
        text, quantity, of, *rest = row
        over = tuple(rest.pop(0)) if isinstance(rest[0], list) else None
        bounds, *said = rest
        first, second = bounds.replace(" to ", " ").split()
        above = None if first == "below" else float(second if first == "above" else first)
        below = None if first == "above" else float(second)
        return cls(text, quantity, tuple(of), over, above, below, said[0] if said else bounds)

    def judge(self, name: str, found: Found, ledger: Ledger) -> None:
        """Judge it by what was measured."""
        if self.over is None:
            value = found.mean(*self.of, self.quantity)
        else:
            value = found.ratio(self.quantity, self.of, self.over)
        judged = between(value, self.above, self.below)
        ledger.add(name, self.text, self.said, show(value), judged)


@dataclass(frozen=True)
class Question(Published, ABC):
    """An experiment of one question: every scheme in every setting, with every seed."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("setting", "string", "", "setting of the run"),
        KEY_SCHEME,
        KEY_SEED,
        Column("quantity", "string", "", "what was measured, with its unit"),
        Column("value", "f64", "", "its value in this run"),
    )
    of_single_seeds: ClassVar[bool] = False  # hypotheses are judged by intervals over seeds
    file: str = ""
    """The name of the file that declares it, without an end; "": as its id, without `Q-`."""

    @property
    def setup(self) -> Setup:
        """What its file declares."""
        return Setup.read(self.file or self.id.removeprefix("Q-"))

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings, and how the figure names them."""
        return self.setup.settings

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes of each setting."""
        return tuple(self.setup.schemes)

    def words(self, setting: str, scheme: str, seed: int) -> Words | None:
        """Return what stands for words of the scenario; None: there is no such run."""
        return {}

    @abstractmethod
    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what one run gives."""

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return a run; None: this scheme does not run in this setting, or not with this seed."""
        words = self.words(setting, scheme, seed)
        if words is None:
            return None
        said = {**self.setup.said(setting, scheme), **words}
        scenario = filled(self.setup.scenarios[said.get("kind") or ""], said)
        return Case(scenario, said["active_s"], said["packets"])

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every setting, scheme and seed."""
        points = []
        for setting in self.settings:
            for scheme in self.schemes:
                for seed in seeds:
                    case = self.case(setting, scheme, seed)
                    if case is None:
                        continue
                    keys: dict[str, str | int | float] = {"setting": setting, "scheme": scheme}
                    written = partial(self._scenario, setting, scheme, seed)
                    points.append(Point(keys, written, seed, case.active_s, case.packets))
        return points

    def _scenario(self, setting: str, scheme: str, seed: int) -> str:
        case = self.case(setting, scheme, seed)
        assert case is not None, "it has a point"
        return dumps({"name": f"{self.title}: {setting}, {scheme}", **case.scenario})

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per quantity."""
        of = self.quantities(str(point.keys["setting"]), result)
        rows = [(name, value) for name, value in of.items() if value is not None]
        return pl.DataFrame(rows, {"quantity": pl.String, "value": pl.Float64}, orient="row")

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw each quantity: a group of bars for each setting, a bar for each scheme."""
        found = Found(data)
        columns = -(-len(self.setup.panels) // self.setup.figure_rows)
        most = max(len(self._shown(panel)) for panel in self.setup.panels)
        width = max(3.4, 0.8 + 0.13 * most * len(self.schemes))
        title = f"{self.id}: {self.title}"
        figure, axes = style.panels(
            self.setup.figure_rows, columns, title, (width, 2.7), sharey=False
        )
        for at, panel in zip(axes.flat, self.setup.panels, strict=True):
            shown = self._shown(panel)
            heights: dict[str, list[float | None]] = {}
            whiskers: dict[str, list[float | None]] = {}
            for scheme in self.schemes:
                means = [found.mean(s, scheme, panel.quantity) for s in shown]
                heights[scheme] = [_times(m.value, panel.factor) for m in means]
                whiskers[scheme] = [
                    0.0 if m.value is None or m.high is None else panel.factor * (m.high - m.value)
                    for m in means
                ]
            style.bars(at, [self.settings[s] for s in shown], heights, whiskers)
            if panel.log:
                style.plain_log(at)
                at.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            at.set_ylabel(panel.label)
        longest = max(len(NAMES[scheme]) for scheme in self.schemes)
        style.legend(figure, axes.flat[0], int(columns * width / (0.7 + 0.08 * longest)))
        return figure

    def _shown(self, panel: Panel) -> list[str]:
        return [setting for setting in self.settings if setting.startswith(panel.only)]

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the hypotheses."""
        ledger, found = Ledger(self.id), Found(data)
        for name, row in self.declared.claims.items():
            Hypothesis.read(row).judge(name, found, ledger)
        return ledger.claims


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value
