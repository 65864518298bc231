"""Statistics of studies: over the seeds, paired by seed, and of the flows of all seeds together."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from linkpool.result import Result
from linkpool.study import Arm, Study
from linkpool.study.statistics import OVER_SEEDS, POOLED, Spread, over_seeds, pooled
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
    "count": pl.UInt32(),
    "unfinished": pl.UInt32(),
    "at_least": pl.Boolean(),
}


def rows(
    arm: str, mark: int, values: Mapping[int, float], part: str = "all", measure: str = "goodput"
) -> list[Any]:
    """Return rows of the data: the means of a measure, by seed, each of 7 values."""
    what = (measure, part, "mean", "s")
    return [(arm, mark, seed, *what, value, 7, None, False) for seed, value in values.items()]


def of_flows(
    arm: str, values: Mapping[int, tuple[float | None, int, bool]], statistic: str = "p99"
) -> list[Any]:
    """Return rows about completion times: by seed the value, how many flows, if a lower bound."""
    return [
        (arm, 5, seed, "fct", "all", statistic, "s", value, count, 2 * at_least, at_least)
        for seed, (value, count, at_least) in values.items()
    ]


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
        ("b", 5, "goodput", "all", "mean", "s"),
        ("a", 5, "goodput", "all", "mean", "s"),
    ]
    of_keys = list(SCHEMA)[: list(SCHEMA).index("value")]
    assert found.schema == {
        **{name: SCHEMA[name] for name in of_keys if name != "seed"},
        **OVER_SEEDS,
    }
    assert found["at_least"].to_list() == [False, False]
    assert found["why"].to_list() == [None, None]
    samples = found.select("count_least", "count_most", "count", "unfinished").rows()
    assert samples == [(7, 7, 21, None)] * 2


COMPARED = ("ratio", "ratio_bound", "pairs", "higher", "lower")


def test_ratio_measures_have_geometric_means_by_hand() -> None:
    """Pairs differ by 4, 400 and 40,000: a mean of 400, and Student's t of the logarithms."""
    found = statistics(
        {"arm": "a"},
        of_flows("a", {1: (1.0, 100, False), 2: (2.0, 150, False), 3: (4.0, 120, False)}),
        of_flows("b", {1: (4.0, 100, False), 2: (800.0, 150, False), 3: (160000.0, 120, False)}),
    )
    half = 4.3026527 / 3**0.5  # standard deviations: t for 2 degrees of freedom
    (a, b) = found.iter_rows(named=True)
    assert (a["mean"], a["low"], a["high"]) == pytest.approx((2.0, 2 / 2**half, 2 * 2**half))
    assert tuple(b[name] for name in COMPARED) == (pytest.approx(400.0), None, 3, 3, 0)
    ends = (400 / 100**half, 400 * 100**half)
    assert (b["ratio_low"], b["ratio_high"]) == pytest.approx(ends)
    assert b["ratio_low"] > 0
    # t is ln 400 over ln 100 / sqrt 3: 2.2534.
    assert b["p"] == pytest.approx(2 * stats.t.sf(np.log(400) / (np.log(100) / 3**0.5), 2))
    assert b["differs"] is False, "by chance once in 7"
    assert (b["count_least"], b["count_most"], b["count"], b["unfinished"]) == (100, 150, 370, 0)
    assert [a[name] for name in (*COMPARED, "p", "differs")] == [1.0, None, 0, 0, 0, None, None]


