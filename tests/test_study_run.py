"""Studies as users run them: real runs, killed and resumed, and what comes of them."""

import base64
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats

from linkpool import ScenarioError, plot
from linkpool.cli import app
from linkpool.figures.kind import FigureError, Recipe
from linkpool.figures.kinds import slowdown
from linkpool.manifest import verify
from linkpool.report.data.answers import answers
from linkpool.result import NotRecordedError, Result, ResultError
from linkpool.study import Plan, Study, StudyError, StudyResult, run_study
from linkpool.study.arms import arms_of, arms_of_runs
from linkpool.study.measures import MEASURES
from linkpool.study.model import name_of
from test_cli import Captured, call

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.core

BASE = """
duration = "4ms"
drain = "100ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 3
rate = "10Gbps"
delay = "1us"
[queue]
limit = 50
mark = 10
[transport.t]
control = "dctcp"
[[workload.poisson]]
transport = "t"
load = 0.5
size = "30KB"
"""

STUDY = """
title = "Which one?"
base = "base.toml"
seeds = 3
measures = ["slowdown", "jain", "timeouts.total", "utilisation.mean", "loss@all"]
figures = ["slowdown", "sweep"]
report = true

[[arm]]
name = "dctcp"

[[arm]]
name = "amp"
set = { transport.t.control = "amp", transport.t.subflows = 2 }

[vary]
queue.mark = [5, 20]
"""


AT_LEAST = pl.col("slowdown").fill_null(pl.col("active_s") / pl.col("ideal_fct_s"))
"""The slowdown of a flow, or the least that it may be of one that has not finished."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a study that has run."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "base.toml").write_text(BASE, encoding="utf-8")
    (folder / "mine.toml").write_text(STUDY, encoding="utf-8")
    run_study(Plan.of(Study.load(folder / "mine.toml"), folder / "results"), jobs=2)
    return folder


@pytest.fixture(scope="module")
def answer(folder: Path) -> StudyResult:
    return StudyResult(folder / "results" / "mine")


def test_the_data_is_tidy(answer: StudyResult) -> None:
    assert answer.data.columns == [
        *("arm", "queue.mark", "seed", "measure", "part", "statistic", "unit", "value"),
        *("count", "unfinished", "at_least"),
    ]
    runs = answer.data.select("arm", "queue.mark", "seed").unique()
    assert runs.height == answer.runs.height == 2 * 2 * 3
    assert answer.runs.join(runs, on=["arm", "queue.mark", "seed"]).height == 12


def test_each_value_is_that_of_its_run(answer: StudyResult) -> None:
    ((keys, result),) = answer.results(arm="amp", seed=2, **{"queue.mark": 20})
    assert keys == {"arm": "amp", "queue.mark": 20, "seed": 2}
    assert "seed = 2\n" in result.scenario
    assert 'control = "amp"' in result.scenario
    rows = answer.data.filter(arm="amp", seed=2, **{"queue.mark": 20})
    flows = result.flows.filter("measured").with_columns(AT_LEAST)
    row = rows.filter(statistic="p99", part="all").row(0, named=True)
    assert row["value"] == pytest.approx(flows["slowdown"].quantile(0.99, "linear"))
    assert (row["count"], row["unfinished"]) == (flows.height, flows["end_s"].null_count())
    assert rows.filter(measure="jain")["value"].item() == result.summary.overall.jain
    use = {f"{u.layer}, {u.to_layer}": u.utilisation for u in result.summary.layers}
    shown = rows.filter(measure="utilisation")
    assert dict(zip(shown["part"], shown["value"], strict=True)) == use


def test_means_of_slowdowns_are_those_of_logarithms_and_paired(answer: StudyResult) -> None:
    what = {"measure": "slowdown", "part": "all", "statistic": "p50", "queue.mark": 5}
    amp, dctcp = (
        answer.data.filter(arm=arm, **what).sort("seed")["value"].to_numpy()
        for arm in ("amp", "dctcp")
    )
    row = answer.statistics.filter(arm="amp", **what).row(0, named=True)
    ends = stats.t.interval(0.95, 2, loc=np.log(amp).mean(), scale=stats.sem(np.log(amp)))
    assert (row["seeds"], row["mean"]) == (3, pytest.approx(stats.gmean(amp)))
    assert (row["low"], row["high"]) == pytest.approx(np.exp(ends))
    assert row["ratio"] == pytest.approx(stats.gmean(amp / dctcp))
    for end in (row["ratio_low"], row["ratio_high"]):
        assert stats.ttest_rel(np.log(amp), np.log(end * dctcp)).pvalue == pytest.approx(0.05)


def test_other_means_are_arithmetic_and_their_ratios_fiellers(answer: StudyResult) -> None:
    what = {"measure": "jain", "queue.mark": 5}
    amp, dctcp = (
        answer.data.filter(arm=arm, **what).sort("seed")["value"].to_numpy()
        for arm in ("amp", "dctcp")
    )
    row = answer.statistics.filter(arm="amp", **what).row(0, named=True)
    ends = stats.t.interval(0.95, 2, loc=amp.mean(), scale=stats.sem(amp))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((amp.mean(), *ends))
    assert row["ratio"] == pytest.approx(amp.mean() / dctcp.mean())
    for end in (row["ratio_low"], row["ratio_high"]):
        assert stats.ttest_1samp(amp - end * dctcp, 0.0).pvalue == pytest.approx(0.05)


def test_verdicts_are_for_all_comparisons_of_the_table(answer: StudyResult) -> None:
    """By Bonferroni's inequality for the least: its p-value, as often as there are some."""
    table = answer.statistics
    compared = table.filter(pl.col("p").is_not_null())
    assert compared["arm"].unique().to_list() == ["amp"], "the baseline is not compared with itself"
    smallest = []
    for row in compared.iter_rows(named=True):
        what = {key: row[key] for key in ("queue.mark", "measure", "part", "statistic")}
        x, y = (
            answer.data.filter(arm=arm, **what).sort("seed")["value"].to_numpy()
            for arm in ("amp", "dctcp")
        )
        if MEASURES[row["measure"]].by_ratio:
            x, y = np.log(x), np.log(y)
        if row["ratio_bound"] is None and row["ratio"] is not None and np.ptp(x - y) > 0:
            smallest.append(stats.ttest_rel(x, y).pvalue)
    assert compared["p"].min() == pytest.approx(min(1.0, min(smallest) * compared.height))
    assert compared["differs"].to_list() == [p < 0.05 for p in compared["p"]]


