"""Confidence intervals, against values by hand and against scipy.stats."""

import math
import random

import numpy as np
import pytest
from scipy import stats

from linkpool.intervals import Interval, mean_interval, percentile_interval, ratio_interval


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
