"""Claims of the papers, and the criteria by which the data is judged.

The criteria follow the papers' words and were chosen before any result was seen:

- "about X": reproduced within 25% of X, partly within a factor of two;
- "over X", "under X": reproduced if so, partly if within a factor of two of X;
- "X times as much", "more by X": the effect, which is a ratio's difference from 1, is judged, so no
  effect, less than half of it, or one in the other direction is not even partly reproduced;
- "A below B", "A above all others": over the seeds, by the paired interval of 95%;
- "alike", "as good as": reproduced within 25%, partly within a factor of two;
- "the same", "almost identical": reproduced within 5%, partly within 25%;
- "an order of magnitude": reproduced at a ratio of 10, partly at its square root, 3.16;
- "in almost all cases": reproduced in 90% of the cases, partly in half of them;
- "in most cases": reproduced in more than half of the cases, partly in more than a quarter.

Where an experiment uses another criterion, its note says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeAlias

from linkpool.intervals import Interval, mean_interval

_MARGIN = re.compile(r"; by [-+.e\d]+%( \([^)]*\))?( at least)?")
"""A margin over the seeds in a note: a measured value."""

BySeed: TypeAlias = Mapping[int, float]
"""A quantity of each seed."""


class Verdict(Enum):
    """How far a claim holds."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT = "not"


class Judged(NamedTuple):
    """A verdict, and the criterion that gave it."""

    verdict: Verdict
    note: str


@dataclass(frozen=True)
class Claim:
    """One claim, judged.

    Attributes:
        id: experiment, claim and, where there are several settings, the setting:
            `A-fig8.k30-amp@2us`.
        text: the claim in words.
        paper: what the paper says, usually a number.
        measured: the same from our data.
        verdict: how far it holds.
        note: the criterion, and what else to know.
        single_seeds: the verdict that each seed alone gives, in the order of the seeds; empty with
            one seed.

    """

    id: str
    text: str
    paper: str
    measured: str
    verdict: Verdict
    note: str
    single_seeds: tuple[Verdict, ...] = ()

    def declared(self) -> tuple[str, ...]:
        """Return what makes it the claim that it is, with its verdict: all but measured values."""
        return self.id, self.text, self.paper, self.verdict.value, _MARGIN.sub("", self.note)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Claim":
        """Return the claim of which `as_dict` made an object."""
        single = tuple(Verdict(verdict) for verdict in content["single_seeds"])
        texts = {name: str(content[name]) for name in ("id", "text", "paper", "measured", "note")}
        return cls(**texts, verdict=Verdict(content["verdict"]), single_seeds=single)

    def as_dict(self) -> dict[str, str | list[str]]:
        """Return the claim as strings and a list of strings, ready for JSON."""
        return {
            "id": self.id,
            "text": self.text,
            "paper": self.paper,
            "measured": self.measured,
            "verdict": self.verdict.value,
            "note": self.note,
            "single_seeds": [verdict.value for verdict in self.single_seeds],
        }


class Statement(Protocol):
    """A claim in words, with its criterion: `linkpool.study.stated` reads them from tables."""

    def said(self, words: Mapping[str, object]) -> tuple[str, str]:
        """Return the claim and what the paper says, with these words in place."""

    def judge(self, values: Sequence[Any], words: Mapping[str, object]) -> Judged:
        """Judge values by the criterion."""


class Ledger:
    """Collect the claims of an experiment, at one setting if it has several."""

    def __init__(
        self,
        experiment: str,
        setting: str | None = None,
        stated: Mapping[str, Statement] | None = None,
    ) -> None:
        """Name the experiment, the setting that claims are judged at, and claims in words."""
        self.claims: list[Claim] = []
        self.setting = setting
        self._stated = stated or {}
        self._experiment = experiment
        self._suffix = "" if setting is None else f"@{setting}"

    def add(self, name: str, text: str, paper: str, measured: str, judged: Judged) -> None:
        """Add a claim."""
        full = f"{self._experiment}.{name}{self._suffix}"
        self.claims.append(Claim(full, text, paper, measured, judged.verdict, judged.note))

    def judge(self, name: str, measured: str, /, *values: Any, **words: object) -> None:
        """Add a claim that is stated in words, judged by its criterion.

        Args:
            name: of the statement; `{scheme}` and the like stand for words.
            measured: what our data says.
            values: what the criterion judges; without one, what code judged.
            words: what stands for `{scheme}` and the like.

        """
        stated = self._stated[name]
        judged = stated.judge(values, words)
        self.add(name.format(**words), *stated.said(words), measured, judged)


