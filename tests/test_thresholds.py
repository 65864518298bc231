"""Claims of a user's study: judged against values by hand, printed, and failing a CI run."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import linkpool
from linkpool.cli.commands import app
from linkpool.study import Study, StudyError
from linkpool.study.measuring import measure
from linkpool.study.plan import Plan
from linkpool.study.threshold import RELATIVE, Threshold
from linkpool.study.verdicts import Holds, Verdict, judge, junit

ROOT = Path(__file__).resolve().parent.parent


def data(values: dict[str, list[float]], unfinished: int = 0) -> pl.DataFrame:
    """Return data of a measure that has arithmetic means, by arm and seed."""
    rows: list[dict[str, Any]] = [
        {
            "arm": arm,
            "seed": seed,
            "measure": "goodput_kept",
            "part": "all",
            "statistic": "mean",
            "unit": "",
            "value": value,
            "count": 10,
            "unfinished": unfinished,
            "at_least": unfinished > 0,
        }
        for arm, of in values.items()
        for seed, value in enumerate(of, start=1)
    ]
    return pl.DataFrame(rows)


def verdicts(table: pl.DataFrame, **claim: Any) -> list[tuple[str, Holds]]:
    found = judge([Threshold(measure="goodput_kept.mean@all", **claim)], table, ["arm"])
    return [(one.of, one.holds) for one in found]


# Of 1, 2 and 3 the mean is 2, and Student's interval reaches from -0.48 to 4.48.
THREE = {"a": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"below": 4.49}, Holds.YES),
        ({"below": 4.48}, Holds.UNSURE),
        ({"below": 4.48, "sure": False}, Holds.YES),
        ({"below": 2.0}, Holds.NO),
        ({"above": -0.49}, Holds.YES),
        ({"above": -0.48}, Holds.UNSURE),
        ({"above": 2.0}, Holds.NO),
    ],
)
def test_the_whole_interval_is_to_be_there(claim: dict[str, Any], holds: Holds) -> None:
    assert verdicts(data(THREE), **claim) == [("a", holds)]


def test_the_ends_that_are_shown_are_on_their_side_of_the_bound() -> None:
    """The end 4.484 would be 4.5 with two digits, above the bound that it is below."""
    table = data(THREE)
    shown = {
        bound: judge([Threshold(measure="goodput_kept.mean@all", below=bound)], table, ["arm"])[0]
        for bound in (9.0, 4.49)
    }
    assert shown[9.0].measured == "2 (-0.48 to 4.5)"
    assert (shown[4.49].measured, shown[4.49].holds) == ("2 (-0.484 to 4.48)", Holds.YES)


def test_one_seed_has_no_interval() -> None:
    assert verdicts(data({"a": [2.0]}), below=2.1) == [("a", Holds.YES)]
    assert verdicts(data({"a": [2.0]}), below=1.9) == [("a", Holds.NO)]


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"below": 9.0}, Holds.UNSURE),
        ({"below": 9.0, "sure": False}, Holds.UNSURE),
        ({"below": 1.9}, Holds.NO),
        ({"above": 1.9}, Holds.YES),
        ({"above": 2.1}, Holds.UNSURE),
    ],
)
def test_a_lower_bound_is_above_and_never_below(claim: dict[str, Any], holds: Holds) -> None:
    assert verdicts(data(THREE, unfinished=1), **claim) == [("a", holds)]


def test_arms_are_compared_by_pairs_of_seeds() -> None:
    # Of 20, 22.1, 23.9 and 10, 11, 12 the ratio is 2, and Fieller's interval 1.979 to 2.026.
    table = data({"a": [20.0, 22.1, 23.9], "b": [10.0, 11.0, 12.0]})
    assert verdicts(table, above_arm="b", times=1.97) == [("a", Holds.YES)]
    assert verdicts(table, above_arm="b", times=1.98) == [("a", Holds.UNSURE)]
    assert verdicts(table, above_arm="b", times=2.01) == [("a", Holds.NO)]
    assert verdicts(table, arm="b", below_arm="a") == [("b", Holds.YES)]


def test_a_ratio_without_an_interval_is_unsure() -> None:
    """Student's interval of 1, 2 and 30 has 0 in it, so Fieller's has no end."""
    table = data({"a": [10.0, 20.0, 310.0], "b": [1.0, 2.0, 30.0]})
    assert verdicts(table, above_arm="b", times=2.0) == [("a", Holds.UNSURE)]
    assert verdicts(table, above_arm="b", times=2.0, sure=False) == [("a", Holds.YES)]


def test_claims_without_a_value_fail() -> None:
    table = data({"a": [1.0], "b": [1.0]})
    few = table.with_columns(value=pl.lit(None, pl.Float64), statistic=pl.lit("p99"))
    found = judge([Threshold(measure="goodput_kept.p99@all", below=1.0)], few, ["arm"])
    assert [(one.holds, one.measured) for one in found] == [(Holds.NO, "p99 needs 100 values")] * 2
    large = Threshold(measure="fct.mean@above 10 MB", below=1.0)
    (none,) = judge([large], table.with_columns(measure=pl.lit("fct")), ["arm"])
    assert (none.of, none.holds) == ("every arm:", Holds.NO)
    assert none.measured == f"no run has a value of {large.measure}; there are fct.mean@all"
    assert verdicts(table.head(0), below=1.0) == [("every arm:", Holds.NO)]


def test_claims_about_jobs_are_judged_by_label() -> None:
    """Times of jobs have no value of the whole run, only one for each label."""
    row = {"measure": "jct", "statistic": "mean", "unit": "s"}
    one = data({"a": [2.0], "b": [1.0]}).with_columns(
        **{name: pl.lit(value) for name, value in row.items()}, part=pl.lit("train")
    )
    other = one.with_columns(part=pl.lit("serve"), value=pl.col("value") * 10)
    claim = Threshold(measure="jct.mean", below="1500ms")
    found = judge([claim], one, ["arm"])
    assert [(one.of, one.holds) for one in found] == [("a", Holds.NO), ("b", Holds.YES)]
    found = judge([claim], pl.concat([one, other]), ["arm"])
    assert [(one.of, one.holds is Holds.YES) for one in found] == [
        ("a, train", False),
        ("b, train", True),
        ("a, serve", False),
        ("b, serve", False),
    ]
    named = Threshold(measure="jct.mean@serve", below_arm="a")
    found = judge([named], pl.concat([one, other]), ["arm"])
    assert [(one.of, one.holds, one.measured) for one in found] == [("b", Holds.YES, "×0.5")]


def test_claims_are_in_words() -> None:
    assert str(Threshold(measure="fct.p99@all", below="5ms")) == "fct.p99@all below 5 ms"
    assert str(Threshold(measure="jain", above=0.9)) == "jain above 0.9"
    assert str(Threshold(measure="jain", below=0)) == "jain below 0"
    words = "fct.mean below 0.5 times that of x"
    assert str(Threshold(measure="fct.mean", below_arm="x", times=0.5)) == words
    assert str(Threshold(measure="jain", above=0.9, text="fair")) == "fair"


@pytest.mark.core
def test_a_load_is_relative_to_the_rate_of_all_hosts(tmp_path: Path) -> None:
    """By hand: 24 flows of 128 KiB in 6 ms, of what nine hosts at 10 Gbit/s send in that time."""
    place = Path(__file__).parents[1] / "docs/workloads/incast.toml"
    result = linkpool.run(place, out=tmp_path / "r")
    (value,) = measure(result, ["load"])["value"]
    assert value == pytest.approx(24 * 128 * 1024 * 8 / (6e-3 * 9 * 10e9))
    assert Threshold(measure=RELATIVE, above=0.9).bound == 0.9


ARMS = 'arm = [{ name = "a" }, { name = "b", set = { queue.limit = 50 } }]\n'


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ('{ measure = "fct", below = 1 }', "fct has several statistics; name one, as in fct.mean"),
        ('{ measure = "fct.mean" }', "a claim has one of below, above, below_arm, above_arm"),
        ('{ measure = "fct.mean", below = "3KB" }', "'3KB' is no value of fct.mean, which is in s"),
        (
            '{ measure = "goodput.mean", above = 0.9 }',
            '0.9 has no unit, and goodput.mean is a rate: write one, as in "1Gbps"; '
            "load.delivered is relative",
        ),
        ('{ measure = "delivered", above = "9" }', "9 has no unit, and delivered is a rate"),
        ('{ measure = "jain", below = 1, above = 0 }', "a claim has one of below, above"),
        ('{ measure = "jain", below = 1, times = 2 }', "times goes with below_arm or above_arm"),
        ('{ measure = "jain", below = 1, times = 0.5 }', "times goes with below_arm or above_arm"),
        ('{ measure = "jain", below = 1, arm = "c" }', "claim.0: no arm 'c'; there are a, b"),
        ('{ measure = "jain", above_arm = "c" }', "claim.0: no arm 'c'; there are a, b"),
        ('{ measure = "jain", arm = "a", above_arm = "a" }', "arm and above_arm are both 'a'"),
        ('{ measure = "jain", below = 1, at = { x = 1 } }', "claim.0: at: x does not vary"),
        ('{ measure = "jain", below = nan }', "claim.0.below: nothing is below or above nan"),
        ('{ measure = "jain", above = -inf }', "claim.0.above: nothing is below or above -inf"),
        ('{ measure = "jain", below = true }', "claim.0.below: nothing is below or above True"),
        (
            '{ measure = "jain", below = "nan" }',
            "'nan' is no value of jain, which is without a unit",
        ),
        ('{ measure = "jain", below_arm = "a", times = inf }', "claim.0.times: nothing is below"),
        ('{ measure = "jain", blow = 1 }', "claim.0.blow: unknown key; there are measure, text"),
    ],
)
def test_wrong_claims_are_errors_of_the_file(claim: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        Study.parse(f'base = "x.toml"\n{ARMS}claim = [{claim}]\n')
    assert message in str(caught.value)


def test_a_claim_about_no_run_fails() -> None:
    claim = Threshold(measure="goodput_kept.mean@all", below=9.0, arm="b")
    (found,) = judge([claim], data(THREE), ["arm"])
    assert (found.holds, found.measured) == (Holds.NO, "no run is one that it is about")


VARIED = "zip = [{ queue.limit = [50, 100], queue.mark = [5, 10] }]\n"


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ("{ queue.limit = 70 }", "claim.0: at: 70 is no queue.limit; there are 50, 100"),
        ("{ queue.limit = 50.0 }", "claim.0: at: 50.0 is no queue.limit; there are 50, 100"),
        ('{ queue.limit = "50" }', "claim.0: at: '50' is no queue.limit; there are 50, 100"),
        (
            "{ queue.limit = 50, queue.mark = 10 }",
            "claim.0: at: queue.limit 50 and queue.mark 10 do not go together in zip",
        ),
    ],
)
def test_a_claim_is_about_runs_that_there_are(of: str, message: str) -> None:
    claim = f'{{ measure = "jain", below = 1, at = {of} }}'
    with pytest.raises(StudyError) as caught:
        Study.parse(f'base = "x.toml"\n{VARIED}claim = [{claim}]\n')
    assert str(caught.value) == f"the study: {message}"


def test_an_arm_alone_is_compared_with_none() -> None:
    claim = 'claim = [{ measure = "jain", below_arm = "a" }]'
    with pytest.raises(StudyError, match=r"claim.0: there is no arm beside 'a' to compare"):
        Study.parse(f'base = "x.toml"\narm = [{{ name = "a" }}]\n{claim}\n')


@pytest.mark.core
def test_a_claim_needs_what_its_measure_needs_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    base = ROOT / "docs/workloads/incast.toml"
    file.write_text(f'base = "{base}"\nclaim = [{{ measure = "jct.mean", below = 1 }}]\n')
    message = r"jobs.toml: claim.0.measure: jct.mean needs \[workload\."
    with pytest.raises(StudyError, match=message):
        Plan.of(Study.load(file), tmp_path)


def test_junit_has_a_case_for_each_claim() -> None:
    found = [
        Verdict("p99 < 5 ms", "a", Holds.YES, "4 ms"),
        Verdict("fair\x1b", 'b "x"', Holds.UNSURE, "0.8"),
        Verdict("fair", "c", Holds.NO, "0.1"),
    ]
    root = ET.fromstring(junit("mine", found))
    (suite,) = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("mine", "3", "2")
    names = [case.get("name") for case in suite]
    assert names == ["p99 < 5 ms: a", 'fair\\x1b: b "x"', "fair: c"]
    failures = [case.find("failure") for case in suite]
    said = [None if one is None else one.get("message") for one in failures]
    assert said == [None, "unsure: 0.8", "fails: 0.1"]


@pytest.mark.core
@pytest.mark.parametrize(("most", "code"), [("1s", 0), ("1us", 1)])
def test_a_claim_that_does_not_hold_is_exit_code_1(most: str, code: int, tmp_path: Path) -> None:
    file = tmp_path / "ci.toml"
    file.write_text(
        f'base = "{ROOT}/docs/workloads/incast.toml"\nmeasures = ["jain"]\n'
        f'claim = [{{ measure = "fct.max@all", below = "{most}" }}]\n',
        encoding="utf-8",
    )
    words = ["study", "run", str(file), "--out", str(tmp_path / "out")]
    said = CliRunner().invoke(app, [*words, "--junit", str(tmp_path / "j.xml")])
    assert said.exit_code == code, said.output
    word = "holds" if code == 0 else "fails"
    assert f"  {word}: fct.max@all below {'1 s' if code == 0 else '1 us'}: base" in said.stdout
    assert ("claims that do not hold: 1 of 1" in said.stderr) == bool(code)
    assert ET.parse(tmp_path / "j.xml").getroot().get("failures") == str(code)
    shown = CliRunner().invoke(app, ["study", "show", str(tmp_path / "out" / "ci")])
    assert f"  {word}: fct.max" in shown.stdout
