"""Comparisons of a few numbers, as text and as LaTeX."""

import math
import re
from collections.abc import Mapping, Sequence
from html import unescape
from itertools import pairwise, product
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.loading import inline
from linkpool.study import Study, StudyError
from linkpool.study.comparison import Comparison
from linkpool.study.statistics import POOLED, over_seeds

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
            **{key: study.names[key][inline(value)] for key, value in settings.items()},
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
    assert found.notes() == []
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


@pytest.mark.parametrize(
    ("counts", "repeats"),
    [
        ({("a", "all"): 9, ("a", "small"): 9, ("b", "all"): 8, ("b", "small"): 8}, True),
        ({("a", "all"): 9, ("a", "small"): 9, ("b", "all"): 8, ("b", "small"): 7}, False),
        ({("a", "all"): 9, ("a", "small"): 9, ("b", "all"): 8, ("b", "large"): 8}, False),
        ({("a", "small"): 9, ("b", "small"): 8}, False),
    ],
)
def test_a_class_of_all_flows_is_named_and_not_repeated(
    counts: Mapping[tuple[str, str], int], repeats: bool
) -> None:
    """Flows of the classes may be others in each arm: then their rows say something."""
    row = {"seed": 1, "measure": "fct", "statistic": "mean", "unit": "s", "value": 1.0}
    ends = {"unfinished": 0, "at_least": False}
    rows = [{"arm": a, "part": p, **row, "count": n, **ends} for (a, p), n in counts.items()]
    found = Comparison(over_seeds(pl.DataFrame(rows), ["arm"], {}), ("arm",), {})
    note = "every flow is in the class small: its rows would repeat those of all flows"
    assert (note in found.notes()) == repeats
    for shown in (found.text(), found.markdown(), found.latex(), found.html()):
        assert ("small" not in shown) == repeats
    assert found.shown.height == (2 if repeats else len(rows))
    assert found.table.height == len(rows)


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
    assert found.latex().splitlines()[4:6] == [
        r"jct mean, ring & 1 s (1 to 1) & 2 s $\times$2 \\",
        r" &  & without 2 of 3 seeds \\",
    ]


def test_latex_prints_every_character_of_a_label() -> None:
    """By hand: the ten characters that LaTeX gives a meaning in text; what follows is eaten not."""
    row = {"seed": 1, "measure": "jain", "part": "all", "statistic": "index", "unit": ""}
    rows = [{"arm": arm, **row, "value": 1.0, **COUNTED} for arm in (r"a\b", "x^2~", "&%$#_{}")]
    found = Comparison(over_seeds(pl.DataFrame(rows), ["arm"], {}), ("arm",), {})
    assert found.latex().splitlines()[2] == (
        r" & a\textbackslash{}b & x\textasciicircum{}2\textasciitilde{} & \&\%\$\#\_\{\} \\"
    )


OPERATIONS = """
duration = "100ms"
[topology.many-to-one]
senders = 3
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "reno"
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
size = "1MB"
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
size = "3MB"
iterations = 2
"""


@pytest.mark.core
@pytest.mark.parametrize("label", [None, "train"])
def test_workloads_called_the_same_have_rows_of_their_own(
    tmp_path: Path, label: str | None
) -> None:
    """Both have the name of their kind, or one label, and jobs from 0 on. One has two jobs."""
    text = OPERATIONS
    if label is not None:
        text = text.replace(
            "[[workload.collective]]", f'[[workload.collective]]\nlabel = "{label}"'
        )
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    result = linkpool.run(tmp_path / "s.toml")
    names = ("workload", "job", "jct_s")
    times = {(workload, job): time for workload, job, time in result.jobs.select(names).rows()}
    assert sorted(times) == [(0, 0), (1, 0), (1, 1)]
    found = Comparison.of_results([("one", result)], ["jct.mean"]).table
    called = label or "collective"
    means = dict(found.select("part", "mean").rows())
    assert means == {
        called: pytest.approx(sum(times.values()) / 3),
        f"{called}, workload 0": pytest.approx(times[0, 0]),
        f"{called}, workload 1": pytest.approx((times[1, 0] + times[1, 1]) / 2),
    }
    assert found["count_least"].to_list() == [3, 1, 2]


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


