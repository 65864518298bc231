"""Statistics of studies and experiments: over seeds, and of the flows of all seeds together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from linkpool.intervals import mean_interval, percentile_interval, ratio_interval
from linkpool.result import Result
from linkpool.study.measures import percentile, wanted
from linkpool.study.model import SEED, Study

WHAT = ("measure", "part", "statistic", "unit")

_FLOATS = ("mean", "low", "high", "ratio", "ratio_low", "ratio_high")


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
    groups: dict[tuple[Any, ...], dict[int, float]] = {}
    names = [*keys, *WHAT]
    for row in data.select(*names, SEED, "value").iter_rows():
        groups.setdefault(row[:-2], {})[row[-2]] = row[-1]
    rows = []
    for group, values in groups.items():
        base = groups.get(_reference_of(group, keys, reference)) if reference else None
        ratio = (None, None, None) if base is None else _ratio(values, base)
        mean = mean_interval(list(values.values()))
        rows.append((*group, len(values), *mean, *ratio))
    schema = {name: data.schema[name] for name in names}
    floats = dict.fromkeys(_FLOATS, pl.Float64())
    return pl.DataFrame(rows, {**schema, "seeds": pl.UInt32(), **floats}, orient="row")


def _reference_of(
    group: tuple[Any, ...], keys: Sequence[str], reference: Mapping[str, Any]
) -> tuple[Any, ...]:
    own = [reference.get(key, value) for key, value in zip(keys, group, strict=False)]
    return (*own, *group[len(keys) :])


def _ratio(
    values: Mapping[int, float], base: Mapping[int, float]
) -> tuple[float | None, float | None, float | None]:
    """Return the ratio, paired by seed, over the seeds that both have."""
    both = [seed for seed in values if seed in base]
    return ratio_interval([values[seed] for seed in both], [base[seed] for seed in both])


def pooled(study: Study, results: Iterable[tuple[Mapping[str, Any], Result]]) -> pl.DataFrame:
    """Return percentiles of the samples of all seeds together; see `StudyResult.pooled`."""
    samples = [wanted(name) for name in study.measures]
    samples = [of for of in samples if of.measure.sample is not None]
    measures = {of.measure.name: of.measure.sample for of in samples}
    gathered: dict[tuple[Any, ...], dict[str, list[pl.DataFrame]]] = {}
    for keys, result in results:
        of_keys = gathered.setdefault(tuple(keys[key] for key in study.keys), {})
        for name, sample in measures.items():
            assert sample is not None
            values = sample(result).drop_nulls().collect()
            of_keys.setdefault(name, []).append(values)
    rows = []
    for group, of_keys in gathered.items():
        for of in samples:
            table = pl.concat(of_keys[of.measure.name])
            for (part,), values in table.group_by("part", maintain_order=True):
                if of.part not in (None, part):
                    continue
                for statistic in of.statistics:
                    if statistic.startswith("p"):
                        x = values["value"].to_numpy()
                        found = percentile_interval(x, percentile(statistic))
                        what = (of.measure.name, part, statistic, of.measure.unit)
                        rows.append((*group, *what, x.size, *found))
    names = [*study.keys, *WHAT, "count", "value", "low", "high"]
    return pl.DataFrame(rows, names, orient="row", infer_schema_length=None)


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
