"""Claims as a table states them: the words, what is published, and the criterion, without data."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from linkpool.study import claims
from linkpool.study.claims import Judged, grade, no_data
from linkpool.study.schemes import NAMES

Words: TypeAlias = "Mapping[str, object]"
"""What stands in a text for `{scheme}` and the like."""


class How(NamedTuple):
    """How a claim gets its values, where a table says so.

    Attributes:
        value: the formulas whose values the criterion judges; none: code gives the values.
        shown: the measured text, with the values in braces; or that, and formulas of its own.
        each: the table in whose rows the words of the claim stand; "": it is judged once.
        at: the setting at which it is judged; "": at each.
        together: it is judged by the rows of all settings.

    """

    value: str | Sequence[str] = ()
    shown: str | Sequence[str] = "{}"
    each: str = ""
    at: str = ""
    together: bool = False


class Stated(NamedTuple):
    """A claim before any data is seen.

    Attributes:
        text: the claim in words, in which `{scheme}` and the like stand for words.
        paper: what the paper says, usually a number.
        criterion: how a value is judged; empty: code judges it, as it takes more than a value.
            It is the name of a criterion of `claims` with its numbers (`about 10`, `times {paper}`,
            `about 10 within 15%`, `rounds to 0.1`, `over 2`, `under 2`, `more 1.4`, `alike`,
            `same`, `below`, `above`, `order of magnitude`, `most 90% 50%`, `majority`), or bounds
            (`>= 2, partly > 1`, `0.9 to 1.1, partly 0.8 to 1.25`).
            Several judge a formula each: with ` & ` between them reproduced if all are, not if none
            is even partly; with ` and ` only as far as each is.
        note: the bounds in words, or which case `most` and `majority` count; of several criteria
            each has its own, if ` & ` is between them.
        how: how it gets its values.

    """

    text: str
    paper: str
    criterion: str = ""
    note: str = ""
    how: How = How()

    @classmethod
    def read(cls, row: Sequence[Any]) -> "Stated":
        """Return the claim of a row of a table: its texts, then how it gets its values."""
        texts = [one for one in row if isinstance(one, str)]
        how = {key: of for one in row[len(texts) :] for key, of in one.items()}
        text, paper, criterion, note, *_ = [*texts, "", "", ""]
        return cls(text, paper, criterion, note, How(**how))

    @property
    def criteria(self) -> list[str]:
        """The criterion, or the several of which it consists."""
        return re.split(" & | and ", self.criterion)

    @property
    def formulas(self) -> list[tuple[str, str]]:
        """The formulas of its values, and the criterion of each."""
        of = [self.how.value] if isinstance(self.how.value, str) else self.how.value
        parts = self.criteria
        return [*zip(of, parts if len(parts) > 1 else parts * len(of), strict=True)]

    def said(self, words: Words) -> tuple[str, str]:
        """Return the claim and what the paper says, with the names of schemes for their ids."""
        named = {key: NAMES.get(str(value), value) for key, value in words.items()}
        return self.text.format(**named), self.paper.format(**named)

    def judge(self, values: Sequence[Any], words: Words) -> Judged:
        """Judge values by the criterion; a verdict that code gave stands.

        >>> Stated("", "", ">= 2, partly > 1", "at least 2; partly: more").judge([1.5], {}).verdict
        <Verdict.PARTLY: 'partly'>
        >>> Stated("", "", "about {paper} within 15%").judge([12.0], {"paper": 10}).note
        'within 15%; partly: within a factor of 2'

        Raises:
            ValueError: there is no such criterion.

        """
        if not self.criterion:
            (judged,) = values
            if not isinstance(judged, Judged):
                raise ValueError(f"{self.text}: there is no criterion for {judged}")
            return judged
        criterion, note = self.criterion.format(**words), self.note.format(**words)
        if len(self.criteria) > 1:
            notes = note.split(" & ") if " & " in note else [note] * len(values)
            each = zip(self.criteria, notes, values, strict=True)
            of_all = claims.together if " & " in criterion else claims.weakest
            return of_all(*(Stated("", "", one, said).judge(of, words) for one, said, of in each))
        if ", partly " in criterion:
            (value,) = values
            full, part = map(bounds, criterion.split(", partly "))
            return no_data(note) if value is None else grade(full(value), part(value), note)
        name, numbers = _named(criterion)
        case = (note,) if note else ()
        return CRITERIA[name](*values, *case, *numbers)


CRITERIA: Mapping[str, Callable[..., Judged]] = {
    "about": claims.about,
    "rounds to": claims.rounds_to,
    "over": claims.over,
    "under": claims.under,
    "times": claims.by_factor,
    "more": claims.more,
    "alike": claims.alike,
    "same": claims.same,
    "below": claims.below,
    "above": claims.above,
    "order of magnitude": claims.order_of_magnitude,
    "most": claims.most,
    "majority": claims.majority,
}
"""The criteria that a table can name."""


def _named(criterion: str) -> tuple[str, list[float]]:
    """Split a criterion into its name and its numbers."""
    found = re.fullmatch(r"([a-z ]*[a-z])((?: (?:within )?[-.\de]+%?)*)", criterion)
    if found is None or found[1] not in CRITERIA:
        raise ValueError(f"{criterion!r} is no criterion; there are {', '.join(CRITERIA)}")
    return found[1], [_number(text) for text in found[2].replace("within", "").split()]


def _number(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def bounds(text: str) -> Callable[[float], bool]:
    """Return whether a value is within bounds: `>= 2`, `> 1, <= 2`, or `2 to 3` with both ends."""
    sides: dict[str, Callable[[float, float], bool]] = {
        ">=": lambda value, bound: value >= bound,
        "<=": lambda value, bound: value <= bound,
        ">": lambda value, bound: value > bound,
        "<": lambda value, bound: value < bound,
    }
    if ", " in text:
        parts = [*map(bounds, text.split(", "))]
        return lambda value: all(inside(value) for inside in parts)
    first, _, second = text.partition(" ")
    if first in sides:
        return lambda value: sides[first](value, float(second))
    low, high = map(float, text.split(" to "))
    return lambda value: low <= value <= high