def grade(reproduced: bool, partly: bool, note: str) -> Judged:
    """Give the better verdict that holds."""
    if reproduced:
        return Judged(Verdict.REPRODUCED, note)
    return Judged(Verdict.PARTLY if partly else Verdict.NOT, note)


def no_data(note: str) -> Judged:
    """Judge a claim for which the data has nothing."""
    return Judged(Verdict.NOT, f"no data; {note}")


def about(value: float | None, target: float, tolerance: float = 0.25) -> Judged:
    """Judge "about `target`": within the relative tolerance, partly within a factor of two."""
    note = f"within {tolerance:.0%}; partly: within a factor of 2"
    if value is None:
        return no_data(note)
    close = abs(value - target) <= tolerance * target
    return grade(close, target / 2 <= value <= target * 2, note)


def rounds_to(value: float | None, target: float, least: float = 0.1) -> Judged:
    """Judge "about" by whatever rounds to `target`, of which no less than `least` is printed."""
    low, high = target - least / 2, target + least / 2
    judged = about(value, target if value is None else min(max(value, low), high))
    return Judged(judged.verdict, f"{judged.note}, of what rounds to {target:g}%")


def over(value: float | None, bound: float) -> Judged:
    """Judge "over `bound`": partly from half of it on."""
    note = "at or above it; partly: at least half of it"
    if value is None:
        return no_data(note)
    return grade(value >= bound, value >= bound / 2, note)


def under(value: float | None, bound: float) -> Judged:
    """Judge "under `bound`": partly up to twice as much."""
    note = "at or below it; partly: at most twice as much"
    if value is None:
        return no_data(note)
    return grade(value <= bound, value <= bound * 2, note)


def by_factor(ratio: float | None, paper: float, tolerance: float = 0.25) -> Judged:
    """Judge "`paper` times as much", be it more or less, by the ratio and by its effect.

    The effect is the difference of a ratio from 1. Both are to be within the tolerance, partly
    within a factor of two. So no effect is not partly an effect.
    """
    effect = paper - 1.0

    def span(low: float, high: float) -> tuple[float, float]:
        if effect > 0:  # what is near the effect is near the ratio, too
            return 1.0 + low * effect, 1.0 + high * effect
        return max(1.0 + high * effect, low * paper), 1.0 + low * effect

    full, part = span(1.0 - tolerance, 1.0 + tolerance), span(0.5, 2.0)
    note = f"{full[0]:.4g} to {full[1]:.4g} times; partly: {part[0]:.4g} to {part[1]:.4g}"
    if ratio is None:
        return no_data(note)
    return grade(full[0] <= ratio <= full[1], part[0] <= ratio <= part[1], note)


def more(ratio: float | None, paper: float, tolerance: float = 0.25) -> Judged:
    """Judge "more", where the paper has `paper` times as much, or "over `paper` times".

    The effect is at least that of the paper, less the tolerance; partly at least half of it.
    """
    full, part = 1.0 + (1.0 - tolerance) * (paper - 1.0), 1.0 + 0.5 * (paper - 1.0)
    note = f"at least {full:.4g} times; partly: {part:.4g} times"
    if ratio is None:
        return no_data(note)
    return grade(ratio >= full, ratio >= part, note)


def below(mine: BySeed, *others: BySeed) -> Judged:
    """Judge "below all others": over the seeds, paired, partly in the mean only.

    With one seed there is no interval: the order alone is judged, and the note says so.
    """
    return _ordered("below", mine, others)


def above(mine: BySeed, *others: BySeed) -> Judged:
    """Judge "above all others": over the seeds, paired, partly in the mean only; see `below`."""
    return _ordered("above", mine, others)


