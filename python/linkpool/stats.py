"""Statistics of a sample."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Sample:
    """Statistics of a sample; a field other than `count` is None if there are too few values.

    Attributes:
        count: number of values.
        mean: arithmetic mean.
        sd: standard deviation of the sample (divisor n - 1), from two values on.
        p50: median.
        p90: 90th percentile. Percentiles interpolate linearly between the two nearest values.
        p99: 99th percentile.
        max: largest value.

    """

    count: int
    mean: float | None = None
    sd: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    max: float | None = None


def describe(values: Iterable[float] | npt.NDArray[np.float64]) -> Sample:
    """Describe a sample; the values must be finite."""
    x = _array(values)
    if x.size == 0:
        return Sample(0)
    p50, p90, p99 = (float(q) for q in np.percentile(x, (50, 90, 99)))
    return Sample(
        count=int(x.size),
        mean=float(x.mean()),
        sd=float(x.std(ddof=1)) if x.size > 1 else None,
        p50=p50,
        p90=p90,
        p99=p99,
        max=float(x.max()),
    )


def jain(values: Iterable[float] | npt.NDArray[np.float64]) -> float | None:
    """Jain's fairness index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all.

    None for an empty sample and for one of zeros.
    """
    x = _array(values)
    squares = float((x * x).sum())
    if squares == 0.0:
        return None
    return float(x.sum()) ** 2 / (x.size * squares)


def _array(values: Iterable[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if isinstance(values, np.ndarray):
        x = values.astype(np.float64, copy=False)
    else:
        x = np.fromiter(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise ValueError("a sample must hold finite numbers only")
    return x