def test_flows_of_all_seeds_are_pooled(answer: StudyResult) -> None:
    flows = answer.scan("flows").filter("measured").with_columns(AT_LEAST).collect()
    mine = flows.filter(arm="amp", **{"queue.mark": 5})
    row = answer.pooled.filter(arm="amp", part="all", statistic="p99", **{"queue.mark": 5})
    assert row["count"].item() == mine.height
    assert row["value"].item() == pytest.approx(mine["slowdown"].quantile(0.99, "linear"))
    assert row["unfinished"].item() == mine["end_s"].null_count() > 0
    assert row["low"].item() < row["value"].item()


def test_a_study_can_be_measured_again(answer: StudyResult) -> None:
    again = answer.measure(answer.study.measures)
    assert again.equals(answer.data)
    assert answer.scan("flows").collect_schema()["seed"] == answer.data.schema["seed"]
    assert set(answer.measure(["fct.p99.9"])["statistic"]) == {"p99.9"}
    with pytest.raises(NotRecordedError, match="queue"):
        answer.measure(["queue"])


def test_only_what_lacks_is_run(folder: Path) -> None:
    text = STUDY.replace("seeds = 3", "seeds = 4").replace("[5, 20]", "[20]")
    (folder / "more.toml").write_text(text, encoding="utf-8")
    plan = Plan.of(Study.load(folder / "more.toml"), folder / "results")
    assert (len(plan.entries), len(plan.missing)) == (8, 2)
    assert {entry.point.seed for entry in plan.missing} == {4}


def test_its_figures_are_drawn_of_every_arm(folder: Path) -> None:
    place = folder / "results" / "mine"
    assert (place / "figure-slowdown.svg").read_bytes().startswith(b"<?xml")
    series = pl.read_csv(place / "figure-slowdown.csv")["series"].unique()
    assert set(series) == {f"{a}, queue.mark {k}" for a in ("dctcp", "amp") for k in (5, 20)}
    assert [arm.name for arm in arms_of([place])] == list(StudyResult(place).arms())
    verify(place)