def _ordered(side: str, mine: BySeed, others: Sequence[BySeed]) -> Judged:
    """Judge whether a quantity is on one side of each of the others, over the seeds."""
    whom = f"{side} all others" if len(others) > 1 else side
    note = f"{whom} by the paired interval of 95% over the seeds; partly: in the mean"
    pairs = [[(mine[s], other[s]) for s in mine if s in other] for other in others]
    if not pairs or not all(pairs):
        return no_data(note)
    if any(len(of_one) == 1 for of_one in pairs):
        note = f"{whom}, in one seed"
    sign = 1.0 if side == "above" else -1.0
    intervals = [mean_interval([sign * (a - b) for a, b in of_one]) for of_one in pairs]
    in_the_mean = all((i.value or 0.0) > 0.0 for i in intervals)
    beyond_chance = all(i.low is None or i.low > 0.0 for i in intervals)
    return grade(in_the_mean and beyond_chance, in_the_mean, note + _margin(intervals, pairs))


def _margin(intervals: Sequence[Interval], pairs: Sequence[Sequence[tuple[float, float]]]) -> str:
    """Say how far the nearest of the others is, relative to its mean; "" if that is 0."""
    means = [sum(other for _, other in of_one) / len(of_one) for of_one in pairs]
    shares = [
        tuple(None if end is None else 100 * end / abs(mean) for end in interval)
        for interval, mean in zip(intervals, means, strict=True)
        if mean
    ]
    if len(shares) < len(pairs):
        return ""
    value, low, high = min(shares, key=lambda share: share[0] or 0.0)
    span = "" if low is None or high is None else f" ({low:.2g} to {high:.2g}%)"
    return f"; by {value:.2g}%{span}" if len(shares) == 1 else f"; by {value:.2g}%{span} at least"


def alike(value: float | None, other: float | None) -> Judged:
    """Judge "alike": within 25% of each other, partly within a factor of two."""
    return _within(value, other, 1.25, 2.0)


def same(value: float | None, other: float | None) -> Judged:
    """Judge "almost identical": within 5% of each other, partly within 25%."""
    return _within(value, other, 1.05, 1.25)


def _within(value: float | None, other: float | None, full: float, part: float) -> Judged:
    """Judge whether the larger is at most `full` times the smaller, partly `part` times."""
    note = f"ratio of larger to smaller at most {full:g}; partly: {part:g}"
    if value is None or other is None or value <= 0 or other <= 0:
        return no_data(note)
    ratio = max(value, other) / min(value, other)
    return grade(ratio <= full, ratio <= part, note)


ORDER = 10.0
HALF_ORDER = 10.0**0.5


def order_of_magnitude(ratio: float | None) -> Judged:
    """Judge "an order of magnitude": a ratio of 10, partly of its square root."""
    note = "ratio at least 10; partly: 3.16"
    if ratio is None:
        return no_data(note)
    return grade(ratio >= ORDER, ratio >= HALF_ORDER, note)


def most(hits: Sequence[bool], case: str, all_of: float = 0.9, some: float = 0.5) -> Judged:
    """Judge "in almost all cases": the share of cases in which it holds."""
    note = f"{case}, in at least {all_of:.0%} of the cases; partly: {some:.0%}"
    if not hits:
        return no_data(note)
    share = sum(hits) / len(hits)
    return grade(share >= all_of, share >= some, note)


def majority(hits: Sequence[bool], case: str) -> Judged:
    """Judge "in most cases": in more than half of them, partly in more than a quarter."""
    note = f"{case}, in more than half of the cases; partly: more than a quarter"
    if not hits:
        return no_data(note)
    share = sum(hits) / len(hits)
    return grade(share > 0.5, share > 0.25, note)


def weakest(*parts: Judged) -> Judged:
    """Judge a claim that holds only as far as each of its parts does."""
    verdicts = {part.verdict for part in parts}
    note = " and ".join(dict.fromkeys(part.note for part in parts))
    return grade(verdicts == {Verdict.REPRODUCED}, Verdict.NOT not in verdicts, note)


def together(*parts: Judged) -> Judged:
    """Judge a claim of several parts: reproduced if all are, not if none is even partly."""
    verdicts = {part.verdict for part in parts}
    note = " and ".join(dict.fromkeys(part.note for part in parts))
    return grade(verdicts == {Verdict.REPRODUCED}, verdicts != {Verdict.NOT}, note)


def cases(hits: Sequence[bool]) -> str:
    """Write in how many cases something holds."""
    return f"{sum(hits)} of {len(hits)} cases"