def of_times(
    values: Mapping[str, Sequence[tuple[float | None, int, int]]], measure: str = "fct"
) -> Comparison:
    """Compare 99th percentiles by arm and seed: the value, how many flows, how many unfinished."""
    rows = [
        {
            **{"arm": arm, "seed": seed, "measure": measure, "part": "all", "statistic": "p99"},
            **{"unit": "s", "value": value, "count": count, "unfinished": cut_off},
            "at_least": cut_off > 0,
        }
        for arm, of_arm in values.items()
        for seed, (value, count, cut_off) in enumerate(of_arm)
    ]
    reference = {"arm": "dctcp"}
    table = over_seeds(pl.DataFrame(rows, infer_schema_length=None), ["arm"], reference)
    return Comparison(table, ("arm",), reference)


BASE = [(0.001, 100, 0), (0.002, 120, 0), (0.004, 110, 0)]


def lines(found: Comparison) -> list[list[str]]:
    """Return the lines of the only row, split at wide gaps."""
    text = found.text(200).partition("─\n")[2]
    return [re.split(r"  +", line.strip()) for line in text.splitlines()]


def test_cells_of_times_by_hand() -> None:
    """Means of 2 and 20 ms; logarithms of 2 and of 10 have a spread of ln 2 and none."""
    found = of_times({"dctcp": BASE, "amp": [(10 * v, n, c) for v, n, c in BASE]})
    assert lines(found) == [
        ["fct p99, n 100-120", "2 ms (360 us to 11 ms)", "20 ms (3.6 to 110)"],
        ["×10 (10 to 10)"],
        ["higher in 3 of 3 seeds *"],
    ]
    assert found.notes() == [
        "*: differs from the baseline, at 95% confidence for the only comparison",
        "n: how many values of one run it is of",
    ]


def test_cells_of_unfinished_flows() -> None:
    bound = [(0.01, 100, 3), (0.02, 100, 0), (0.0004, 100, 4)]
    found = of_times({"dctcp": BASE, "amp": bound})
    assert lines(found) == [
        ["fct p99, n 100-120", "2 ms (360 us to 11 ms)", "≥ 4.31 ms"],
        ["7 of 300 unfinished"],
        ["×≥ 2.15"],
        ["higher in 2 of 3 seeds"],
    ]
    assert "≥: at least so much" in found.notes()[0]
    assert "no difference stands at 95% confidence for the only comparison" in found.notes()[1]
    rows = [row.rpartition(" & ")[2] for row in found.latex().splitlines()[4:8]]
    assert rows == [
        r"$\ge$ 4.31 ms \\",
        r"7 of 300 unfinished \\",
        r"$\times$$\ge$ 2.15 \\",
        r"higher in 2 of 3 seeds \\",
    ]
    one = of_times({"dctcp": BASE[:1], "amp": bound[:1]})
    assert lines(one)[2] == ["×≥ 10"]
    assert len(one.notes()) == 2, "one seed is no comparison, and its count says nothing"
    below = of_times({"dctcp": bound, "amp": [(v / 10, n, c) for v, n, c in BASE]})
    assert lines(below)[1:] == [
        ["7 of 300 unfinished", "×≤ 0.0464"],
        ["lower in 2 of 3 seeds"],  # 400 us, and at least 400 us
    ]


def test_counts_of_a_row_are_told_from_the_least_to_the_most() -> None:
    one = {"dctcp": [(0.001, 100, 0)], "amp": [(0.002, 120, 0)]}
    assert lines(of_times(one))[0][0] == "fct p99, n 100-120"
    assert lines(of_times({name: [(0.001, 120, 0)] for name in one}))[0][0] == "fct p99, n 120"


def test_names_of_scenarios_stand_for_what_goes_with_them() -> None:
    zipped = {"name": ["slow", "fast"], "queue.mark": [10, 20]}
    assert words(comparison(zip=[zipped]).text())[0] == ["slow", "fast"]
    both = words(comparison(vary={"name": ["slow", "fast"], "queue.mark": [10, 20]}).text(200))
    assert both[0][:2] == ["slow,", "queue.mark"], "a name has two marks"


def test_parts_of_a_statistic_stand_below_its_heading() -> None:
    """A statistic of a single part has its own row, and values of all flows come first."""
    what = [("mean", "small"), ("p50", "all"), ("p50", "small"), ("p99", "small"), ("p99", "large")]
    rows = [
        {"arm": "a", "seed": 1, "measure": "fct", "part": part, "statistic": statistic, "unit": "s"}
        | {"value": 1.0, **COUNTED}
        for statistic, part in what
    ]
    found = Comparison(
        over_seeds(pl.DataFrame(rows), ["arm"], {"arm": "a"}), ("arm",), {"arm": "a"}
    )
    labels = [line.removesuffix("1 s").rstrip() for line in found.text().splitlines()[2:]]
    assert labels == ["fct mean, small", "fct p50", "  small", "fct p99", "  small", "  large"]


