"""`linkpool new` writes scenarios and studies that run as they are."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import linkpool
from linkpool.cli.commands import app
from linkpool.loading import load
from linkpool.starter import FABRICS, TRANSPORTS, WORKLOADS, starter
from linkpool.study import Plan, Study

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.core

ROOT = Path(__file__).resolve().parent.parent
GIVEN = ("--kind", "scenario", "--fabric", "fat-tree", "--workload", "incast")


def call(*arguments: object, answers: str | None = None) -> Any:
    return CliRunner().invoke(app, ["new", *map(str, arguments)], input=answers)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_scenario_can_run(transport: str, tmp_path: Path) -> None:
    for fabric, workload in itertools.product(FABRICS, WORKLOADS):
        file = tmp_path / f"{fabric}-{workload}.toml"
        file.write_text(starter("scenario", fabric, workload, [transport]), encoding="utf-8")
        scenario = load(file, overrides=[])
        assert scenario.expected_hops() > 0
        assert max(map(len, file.read_text(encoding="utf-8").splitlines())) <= 100


@pytest.mark.parametrize(("fabric", "workload"), list(itertools.product(FABRICS, WORKLOADS)))
def test_every_study_can_run(fabric: str, workload: str, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(starter("study", fabric, workload, list(TRANSPORTS)), encoding="utf-8")
    plan = Plan.of(Study.load(file), tmp_path / "results")
    assert len(plan.entries) == 5 * len(TRANSPORTS)


OWN_GRAPH, OWN_TRACE = "docs/cookbook/fabric.json", "docs/cookbook/flows.csv"


@pytest.mark.parametrize(
    ("fabric", "workload", "entry", "duration"),
    [
        (OWN_GRAPH, OWN_TRACE, {"file": OWN_TRACE, "format": "csv"}, "16ms"),
        # Flows of these wait for others.
        ("leaf-spine", "docs/workloads/trace.csv", {"format": "csv"}, "1100ms"),
        ("fat-tree", "docs/workloads/trace.cm", {"format": "htsim"}, "1100ms"),
        (OWN_GRAPH, "docs/workloads/program.goal", {"format": "goal"}, "1s"),
        ("fat-tree", "docs/workloads/program.bin", {"format": "goal-binary"}, "1s"),
        ("fat-tree", "docs/workloads/program.0.et", {"file": "docs/workloads/program"}, "1s"),
        (OWN_GRAPH, "websearch", {"load": 0.4}, "50ms"),
        (OWN_GRAPH, "incast", {"receiver": 0}, "10ms"),
    ],
)
def test_fabrics_and_workloads_may_be_files(
    fabric: str,
    workload: str,
    entry: dict[str, object],
    duration: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files are named from the folder of the command, and in a scenario from its own folder."""
    for folder in ("docs", "studies"):
        (tmp_path / folder).mkdir()
    for name in ("cookbook", "workloads"):
        (tmp_path / "docs" / name).symlink_to(ROOT / "docs" / name)
    monkeypatch.chdir(tmp_path)
    file = Path("studies/mine.toml")
    words = ("--kind", "study", "--fabric", fabric, "--workload", workload)
    said = call(file, *words, "--transport", "dctcp", "--transport", "amp")
    assert said.exit_code == 0, said.output
    base = tomllib.loads(file.read_text(encoding="utf-8"))["base"]
    (written,) = next(iter(base["workload"].values()))
    for key, value in entry.items():
        assert written[key] == (f"../{value}" if key == "file" else value)
    assert base["duration"] == duration
    if fabric == OWN_GRAPH:
        assert base["topology"]["graph"]["file"] == f"../{OWN_GRAPH}"
    plan = Plan.of(Study.load(file), tmp_path / "results")
    assert len(plan.entries) == 10


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_fabric_grows_to_the_hosts_of_a_trace(fabric: str, tmp_path: Path) -> None:
    """128 ranks, a flow to the host 1,023; hosts of other names are an error of the first size."""
    words = ("--kind", "scenario", "--fabric", fabric, "--transport", "dctcp", "--workload")
    goal = call(tmp_path / "a.toml", *words, ROOT / "docs/cookbook/all-reduce.goal")
    assert goal.exit_code == 0, goal.output
    assert load(tmp_path / "a.toml", overrides=[]).plan()["hosts"] == 128
    trace = tmp_path / "flows.csv"
    trace.write_text("src,dst,size_bytes,start_s\n0,1023,9,0\n", encoding="utf-8")
    assert call(tmp_path / "b.toml", *words, trace).exit_code == 0
    assert load(tmp_path / "b.toml", overrides=[]).plan()["hosts"] == 1024
    trace.write_text("src,dst,size_bytes,start_s\nx,1,9,0\n", encoding="utf-8")
    said = call(tmp_path / "c.toml", *words, trace)
    assert said.exit_code == 2
    assert 'there is no host "x"' in said.output
    trace.write_text("src,dst,size_bytes,start_s\n0,1,-9,0\n", encoding="utf-8")
    assert "size_bytes" in call(tmp_path / "c.toml", *words, trace).output


def test_tables_may_be_traces(tmp_path: Path) -> None:
    flows = pl.DataFrame({"src": ["h0"], "dst": ["h1"], "size_bytes": [9], "start_s": [1.23]})
    flows.write_parquet(tmp_path / "a.parquet")
    flows.with_columns(after=pl.lit("")).write_parquet(tmp_path / "b.parquet")
    flows.write_ndjson(tmp_path / "a.ndjson")
    words = ("--kind", "scenario", "--fabric", "fat-tree", "--transport", "ndp", "--workload")
    for name, duration in (("a.parquet", 1.3), ("b.parquet", 2.3), ("a.ndjson", 1.3)):
        file = tmp_path / f"{name.replace('.', '-')}.toml"
        said = call(file, *words, tmp_path / name)
        assert said.exit_code == 0, said.output
        assert load(file, overrides=[]).duration_s == duration


