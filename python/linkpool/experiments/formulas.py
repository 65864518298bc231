"""Values of claims by formulas, as the files of papers state them.

`mean goodput_bps scheme=xmp-2 / mean goodput_bps scheme=lia-2` is a ratio of two means. A formula
is terms with ` / `, ` * ` or ` - ` between them, which are taken from left to right. A term is a
number, or a quantity of the rows in which columns have these values: a statistic of a column, or
what the experiment calls so. Columns after ` where ` are those of all terms. `seeds` before a
quantity is its mean and its range over the seeds, `least` the least of them.

`scheme=xmp-2|lia-2` stands for the formula with each of these, and `least of`, `most of` or
`average of` before all for one value of theirs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from linkpool.experiments import rows
from linkpool.study.claims import BySeed
from linkpool.study.schemes import NAMES
from linkpool.study.stated import Stated
from linkpool.study.statistics import Spread
from linkpool.units import show_number, show_rate, show_seconds

Value: TypeAlias = "float | Spread | str | None"
"""A quantity: a number, one over the seeds, or words about it; None: there is none."""

Quantity: TypeAlias = Callable[[pl.DataFrame], Any]
"""What an experiment computes of rows: a value, or what a claim is judged by with its text."""


class Found(NamedTuple):
    """What code found for a claim: the text, if it writes that, and what its criterion judges."""

    text: str
    values: Sequence[Any]

    @classmethod
    def of(cls, text: str, *values: Any) -> "Found":
        """Return a text with its values."""
        return cls(text, values)


STATISTICS: Mapping[str, Callable[[pl.DataFrame, str], float | None]] = {
    "mean": rows.mean,
    "median": rows.median,
    "p90": lambda data, column: rows.sample(data, column).p90,
    "p99": lambda data, column: rows.sample(data, column).p99,
    "count": lambda data, column: rows.sample(data, column).count,
}
"""Statistics of a column that formulas name."""

OPERATORS: Mapping[str, Callable[[float | None, float | None], float | None]] = {
    "/": rows.ratio,
    "*": lambda one, other: None if one is None or other is None else one * other,
    "-": rows.difference,
}

ENDS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "least": min,
    "most": max,
    "average": lambda values: sum(values) / len(values),
}
"""Of the values of a formula with alternatives, if there are all of them."""

FORMS: Mapping[str, Callable[[float], str]] = {
    "number": show_number,
    "seconds": show_seconds,
    "rate": show_rate,
}
"""How texts write a number, beside Python's formats."""


def each(formula: str) -> dict[str, str]:
    """Return a formula with each of the values of `key=a|b`, by these values.

    >>> each("mean x scheme=a|b / mean x")
    {'a': 'mean x scheme=a / mean x', 'b': 'mean x scheme=b / mean x'}
    >>> each("mean x scheme=(a|b)-faults")
    {'a': 'mean x scheme=a-faults', 'b': 'mean x scheme=b-faults'}
    """
    several = re.compile(r"=(?:\(([^)]*)\)|([^\s(|]*\|[^\s(]*))")
    first = several.search(formula)
    if first is None:
        return {"": formula}
    names = (first[1] or first[2]).split("|")

    def at(i: int) -> str:
        return several.sub(lambda found: "=" + (found[1] or found[2]).split("|")[i], formula)

    return {name: at(i) for i, name in enumerate(names)}


