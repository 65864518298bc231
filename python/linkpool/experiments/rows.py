"""What claims and figures compute from the rows of an experiment, and how claims write it.

Keys choose rows: `mean(data, "goodput_bps", scheme="amp")` is of the rows whose scheme is AMP.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.stats import Sample, describe
from linkpool.study.schemes import NAMES
from linkpool.study.statistics import Spread

Floats: TypeAlias = npt.NDArray[np.float64]

Of: TypeAlias = "str | pl.Expr | Callable[[pl.DataFrame], float | None]"
"""What is computed of the rows of a seed: the mean of a column, an aggregate, or by code."""


def values(data: pl.DataFrame, column: str, **keys: Any) -> Floats:
    """Return what a column has."""
    return data.filter(**keys)[column].drop_nulls().to_numpy()


def mean(data: pl.DataFrame, column: str, **keys: Any) -> float | None:
    """Return the mean of a column; None: there are no rows."""
    found = data.filter(**keys)[column].mean()
    return float(found) if isinstance(found, (int, float)) else None


def median(data: pl.DataFrame, column: str, **keys: Any) -> float | None:
    """Return the median of a column; None: there are no rows."""
    found = data.filter(**keys)[column].median()
    return float(found) if isinstance(found, (int, float)) else None


def sample(data: pl.DataFrame, column: str, **keys: Any) -> Sample:
    """Describe what a column has."""
    return describe(values(data, column, **keys))


def by_seed(data: pl.DataFrame, of: Of, **keys: Any) -> dict[int, float]:
    """Return something of each seed that has it."""
    rows = data.filter(**keys)
    if callable(of):
        parts = rows.partition_by("seed", as_dict=True, maintain_order=True) if rows.height else {}
        of_parts = {int(seed): of(part) for (seed,), part in parts.items()}
        return {seed: value for seed, value in of_parts.items() if value is not None}
    aggregate = (pl.col(of).mean() if isinstance(of, str) else of).alias("value")
    found = rows.group_by("seed", maintain_order=True).agg(aggregate)
    known = found.select("seed", "value").drop_nulls().filter(pl.col("value").is_not_nan())
    return {int(seed): float(value) for seed, value in known.iter_rows()}


def spread(data: pl.DataFrame, of: Of, **keys: Any) -> Spread:
    """Return the mean and the range of something over the seeds."""
    return Spread.of([*by_seed(data, of, **keys).values()])


def ratio(value: float | None, reference: float | None) -> float | None:
    """Return a ratio, if there is one."""
    return value / reference if value is not None and reference else None


def difference(one: float | None, other: float | None) -> float | None:
    """Return a difference, if there is one."""
    return None if one is None or other is None else one - other


def span(values: Sequence[float]) -> str:
    """Write the least and the greatest of some values."""
    return f"{min(values):.3g} to {max(values):.3g}" if values else "no data"


def told(form: str, value: float | None) -> str:
    """Write a value by a format, if there is one.

    >>> told("{:.2f} times", 1.5), told("{:.0%}", None)
    ('1.50 times', 'no data')
    """
    return "no data" if value is None else form.format(value)


def each_named(
    of: Mapping[str, float | None], form: str = "{:.3g}", nothing: str = "no data"
) -> str:
    """Write a value of each scheme that has one.

    >>> each_named({"amp": 0.5, "xmp": None})
    'AMP 0.5'
    """
    known = {NAMES[s]: form.format(v) for s, v in of.items() if v is not None}
    return ", ".join(f"{name} {value}" for name, value in known.items()) or nothing
