"""Formulas of claims, by values computed by hand."""

import polars as pl
import pytest

from linkpool.experiments import formulas
from linkpool.experiments.formulas import Found
from linkpool.study.stated import Stated
from linkpool.study.statistics import Spread

ROWS = pl.DataFrame(
    {
        "scheme": ["a", "a", "b", "b"],
        "k": [1, 1, 1, 2],
        "big": [True, False, True, False],
        "seed": [1, 2, 1, 2],
        "x": [2.0, 4.0, 1.0, 8.0],
    }
)
NAMED = {"widest": lambda rows: rows["x"].max(), "told": lambda rows: Found.of("so", 7)}


def value(formula: str, rows: pl.DataFrame = ROWS) -> object:
    return formulas.value(formula, rows, NAMED.__getitem__)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("mean x scheme=a", 3.0),
        ("median x", 3.0),
        ("mean x k=2", 8.0),  # a whole number
        ("mean x big=false", 6.0),  # a truth
        ("mean x scheme=a / mean x scheme=b", 3.0 / 4.5),
        ("10 * mean x scheme=a - 1", 29.0),  # from left to right
        ("mean x k=1 / mean x k=2 where scheme=b", 1.0 / 8.0),
        ("widest scheme=b", 8.0),
        ("seeds mean x scheme=a", Spread(3.0, 2.0, 4.0)),
        ("least mean x scheme=a", 2.0),
        ("seeds mean x scheme=a / 2", 1.5),
        ("mean x scheme=none / 2", None),
        ("rows k=1", 3),
        ("rows x>=2 x<8 / rows", 0.5),
        ("sum x scheme=b", 9.0),
        ("max x k<2 - min x k<=2 where scheme=b", 0.0),
        ("mean x scheme=a / (most of mean x scheme=a|b)", 3.0 / 4.5),
        ("1 - (mean x scheme=a - 1)", -1.0),
        ("mean x / (mean x where k>1)", 3.75 / 8.0),
        ("seeds (mean x scheme=a / mean x scheme=b)", Spread(1.25, 0.5, 2.0)),
    ],
)
def test_values(formula: str, expected: object) -> None:
    assert value(formula) == expected


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(KeyError, match="narrowest"):
        value("narrowest scheme=a")
    with pytest.raises(KeyError, match="colour"):
        value("mean x colour=red")


def judged(criterion: str, how: dict[str, object], **words: object) -> Found:
    stated = Stated.read(["text", "paper", criterion, "", how])
    return formulas.judged(stated, words, ROWS, NAMED.__getitem__)


def test_a_claim_has_its_text_and_its_values() -> None:
    found = judged("alike", {"value": "mean x scheme=a|b", "shown": "{:.1f ms}"})
    assert found == ("a 3.0 ms, b 4.5 ms", [3.0, 4.5])
    shown = ["{:.2g} of {:number} at {k}", "mean x k={k}", "widest"]
    assert judged("", {"value": "mean x k={k}", "shown": shown}, k=2) == ("8 of 8 at 2", [8.0])
    assert judged("", {"value": "told"}) == ("so", (7,))


def test_values_of_each_seed_are_judged_by_order() -> None:
    found = judged("below", {"value": ["mean x scheme=b", "mean x scheme=a"], "shown": "{} {}"})
    assert found == ("4.5 3.0", [{1: 1.0, 2: 8.0}, {1: 2.0, 2: 4.0}])
    both = judged("below & alike", {"value": ["mean x scheme=a|b", "mean x scheme=a|b"]})
    assert both.values == [[{1: 2.0, 2: 4.0}, {1: 1.0, 2: 8.0}], [3.0, 4.5]]


@pytest.mark.parametrize(
    ("end", "expected"),
    [("least of", 3.0), ("most of", 4.5), ("average of", 3.75), ("gap of", 1.5)],
)
def test_one_value_of_several(end: str, expected: float) -> None:
    assert judged("about 1", {"value": f"{end} mean x scheme=a|b"}).values == [expected]
    assert judged("about 1", {"value": f"{end} mean x scheme=a|c"}).values == [None]


def test_cells_have_a_value_each_where_there_are_rows() -> None:
    found = judged("", {"value": "mean x for k scheme=a|b", "shown": "{:.1f}"})
    assert found == ("3.0, 1.0, 8.0", [3.0, 1.0, 8.0])
    assert judged("", {"value": "middle of mean x for k scheme=a|b"}).values == [3.0]
    assert judged("", {"value": "mean x", "shown": ["{}", "span of mean x for scheme"]}).text == (
        "3 to 4.5"
    )
    both = judged("", {"value": "mean x scheme=a|b / mean x where x<8 for k"})
    assert both.values == pytest.approx([9.0 / 7.0, 3.0 / 7.0])


def test_cases_are_counted_or_a_share() -> None:
    how: dict[str, object] = {"value": "cases > 1, <= 4 of mean x for k scheme=a|b"}
    assert judged("most", how) == ("1 of 3 cases", [[True, False, False]])
    assert judged(">= 1", how) == ("1 of 3 cases", [1 / 3])
    assert judged("most", {"value": "cases > 1 of mean x scheme=c"}) == ("no data", [[]])


def test_without_any_value_there_is_no_data() -> None:
    assert judged("about 1", {"value": "mean x scheme=c", "shown": "{:.1f} ms"}).text == "no data"
