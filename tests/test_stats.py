"""Statistics of samples."""

import math

import pytest

from linkpool.stats import Sample, describe, jain


def test_describe_by_hand() -> None:
    found = describe([2.0, 4.0, 4.0, 10.0])
    assert found.count == 4
    assert found.mean == 5.0
    assert found.sd == pytest.approx(math.sqrt((9 + 1 + 1 + 25) / 3))
    assert found.p50 == 4.0
    assert found.p90 == pytest.approx(4.0 + 0.7 * 6.0)  # position 0.9 * 3 = 2.7
    assert found.p99 == pytest.approx(4.0 + 0.97 * 6.0)
    assert found.max == 10.0


def test_describe_of_one_value_has_no_deviation() -> None:
    assert describe([3.0]) == Sample(1, 3.0, None, 3.0, 3.0, 3.0, 3.0)


def test_describe_of_nothing_has_no_values() -> None:
    assert describe([]) == Sample(0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_must_be_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        describe([1.0, bad])


@pytest.mark.parametrize(
    ("values", "index"),
    [
        ([5.0, 5.0, 5.0], 1.0),
        ([9.0, 0.0, 0.0], 1 / 3),
        ([1.0, 2.0, 3.0], 36 / (3 * 14)),
        ([7.0], 1.0),
        ([], None),
        ([0.0, 0.0], None),
    ],
)
def test_jain_by_hand(values: list[float], index: float | None) -> None:
    assert jain(values) == (None if index is None else pytest.approx(index))


def test_jain_does_not_depend_on_the_unit() -> None:
    assert jain([1e9, 2e9]) == pytest.approx(jain([1.0, 2.0]))
