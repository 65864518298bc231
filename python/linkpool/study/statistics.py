"""Statistics of studies and experiments: over seeds, and of the flows of all seeds together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from linkpool.censored import Censored
from linkpool.intervals import (
    CONFIDENCE,
    Interval,
    geometric_interval,
    geometric_ratio_interval,
    holm,
    mean_interval,
    paired_p,
    ratio_interval,
    sign_p,
)
from linkpool.percentiles import needed
from linkpool.result import Result
from linkpool.study.measures import MEASURES, percentile, wanted
from linkpool.study.measuring import SAMPLES, Part, samples, together
from linkpool.study.model import SEED, Study

WHAT = ("measure", "part", "statistic", "unit")

OVER_SEEDS: dict[str, pl.DataType] = {
    "seeds": pl.UInt32(),
    "mean": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "at_least": pl.Boolean(),
    "ratio": pl.Float64(),
    "ratio_low": pl.Float64(),
    "ratio_high": pl.Float64(),
    "ratio_bound": pl.String(),
    "pairs": pl.UInt32(),
    "higher": pl.UInt32(),
    "lower": pl.UInt32(),
    "p": pl.Float64(),
    "differs": pl.Boolean(),
    "count_least": pl.UInt32(),
    "count_most": pl.UInt32(),
    "count": pl.UInt32(),
    "unfinished": pl.UInt32(),
    "why": pl.String(),
}
"""The columns of statistics over seeds; `StudyResult.statistics` explains them."""

POOLED: dict[str, pl.DataType] = {
    "count": pl.UInt32(),
    "unfinished": pl.UInt32(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "at_least": pl.Boolean(),
    "why": pl.String(),
}
"""The columns of pooled percentiles; `StudyResult.pooled` explains them."""


class _Value(NamedTuple):
    """What was measured with one seed, and the sample that it is of; see `measuring.measure`."""

    value: float | None
    size: int | None
    unfinished: int | None
    at_least: bool


class _Known(NamedTuple):
    """The value of one seed, which may be a lower bound."""

    value: float
    at_least: bool


class _Ratio(NamedTuple):
    """A comparison with the baseline; the fields are those of the columns `OVER_SEEDS`."""

    interval: Interval = Interval(None)
    bound: str | None = None
    pairs: int = 0
    higher: int = 0
    lower: int = 0
    p: float | None = None
    why: str | None = None


BySeed: TypeAlias = "Mapping[int, _Known]"


def over_seeds(
    data: pl.DataFrame, keys: Sequence[str], reference: Mapping[str, Any]
) -> pl.DataFrame:
    """Return mean, interval and ratio over the seeds; see `StudyResult.statistics`.

    Args:
        data: what was measured, as in `StudyResult.data`.
        keys: the columns that tell the runs of one seed apart.
        reference: what ratios are to, by key: rows with these values, and otherwise the same keys.
            Empty: there are no ratios.

    """
    names = [*keys, *WHAT]
    columns = [*names, SEED, "value", "count", "unfinished", "at_least"]
    groups: dict[tuple[Any, ...], dict[int, _Value]] = {}
    for row in data.select(columns).iter_rows():
        groups.setdefault(row[: len(names)], {})[row[len(names)]] = _Value(*row[len(names) + 1 :])
    known = {
        group: {
            seed: _Known(of.value, of.at_least)
            for seed, of in values.items()
            if of.value is not None
        }
        for group, values in groups.items()
    }
    rows = []
    for group, values in groups.items():
        _, _, statistic, _ = group[len(keys) :]
        ratio = _Ratio()
        if reference:
            other = _reference_of(group, keys, reference)
            of_measure = group[len(keys)]
            ratio = _compared(known[group], known.get(other, {}), other == group, of_measure)
        rows.append(
            (*group, *_row(values.values(), known[group], ratio, group[len(keys)], statistic))
        )
    schema = {name: data.schema[name] for name in names}
    return _adjusted(pl.DataFrame(rows, {**schema, **OVER_SEEDS}, orient="row"))


def _reference_of(
    group: tuple[Any, ...], keys: Sequence[str], reference: Mapping[str, Any]
) -> tuple[Any, ...]:
    own = [reference.get(key, value) for key, value in zip(keys, group, strict=False)]
    return (*own, *group[len(keys) :])


def _row(
    values: Iterable[_Value], known: BySeed, ratio: _Ratio, measure: str, statistic: str
) -> tuple[Any, ...]:
    """Return a value for each of the columns `OVER_SEEDS`."""
    of_all = list(values)
    counts = [of.size for of in of_all if of.size is not None]
    cut_off = [of.unfinished for of in of_all if of.unfinished is not None]
    at_least = any(of.at_least for of in known.values())
    mean = _mean([of.value for of in known.values()], measure)
    return (
        len(known),
        # The mean of lower bounds is a lower bound, but their spread is not that of the values.
        *(Interval(mean.value) if at_least else mean),
        at_least,
        *ratio.interval,
        *ratio[1:6],
        None,
        min(counts, default=None),
        max(counts, default=None),
        sum(counts) if counts else None,
        sum(cut_off) if cut_off else None,
        ratio.why if known else too_few(statistic),
    )


def too_few(statistic: str) -> str:
    """Say why a percentile has no value."""
    return f"{statistic} needs {needed(percentile(statistic))} values"


def _adjusted(table: pl.DataFrame) -> pl.DataFrame:
    """Adjust the p-values for how many there are, and say which differences stand among all."""
    adjusted = iter(holm([p for p in table["p"] if p is not None]))
    p = pl.Series("p", [None if p is None else next(adjusted) for p in table["p"]], pl.Float64)
    return table.with_columns(p, (p < 1 - CONFIDENCE).alias("differs"))


def _by_ratio(measure: str) -> bool:
    """Tell whether values of a measure are averaged and compared by their ratios."""
    return measure in MEASURES and MEASURES[measure].by_ratio


def _mean(values: Sequence[float], measure: str) -> Interval:
    """Return the mean over the seeds that suits the measure, with its interval."""
    if not _by_ratio(measure) or not values:
        return mean_interval(values)
    # 0 is the bound of flows that were never established, and the product of any values with it.
    return geometric_interval(values) if min(values) > 0.0 else Interval(0.0)


def _compared(mine: BySeed, base: BySeed, is_base: bool, measure: str) -> _Ratio:
    """Compare values with those of the baseline, paired by seed, over the seeds that both have."""
    pairs = [(mine[seed], base[seed]) for seed in mine if seed in base]
    if not pairs:
        return _Ratio(why="no ratio: no baseline")
    x, y = ([of.value for of in side] for side in zip(*pairs, strict=True))
    logarithmic = _by_ratio(measure)
    if not logarithmic:
        interval = ratio_interval(x, y)
    elif min(*x, *y) > 0.0:
        interval = geometric_ratio_interval(x, y)
    else:
        interval = Interval(None)
    if is_base:
        return _Ratio(interval)
    # A lower bound is above what is known and less, and not known to be below anything.
    higher = sum(a.value > b.value and not b.at_least for a, b in pairs)
    lower = sum(a.value < b.value and not a.at_least for a, b in pairs)
    order = (len(pairs), higher, lower)
    above, below = any(a.at_least for a, _ in pairs), any(b.at_least for _, b in pairs)
    if above or below:
        p = sign_p(max(higher, lower), len(pairs))
    else:
        scaled = np.log if logarithmic and interval.value is not None else np.asarray
        p = paired_p(scaled(x) - scaled(y))
    if interval.value is None:
        zero = "a value is 0" if logarithmic else "baseline 0"
        return _Ratio(interval, None, *order, p, f"no ratio: {zero}")
    if above and below:
        return _Ratio(Interval(None), None, *order, p, "no ratio: both are ≥")
    if above or below:
        return _Ratio(Interval(interval.value), ">=" if above else "<=", *order, p)
    lacks_ends = interval.low is None and len(pairs) > 1
    why = "no interval: baseline may be 0" if lacks_ends else None
    return _Ratio(interval, None, *order, p, why)


def pooled(study: Study, results: Iterable[tuple[Mapping[str, Any], Result]]) -> pl.DataFrame:
    """Return percentiles of the samples of all seeds together; see `StudyResult.pooled`."""
    asked = [wanted(name) for name in study.measures]
    asked = [of for of in asked if of.measure.is_sample]
    names = dict.fromkeys(of.measure.name for of in asked)
    gathered: dict[tuple[Any, ...], dict[str, list[Part]]] = {}
    for keys, result in results:
        of_keys = gathered.setdefault(tuple(keys[key] for key in study.keys), {})
        for name in names:
            of_keys.setdefault(name, []).extend(SAMPLES[name](result))
    rows: list[tuple[Any, ...]] = []
    for group, of_keys in gathered.items():
        for of in asked:
            for part in samples(together(of_keys[of.measure.name]), of.part):
                values = part.censored()
                cut_off = None if part.unfinished is None else values.unfinished
                for name in of.statistics:
                    if name.startswith("p"):
                        start = (*group, of.measure.name, part.name, name, of.measure.unit)
                        rows.append((*start, values.count, cut_off, *_pooled(values, name)))
    schema: dict[str, Any] = dict.fromkeys([*study.keys, *WHAT])
    return pl.DataFrame(rows, {**schema, **POOLED}, orient="row", infer_schema_length=None)


def _pooled(values: Censored, statistic: str) -> tuple[float | bool | str | None, ...]:
    """Return a percentile with its interval, if it is a lower bound, and why it is missing."""
    percent = percentile(statistic)
    if values.count < needed(percent):
        return None, None, None, False, too_few(statistic)
    value, at_least = values.percentile(float(percent))
    _, low, high = values.percentile_interval(float(percent))
    return value, low, high, at_least, None


@dataclass(frozen=True)
class Spread:
    """A quantity over the seeds: a typical value, the least and the largest; None without data."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarise the values of the seeds by their mean and range."""
        if not values:
            return cls(None, None, None)
        return cls(float(np.mean(values)), min(values), max(values))

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "no data"
        text = f"{self.value:.3g}"
        return text if self.low == self.high else f"{text} ({self.low:.3g} to {self.high:.3g})"