def test_a_long_name_of_an_arm_goes_over_several_lines() -> None:
    """No column is wider than 22 characters for its name: 10 of the label, 2 + 5, and 2 + 22."""
    found = comparison(arm=[{"name": "dctcp"}, {"name": "a scheme with a long name and more"}])
    lines = found.text().splitlines()
    assert lines[0].strip() == "a scheme with a long"
    assert lines[1].split() == ["dctcp", "name", "and", "more"]
    assert lines[2] == "─" * (10 + 2 + 5 + 2 + 22)


def test_columns_stand_side_by_side_if_they_just_fit() -> None:
    found = comparison(arm=ARMS)
    width = max(map(len, found.text(200).splitlines()))
    assert found.text(width) == found.text(200)
    assert "\n\n" in found.text(width - 1)


def test_as_many_higher_as_lower_seeds_are_told_as_higher() -> None:
    swapped = [(0.002, 100, 0), (0.001, 120, 0)]
    assert lines(of_times({"dctcp": BASE[:2], "amp": swapped}))[-1] == ["higher in 1 of 2 seeds"]


def test_cells_without_a_value_or_a_ratio_give_the_reason() -> None:
    few = [(None, 90, 0)] * 3
    assert lines(of_times({"dctcp": BASE, "amp": few})) == [
        ["fct p99, n 90-120", "2 ms (360 us to 11 ms)", "p99 needs 100 values"]
    ]
    found = lines(of_times({"dctcp": few, "amp": BASE}))
    assert found[1:] == [["no ratio: no baseline"]]
    rest = [(0.0, 7, 0)] * 3
    found = lines(of_times({"dctcp": rest, "amp": BASE, "lia": rest}, "goodput"))
    assert found == [
        ["goodput p99, n 7-120", "0 s", "2.33 ms ±160%", "0 s"],
        ["no ratio: baseline 0"],
        ["higher in 3 of 3 seeds"],
    ]


@pytest.mark.parametrize(("at_least", "shown"), [(False, ["5 (4 to 7)"]), (True, ["≥ 5"])])
def test_pooled_percentiles_have_their_own_notes(at_least: bool, shown: list[str]) -> None:
    """A lower bound has no interval: its lower end may be a bound, too."""
    what = {"arm": "a", "measure": "goodput", "part": "all", "statistic": "p99", "unit": ""}
    values = {"count": 300, "unfinished": 4, "value": 5.0, "low": 4.0, "high": 7.0}
    rest = {"at_least": at_least, "why": None}
    table = pl.DataFrame([{**what, **values, **rest}], schema_overrides=POOLED)
    found = Comparison.of_pooled(table, ("arm",), {})
    unfinished = [["4 of 300 unfinished"]] if at_least else []
    assert lines(found) == [["goodput p99, n 300", *shown], *unfinished]
    assert found.notes()[-1] == "n: how many values of all seeds together it is of"


def test_ends_of_an_interval_that_two_digits_do_not_tell_apart_have_three() -> None:
    def said(amp: list[float]) -> str:
        values = {"dctcp": [1.0] * 3, "amp": amp}
        return of_times({arm: [(one, 100, 0) for one in of] for arm, of in values.items()}).text()

    # Logarithms 0, 0.0198 and 0.0392: their mean, 0.01967, plus and minus 4.3027 times 0.01961 /
    # sqrt(3), or 0.04871.
    assert "×1.02 (0.97 to 1.1)" in said([1.0, 1.02, 1.04])
    # Half as far apart: plus and minus 0.0244 of the logarithm 0.0198.
    assert "×1.02 (0.995 to 1.05)" in said([1.01, 1.02, 1.03])


@pytest.mark.parametrize(
    ("mean", "low", "high", "shown"),
    [
        (12.6, 12.1, 12.9, "12.6 (12 to 13)"),
        (12.6, 12.51, 12.7, "12.6 (12.5 to 12.7)"),  # not 13 to 13
        (13.0, 12.9, 13.1, "13 (12.9 to 13.1)"),
        (12.8, 12.51, 13.7, "12.8 (12.5 to 13.7)"),  # not 13 to 14, above the mean
        (12.3, 11.3, 12.4, "12.3 (11.3 to 12.4)"),  # not 11 to 12, below it
        (12.6, 12.6, 12.6, "12.6 (12.6 to 12.6)"),
        (12345.6, 11100.0, 14400.0, "12,346 (11,000 to 14,000)"),
    ],
)
def test_two_digits_of_the_ends_of_an_interval_stand_around_the_mean(
    mean: float, low: float, high: float, shown: str
) -> None:
    what = {"arm": "a", "measure": "slowdown", "part": "all", "statistic": "p99", "unit": ""}
    values = {"count": 300, "unfinished": 0, "value": mean, "low": low, "high": high}
    rest = {"at_least": False, "why": None}
    table = pl.DataFrame([{**what, **values, **rest}], schema_overrides=POOLED)
    assert lines(Comparison.of_pooled(table, ("arm",), {})) == [["slowdown p99, n 300", shown]]


