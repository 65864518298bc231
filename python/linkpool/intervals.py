"""Confidence intervals of means, ratios and percentiles, and tests of paired values."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

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
    x, y = _paired(values, others)
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


def geometric_interval(values: Values) -> Interval:
    """Return the geometric mean of independent positive values with its interval.

    Student's t interval of the logarithms, from two values on: the interval for values whose
    logarithms are about normal, as heavy-tailed positive ones are rather than the values
    themselves (Limpert, Stahel and Abbt, 2001, BioScience 51:341). It is above 0.

    >>> tuple(round(x, 3) for x in geometric_interval([1.0, 10.0, 100.0]))
    (10.0, 0.033, 3048.862)

    Raises:
        ValueError: a value is not above 0.

    """
    x = np.asarray(values, dtype=np.float64)
    if not (x > 0.0).all():
        raise ValueError("a geometric mean is of values above 0")
    return Interval(*(None if end is None else math.exp(end) for end in mean_interval(np.log(x))))


def geometric_ratio_interval(values: Values, others: Values) -> Interval:
    """Return the ratio of the geometric means of paired positive values, with its interval.

    It is the geometric mean of the ratios of the pairs, with the t interval of their logarithms.

    >>> tuple(round(x, 3) for x in geometric_ratio_interval([2.0, 44.0, 200.0], [1.0, 20.0, 110.0]))
    (2.0, 1.578, 2.534)

    """
    x, y = _paired(values, others)
    if not (x > 0.0).all() or not (y > 0.0).all():
        raise ValueError("a geometric mean is of values above 0")
    return geometric_interval(x / y)


def paired_p(differences: Values) -> float | None:
    """Return how likely differences at least this far from 0 in the mean are by chance.

    The two-sided p-value of Student's paired t test; None with fewer than two pairs. Differences
    that are all the same are no chance: 0, or 1 if they are 0.
    """
    x = np.asarray(differences, dtype=np.float64)
    if x.size < 2:
        return None
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    if error == 0.0:
        return float(mean == 0.0)
    from scipy import special  # here, as it takes a third of a second to load

    return float(2.0 * special.stdtr(x.size - 1, -abs(mean) / error))


def sign_p(most: int, pairs: int) -> float | None:
    """Return how likely it is that at least `most` of so many pairs differ in one direction.

    The two-sided p-value of the sign test (Arbuthnot, 1710), which needs the order within each pair
    only; pairs without an order count against it. None with fewer than two pairs.

    >>> sign_p(5, 5), sign_p(2, 4)
    (0.0625, 1.0)

    """
    if pairs < 2:
        return None
    from scipy import special  # here, as it takes a third of a second to load

    # P(at least `most` of `pairs` fair coins) is the incomplete beta function.
    tail = 1.0 if most <= 0 else float(special.betainc(most, pairs - most + 1, 0.5))
    return min(1.0, 2.0 * tail)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number: below 0.05, a difference stands among all.

    Holm, 1979 (Scandinavian Journal of Statistics 6:65): the i-th least of m p-values, times
    m - i + 1, and at least the one before. The chance of one or more wrong verdicts among all is
    then below 0.05, whatever the dependence between them.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]

    """
    adjusted = [1.0] * len(p_values)
    least = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


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
    low, high = percentile_ends(x.size, percent)
    return Interval(value, float(x[low]), float(x[high]))


def percentile_ends(count: int, percent: float) -> tuple[int, int]:
    """Return the ranks, from 0, of the values that are the ends of `percentile_interval`."""
    from scipy import special  # here, as it takes a third of a second to load

    k = percent / 100 * (count - 1) + 1
    ends = special.betaincinv(k, count - k + 1, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    # Neither end is 0 or 1, as 1 <= k <= n: both are numbers of values, from 1 to n.
    low, high = (math.ceil(count * end) - 1 for end in ends)
    return low, high


def _paired(
    values: Values, others: Values
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return two samples of one size as arrays."""
    x, y = (np.asarray(part, dtype=np.float64) for part in (values, others))
    if x.size != y.size:
        raise ValueError(f"{x.size} values cannot be paired with {y.size}")
    return x, y


def _t(count: int) -> float:
    """Return Student's t for so many values."""
    from scipy import special  # here, as it takes a third of a second to load

    return float(special.stdtrit(count - 1, (1 + CONFIDENCE) / 2))
