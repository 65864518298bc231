"""Comparisons of a few numbers, as text and as LaTeX."""

from itertools import product

import polars as pl
import pytest

from linkpool.study import Study, StudyError
from linkpool.study.comparison import Comparison
from linkpool.study.statistics import over_seeds

COUNTED = {"count": None, "unfinished": None, "at_least": False}
"""Of a value that is not of a sample."""
ARMS = [{"name": "dctcp"}, {"name": "amp"}]


def comparison(**of_study: object) -> Comparison:
    """Compare Jain's index of made up runs: 1/2 for the first, 1/4 more for each other."""
    study = Study.from_dict({"base": "base.toml", "measures": ["jain"], **of_study})
    runs = product([{"arm": arm.name} for arm in study.arms], study.variations())
    rows = [
        {
            **arm,
            **{key: study.names[key][str(value)] for key, value in settings.items()},
            **{"seed": 1, "measure": "jain", "part": "all", "statistic": "index", "unit": ""},
            **{"value": 0.5 + 0.25 * i, **COUNTED},
        }
        for i, (arm, settings) in enumerate(runs)
    ]
    statistics = over_seeds(pl.DataFrame(rows), study.keys, study.reference)
    return Comparison(statistics, tuple(study.keys), study.reference)


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if "─" not in line]


def test_each_setting_has_its_rows_and_the_arms_side_by_side() -> None:
    found = comparison(arm=ARMS, vary={"queue.mark": [10, 20]})
    assert words(found.text()) == [
        ["dctcp", "amp"],
        ["queue.mark", "10"],
        ["jain", "index", "0.5", "1", "×2"],
        ["queue.mark", "20"],
        ["jain", "index", "0.75", "1.25", "×1.67"],
    ]


def test_what_ratios_are_to_comes_first_and_again_in_each_block() -> None:
    found = comparison(arm=ARMS, vary={"queue.mark": [10, 20, 30]}, baseline={"queue.mark": 20})
    assert words(found.text(50)) == [
        *(["queue.mark", "20", "queue.mark", "10"], ["dctcp"]),
        *(["jain", "index", "0.75", "0.5", "×0.667"], ["amp"]),
        *(["jain", "index", "1.5", "1.25", "×0.833"], []),
        *(["queue.mark", "20", "queue.mark", "30"], ["dctcp"]),
        *(["jain", "index", "0.75", "1", "×1.33"], ["amp"]),
        ["jain", "index", "1.5", "1.75", "×1.17"],
    ]


def test_without_a_baseline_each_setting_is_a_column() -> None:
    found = comparison(vary={"queue.mark": [10, 20]})
    assert words(found.text()) == [
        ["queue.mark", "10", "queue.mark", "20"],
        ["jain", "index", "0.5", "0.75"],
    ]


def test_values_that_go_together_are_one_baseline() -> None:
    zipped = {"a.rate": [1, 2.5], "a.delay": [3, 4]}
    found = comparison(zip=[zipped], baseline={"a.delay": 4})
    assert words(found.text())[-1] == ["jain", "index", "0.75", "0.5", "×0.667"]
    with pytest.raises(StudyError, match=r"baseline: a.rate 1 and a.delay 4 do not go together"):
        comparison(zip=[zipped], baseline={"a.rate": 1, "a.delay": 4})


def test_a_mean_of_fewer_seeds_says_so() -> None:
    """A run in which no job finished has no completion time, and none counts in the mean."""
    same = {"measure": "jct", "part": "ring", "statistic": "mean", "unit": "s"}
    values = [("dctcp", 1, 1.0), ("dctcp", 2, 1.0), ("dctcp", 3, 1.0), ("amp", 2, 2.0)]
    rows = [
        {"arm": arm, "seed": seed, **same, "value": value, **COUNTED} for arm, seed, value in values
    ]
    statistics = over_seeds(pl.DataFrame(rows), ["arm"], {"arm": "dctcp"})
    found = Comparison(statistics, ("arm",), {"arm": "dctcp"})
    lines = words(found.text())
    assert lines[1] == ["jct", "mean,", "ring", "1", "s", "(1", "to", "1)", "2", "s", "×2"]
    assert lines[2:] == [["without", "2", "of", "3", "seeds"]]
    assert r"2 s $\times$2 without 2 of 3 seeds \\" in found.latex()


def test_latex_has_the_same_groups() -> None:
    lines = comparison(arm=ARMS, vary={"queue.mark": [10, 20]}).latex().splitlines()
    assert lines == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r" & dctcp & amp \\",
        r"\midrule",
        r"\multicolumn{3}{l}{queue.mark 10} \\",
        r"jain index & 0.5 & 1 $\times$2 \\",
        r"\midrule",
        r"\multicolumn{3}{l}{queue.mark 20} \\",
        r"jain index & 0.75 & 1.25 $\times$1.67 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
