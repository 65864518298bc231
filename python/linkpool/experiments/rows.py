"""What claims and figures compute from the rows of an experiment, and how claims write it.

Keys choose rows: `mean(data, "goodput_bps", scheme="amp")` is of the rows whose scheme is AMP.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.stats import Sample, describe
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


def percentile(data: pl.DataFrame, column: str, percent: float) -> float | None:
    """Return a percentile of a column, between two values by a line; None: there are no rows."""
    found = values(data, column)
    return float(np.percentile(found, percent)) if found.size else None


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
