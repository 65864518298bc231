"""Samples with lower bounds, by hand and against values that are drawn beyond the bounds."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkpool.censored import Bounded, Censored
from linkpool.intervals import Interval, percentile_interval
from linkpool.percentiles import needed


def sample(values: list[float], *bounds: float) -> Censored:
    unfinished = [False] * len(values) + [True] * len(bounds)
    return Censored(np.array([*values, *bounds]), np.array(unfinished))


def test_statistics_by_hand() -> None:
    """1, 2, 3, and two that are at least 1.5 and 5: in order 1, 1.5, 2, 3, 5."""
    some = sample([3.0, 1.0, 2.0], 5.0, 1.5)
    assert (some.count, some.unfinished) == (5, 2)
    assert some.mean() == Bounded(2.5, at_least=True)
    assert some.max() == Bounded(5.0, at_least=True)
    assert some.percentile(0) == Bounded(1.0)
    assert some.percentile(25) == Bounded(1.5, at_least=True), "it is 2 if the bound rises"
    assert some.percentile(10) == pytest.approx((1.2, True))
    assert some.percentile(100) == Bounded(5.0, at_least=True)
    late = sample([3.0, 1.0, 2.0], 3.0, 7.0)
    assert late.percentile(50) == Bounded(3.0), "bounds at or above it change nothing"
    assert late.percentile(60).at_least


def test_without_bounds_all_is_known() -> None:
    some = sample([3.0, 1.0, 2.0])
    assert (some.count, some.unfinished) == (3, 0)
    assert some.mean() == Bounded(2.0)
    assert some.max() == Bounded(3.0)
    assert some.percentile(99) == pytest.approx((2.98, False))
    assert sample([7.0]).percentile(50) == Bounded(7.0)
    assert sample([], 7.0).percentile(50) == Bounded(7.0, at_least=True)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_known_does_not_depend_on_how_the_run_goes_on(seed: int) -> None:
    """Flows that go on may end at once, or never: a statistic rises, and what is known stays."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    whole = rng.lognormal(size=size).round(1)
    unfinished = rng.random(size) < rng.choice([0.0, 0.1, 0.6])
    ages = np.where(unfinished, (whole * rng.random(size)).round(1), whole)
    found = Censored(ages, unfinished)
    ends = [np.where(unfinished, end, ages) for end in (ages, whole, np.full(size, 1e9))]
    for percent in (0.0, 5.0, 37.3, 50.0, 99.0, 100.0):
        value, at_least = found.percentile(percent)
        could_be = [float(np.percentile(end, percent)) for end in ends]
        assert value == pytest.approx(could_be[0])
        assert value <= could_be[1] + 1e-9
        assert at_least == (could_be[2] > value + 1e-9)
    assert found.mean().at_least == found.max().at_least == bool(unfinished.any())


def test_intervals_have_an_upper_end_if_it_is_known() -> None:
    values: list[Any] = [float(i) for i in range(1, 101)]
    assert sample(values).percentile_interval(50) == percentile_interval(values, 50)
    _, low, high = percentile_interval(values, 50)
    assert high == 60.0
    assert sample(values[:90], *[91.0] * 10).percentile_interval(50) == Interval(50.5, low, high)
    assert sample(values[:55], *[56.0] * 45).percentile_interval(50) == Interval(50.5, low, None)
    assert sample(values[:59], *[60.0] * 41).percentile_interval(50).high is None
    assert sample(values[:60], *[60.0] * 40).percentile_interval(50).high == high
    assert sample([], 7.0).percentile_interval(50) == Interval(7.0)


@pytest.mark.parametrize(
    ("percent", "count"),
    [("0", 1), ("1", 100), ("5", 20), ("50", 2), ("95", 20), ("99", 100), ("99.9", 1000)],
)
def test_a_percentile_needs_one_value_beyond_it(percent: str, count: int) -> None:
    assert needed(Fraction(percent)) == count
    assert needed(Fraction("66")) == 3, "2.94 rounded up"
