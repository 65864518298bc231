"""Confidence intervals: of a mean, of a ratio of paired means, of a percentile."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

Values: TypeAlias = "Sequence[float] | npt.NDArray[np.float64]"

CONFIDENCE = 0.95
"""Of every interval."""


class Interval(NamedTuple):
    """A value with a confidence interval of 95%; its ends are None if there are too few values."""

    value: float | None
    low: float | None = None
    high: float | None = None


def mean_interval(values: Values) -> Interval:
    """Return the mean of independent values with Student's t interval, from two values on.

    >>> tuple(round(x, 3) for x in mean_interval([1.0, 2.0, 3.0]))
    (2.0, -0.484, 4.484)

    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        return Interval(None)
    mean = float(x.mean())
    if x.size == 1:
        return Interval(mean)
    half = _t(x.size) * float(x.std(ddof=1)) / math.sqrt(x.size)
    return Interval(mean, mean - half, mean + half)


def ratio_interval(values: Values, others: Values) -> Interval:
    """Return the ratio of the means of paired values, with the interval of Fieller's theorem.

    Fieller, 1954 (Journal of the Royal Statistical Society B 16:175), for pairs: the interval holds
    every ratio r for which the mean of `values - r others` does not differ from 0 by Student's t
    test. It has no ends where the mean of `others` does not differ from 0 itself. The value is
    None if that mean is 0.

    >>> tuple(round(x, 3) for x in ratio_interval([20.0, 22.1, 23.9], [10.0, 11.0, 12.0]))
    (2.0, 1.979, 2.026)

    """
    x, y = (np.asarray(part, dtype=np.float64) for part in (values, others))
    if x.size != y.size:
        raise ValueError(f"{x.size} values cannot be paired with {y.size}")
    if x.size == 0 or y.mean() == 0.0:
        return Interval(None)
    ratio = float(x.mean() / y.mean())
    if x.size == 1:
        return Interval(ratio)
    (xx, xy), (_, yy) = np.cov(x, y) * _t(x.size) ** 2 / x.size
    # The r with a r^2 - 2 b r + c <= 0.
    a = y.mean() ** 2 - yy
    b = x.mean() * y.mean() - xy
    c = x.mean() ** 2 - xx
    if a <= 0.0:
        return Interval(ratio)
    half = np.sqrt(max(b * b - a * c, 0.0)) / a
    return Interval(ratio, float(b / a - half), float(b / a + half))


def percentile_interval(values: Values, percent: float) -> Interval:
    """Return a percentile of a sample with its bootstrap interval, from two values on.

    That is the percentile interval (Efron, 1979) of infinitely many resamples, which has a closed
    form: of n values in order, the k-th of a resample is at most the i-th of the sample with the
    probability that a binomial variable of n trials and probability i / n is at least k, which is
    the incomplete beta function I(i / n; k, n - k + 1). The values count as independent.
    Percentiles interpolate linearly.

    >>> percentile_interval(range(1, 1001), 99)
    Interval(value=990.01, low=982.0, high=995.0)

    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    if x.size == 0:
        return Interval(None)
    value = float(np.percentile(x, percent))
    if x.size == 1:
        return Interval(value)
    k = percent / 100 * (x.size - 1) + 1
    ends = special.betaincinv(k, x.size - k + 1, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    # Neither end is 0 or 1, as 1 <= k <= n: both are numbers of values, from 1 to n.
    low, high = (math.ceil(x.size * end) for end in ends)
    return Interval(value, float(x[low - 1]), float(x[high - 1]))


def _t(count: int) -> float:
    """Return Student's t for so many values."""
    return float(special.stdtrit(count - 1, (1 + CONFIDENCE) / 2))
