"""Statistics of studies: over the seeds, paired by seed, and of the flows of all seeds together."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from linkpool.result import Result
from linkpool.study import Arm, Study
from linkpool.study.statistics import Spread, over_seeds, pooled
from tables import finished, table, unfinished, write_result

KEYS = ("arm", "mark")
SCHEMA = {
    "arm": pl.String(),
    "mark": pl.Int64(),
    "seed": pl.UInt64(),
    "measure": pl.String(),
    "part": pl.String(),
    "statistic": pl.String(),
    "unit": pl.String(),
    "value": pl.Float64(),
}


def rows(arm: str, mark: int, values: Mapping[int, float], part: str = "all") -> list[Any]:
    """Return rows of the data: the means of a measure, by seed."""
    return [(arm, mark, seed, "fct", part, "mean", "s", value) for seed, value in values.items()]


def statistics(reference: Mapping[str, Any], *groups: list[Any]) -> pl.DataFrame:
    data = pl.DataFrame([row for group in groups for row in group], SCHEMA, orient="row")
    return over_seeds(data, KEYS, reference)


def test_statistics_over_seeds_by_hand() -> None:
    """Rows of a group need not stand together, nor seeds in the same order."""
    found = statistics(
        {"arm": "a"},
        rows("b", 5, {3: 23.9, 1: 20.0}),
        rows("a", 5, {1: 10.0, 2: 11.0, 3: 12.0}),
        rows("b", 5, {2: 22.1}),
    )
    half = 4.3026527 / 3**0.5  # of seeds that are 1 apart; t for 2 degrees of freedom
    columns = ["mean", "low", "high", "ratio", "ratio_low", "ratio_high"]
    (b, a) = found.select(columns).rows()
    assert a == pytest.approx((11.0, 11.0 - half, 11.0 + half, 1.0, 1.0, 1.0))
    assert b[0] == pytest.approx(22.0)
    assert b[3:] == pytest.approx((2.0, 1.979, 2.026), abs=5e-4)
    assert found["seeds"].to_list() == [3, 3]
    assert found.select(*KEYS, "measure", "part", "statistic", "unit").rows() == [
        ("b", 5, "fct", "all", "mean", "s"),
        ("a", 5, "fct", "all", "mean", "s"),
    ]
    assert found.schema == {
        **{name: type_ for name, type_ in SCHEMA.items() if name not in ("seed", "value")},
        "seeds": pl.UInt32(),
        **dict.fromkeys(columns, pl.Float64()),
    }


def test_ratios_are_over_the_seeds_that_both_have() -> None:
    found = statistics(
        {"arm": "a"},
        rows("a", 5, {1: 10.0, 2: 11.0, 3: 12.0, 7: 100.0}),
        rows("b", 5, {1: 30.0, 2: 33.0, 3: 36.0, 8: 500.0}),
        rows("c", 5, {9: 1.0}),
    )
    assert found["ratio"].to_list() == pytest.approx([1.0, 3.0, None])
    assert found["ratio_low"].to_list()[1:] == pytest.approx([3.0, None])
    assert found["seeds"].to_list() == [4, 4, 1]


def test_ratios_are_to_the_same_settings_and_the_same_part() -> None:
    found = statistics(
        {"arm": "a"},
        rows("a", 5, {1: 1.0}),
        rows("a", 20, {1: 10.0}),
        rows("b", 5, {1: 6.0}),
        rows("b", 20, {1: 20.0}),
        rows("b", 20, {1: 7.0}, "up to 10 KB"),
        rows("b", 99, {1: 7.0}),
    )
    assert found["ratio"].to_list() == [1.0, 1.0, 6.0, 2.0, None, None]


def test_a_baseline_may_be_a_setting_of_every_arm() -> None:
    found = statistics(
        {"mark": 5},
        rows("a", 5, {1: 1.0}),
        rows("a", 20, {1: 10.0}),
        rows("b", 5, {1: 6.0}),
        rows("b", 20, {1: 30.0}),
    )
    assert found["ratio"].to_list() == [1.0, 10.0, 1.0, 5.0]


def test_without_a_baseline_there_are_no_ratios() -> None:
    found = statistics({}, rows("a", 5, {1: 1.0, 2: 3.0}), rows("b", 5, {1: 4.0}))
    assert found["mean"].to_list() == [2.0, 4.0]
    assert found["high"].is_null().to_list() == [False, True]
    for name in ("ratio", "ratio_low", "ratio_high"):
        assert found[name].to_list() == [None, None]
        assert found.schema[name] == pl.Float64()


Results = Iterator[tuple[dict[str, Any], Result]]


def results(folder: Path, runs: Mapping[tuple[str, int], list[dict[str, object]]]) -> Results:
    """Write the results of runs by arm and seed, and give each with its keys."""
    for (arm, seed), flows in runs.items():
        write_result(folder / f"{arm}-{seed}", table("flows", flows))
        yield {"arm": arm, "seed": seed}, Result(folder / f"{arm}-{seed}")


def study(*measures: str) -> Study:
    return Study(base="b.toml", arms=[Arm(name="a"), Arm(name="b")], measures=list(measures))


def test_flows_of_all_seeds_are_one_sample(tmp_path: Path) -> None:
    """The least of 4 values, with its interval by hand as in `test_intervals.py`."""
    runs = {
        ("b", 1): [finished(9.0)],
        ("a", 1): [finished(4.0), finished(1.0), unfinished(9.0)],
        ("a", 2): [finished(3.0), finished(2.0), finished(0.5, measured=False)],
    }
    found = pooled(study("fct.p0"), results(tmp_path, runs))
    assert found.filter(part="all").rows() == [
        ("b", "fct", "all", "p0", "s", 1, 9.0, None, None),
        ("a", "fct", "all", "p0", "s", 4, 1.0, 1.0, 3.0),
    ]
    assert found.columns == [
        *("arm", "measure", "part", "statistic", "unit", "count", "value", "low", "high")
    ]


def test_only_percentiles_of_samples_are_pooled(tmp_path: Path) -> None:
    """Neither a mean, nor what is counted once in a run; each measure has its own sample."""
    flows = [
        finished(1.0, size=10_000, slowdown=2.0),
        finished(3.0, size=10_001, slowdown=4.0),
        finished(5.0, size=10_002),  # without a slowdown
    ]
    measures = ("jain", "fct.mean", "slowdown", "fct.max", "fct.p50")
    found = pooled(study(*measures), results(tmp_path, {("a", 1): flows}))
    rows = found.select("measure", "part", "statistic", "unit", "count", "value").rows()
    assert rows == [
        *(
            ("slowdown", part, statistic, "", count, pytest.approx(value))
            for part, count, values in (
                ("all", 2, (3.0, 3.9, 3.98)),
                ("up to 10 KB", 1, (2.0,) * 3),
                ("up to 100 KB", 1, (4.0,) * 3),
            )
            for statistic, value in zip(("p50", "p95", "p99"), values, strict=True)
        ),
        ("fct", "all", "p50", "s", 3, 3.0),
        ("fct", "up to 10 KB", "p50", "s", 1, 1.0),
        ("fct", "up to 100 KB", "p50", "s", 2, 4.0),
    ]


def test_parts_are_in_order_of_appearance(tmp_path: Path) -> None:
    """All, and then the classes of sizes, small sizes first."""
    flows = [finished(float(i), size=10**i) for i in range(1, 10)]
    found = pooled(study("fct.p50"), results(tmp_path, {("a", 1): flows}))
    assert found.select("part", "count").rows() == [
        ("all", 9),
        ("up to 10 KB", 4),
        ("up to 100 KB", 1),
        ("up to 1 MB", 1),
        ("up to 10 MB", 1),
        ("above 10 MB", 2),
    ]


def test_intervals_may_begin_late_in_the_table(tmp_path: Path) -> None:
    """The first 200 rows are of an arm with one flow, and have none."""
    runs = {("b", 1): [finished(9.0)], ("a", 1): [finished(4.0), finished(1.0)]}
    found = pooled(study(*(f"fct.p{percent}" for percent in range(100))), results(tmp_path, runs))
    assert found["low"].is_null().to_list() == [True] * 200 + [False] * 200


def test_a_part_that_is_named_is_pooled_alone(tmp_path: Path) -> None:
    flows = [finished(1.0, size=1), finished(3.0, size=10_001), finished(5.0, size=100_001)]
    found = pooled(study("fct.p50@up to 100 KB"), results(tmp_path, {("a", 1): flows}))
    assert found.select("part", "count", "value").rows() == [("up to 100 KB", 1, 3.0)]


def test_a_quantity_over_the_seeds_has_a_mean_and_a_range() -> None:
    assert Spread.of([3.0, 1.0, 5.0, 1.0]) == Spread(2.5, 1.0, 5.0)
    assert Spread.of([]) == Spread(None, None, None)


@pytest.mark.parametrize(
    ("spread", "text"),
    [
        (Spread(2.0, 1.0, 4.0), "2 (1 to 4)"),
        (Spread(1 / 3, 1 / 7, 12345.0), "0.333 (0.143 to 1.23e+04)"),
        (Spread(2.0, 2.0, 2.0), "2"),
        (Spread(None, None, None), "no data"),
        (Spread(None, 1.0, 2.0), "no data"),
        (Spread(1.0, None, 2.0), "no data"),
        (Spread(1.0, 1.0, None), "no data"),
    ],
)
def test_a_quantity_over_the_seeds_is_shown(spread: Spread, text: str) -> None:
    assert str(spread) == text