def value(formula: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> Any:
    """Return what a formula without alternatives gives.

    Args:
        formula: the formula.
        data: the rows.
        named: returns what the experiment calls so.

    """
    formula, _, keys = formula.partition(" where ")
    first, *rest = (part.strip() for part in re.split(r" ([-/*]) ", formula))
    found = _term(f"{first} {keys}", data, named)
    for operator, term in zip(rest[::2], rest[1::2], strict=True):
        found = OPERATORS[operator](number(found), number(_term(f"{term} {keys}", data, named)))
    return found


def by_seed(formula: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> BySeed:
    """Return what a formula gives for each seed that has it."""
    parts = data.partition_by("seed", as_dict=True) if data.height else {}
    found = {int(seed): number(value(formula, part, named)) for (seed,), part in parts.items()}
    return {seed: of_seed for seed, of_seed in found.items() if of_seed is not None}


def _term(term: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> Any:
    words = term.split()
    if re.fullmatch(r"[-+.e\d]+", words[0]):
        return float(words[0])
    over = words.pop(0) if words[0] in ("seeds", "least") else ""
    keys = dict(word.split("=") for word in words if "=" in word)
    at = {column: _read(text, data.schema[column]) for column, text in keys.items()}
    name, *column = (word for word in words if "=" not in word)
    quantity = (lambda part: STATISTICS[name](part, *column)) if column else named(name)
    if not over:
        return quantity(data.filter(**at))
    spread = rows.spread(data, quantity, **at)
    return spread if over == "seeds" else spread.low


def _read(text: str, kind: pl.DataType) -> Any:
    """Return the value of a column that stands in a formula."""
    if kind == pl.Boolean:
        return text == "true"
    return int(text) if kind.is_integer() else text


def number(of: Any) -> float | None:
    """Return a value as a number: of one over the seeds the mean."""
    return of.value if isinstance(of, Spread) else of


class Shown:
    """What a formula gave, as braces in a text write it: `{:.3g}`, `{:number Mbps}`.

    Of several values each has its name before it, and its unit.
    """

    def __init__(self, of: Mapping[str, Value]) -> None:
        """Take the values by their names; a single one has none."""
        self._known = {name: one for name, one in of.items() if number(one) is not None}

    def __bool__(self) -> bool:
        """Say whether there is any."""
        return bool(self._known)

    def __format__(self, form: str) -> str:
        """Write them."""
        form, _, unit = form.partition(" ")
        texts = ((name, _written(one, form), unit) for name, one in self._known.items())
        whole = (" ".join(filter(None, (NAMES.get(n, n), *rest))) for n, *rest in texts)
        return ", ".join(whole) if self._known else "no data"


def _written(one: Value, form: str) -> str:
    if isinstance(one, str) or not form:
        return str(one)
    known = number(one)
    assert known is not None, "an unknown value has no form"
    return FORMS[form](known) if form in FORMS else format(known, form)


def text(form: str, found: Sequence[Mapping[str, Value]], **words: Any) -> str:
    """Write a text in whose braces values and words stand; without any value there is no data.

    >>> text("{:.1f} times; {:.3g ms}", [{"": 2.0}, {"amp": 1.5, "xmp": None}])
    '2.0 times; AMP 1.5 ms'
    """
    shown = [Shown(of) for of in found]
    return form.format(*shown, **words) if any(shown) else "no data"


def judged(
    stated: Stated, words: Mapping[str, Any], data: pl.DataFrame, named: Callable[[str], Quantity]
) -> Found:
    """Return the text of a claim, and the values that its criterion judges.

    Args:
        stated: the claim.
        words: what stands in braces in its formulas and texts.
        data: the rows.
        named: returns what the experiment calls so.

    """

    def of_text(formula: str) -> dict[str, Any]:
        end, _, whole = formula.format(**words).rpartition(" of ")
        found = {name: value(one, data, named) for name, one in each(whole).items()}
        if not end:
            return found
        known = [one for of in found.values() if (one := number(of)) is not None]
        return {"": ENDS[end](known) if len(known) == len(found) else None}

    def of_criterion(formula: str, of_seeds: bool) -> list[Any]:
        if of_seeds:
            each_of = each(formula.format(**words)).values()
            return [by_seed(one, data, named) for one in each_of]
        return [number(one) for one in of_text(formula).values()]

    parts = [of_criterion(*of) for of in stated.formulas]
    values = parts if len(stated.criteria) > 1 else [*chain.from_iterable(parts)]
    given = values[0] if isinstance(values[0], Found) else Found("", values)
    if given.text:
        return given
    shown = stated.how.shown
    form, *others = [shown] if isinstance(shown, str) else shown
    found = [of_text(formula) for formula in others or [of for of, _ in stated.formulas]]
    return Found(text(form, found, **words), given.values)