def cells(found: Comparison) -> dict[str, list[list[str]]]:
    """Return the texts of the cells of a comparison by form: rows of columns.

    On a terminal a cell ends where the name of its column does.
    """
    head, _, *rows = found.text(400).splitlines()
    ends = [match.end() for match in re.finditer(r"\S+( \S+)*", head)]
    terminal: list[list[str]] = []
    for line in rows:
        columns = [line[a:b].strip() for a, b in pairwise([0, *ends])]
        value = columns[0].partition("  ")[2]
        if line[:4].strip():  # the name of a row, or of its part
            terminal.append([value.strip(), *columns[1:]])
        else:
            more = [columns[0], *columns[1:]]
            terminal[-1] = [f"{a} {b}".strip() for a, b in zip(terminal[-1], more, strict=True)]
    terminal = [row for row in terminal if any(row)]  # headings of parts have none
    markdown = [
        [re.sub(r"\\(.)", r"\1", cell.replace("<br>", " ")) for cell in line[2:-2].split(" | ")][1:]
        for line in found.markdown().splitlines()[2:]
    ]
    notebook = [
        [unescape(cell.replace("<br>", " ")) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", found.html())[1:]
    ]
    return {"terminal": terminal, "markdown": markdown, "notebook": notebook}


def test_all_forms_say_the_same() -> None:
    """Times with intervals and a ratio, a bound with unfinished flows, and no value at all."""
    bound = [(0.01, 100, 3), (0.02, 100, 0), (0.0004, 100, 4)]
    few: Sequence[tuple[float | None, int, int]] = [(None, 90, 0)] * 3
    ten = [(10 * v, n, c) for v, n, c in BASE]
    found = cells(of_times({"dctcp": BASE, "amp": ten, "lia": bound, "xmp": few}))
    assert found["terminal"] == found["markdown"] == found["notebook"]
    assert r"higher in 3 of 3 seeds \*" in of_times({"dctcp": BASE, "amp": ten}).markdown()
    assert found["markdown"] == [
        [
            "2 ms (360 us to 11 ms)",
            "20 ms (3.6 to 110) ×10 (10 to 10) higher in 3 of 3 seeds *",
            "≥ 4.31 ms 7 of 300 unfinished ×≥ 2.15 higher in 2 of 3 seeds",
            "p99 needs 100 values",
        ]
    ]


def test_markdown_has_groups_and_shows_what_it_means() -> None:
    found = comparison(arm=[{"name": "a|b"}, {"name": "x_y*z"}], vary={"queue.mark": [10, 20]})
    assert found.markdown().splitlines() == [
        r"|  | a\|b | x\_y\*z |",
        "| --- | ---: | ---: |",
        "| **queue.mark 10** |  |  |",
        "| jain index | 0.5 | 1<br>×2 |",
        "| **queue.mark 20** |  |  |",
        "| jain index | 0.75 | 1.25<br>×1.67 |",
    ]


def test_html_has_groups_and_names_as_they_are() -> None:
    found = comparison(arm=[{"name": "<a>"}, {"name": "b"}], vary={"name": ["<i>"]}).html()
    assert "<th>&lt;a&gt;</th><th>b</th>" in found
    assert "&lt;i&gt;" in found
    assert "<i>" not in found
    assert "<td>0.5</td><td>0.75<br>×1.5</td>" in found


def test_the_ends_of_a_ratio_are_on_their_sides_of_one() -> None:
    """Logarithms 0.06, 0.07 and 0.08: 0.07 plus and minus 4.3027 times 0.01 / sqrt(3), or 0.02484.

    The ends are 1.0462 and 1.0995. Two digits of the first would be 1, which is no difference.
    """
    close = [(math.exp(x), 100, 0) for x in (0.06, 0.07, 0.08)]
    found = of_times({"dctcp": [(1.0, 100, 0)] * 3, "amp": close})
    assert "×1.07 (1.05 to 1.1)" in found.text()