def test_lower_bounds_stay_what_they_are() -> None:
    """A mean of lower bounds is one, a ratio to one is at most that, order needs no values."""
    known = {1: (1.0, 100, False), 2: (2.0, 100, False), 3: (4.0, 100, False)}
    bound = {1: (4.0, 100, True), 2: (8.0, 100, False), 3: (1.0, 100, True)}
    for base, other, ratio, mark, higher, lower in (
        ("known", "bound", 4 ** (1 / 3), ">=", 2, 0),
        ("bound", "known", 4 ** (-1 / 3), "<=", 0, 2),
    ):
        found = statistics({"arm": base}, of_flows("known", known), of_flows("bound", bound))
        (row,) = found.filter(arm=other).iter_rows(named=True)
        assert tuple(row[n] for n in COMPARED) == (pytest.approx(ratio), mark, 3, higher, lower)
        assert (row["ratio_low"], row["ratio_high"], row["why"]) == (None, None, None)
        assert row["p"] == 1.0, "2 of 3: the third is not known to be on either side"
        (row,) = found.filter(arm="bound").iter_rows(named=True)
        assert (row["mean"], row["low"], row["high"]) == (pytest.approx(32 ** (1 / 3)), None, None)
        assert (row["at_least"], row["unfinished"]) == (True, 4)
    found = statistics({"arm": "bound"}, of_flows("bound", bound), of_flows("c", bound))
    (row,) = found.filter(arm="c").iter_rows(named=True)
    assert (row["ratio"], row["why"], row["pairs"]) == (None, "no ratio: both are ≥", 3)
    assert (row["higher"], row["lower"]) == (0, 0), "neither is known to be above the other"


def test_a_bound_of_one_seed_is_one_of_the_mean() -> None:
    """The sign test of 6 of 6 seeds is significant by itself: 2 / 64."""
    base = dict.fromkeys(range(6), (1.0, 100, False))
    mine = {seed: (2.0, 100, seed == 3) for seed in range(6)}
    found = statistics({"arm": "a"}, of_flows("a", base), of_flows("b", mine))
    (row,) = found.filter(arm="b").iter_rows(named=True)
    assert (row["at_least"], row["ratio_bound"], row["ratio"]) == (True, ">=", pytest.approx(2.0))
    assert (row["p"], row["differs"]) == (pytest.approx(2 / 64), True)
    found = statistics({"arm": "b"}, of_flows("a", base), of_flows("b", mine))
    (row,) = found.filter(arm="a").iter_rows(named=True)
    assert (row["higher"], row["lower"], row["p"]) == (0, 6, pytest.approx(2 / 64))


def test_times_below_a_second_have_a_geometric_mean() -> None:
    found = statistics({}, of_flows("a", {1: (0.001, 100, False), 2: (0.1, 100, False)}))
    assert found["mean"].item() == pytest.approx(0.01)


def test_a_bound_of_nothing_makes_a_geometric_mean_of_nothing() -> None:
    """Flows that were never established have no completion time from the SYN-ACK yet."""
    none = {1: (0.0, 100, True), 2: (3.0, 100, False)}
    found = statistics(
        {"arm": "a"},
        of_flows("a", {1: (1.0, 100, False), 2: (1.0, 100, False)}),
        of_flows("b", none),
    )
    (row,) = found.filter(arm="b").iter_rows(named=True)
    assert (row["mean"], row["at_least"], row["low"]) == (0.0, True, None)
    assert (row["ratio"], row["why"]) == (None, "no ratio: a value is 0")
    zero = {1: (0.0, 100, False), 2: (3.0, 100, False)}
    found = statistics({"arm": "a"}, of_flows("a", {1: (1.0, 100, False)}), of_flows("b", zero))
    assert found.filter(arm="b")["why"].item() == "no ratio: a value is 0"


def test_a_percentile_of_too_few_says_so() -> None:
    found = statistics(
        {"arm": "a"},
        of_flows("a", {1: (1.0, 100, False), 2: (None, 99, False)}),
        of_flows("b", {1: (None, 98, False), 2: (None, 97, False)}),
        of_flows("c", {1: (2.0, 100, False), 2: (2.0, 100, False)}),
        of_flows("d", {2: (2.0, 100, False)}),
    )
    columns = ["seeds", "mean", "ratio", "pairs", "count_least", "why"]
    assert found.select(columns).rows() == [
        (1, 1.0, 1.0, 0, 99, None),
        (0, None, None, 0, 97, "p99 needs 100 values"),
        (2, pytest.approx(2.0), 2.0, 1, 100, None),
        (1, 2.0, None, 0, 100, "no ratio: no baseline"),
    ]