def test_its_report_opens_the_slowest_flow_of_all_seeds(folder: Path, answer: StudyResult) -> None:
    page = (folder / "results" / "mine" / "report.html").read_text(encoding="utf-8")
    (packed,) = re.findall(r'id="data">([^<]+)<', page)
    content = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert content["title"] == "Which one?"
    assert {row["measure"].split()[0] for row in content["study"]["rows"]} == {
        *("slowdown", "jain", "timeouts", "utilisation", "loss")
    }
    ratios = {
        (name_of({key: row[key] for key in answer.study.keys}), row["part"]): row["ratio"]
        # All flows are in one class of sizes, whose rows the page leaves out.
        for row in answer.statistics.filter(
            measure="slowdown", statistic="p99", part="all"
        ).iter_rows(named=True)
    }
    assert {
        (row["arm"], row["measure"].partition(", ")[2] or "all"): row["ratio"]
        for row in content["study"]["rows"]
        if row["measure"].startswith("slowdown p99")
    } == {
        what: None if ratio is None else pytest.approx(ratio, rel=1e-4)
        for what, ratio in ratios.items()
    }, "to dctcp with the same mark"
    notes = " ".join(content["study"]["notes"])
    assert "× is the ratio to dctcp at the same settings, paired by seed" in notes
    for shown, (arm, results) in zip(content["results"], answer.arms().items(), strict=True):
        assert shown["name"] == arm
        slowdowns = [
            result.flows.filter("measured").select(AT_LEAST)["slowdown"].to_list()
            for result in results
        ]
        columns = shown["flows"]["columns"]
        known = [
            (slowdown, flow)
            for slowdown, flow in zip(columns["slowdown"], columns["flow"], strict=True)
            if slowdown is not None
        ]
        slowdown, flow = max(known)
        assert slowdown == pytest.approx(max(map(max, slowdowns)))
        assert f"of seed {seed_of(results, slowdown)}, in runs/" in shown["notes"][0]
        at_least = columns["at_least"][columns["flow"].index(flow)]
        said = "It did not finish" if at_least else "Where the time went"
        assert said in shown["lanes"][str(flow)]["story"]


def seed_of(results: list[Result], slowdown: float) -> int:
    """Return the seed of the run that has a flow of this slowdown."""
    (seed,) = {
        result.seed
        for result in results
        if result.flows.select(AT_LEAST)["slowdown"].max() == pytest.approx(slowdown)
    }
    return seed


def test_a_sweep_is_of_the_first_measure(folder: Path, answer: StudyResult) -> None:
    drawn = pl.read_csv(folder / "results" / "mine" / "figure-sweep.csv")
    first = {"measure": "slowdown", "statistic": "mean", "part": "all"}
    expected = answer.statistics.filter(**first).select(
        series="arm", setting="queue.mark", mean="mean", at_least="at_least", flows="count"
    )
    assert set(drawn["key"]) == {"queue.mark"}
    assert drawn.select(expected.columns).equals(expected.cast({"flows": pl.Int64}))


def test_a_sweep_that_is_drawn_later_is_of_the_first_measure_too(
    answer: StudyResult, tmp_path: Path
) -> None:
    at_once = (answer.dir / "figure-sweep.csv").read_text()
    assert linkpool("plot", answer.dir, "sweep", "-o", tmp_path / "a.svg") == 0
    assert (tmp_path / "a.csv").read_text() == at_once
    later = plot(answer, "sweep").data
    assert later["mean"].to_list() == pl.read_csv(tmp_path / "a.csv")["mean"].to_list()
    assert set(plot(answer, "sweep", measure="jain").data["name"]) == {"jain"}


def test_a_figure_that_cannot_be_drawn_is_refused_before_anything_runs(folder: Path) -> None:
    """By what it is of, by what is recorded, and by what varies."""
    for text, why in [
        (
            STUDY.replace('"slowdown", "jain", "timeouts.total", ', ""),
            r"figures: sweep: utilisation.mean has a part for each layer; name one",
        ),
        (
            STUDY.replace('figures = ["slowdown", "sweep"]', 'figures = ["queue-cdf"]'),
            r"figures: queue-cdf needs \[record.queue\] in the scenario of ",
        ),
        (
            STUDY.replace('figures = ["slowdown", "sweep"]', 'figures = ["windows"]'),
            r"figures: windows is about one result, and this study has \d",
        ),
        (
            STUDY.replace('figures = ["slowdown", "sweep"]', 'figures = ["pie"]'),
            "figures: no kind of figure 'pie'; there are fct-cdf, ",
        ),
        (
            re.sub(r"\[vary\]\n.*\n", "", STUDY),
            "figures: sweep draws a setting that a study varies, and this study varies none; ",
        ),
    ]:
        study = Study.parse(text, folder / "mine.toml")
        with pytest.raises(StudyError, match=rf"mine.toml: {why}"):
            Plan.of(study, folder / "not there")
    assert not (folder / "not there").exists()


