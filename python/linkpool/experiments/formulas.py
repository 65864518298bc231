"""Values of claims by formulas, as the files of papers state them.

`mean goodput_bps scheme=xmp-2 / mean goodput_bps scheme=lia-2` is a ratio of two means. A formula
is terms with ` / `, ` * ` or ` - ` between them, which are taken from left to right. A term is a
number, or a quantity of the rows in which columns have these values (`k=30`), or are below or above
one (`tau<6`, `jct_s>=0.3`): a statistic of a column, the number of `rows`, or what the experiment
calls so. Columns after ` where ` are those of all terms. `seeds` before a quantity is its mean and
its range over the seeds, `least` the least of them.

`scheme=xmp-2|lia-2` stands for the formula with each of these. ` for size k=10|20` at the end gives
its value in each cell: of the rows of each size with each of these k, if it has one there. Of
several values, words before the formula make one: `least of`, `most of` and the others of `ENDS`.
In brackets such a formula is a term: `fct scheme=dcm / (most of fct scheme=amp|xmp)`.
`cases >= 10 of` says in how many of the cases the value is so; as a number it is their share.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from linkpool.experiments import rows
from linkpool.study.claims import BySeed, cases
from linkpool.study.schemes import NAMES
from linkpool.study.stated import Stated, bounds
from linkpool.study.statistics import Spread
from linkpool.units import show_number, show_rate, show_seconds


class Cases(NamedTuple):
    """In which of some cases a value is as a claim says."""

    hits: list[bool]

    @property
    def value(self) -> float | None:
        """The share of the cases in which it is; None: there is no case."""
        return sum(self.hits) / len(self.hits) if self.hits else None

    def __str__(self) -> str:
        """Write how many they are."""
        return cases(self.hits)


Value: TypeAlias = "float | Spread | Cases | str | None"
"""A quantity: a number, one over the seeds, cases, or words about it; None: there is none."""

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


STATISTICS: Mapping[str, Callable[..., Any]] = {
    "mean": rows.mean,
    "median": rows.median,
    "sd": lambda data, column: rows.sample(data, column).sd,
    "sum": lambda data, column: data[column].sum(),
    "min": lambda data, column: data[column].min(),
    "max": lambda data, column: data[column].max(),
    "count": lambda data, column: rows.sample(data, column).count,
    "rows": len,
}
"""Statistics that formulas name: of a column, and the number of rows; beside these percentiles, as
`p99.9`."""

COMPARISONS: Mapping[str, Callable[[Any, Any], pl.Expr]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

OPERATORS: Mapping[str, Callable[[float | None, float | None], float | None]] = {
    "/": rows.ratio,
    "*": lambda one, other: None if one is None or other is None else one * other,
    "-": rows.difference,
}

ENDS: Mapping[str, Callable[[Sequence[float]], "float | str"]] = {
    "least": min,
    "most": max,
    "average": lambda values: sum(values) / len(values),
    "middle": lambda values: sorted(values)[len(values) // 2],
    "gap": lambda values: max(values) - min(values),
    "span": rows.span,
}
"""What makes one value of several, if there are those of all alternatives."""

END = re.compile(rf"({'|'.join(ENDS)}|cases [^()]*?) of (.*)")
GROUP = re.compile(r"(?<!=)\([^()]*\)")
KEY = re.compile(r"(\w+)(<=|>=|<|>|=)(.*)")

FORMS: Mapping[str, Callable[[float], str]] = {
    "number": show_number,
    "seconds": show_seconds,
    "rate": show_rate,
    "times": "x {:.2f}".format,
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
    groups = GROUP.findall(formula)  # whose alternatives are their own
    hidden = GROUP.sub("{}", formula)
    first = several.search(hidden)
    if first is None:
        return {"": formula}
    names = (first[1] or first[2]).split("|")

    def at(i: int) -> str:
        one = several.sub(lambda found: "=" + (found[1] or found[2]).split("|")[i], hidden)
        return one.format(*groups)

    return {name: at(i) for i, name in enumerate(names)}


def evaluate(
    formula: str, data: pl.DataFrame, named: Callable[[str], Quantity]
) -> list[tuple[str, Any]]:
    """Return what a formula gives: a value with its name for each alternative, and each cell.

    Args:
        formula: the formula.
        data: the rows.
        named: returns what the experiment calls so.

    """
    if (end := END.fullmatch(formula)) is not None:
        return [("", _one(end[1], evaluate(end[2], data, named), " for " in formula))]
    formula, cells = _split(formula, "for")
    values: list[tuple[str, Any]] = []
    for name, of_each in each(formula).items():
        whole, of_all = _where(of_each, data)
        for cell in _cells(cells, of_all):
            one = value(whole, of_all.filter(**cell), named)
            if not cell or number(one) is not None:
                values.append((name, one))
    return values


def _one(end: str, of: Sequence[tuple[str, Any]], some: bool) -> Any:
    """Return one value of several; `some`: there may be fewer than alternatives."""
    known = [each for _, one in of if (each := number(one)) is not None]
    if end.startswith("cases "):
        inside = bounds(end.removeprefix("cases "))
        return Cases([inside(one) for one in known])
    return ENDS[end](known) if known and (some or len(known) == len(of)) else None


def value(formula: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> Any:
    """Return what a formula without alternatives gives, as `evaluate` does."""
    formula, data = _where(formula, data)
    first, *rest = (part.strip() for part in re.split(r" ([-/*]) (?![^(]*\))", formula))
    found = _term(first, data, named)
    for sign, term in zip(rest[::2], rest[1::2], strict=True):
        found = OPERATORS[sign](number(found), number(_term(term, data, named)))
    return found


def by_seed(formula: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> BySeed:
    """Return what a formula gives for each seed that has it."""
    parts = data.partition_by("seed", as_dict=True) if data.height else {}
    found = {int(seed): number(value(formula, part, named)) for (seed,), part in parts.items()}
    return {seed: of_seed for seed, of_seed in found.items() if of_seed is not None}


def _term(term: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> Any:
    over, quantity = re.fullmatch(r"(seeds |least |)(.*)", term).groups()  # type: ignore[union-attr]
    if not over:
        return _quantity(quantity, data, named)
    spread = rows.spread(data, lambda part: number(_quantity(quantity, part, named)))
    return spread if over == "seeds " else spread.low


def _quantity(term: str, data: pl.DataFrame, named: Callable[[str], Quantity]) -> Any:
    if term.startswith("("):
        ((_, of_group),) = evaluate(term[1:-1], data, named)
        return of_group
    words = term.split()
    if re.fullmatch(r"[-+.e\d]+", words[0]):
        return float(words[0])
    keys = [word for word in words if KEY.fullmatch(word)]
    name, *column = (word for word in words if word not in keys)
    chosen = data.filter(*_conditions(keys, data))
    if percentile := re.fullmatch(r"p([\d.]+)", name) if column else None:
        return rows.percentile(chosen, column[0], float(percentile[1]))
    return STATISTICS[name](chosen, *column) if column or name == "rows" else named(name)(chosen)


def _split(formula: str, word: str) -> tuple[str, str]:
    """Return what stands before a word and after it, if that is not in brackets."""
    before, *after = re.split(rf" {word} (?![^(]*\))", formula)
    return before, " ".join(after)


def _where(formula: str, data: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Return a formula, and the rows that all its terms are of."""
    formula, keys = _split(formula, "where")
    return formula, data.filter(*_conditions(keys.split(), data))


