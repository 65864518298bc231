"""Claims that a table states: their words and their criteria, by values worked out by hand."""

import pytest

from linkpool.study import claims
from linkpool.study.claims import Judged, Ledger, Verdict
from linkpool.study.stated import Stated

FULL, PARTLY, NOT = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT


@pytest.mark.parametrize(
    ("criterion", "verdicts"),
    [
        (">= 2, partly > 1", {2.0: FULL, 1.999: PARTLY, 1.0: NOT, 1.001: PARTLY}),
        ("> 2, partly >= 1", {2.0: PARTLY, 2.001: FULL, 1.0: PARTLY, 0.999: NOT}),
        ("<= 0.75, partly < 1", {0.75: FULL, 0.751: PARTLY, 0.999: PARTLY, 1.0: NOT}),
        ("< 0.75, partly <= 1", {0.75: PARTLY, 0.749: FULL, 1.0: PARTLY, 1.001: NOT}),
        (
            "0.9 to 1.1, partly 0.8 to 1.25",
            {0.9: FULL, 1.1: FULL, 0.899: PARTLY, 1.25: PARTLY, 0.799: NOT, 1.251: NOT},
        ),
        (
            "> 1, <= 2, partly > 0.5, <= 4",
            {1.0: PARTLY, 1.001: FULL, 2.0: FULL, 4.1: NOT, 0.5: NOT},
        ),
        ("-0.05 to 0.05, partly -0.1 to 0.1", {-0.05: FULL, -0.06: PARTLY, 0.11: NOT}),
    ],
)
def test_bounds_are_those_that_are_written(criterion: str, verdicts: dict[float, Verdict]) -> None:
    stated = Stated("", "", criterion, "in words")
    for value, verdict in verdicts.items():
        assert stated.judge([value], {}) == Judged(verdict, "in words"), value
    assert stated.judge([None], {}) == Judged(NOT, "no data; in words")


@pytest.mark.parametrize(
    ("criterion", "value", "judged"),
    [
        ("about 10", 12.6, claims.about(12.6, 10)),
        ("about {paper} within 15%", 11.6, claims.about(11.6, 10, 0.15)),
        ("over 0.8", 0.7, claims.over(0.7, 0.8)),
        ("under 15", 15.1, claims.under(15.1, 15)),
        ("times 4", 3.9, claims.by_factor(3.9, 4)),
        ("times 4 within 15%", 3.0, claims.by_factor(3.0, 4, 0.15)),
        ("more 1.13 within 0%", 1.129, claims.more(1.129, 1.13, 0.0)),
        ("order of magnitude", 4.0, claims.order_of_magnitude(4.0)),
    ],
)
def test_a_criterion_has_its_numbers(criterion: str, value: float, judged: Judged) -> None:
    assert Stated("", "", criterion).judge([value], {"paper": 10}) == judged


def test_criteria_of_several_values_take_them_in_order() -> None:
    low, high = {1: 1.0, 2: 1.1, 3: 1.2}, {1: 2.0, 2: 2.1, 3: 2.2}
    assert Stated("", "", "below").judge([low, high], {}).verdict is FULL
    assert Stated("", "", "above").judge([low, high], {}).verdict is NOT
    assert Stated("", "", "alike").judge([1.0, 1.3], {}).verdict is PARTLY
    assert Stated("", "", "same").judge([1.0, 1.3], {}).verdict is NOT


def test_cases_are_counted_with_their_note() -> None:
    hits = [True, True, False]
    assert Stated("", "", "most", "so").judge([hits], {}) == claims.most(hits, "so")
    some = Stated("", "", "most 60% 20%", "so").judge([hits], {})
    assert some == claims.most(hits, "so", 0.6, 0.2)
    assert some.verdict is FULL
    assert Stated("", "", "majority", "so").judge([hits], {}) == claims.majority(hits, "so")


def test_criteria_have_a_note_each_or_the_same() -> None:
    both = Stated("", "", ">= 1, partly > 0 & most", "at least 1 & in so many")
    assert both.judge([[0.5], [[True]]], {}) == Judged(
        PARTLY, f"at least 1 and {claims.most([True], 'in so many').note}"
    )
    same = Stated("", "", ">= 1, partly > 0 and < 2, partly < 3", "near 1")
    assert same.judge([[1.0], [1.0]], {}) == Judged(FULL, "near 1")


def test_words_stand_in_the_claim_and_schemes_by_their_names() -> None:
    stated = Stated("{scheme} at {k}", "{paper:.1f} ms", ">= 1, partly >= 0", "at {k}")
    ledger = Ledger("X", "2us", {"{scheme}-{k}": stated})
    ledger.judge("{scheme}-{k}", "0.5 ms", 0.5, scheme="dctcp", k=30, paper=2)
    (claim,) = ledger.claims
    assert (claim.id, claim.text, claim.paper) == ("X.dctcp-30@2us", "DCTCP at 30", "2.0 ms")
    assert (claim.measured, claim.verdict, claim.note) == ("0.5 ms", PARTLY, "at 30")


def test_code_judges_where_there_is_no_criterion() -> None:
    judged = claims.grade(True, True, "by code")
    assert Stated("it is so", "").judge([judged], {}) == judged
    with pytest.raises(ValueError, match=r"it is so: there is no criterion for 1\.0"):
        Stated("it is so", "").judge([1.0], {})


@pytest.mark.parametrize("criterion", ["roughly 10", "about", "about ten", "most of them", "=> 2"])
def test_what_is_no_criterion_is_an_error(criterion: str) -> None:
    with pytest.raises((ValueError, TypeError), match=r"criterion|argument"):
        Stated("", "", criterion).judge([1.0], {})