def test_the_reason_of_a_missing_ratio_or_interval() -> None:
    found = statistics(
        {"arm": "a"},
        rows("a", 5, {1: 0.0, 2: 0.0}),
        rows("b", 5, {1: 3.0, 2: 4.0}),
        rows("a", 9, {1: 0.0, 2: 5.0}),
        rows("b", 9, {1: 1.0, 2: 2.0}),
        rows("a", 11, {1: 1.0}),
        rows("b", 11, {1: 2.0}),
    )
    assert found.filter(arm="a")["why"].to_list() == [None] * 3
    assert found.filter(arm="b").select("ratio", "why", "higher", "lower").rows() == [
        (None, "no ratio: baseline 0", 2, 0),
        (0.6, "no interval: baseline may be 0", 1, 1),
        (2.0, None, 1, 0),
    ]
    # Differences of 3 and 4: t is 7. One seed has no p-value, and is no comparison.
    p = found.filter(arm="b")["p"].to_list()
    # And 1 and -3: t is -0.5. The larger p-value is the last, times 1.
    assert p == [pytest.approx(4 * stats.t.sf(7, 1)), pytest.approx(2 * stats.t.sf(0.5, 1)), None]


def test_verdicts_count_comparisons() -> None:
    """Each p-value times the number of those that are not less; see `test_intervals.py`."""
    near = {1: 1.0, 2: 1.1, 3: 0.9, 4: 1.05}
    groups = [rows("a", mark, near) for mark in range(8)]
    groups += [rows("b", mark, {s: 2 * v for s, v in near.items()}) for mark in (0, 1)]
    groups += [rows("b", mark, {s: v + s % 2 for s, v in near.items()}) for mark in range(2, 8)]
    found = statistics({"arm": "a"}, *groups).filter(arm="b")
    alone = stats.ttest_1samp(list(near.values()), 0).pvalue
    assert found["p"].to_list()[:2] == pytest.approx([8 * alone] * 2)
    assert found["differs"].to_list() == [True] * 2 + [False] * 6


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
        ("b", "fct", "all", "p0", "s", 1, 0, 9.0, None, None, False, None),
        ("a", "fct", "all", "p0", "s", 5, 1, 1.0, 1.0, 3.0, False, None),
    ]
    assert found.columns == ["arm", "measure", "part", "statistic", "unit", *POOLED]
    assert {name: found.schema[name] for name in POOLED} == POOLED


def test_pooled_percentiles_are_lower_bounds_where_flows_are_unfinished(tmp_path: Path) -> None:
    """Of 1, 2, 3, 4 and at least 2.5 the median is at least 2.5, and the interval has no end."""
    flows = [*(finished(float(i)) for i in range(1, 5)), unfinished(2.5)]
    asked = study("fct.p50@all", "fct.p0@all", "goodput.p50")
    found = pooled(asked, results(tmp_path, {("a", 1): flows}))
    assert found["unfinished"].to_list() == [1, 1, None], "a goodput is what it is"
    found = found.filter(measure="fct")
    columns = ["count", "unfinished", "value", "low", "high", "at_least"]
    assert found.select(columns).rows() == [
        (5, 1, 2.5, 1.0, None, True),
        (5, 1, 1.0, 1.0, None, False),
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
            ("slowdown", part, statistic, "", count, value)
            for part, count, values in (
                ("all", 2, (3.0, None, None)),
                ("up to 10 KB", 1, (None,) * 3),
                ("up to 100 KB", 1, (None,) * 3),
            )
            for statistic, value in zip(("p50", "p95", "p99"), values, strict=True)
        ),
        ("fct", "all", "p50", "s", 3, 3.0),
        ("fct", "up to 10 KB", "p50", "s", 1, None),
        ("fct", "up to 100 KB", "p50", "s", 2, 4.0),
    ]
    assert found.filter(part="up to 10 KB")["why"].to_list() == [
        *("p50 needs 2 values", "p95 needs 20 values", "p99 needs 100 values"),
        "p50 needs 2 values",
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
    many = [finished(1.0 + i) for i in range(100)]
    runs = {("b", 1): [finished(9.0)], ("a", 1): many}
    found = pooled(study(*(f"fct.p{percent}" for percent in range(100))), results(tmp_path, runs))
    assert found["low"].is_null().to_list() == [True] * 200 + [False] * 200


def test_a_part_that_is_named_is_pooled_alone(tmp_path: Path) -> None:
    flows = [finished(1.0, size=1), finished(3.0, size=10_001), finished(5.0, size=100_001)]
    found = pooled(study("fct.p0@up to 100 KB"), results(tmp_path, {("a", 1): flows}))
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