def _conditions(keys: Iterable[str], data: pl.DataFrame) -> list[pl.Expr]:
    """Return what keys such as `k=30` and `tau<6` say of rows."""
    found = []
    for key in keys:
        column, sign, text = KEY.fullmatch(key).groups()  # type: ignore[union-attr]
        bound = _read(text, data.schema[column]) if sign == "=" else float(text)
        found.append(COMPARISONS[sign](pl.col(column), bound))
    return found


def _cells(cells: str, data: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the cells after ` for `: what columns have in each of them."""
    axes = []
    for word in cells.split():
        column, _, listed = word.partition("=")
        kind = data.schema[column]
        of_data = data[column].drop_nulls().unique().sort().to_list()
        values = [_read(text, kind) for text in listed.split("|")] if listed else of_data
        axes.append([(column, one) for one in values])
    return [dict(cell) for cell in product(*axes)]


def _read(text: str, kind: pl.DataType) -> Any:
    """Return the value of a column that stands in a formula."""
    if kind == pl.Boolean:
        return text == "true"
    return int(text) if kind.is_integer() else text


def number(of: Any) -> float | None:
    """Return a value as a number: of one over the seeds the mean, of cases the share."""
    return of.value if isinstance(of, (Spread, Cases)) else of


class Shown:
    """What a formula gave, as braces in a text write it: `{:.3g}`, `{:number Mbps}`.

    Of several values each has its name before it, and its unit.
    """

    def __init__(self, of: Sequence[tuple[str, Value]]) -> None:
        """Take the values with their names; a single one has none."""
        self._known = [(name, one) for name, one in of if number(one) is not None]

    def __bool__(self) -> bool:
        """Say whether there is any."""
        return bool(self._known)

    def __format__(self, form: str) -> str:
        """Write them."""
        form, _, unit = form.partition(" ")
        texts = ((name, _written(one, form), unit) for name, one in self._known)
        whole = (" ".join(filter(None, (NAMES.get(n, n), *rest))) for n, *rest in texts)
        return ", ".join(whole) if self._known else "no data"


def _written(one: Value, form: str) -> str:
    if isinstance(one, str) or not form:
        return str(one)
    known = number(one)
    assert known is not None, "an unknown value has no form"
    return FORMS[form](known) if form in FORMS else format(known, form)


def text(form: str, found: Sequence[Sequence[tuple[str, Value]]], **words: Any) -> str:
    """Write a text in whose braces values and words stand; without any value there is no data.

    >>> text("{:.1f} times; {:.3g ms}", [[("", 2.0)], [("amp", 1.5), ("xmp", None)]])
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

    def of_text(formula: str) -> list[tuple[str, Any]]:
        return evaluate(formula.format(**words), data, named)

    def of_criterion(formula: str, criterion: str) -> list[Any]:
        if criterion in ("below", "above"):
            each_of = each(formula.format(**words)).values()
            return [by_seed(one, data, named) for one in each_of]
        counts = criterion.startswith(("most", "majority"))
        values = (one for _, one in of_text(formula))
        return [one.hits if counts and isinstance(one, Cases) else number(one) for one in values]

    parts = [of_criterion(*of) for of in stated.formulas]
    values = parts if len(stated.criteria) > 1 else [*chain.from_iterable(parts)]
    given = values[0] if isinstance(values[0], Found) else Found("", values)
    if given.text:
        return given
    shown = stated.how.shown
    form, *others = [shown] if isinstance(shown, str) else shown
    found = [of_text(formula) for formula in others or [of for of, _ in stated.formulas]]
    return Found(text(form, found, **words), given.values)
