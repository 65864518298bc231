"""Confidence intervals, against values by hand and against scipy.stats."""

import math
import random

import numpy as np
import pytest
from scipy import stats

from linkpool.intervals import (
    Interval,
    geometric_interval,
    geometric_ratio_interval,
    holm,
    mean_interval,
    paired_p,
    percentile_interval,
    ratio_interval,
    sign_p,
)


def test_the_interval_of_a_mean_is_students() -> None:
    # By hand: 1 to 5 have mean 3 and sd sqrt(5/2); t for 4 degrees of freedom is 2.776445.
    half = 2.7764451 * math.sqrt(2.5 / 5)
    assert mean_interval([1, 2, 3, 4, 5]) == pytest.approx((3, 3 - half, 3 + half))
    x = np.random.default_rng(3).normal(size=17)
    low, high = stats.t.interval(0.95, 16, loc=x.mean(), scale=stats.sem(x))
    assert mean_interval(x) == pytest.approx((x.mean(), low, high))


def test_too_few_values_have_no_interval() -> None:
    assert mean_interval([]) == percentile_interval([], 50) == ratio_interval([], []) == (None,) * 3
    assert mean_interval([2.0]) == percentile_interval([2.0], 99) == Interval(2.0)
    assert ratio_interval([3.0], [2.0]) == Interval(1.5)


def test_equal_values_have_an_interval_without_width() -> None:
    assert mean_interval([0.1] * 3) == pytest.approx((0.1, 0.1, 0.1))
    assert ratio_interval([0.3] * 3, [0.1] * 3) == pytest.approx((3, 3, 3))
    assert percentile_interval([7.0] * 9, 99) == (7.0, 7.0, 7.0)


def test_the_ends_of_a_ratio_are_where_the_paired_t_test_turns(rng: random.Random) -> None:
    y = [10 + rng.gauss(0, 1) for _ in range(8)]
    x = [2 * value + rng.gauss(0, 0.5) for value in y]
    ratio, low, high = ratio_interval(x, y)
    assert ratio == pytest.approx(sum(x) / sum(y))
    assert low is not None
    assert high is not None
    for end in (low, high):
        differences = [a - end * b for a, b in zip(x, y, strict=True)]
        assert stats.ttest_1samp(differences, 0.0).pvalue == pytest.approx(0.05)


def test_pairs_make_the_interval_of_a_ratio_narrow() -> None:
    y = [1.0, 5.0, 9.0, 2.0, 8.0]
    x = [1.21, 6.02, 10.79, 2.38, 9.61]
    _, low, high = ratio_interval(x, y)
    assert (low, high) == pytest.approx((1.2, 1.2), abs=0.02)
    _, low, high = ratio_interval(sorted(x), sorted(y, reverse=True))
    assert low is None or high is None or high - low > 1.0


def test_a_ratio_to_what_may_be_nothing_has_no_interval() -> None:
    assert ratio_interval([1.0, 2.0], [-1.0, 1.0]) == Interval(None)
    assert ratio_interval([1.0, 2.0], [0.0, 5.0]) == Interval(0.6)
    assert ratio_interval([0.0, 0.0, 0.0], [3.0, 3.1, 3.2]) == pytest.approx((0, 0, 0))


def test_what_does_not_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        ratio_interval([1.0, 2.0], [1.0])


def test_the_interval_of_the_least_and_of_the_largest_value() -> None:
    # By hand: the least of 4 values drawn from 4 is above the i-th with probability (1 - i/4)^4:
    # 0.316 for i = 1, 0.0625, 0.0039. So 2.5% are reached at the first, 97.5% at the third value.
    assert percentile_interval([40, 10, 30, 20], 0) == Interval(10.0, 10.0, 30.0)
    # The largest is at most the i-th with probability (i/4)^4: 0.0039, 0.0625, 0.316, 1.
    assert percentile_interval([40, 10, 30, 20], 100) == Interval(40.0, 20.0, 40.0)
    # Of 3 values (2/3)^3 is 0.296 and (1/3)^3 is 0.037; of 8 values (5/8)^8 is 0.023.
    assert percentile_interval([1, 2, 3], 0) == Interval(1.0, 1.0, 3.0)
    assert percentile_interval(range(1, 9), 100) == Interval(8.0, 6.0, 8.0)