LATE = """
base = "base.toml"
measures = ["fct.p99@above 10 MB"]
figures = ["slowdown", "sweep"]
report = true
[vary]
queue.mark = [5, 10]
"""
"""No flow is so large, which no one knows before the runs."""


def test_a_figure_that_cannot_be_drawn_leaves_table_data_and_other_figures(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (folder / "late.toml").write_text(LATE, encoding="utf-8")
    out = tmp_path / "results"
    assert call(monkeypatch, "study", "run", folder / "late.toml", "--out", out) == 2
    said = capsys.readouterr()
    assert "no run has a value of these measures" in said.out
    assert "figure-slowdown.svg" in said.out
    assert "figure-sweep" not in said.out
    assert "figure-sweep.svg is not there: sweep: no run of this study has a value" in said.err
    assert f"the table and the data are in {out / 'late'}" in said.err
    answer = StudyResult(out / "late")
    assert answer.runs.height == 2
    assert {path.name for path in answer.dir.iterdir()} >= {"figure-slowdown.svg", "report.html"}
    assert call(monkeypatch, "study", "show", folder / "late.toml", "--out", out) == 0


def test_a_bug_in_a_figure_loses_nothing_that_was_measured(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of the test")

    monkeypatch.setattr(slowdown, "RECIPE", Recipe(slowdown.data, fail))
    text = LATE.replace("@above 10 MB", "@all").replace("report = true", "")
    (folder / "late.toml").write_text(text, encoding="utf-8")
    out = tmp_path / "results"
    assert call(monkeypatch, "study", "run", folder / "late.toml", "--out", out) == 1
    assert "this is a bug in linkpool" in capsys.readouterr().err
    assert StudyResult(out / "late").data.height == 2
    assert (out / "late" / "figure-sweep.svg").exists()


ABSENT = "no run has a value of fct.p50@above 10 MB; there are fct.p50@all, fct.p50@up to "


def test_measures_without_a_value_are_told_on_every_surface(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Whether a run has flows of a class of sizes nobody knows before it is made."""
    text = LATE.replace("fct.p99@above 10 MB", 'fct.p50", "fct.p50@above 10 MB')
    text = re.sub("figures = .*", "", text)
    file, out = folder / "late.toml", tmp_path / "results"
    file.write_text(text, encoding="utf-8")
    assert call(monkeypatch, "study", "run", file, "--out", out) == 1
    said = capsys.readouterr()
    assert ABSENT in " ".join(said.out.split())
    assert said.err.splitlines()[-1].startswith(ABSENT)
    for form in ("table", "markdown", "latex"):
        assert call(monkeypatch, "study", "show", file, "--out", out, "--format", form) == 0
        shown = " ".join(capsys.readouterr().out.replace("\\", "").split())
        assert ABSENT in shown, form
    answer = StudyResult(out / "late")
    assert ABSENT in answer._repr_html_()
    arms = arms_of_runs(answer.results())
    assert any(line.startswith(ABSENT) for line in answers(answer.study, arms))
    # What is asked for beside the study is refused, as nothing else can be shown.
    asked = ("--measures", "fct.p99@above 10 MB", "--format", "csv")
    assert call(monkeypatch, "study", "show", file, "--out", out, *asked) == 1
    assert "no run has a value of fct.p99@above 10 MB" in capsys.readouterr().err


def test_a_table_without_rows_has_no_legend(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    file, out = folder / "late.toml", tmp_path / "results"
    text = LATE.replace("report = true", "seeds = 2").replace("figures", "#")
    file.write_text(text, encoding="utf-8")
    assert call(monkeypatch, "study", "run", file, "--out", out) == 1
    said = capsys.readouterr().out
    assert "no run has a value of these measures" in said
    assert "interval" not in said
    assert "()" not in said


JOBS = ROOT / "docs/workloads/partition-aggregate.toml"


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("fct.p50@a", "fct has no part 'a'; it has all, up to 10 KB, "),
        ("goodput.mean@a", "goodput has no part 'a'; it has all"),
        ("jct.p50@a", "no run has a value of jct.p50@a; there are jct.p50@partition-aggregate"),
        ("jct.p50@a, workload 2", 'no run has a value of "jct.p50@a, workload 2"; there are jct'),
        ("queue_max.p50@all", 'queue_max.p50@all; there are "queue_max.p50@host, edge", "'),
        ("loss.share@edge, host, core", 'there are loss.share@all, "loss.share@host, edge", "'),
    ],
)
@pytest.mark.parametrize("key", ["measures", "claim"])
def test_a_part_that_no_scenario_has_is_refused_before_any_run(
    measure: str, said: str, key: str, tmp_path: Path
) -> None:
    of_key: dict[str, object] = {"measures": [measure]}
    if key == "claim":
        of_key = {"claim": [{"measure": measure.replace("p50", "mean"), "below": 1.0}]}
        said = said.replace("p50", "mean")
    with pytest.raises((StudyError, ValidationError), match=re.escape(said)):
        Study.from_dict({"base": str(JOBS), **of_key}).run(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_parts_that_scenarios_have_are_measured(tmp_path: Path) -> None:
    parts = ["partition-aggregate", "partition-aggregate, workload 0"]
    names = [f"jct.mean@{part}" for part in parts]
    names += ["queue_max.max@host, edge", "loss.share@edge, core", "loss.share@all"]
    answer = Study(base=str(JOBS), measures=names).run(tmp_path)
    # One workload of a label has no part of its own.
    assert len(answer.absent) == 1
    assert parts[1] in answer.absent[0]
    assert answer.data.height == 4


def test_a_sweep_draws_the_only_part_there_is(tmp_path: Path) -> None:
    """Completion times of jobs have a part for each label, and none for all."""
    study = Study(
        base=str(ROOT / "docs/workloads/partition-aggregate.toml"),
        vary={"queue.mark": [10, 20]},
        measures=["jct.mean"],
        figures=["sweep"],
    )
    answer = study.run(tmp_path)
    drawn = pl.read_csv(answer.dir / "figure-sweep.csv")
    assert drawn["setting"].to_list() == [10, 20]
    assert drawn["mean"].to_list() == answer.statistics["mean"].to_list()


def test_another_name_makes_no_run_again(folder: Path, tmp_path: Path) -> None:
    """Neither the name of a study with a base of its own, nor that of a scenario."""
    base = tomllib.loads(BASE)
    first = Study(name="one", base=base, seeds=2, measures=["jain"]).run(tmp_path)
    second = Study(name="two", base={**base, "name": "mine"}, seeds=2, measures=["jain"])
    assert Plan.of(second, tmp_path).missing == []
    assert second.run(tmp_path).runs["key"].equals(first.runs["key"])
    other = Study(name="two", base={**base, "drain": "101ms"}, measures=["jain"])
    assert len(Plan.of(other, tmp_path).missing) == 1


def test_a_trace_is_named_by_its_digest_wherever_it_lies(tmp_path: Path) -> None:
    rows = [f"h{i % 3},h{3 + i % 3},2000,{i * 1e-6:.7f}" for i in range(3000)]
    text = "\n".join(["src,dst,size_bytes,start_s", *rows])
    scenario = BASE[: BASE.index("[[workload")]
    scenario += '[[workload.trace]]\ntransport = "t"\nfile = "flows.csv"\nformat = "csv"\n'
    answers = []
    for place in (tmp_path / "a", tmp_path / "b"):
        place.mkdir()
        (place / "flows.csv").write_text(text, encoding="utf-8")
        (place / "s.toml").write_text(scenario, encoding="utf-8")
        study = Study(base=str(place / "s.toml"), measures=["flows.finished"])
        answers.append(study.run(tmp_path / "results"))
    assert answers[0].runs["key"].equals(answers[1].runs["key"])
    result = next(answers[0].results())[1]
    assert result.flows.height == 3000
    assert len(result.scenario) < 10_000
    assert str(tmp_path / "a" / "flows.csv") in result.scenario
    assert str(result.explain(7)).startswith("Flow 7: 2 KB from h1 to h4")
    (tmp_path / "a" / "flows.csv").write_text(text + "\nh0,h3,1,0", encoding="utf-8")
    with pytest.raises(ScenarioError, match="it is another trace than"):
        result.explain(7)


def test_a_link_in_the_cache_that_leads_nowhere_is_set_aside(tmp_path: Path) -> None:
    study = Study(base=tomllib.loads(BASE), measures=["jain"])
    plan = Plan.of(study, tmp_path / "results")
    place = plan.entries[0].place
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere")
    run_study(plan)
    assert not (tmp_path / "elsewhere").exists()
    assert place.is_dir()
    assert not place.is_symlink()


def test_a_title_is_no_part_of_a_notebooks_html(tmp_path: Path) -> None:
    study = Study(title="<img src=x onerror=y>", base=tomllib.loads(BASE), measures=["jain"])
    shown = study.run(tmp_path)._repr_html_()
    assert "<img" not in shown
    assert "&lt;img src=x onerror=y&gt;" in shown


def test_what_is_no_study_is_said(folder: Path) -> None:
    with pytest.raises(ResultError, match="runs is not the result of a study; make one: linkpool"):
        StudyResult(folder / "results" / "runs")


def test_a_setting_that_does_not_exist_is_said_before_anything_runs(folder: Path) -> None:
    text = STUDY.replace("transport.t.subflows", "transport.t.subflow")
    study = Study.parse(text, folder / "bad.toml")
    with pytest.raises(StudyError) as error:
        Plan.of(study, folder / "bad")
    assert "bad.toml: the run of arm amp, queue.mark 5, seed 1:" in str(error.value)
    assert "transport.t.subflow" in str(error.value)
    assert not (folder / "bad").exists()


def linkpool(*words: object) -> int:
    """Run a command, and return its exit code."""
    try:
        app([str(word) for word in words], standalone_mode=False)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_commands_say_what_there_is(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert linkpool("study", "status", "mine.toml") == 0
    printed = capsys.readouterr().out
    assert "mine: 12 runs (2 arms × 2 settings × 3 seeds); 12 made\n" in printed
    assert "a seed varies: hashes" in printed
    assert "arrivals and hosts of poisson" in printed
    assert linkpool("study", "show", "mine.toml", "--measures", "jain,fct.p99@all") == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[2].split() == ["dctcp", "amp"]
    (legend,) = [
        i for i, line in enumerate(lines) if line.startswith("of fct the geometric mean over 3")
    ]
    assert [
        line.strip().split("  ")[0] for line in lines[:legend] if line[:3] not in ("", "   ")
    ] == [
        *("Which one?", "─" * len(lines[3])),
        *("queue.mark 5", "jain index", "fct p99, n 456-542"),
        *("queue.mark 20", "jain index", "fct p99, n 456-542"),
    ]
    assert "× is the ratio to dctcp at the same settings, paired" in " ".join(lines[legend:])
    assert linkpool("study", "show", "results/mine", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["arm"], row["queue.mark"]) for row in rows} == {
        (arm, mark) for arm in ("amp", "dctcp") for mark in (5, 20)
    }
    assert linkpool("study", "show", "mine.toml", "--pooled", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    expected = StudyResult(folder / "results" / "mine").pooled
    assert [row["mean"] for row in rows] == expected["value"].to_list()
    assert linkpool("study", "show", "mine.toml", "--pooled", "--measures", "fct.p99@all") == 0
    assert "bootstrap intervals" in capsys.readouterr().out
    assert linkpool("study", "show", "mine.toml", "--pooled", "--measures", "jain") == 2
    assert "--pooled is of percentiles" in capsys.readouterr().err
    assert linkpool("study", "show", "mine.toml", "--measures", "speed") == 2
    assert "--measures: no measure 'speed'" in capsys.readouterr().err
    assert linkpool("study", "show", "mine.toml", "--out", "elsewhere") == 2
    assert "make it: linkpool study run mine.toml" in capsys.readouterr().err


def test_a_study_that_is_killed_goes_on_and_gives_the_same(folder: Path, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "linkpool", "study", "run", str(folder / "mine.toml")),
        *("--out", str(tmp_path), "--jobs", "2"),
    ]
    runs = tmp_path / "runs"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(made(runs)) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {path.name: (path / "manifest.json").stat().st_mtime_ns for path in made(runs)}
    assert len(before) >= 2
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    for name, written in before.items():
        assert (runs / name / "manifest.json").stat().st_mtime_ns == written, "made twice"
    assert len(made(runs)) == 12
    assert not [name for name in os.listdir(runs) if "partial" in name]  # noqa: PTH208
    data = (tmp_path / "mine" / "data.parquet").read_bytes()
    assert data == (folder / "results" / "mine" / "data.parquet").read_bytes()


def made(runs: Path) -> list[Path]:
    """Return the runs that are whole."""
    found = [path for path in runs.glob("*") if not path.name.startswith(".")]
    for path in found:
        verify(path)
    return found


def test_results_of_a_study_are_as_any_other(answer: StudyResult) -> None:
    for directory in answer.runs["dir"]:
        Result(directory).check()


FEW = """
base = "base.toml"
seeds = 1
measures = ["jain"]
arm = [{ name = "deep" }, { name = "shallow", set = { queue.limit = 20 } }]
"""


def test_figures_say_what_to_write_into_a_study(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    study = Study.parse(FEW, tmp_path / "few.toml")
    answer = study.run(tmp_path / "out")
    runs = sorted(path.name for path in (tmp_path / "out" / "runs").iterdir())
    with pytest.raises(NotRecordedError) as error:
        plot(answer, "queue-cdf")
    said = str(error.value)
    assert "write record.queue = {every=" in said
    assert "into the base of the study (the table [base] of its file" in said
    assert "linkpool study run FILE.toml" in said
    # To write another run there would be damage: the directory has the name of this run's key.
    assert not any(f"--out {tmp_path / 'out' / 'runs' / run}" in said for run in runs)
    # Obeyed, the study is whole, and the figure is drawn.
    line = re.findall(r"write record\.(queue = \{.*?\}) into", said)[0]
    (tmp_path / "base.toml").write_text(f"{BASE}[record]\n{line}\n", encoding="utf-8")
    again = study.run(tmp_path / "out")
    assert plot(again, "queue-cdf").data.height > 0
    assert not (tmp_path / "out" / "runs" / "damaged").exists()
    with pytest.raises(FigureError, match=r"this study varies none; write one into .*\[vary\]"):
        plot(again, "sweep")


def test_equal_runs_are_one_observation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Flows of a table start when it says, and these meet no choice that a seed makes."""
    (tmp_path / "flows.csv").write_text(
        "src,dst,size_bytes,start_s\nS1,R,99000,0\nS2,R,99000,1e-6\n"
    )
    base = """
        duration = "4ms"
        [topology.many-to-one]
        senders = 2
        rate = "10Gbps"
        delay = "1us"
        [transport.t]
        control = "dctcp"
        [[workload.trace]]
        transport = "t"
        file = "flows.csv"
        format = "csv"
    """
    (tmp_path / "base.toml").write_text(base, encoding="utf-8")
    text = FEW.replace("seeds = 1", "seeds = 3\nreport = true").replace(
        "queue.limit = 20", 'transport.t.mss = "500B"'
    )
    file = tmp_path / "few.toml"
    file.write_text(text.replace('"jain"', '"fct.mean"'), encoding="utf-8")
    out = str(tmp_path / "out")
    assert call(monkeypatch, "study", "run", file, "--out", out) == 0
    one = "the 3 runs of every arm are equal, whatever the seed: they are one observation"
    assert one in " ".join(capsys.readouterr().out.split())
    answer = StudyResult(tmp_path / "out" / "few")
    assert any(line.startswith(one) for line in answer.remarks())
    assert "both are equal with every seed, so seeds say nothing of chance" in answer.answer()[0]
    page = (answer.dir / "report.html").read_text(encoding="utf-8")
    data = page.partition('id="data">')[2].partition("</script>")[0]
    content = json.loads(gzip.decompress(base64.b64decode(data)))
    assert any(line.startswith(one) for line in content["answers"])
    assert one in answer._repr_html_()
    # Where one arm has a draw, the other is named.
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    drawn = Study.parse(FEW.replace("seeds = 1", "seeds = 3"), file).run(out)
    assert not any("one observation" in line for line in drawn.remarks())
