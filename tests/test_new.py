"""`linkpool new` writes scenarios and studies that run as they are."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import linkpool
from linkpool.cli.commands import app
from linkpool.loading import load
from linkpool.starter import FABRICS, TRANSPORTS, WORKLOADS, starter
from linkpool.study import Plan, Study

pytestmark = pytest.mark.core

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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say --kind NAME, as there is no terminal to ask at: scenario, study"),
        (("--kind", "scenario", "--fabric", "ring"), "--fabric ring: there are leaf-spine, "),
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