def test_a_study_of_own_files_asks_what_they_can_answer(tmp_path: Path) -> None:
    """Times of iterations of programs, with a placement to vary; slowdowns of traces."""
    trace = starter("study", "fat-tree", "a/b.jsonl", ["dctcp", "amp"], "3ms")
    assert '"slowdown.p99@all"' in trace
    assert "[vary]" not in trace
    program = starter("study", "own.graphml", "llama.0.et", ["dctcp", "amp"])
    assert 'title = "Which transport suits llama.0.et on own.graphml?"' in program
    assert '# measure = "jct.mean"' in program
    assert '# workload.program.0.placement = ["linear", "random"]' in program


@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_a_study_has_as_comments_can_be_used(workload: str, tmp_path: Path) -> None:
    """A setting to vary, and a claim."""
    text = starter("study", "leaf-spine", workload, ["dctcp", "amp"])
    parts = r"(\[vary\]|\w+(\.[\w-]+)* = |\[\[claim\]\])"
    file = tmp_path / "s.toml"
    file.write_text(re.sub(rf"^# (?={parts})", "", text, flags=re.M), encoding="utf-8")
    study = Study.load(file)
    assert (
        sum(1 for _ in study.variations())
        == text.partition("# [vary]\n")[2].split("\n")[0].count(",") + 1
    )
    assert len(study.claims) == 1
    assert len(Plan.of(study, tmp_path / "results").entries) == 10 * sum(
        1 for _ in study.variations()
    )


def test_a_study_of_web_search_has_enough_flows_for_its_percentiles(tmp_path: Path) -> None:
    for fabric in FABRICS:
        text = starter("study", fabric, "websearch", ["dctcp"])
        file = tmp_path / f"{fabric}.toml"
        file.write_text(text.replace("seeds = 5", "seeds = 2"), encoding="utf-8")
        statistics = Study.load(file).run(tmp_path / "results").statistics
        assert statistics.filter(statistic="p99")["seeds"].to_list() == [2]


def test_a_scenario_runs_and_its_flows_finish(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    said = call(file, *GIVEN, "--transport", "amp")
    assert said.exit_code == 0, said.output
    assert f"linkpool run {file} --out results/mine" in said.stdout
    overall = linkpool.run(file).summary.overall
    assert (overall.flows, overall.finished) == (60, 60)


def test_a_study_runs(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    words = ("--kind", "study", "--fabric", "many-to-one", "--workload", "incast")
    assert call(file, *words, "--transport", "dctcp", "--transport", "ndp").exit_code == 0
    said = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(tmp_path / "results")])
    assert said.exit_code == 0, said.output
    assert (tmp_path / "results" / "mine" / "report.html").exists()


def test_what_no_option_says_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkpool.cli.new.on_terminal", lambda: True)
    file = tmp_path / "mine.toml"
    said = call(file, answers="study\nfat-tree\n\ndctcp, swift\n")
    assert said.exit_code == 0, said.output
    assert said.stdout.count("> ") == 4
    text = file.read_text(encoding="utf-8")
    assert text == starter("study", "fat-tree", next(iter(WORKLOADS)), ["dctcp", "swift"])


def test_a_wrong_answer_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkpool.cli.new.on_terminal", lambda: True)
    file = tmp_path / "mine.toml"
    answers = ["study", "fat-tree", "foo", "none.csv", "", "dctcp, cubc", "dctcp, swift"]
    said = call(file, answers="\n".join([*answers, ""]))
    assert said.exit_code == 0, said.output
    assert said.stdout.count("> ") == 7
    assert "foo: there are incast, websearch, " in said.stdout
    assert "none.csv: there is no such file" in said.stdout
    assert "cubc: there are " in said.stdout
    text = file.read_text(encoding="utf-8")
    assert text == starter("study", "fat-tree", next(iter(WORKLOADS)), ["dctcp", "swift"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say --kind NAME, as there is no terminal to ask at: scenario, study"),
        (("--kind", "scenario", "--fabric", "ring"), "--fabric ring: there are leaf-spine, "),
        (
            ("--kind", "scenario", "--fabric", "none.graphml"),
            "--fabric none.graphml: there is no such file",
        ),
        (
            (*GIVEN[:4], "--workload", "flows.txt"),
            "all-reduce, and files that end in .csv, .jsonl, .ndjson, .parquet, .cm, .goal",
        ),
        (
            (*GIVEN[:4], "--workload", f"{ROOT}/docs/cookbook/flows.csv", "--transport", "amp"),
            "flows.csv:2: there is no host",
        ),
        (
            (*GIVEN, "--transport", "amp", "--transport", "dctcp"),
            "a scenario of this command has one transport; --kind study compares several",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    said = call(tmp_path / "mine.toml", *words)
    assert said.exit_code == 2
    assert message in said.stderr
    assert not (tmp_path / "mine.toml").exists()


def test_no_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine", encoding="utf-8")
    assert "is there; name another file" in call(file).stderr
    assert "ends in .toml" in call(tmp_path / "mine.json").stderr
    assert "there is no folder" in call(tmp_path / "none" / "mine.toml").stderr
    assert file.read_text(encoding="utf-8") == "mine"