@pytest.mark.parametrize("percent", [50.0, 95.0, 99.0])
@pytest.mark.parametrize("count", [100, 1000])
def test_the_interval_of_a_percentile_is_that_of_many_resamples(percent: float, count: int) -> None:
    x = np.random.default_rng(count).lognormal(size=count)
    value, low, high = percentile_interval(x, percent)
    assert value == pytest.approx(np.percentile(x, percent))
    drawn = stats.bootstrap(
        (x,),
        lambda sample, axis: np.percentile(sample, percent, axis=axis),
        n_resamples=5000,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    # An end of the resamples lies within two values of ours, in order.
    order = np.sort(x)
    for end, expected in ((low, drawn.low), (high, drawn.high)):
        assert end is not None
        assert abs(np.searchsorted(order, end) - np.searchsorted(order, expected)) <= 2


def test_the_interval_of_a_geometric_mean_is_that_of_the_logarithms() -> None:
    x = np.random.default_rng(5).lognormal(sigma=3.0, size=7)
    low, high = stats.t.interval(0.95, 6, loc=np.log(x).mean(), scale=stats.sem(np.log(x)))
    expected = (stats.gmean(x), math.exp(low), math.exp(high))
    assert geometric_interval(x) == pytest.approx(expected)
    assert geometric_interval([4.0]) == pytest.approx((4.0, None, None))
    assert geometric_interval([]) == (None,) * 3
    for values in ([1.0, 0.0], [1.0, -2.0]):
        with pytest.raises(ValueError, match="a geometric mean is of values above 0"):
            geometric_interval(values)


def test_the_ends_of_a_ratio_of_geometric_means_are_where_the_paired_t_test_turns() -> None:
    rng = np.random.default_rng(9)
    y = rng.lognormal(sigma=2.0, size=6)
    x = 30 * y * rng.lognormal(size=6)
    ratio, low, high = geometric_ratio_interval(x, y)
    assert ratio == pytest.approx(stats.gmean(x) / stats.gmean(y))
    for end in (low, high):
        assert end is not None
        assert stats.ttest_rel(np.log(x), np.log(end * y)).pvalue == pytest.approx(0.05)
    for pair in (([0.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [1.0, 0.0])):
        with pytest.raises(ValueError, match="a geometric mean is of values above 0"):
            geometric_ratio_interval(*pair)
    with pytest.raises(ValueError, match="1 values cannot be paired with 2"):
        geometric_ratio_interval([1.0], [1.0, 2.0])


def test_paired_differences_have_students_p_value() -> None:
    x = np.random.default_rng(2).normal(0.4, size=9)
    assert paired_p(x) == pytest.approx(stats.ttest_1samp(x, 0.0).pvalue)
    assert paired_p(-x) == pytest.approx(paired_p(x))
    assert paired_p([3.0]) is paired_p([]) is None
    assert (paired_p([2.0, 2.0]), paired_p([0.0, 0.0])) == (0.0, 1.0), "no spread, no chance"


@pytest.mark.parametrize(("most", "pairs"), [(0, 2), (1, 2), (2, 2), (3, 5), (5, 5), (9, 10)])
def test_the_sign_test_is_that_of_a_fair_coin(most: int, pairs: int) -> None:
    """Two-sided: at least so many heads, or at least so many tails, but never above 1."""
    expected = min(1.0, 2 * stats.binom.sf(most - 1, pairs, 0.5))
    assert sign_p(most, pairs) == pytest.approx(expected)
    assert sign_p(1, 1) is sign_p(0, 0) is None


def test_p_values_are_adjusted_for_their_number() -> None:
    """Holm's own steps, by hand: 0.01 x 4, 0.02 x 3, then 0.03 x 2 = 0.06, and 0.9 x 1."""
    assert holm([0.03, 0.9, 0.01, 0.02]) == pytest.approx([0.06, 0.9, 0.04, 0.06])
    assert holm([0.025, 0.02]) == pytest.approx([0.04, 0.04]), "never less than the one before"
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []
