"""How claims of experiments are judged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import polars as pl
import pytest
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.result import Result
from linkpool.study.claims import (
    Claim,
    Judged,
    Ledger,
    Verdict,
    about,
    above,
    alike,
    below,
    by_factor,
    cases,
    majority,
    more,
    most,
    order_of_magnitude,
    over,
    same,
    together,
    under,
    weakest,
)
from linkpool.study.experiment import KEY_SEED, Experiment
from linkpool.study.judge import judge
from linkpool.study.point import Point

YES, PARTLY, NO = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT
Criterion = Callable[[float | None], Judged]

about_2: Criterion = lambda x: about(x, 2.0)  # noqa: E731
close_to_2: Criterion = lambda x: about(x, 2.0, tolerance=0.15)  # noqa: E731
over_800: Criterion = lambda x: over(x, 800.0)  # noqa: E731
under_1: Criterion = lambda x: under(x, 1.0)  # noqa: E731
like_4: Criterion = lambda x: alike(x, 4.0)  # noqa: E731
same_as_4: Criterion = lambda x: same(x, 4.0)  # noqa: E731
doubled: Criterion = lambda x: by_factor(x, 2.0)  # noqa: E731
halved: Criterion = lambda x: by_factor(x, 0.5)  # noqa: E731
tenth_less: Criterion = lambda x: by_factor(x, 0.9, tolerance=0.15)  # noqa: E731
to_a_fifth: Criterion = lambda x: by_factor(x, 0.2)  # noqa: E731
over_113: Criterion = lambda x: more(x, 1.13, tolerance=0.0)  # noqa: E731
more_160: Criterion = lambda x: more(x, 1.6)  # noqa: E731


@pytest.mark.parametrize(
    ("criterion", "value", "verdict"),
    [
        (doubled, 2.25, YES),
        (doubled, 1.75, YES),
        (doubled, 1.74, PARTLY),
        (doubled, 3.0, PARTLY),
        (doubled, 1.5, PARTLY),
        (doubled, 1.49, NO),
        (doubled, 3.01, NO),
        (doubled, 1.0, NO),
        (doubled, 0.5, NO),
        (halved, 0.5, YES),
        (halved, 0.38, YES),
        (halved, 0.62, YES),
        (halved, 0.74, PARTLY),
        (halved, 0.26, PARTLY),
        (halved, 0.76, NO),
        (halved, 0.24, NO),
        (halved, 1.0, NO),
        (halved, 2.0, NO),
        (tenth_less, 0.91, YES),
        (tenth_less, 0.93, PARTLY),
        (tenth_less, 0.96, NO),
        (tenth_less, 0.79, NO),
        (to_a_fifth, 0.16, YES),
        (to_a_fifth, 0.14, PARTLY),
        (to_a_fifth, 0.09, NO),
        (over_113, 1.14, YES),
        (over_113, 1.12, PARTLY),
        (over_113, 1.06, NO),
        (over_113, 1.0, NO),
        (more_160, 9.0, YES),
        (more_160, 1.46, YES),
        (more_160, 1.31, PARTLY),
        (more_160, 1.29, NO),
        (about_2, 2.0, YES),
        (about_2, 1.5, YES),
        (about_2, 2.5, YES),
        (about_2, 1.49, PARTLY),
        (about_2, 2.51, PARTLY),
        (about_2, 1.0, PARTLY),
        (about_2, 4.0, PARTLY),
        (about_2, 0.99, NO),
        (about_2, 4.01, NO),
        (close_to_2, 2.29, YES),
        (close_to_2, 2.31, PARTLY),
        (over_800, 800.0, YES),
        (over_800, 1e6, YES),
        (over_800, 663.0, PARTLY),
        (over_800, 400.0, PARTLY),
        (over_800, 399.0, NO),
        (under_1, 1.0, YES),
        (under_1, 1.9, PARTLY),
        (under_1, 2.0, PARTLY),
        (under_1, 2.1, NO),
        (like_4, 5.0, YES),
        (like_4, 3.2, YES),
        (like_4, 5.1, PARTLY),
        (like_4, 2.0, PARTLY),
        (like_4, 8.0, PARTLY),
        (like_4, 8.1, NO),
        (same_as_4, 4.2, YES),
        (same_as_4, 3.81, YES),
        (same_as_4, 4.3, PARTLY),
        (same_as_4, 5.0, PARTLY),
        (same_as_4, 5.1, NO),
        (same_as_4, 0.0, NO),
        (order_of_magnitude, 10.0, YES),
        (order_of_magnitude, 9.9, PARTLY),
        (order_of_magnitude, 10.0**0.5, PARTLY),
        (order_of_magnitude, 3.1, NO),
    ],
)
def test_criteria(criterion: Criterion, value: float, verdict: Verdict) -> None:
    assert criterion(value).verdict is verdict


@pytest.mark.parametrize(
    "criterion", [about_2, over_800, under_1, like_4, order_of_magnitude, doubled, more_160]
)
def test_without_data_nothing_is_reproduced(criterion: Criterion) -> None:
    judged = criterion(None)
    assert judged.verdict is NO
    assert judged.note.startswith("no data")


@pytest.mark.parametrize(("one", "other"), [(0.0, 4.0), (4.0, 0.0), (0.0, 0.0), (-4.0, -4.0)])
def test_nothing_is_alike_zero(one: float, other: float) -> None:
    """A ratio to zero says nothing, and neither does one of negative values."""
    judged = alike(one, other)
    assert judged.verdict is NO
    assert judged.note.startswith("no data")


def test_alike_does_not_depend_on_the_order_or_the_unit() -> None:
    pairs = [(4.0, 5.0), (4.0, 5.01), (4.0, 8.0), (4.0, 8.01)]
    found = [alike(a, b).verdict for a, b in pairs]
    assert found == [YES, PARTLY, PARTLY, NO]
    assert [alike(b, a).verdict for a, b in pairs] == found
    assert [alike(1e-9 * a, 1e-9 * b).verdict for a, b in pairs] == found


@pytest.mark.parametrize(
    ("hits", "verdict"), [(10, YES), (9, YES), (8, PARTLY), (5, PARTLY), (4, NO)]
)
def test_most(hits: int, verdict: Verdict) -> None:
    assert most([i < hits for i in range(10)], "x").verdict is verdict


def test_most_of_nothing_is_not_reproduced() -> None:
    assert most([], "x").verdict is NO


@pytest.mark.parametrize(("hits", "verdict"), [(13, YES), (12, PARTLY), (7, PARTLY), (6, NO)])
def test_most_cases_are_more_than_half(hits: int, verdict: Verdict) -> None:
    assert majority([i < hits for i in range(24)], "x").verdict is verdict
    assert majority([], "x").verdict is NO


FIRST = {1: 10.0, 2: 20.0, 3: 30.0}


@pytest.mark.parametrize(
    ("less", "verdict"),
    [
        ((1.0, 1.1, 0.9), YES),  # far less than the seeds differ, but of each
        ((1.0, 3.0, -1.0), PARTLY),
        ((0.1, 3.0, 9.0), PARTLY),  # of each seed, but the interval is from -7 to 15
        ((0.0, 0.0, 0.0), NO),
        ((-1.0, -3.0, 1.0), NO),
    ],
)
def test_an_order_is_judged_over_the_seeds(
    less: tuple[float, float, float], verdict: Verdict
) -> None:
    other = {seed: FIRST[seed] - x for seed, x in zip(FIRST, less, strict=True)}
    assert below(other, FIRST).verdict is verdict
    assert above(FIRST, other).verdict is verdict
    if verdict is not NO:
        assert below(FIRST, other).verdict is above(other, FIRST).verdict is NO


def test_an_order_among_several_is_that_to_each() -> None:
    assert below(FIRST, {1: 11.0, 2: 22.0, 3: 33.0}).note.endswith("; by 9.1% (-2.2 to 20%)")
    far, near = ({seed: x + d for seed, x in FIRST.items()} for d in (9.0, 0.0))
    assert below(FIRST, far).verdict is YES
    assert below(FIRST, far, near).verdict is NO
    near[1] += 1.0
    assert below(FIRST, far, near).verdict is PARTLY


def test_an_order_of_one_seed_has_no_interval_and_says_so() -> None:
    judged = above({1: 2.0}, {1: 1.9, 2: 1.0})
    assert (judged.verdict, judged.note) == (YES, "above, in one seed; by 5.3%")
    assert above({1: 1.9}, {1: 2.0}).verdict is NO


@pytest.mark.parametrize("others", [(), ({},), ({9: 1.0},), (FIRST, {})])
def test_an_order_to_nothing_is_not_reproduced(others: tuple[dict[int, float], ...]) -> None:
    judged = below(FIRST, *others)
    assert judged.verdict is NO
    assert judged.note.startswith("no data")


def test_a_claim_is_as_weak_as_its_weakest_part() -> None:
    yes, partly, no = (Judged(v, v.value) for v in (YES, PARTLY, NO))
    assert weakest(yes, yes).verdict is YES
    assert weakest(yes, partly).verdict is PARTLY
    assert weakest(yes, no).verdict is NO


def test_together() -> None:
    yes, partly, no = (Judged(v, v.value) for v in (YES, PARTLY, NO))
    assert together(yes, yes).verdict is YES
    assert together(yes, no).verdict is PARTLY
    assert together(partly, partly).verdict is PARTLY
    assert together(no, no).verdict is NO
    assert together(yes, no, no).note == "reproduced and not"


def test_a_ledger_names_the_setting() -> None:
    ledger = Ledger("A-fig8", "2us")
    ledger.add("k30-amp", "text", "2 ms", "1.95 ms", about(1.95, 2.0))
    assert ledger.claims[0].as_dict() == {
        "id": "A-fig8.k30-amp@2us",
        "text": "text",
        "paper": "2 ms",
        "measured": "1.95 ms",
        "verdict": "reproduced",
        "note": "within 25%; partly: within a factor of 2",
        "single_seeds": [],
    }


class Mean(Experiment):
    """Judges whether the mean of values is about 2."""

    id = "Mean"
    columns: ClassVar[tuple[Column, ...]] = (KEY_SEED, Column("value", "f64", "", "a value"))

    def points(self, seeds: Sequence[int]) -> list[Point]:
        return [Point({}, "", seed) for seed in seeds]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        raise NotImplementedError

    def draw(self, data: pl.DataFrame) -> Figure:
        raise NotImplementedError

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        ledger, mean = Ledger(self.id), float(data["value"].to_numpy().mean())
        ledger.add("about", "it is about 2", "2", f"{mean:g}", about(mean, 2.0))
        return ledger.claims


class OfAllSeeds(Mean):
    of_single_seeds = False


class Ratio(Mean):
    """The ratio of drawn values to one that is measured once, without randomness."""

    def points(self, seeds: Sequence[int]) -> list[Point]:
        drawn = [Point({"load": "random", "k": 1}, "", seed) for seed in seeds]
        return [Point({"load": "fixed", "k": 1}, "", seeds[0]), *drawn]

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        ledger = Ledger(self.id)
        drawn, fixed = (
            data.filter(pl.col("load") == load)["value"] for load in ("random", "fixed")
        )
        known = len(fixed) == 1 and len(drawn) > 0
        ratio = float(drawn.to_numpy().mean()) / fixed[0] if known else None
        ledger.add("ratio", "it is about 2", "2", f"{ratio}", about(ratio, 2.0))
        return ledger.claims


VALUES = pl.DataFrame({"seed": [3, 1, 2, 1], "value": [4.1, 2.5, 1.2, 1.5]})


def test_a_margin_does_not_make_another_claim() -> None:
    """It is measured: condensed data has it a little different."""
    close, closer = ({1: 10.0, 2: 12.0 + more, 3: 11.0} for more in (0.0, 0.1))
    notes = [below(mine, {1: 20.0, 2: 21.0, 3: 22.0}).note for mine in (close, closer)]
    assert notes[0] != notes[1]
    claims = [Claim("A.b", "b", "", "", YES, f"{note} and {note}") for note in notes]
    assert claims[0].declared() == claims[1].declared()
    assert claims[0].declared() != replace(claims[0], note="below").declared()


def test_a_claim_is_judged_by_each_seed_too() -> None:
    (claim,) = judge(Mean(), VALUES)
    assert claim.verdict is YES  # the mean of all is 2.325
    assert Claim.of(claim.as_dict()) == claim
    assert claim.single_seeds == (YES, PARTLY, NO)  # 2, 1.2 and 4.1
    assert claim.as_dict()["single_seeds"] == ["reproduced", "partly", "not"]


def test_a_run_without_randomness_belongs_to_each_seed() -> None:
    data = pl.DataFrame(
        {
            "load": ["random", "fixed", "random", "random"],
            "k": [1, 1, 1, 1],
            "seed": [2, 1, 3, 1],
            "value": [4.0, 2.0, 3.0, 9.0],
        }
    )
    (claim,) = judge(Ratio(), data)
    assert (claim.measured, claim.single_seeds) == (f"{16 / 6}", (NO, YES, YES))  # 4.5, 2, 1.5


def test_one_seed_and_claims_of_all_seeds_have_no_verdicts_of_single_seeds() -> None:
    (claim,) = judge(Mean(), VALUES.filter(pl.col("seed") == 2))
    assert (claim.verdict, claim.single_seeds) == (PARTLY, ())
    (claim,) = judge(OfAllSeeds(), VALUES)
    assert (claim.verdict, claim.single_seeds) == (YES, ())


@pytest.mark.parametrize(
    ("criterion", "good", "note"),
    [
        (about_2, 2.0, "within 25%; partly: within a factor of 2"),
        (close_to_2, 2.0, "within 15%; partly: within a factor of 2"),
        (over_800, 900.0, "at or above it; partly: at least half of it"),
        (under_1, 0.5, "at or below it; partly: at most twice as much"),
        (like_4, 4.0, "ratio of larger to smaller at most 1.25; partly: 2"),
        (order_of_magnitude, 10.0, "ratio at least 10; partly: 3.16"),
        (doubled, 2.0, "1.75 to 2.25 times; partly: 1.5 to 3"),
        (halved, 0.5, "0.375 to 0.625 times; partly: 0.25 to 0.75"),
        (over_113, 1.2, "at least 1.13 times; partly: 1.065 times"),
    ],
)
def test_a_verdict_comes_with_its_criterion(criterion: Criterion, good: float, note: str) -> None:
    assert criterion(good).note == note
    assert criterion(None).note == f"no data; {note}"


def test_the_criterion_of_most_names_the_case() -> None:
    assert most([True], "it holds").note == "it holds, in at least 90% of the cases; partly: 50%"
    assert most([], "it holds", 0.8, 0.3).note == (
        "no data; it holds, in at least 80% of the cases; partly: 30%"
    )


def test_a_ledger_without_a_setting_names_none() -> None:
    ledger = Ledger("A-fig8")
    ledger.add("k30", "text", "2 ms", "1.95 ms", about(1.95, 2.0))
    assert ledger.claims[0].id == "A-fig8.k30"


def test_cases_are_counted() -> None:
    assert cases([True, False, True]) == "2 of 3 cases"
