"""What commands say besides their results: help, completion, progress in logs, what is replaced."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import linkpool
from linkpool.cli import progress
from linkpool.cli.commands import app
from linkpool.cli.group import loaded

ROOT = Path(__file__).resolve().parent.parent
INCAST = str(ROOT / "docs/workloads/incast.toml")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result of which one flow in four cannot finish."""
    out = tmp_path_factory.mktemp("result") / "incast"
    linkpool.run(INCAST, out=out, set={"drain": "0s", "duration": "4360us"})
    return out


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize("command", sorted({"", "study", *loaded(app)} - {"linux"}))
def test_help_fits_80_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    said = call(*command.split(), "--help")
    assert said.exit_code == 0
    lines = said.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines), "nothing is cut off"


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("linkpool stu", "study"),
        ("linkpool study sta", "status"),
        ("linkpool run --thread", "--threads"),
    ],
)
def test_a_shell_completes_commands_and_their_options(words: str, completed: str) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    environment = {**os.environ, "_LINKPOOL_COMPLETE": "complete_bash", **asked}
    program = [sys.executable, "-m", "linkpool"]
    said = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == [completed]


@pytest.mark.core
def test_show_prints_json(result: Path) -> None:
    said = json.loads(call("show", result, "--json").stdout)
    written = json.loads((result / "summary.json").read_text(encoding="utf-8"))
    beside = {name: said.pop(name) for name in ("notes", "offered", "run")}
    assert said == written
    assert beside["run"] == json.loads((result / "run.json").read_text(encoding="utf-8"))
    assert (beside["notes"], beside["offered"]) == ([], [])


@pytest.mark.core
def test_the_slowest_flows_are_explained_by_one_run(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[object] = []
    monkeypatch.setattr(linkpool.Result, "load", _counted(linkpool.Result.load, loads))
    said = call("explain", result, "--worst", 3)
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert lines[0] == "the 3 slowest flows are"
    flows = [line.split(":")[0].strip() for line in lines[1:4]]
    assert [line.split(":")[0] for line in lines if line.startswith("Flow ")] == [
        f"Flow {flow}" for flow in flows
    ]
    assert len(loads) == 2, "for the trace and for the fabric, not twice a flow"


def _counted(function: Any, calls: list[object]) -> Any:
    def counted(*values: Any, **named: Any) -> Any:
        calls.append(values)
        return function(*values, **named)

    return counted


@pytest.mark.core
def test_unfinished_flows_are_explained_alone(result: Path) -> None:
    flows = linkpool.Result(result).flows
    left = set(flows.filter(flows["end_s"].is_null())["flow"])
    assert 0 < len(left) < flows.height
    said = call("explain", result, "--unfinished", "--worst", 1000).stdout
    explained = {
        int(line.split()[1].rstrip(":")) for line in said.splitlines() if line[:5] == "Flow "
    }
    assert explained == left
    assert call("explain", result, "--unfinished", "--flow", 0).exit_code == 2


@pytest.mark.core
def test_what_a_run_or_a_replay_replaces_is_named(result: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "will be replaced" not in call("run", INCAST, "--out", out).stderr
    said = f"{out} will be replaced when the run is done: it holds the result of 'incast', seed 1"
    assert said in call("run", INCAST, "--out", out).stderr
    assert said in call("replay", result, "--out", out, "--record", "cwnd.every=1ms").stderr


def test_a_log_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    asked: list[float] = []

    def expected() -> float:
        asked.append(now[0])
        return 25e6

    with progress.watching("one", expected) as watch:
        for second in range(31):
            now[0] = 100.0 + second
            watch(second / 20, 400.0, second * 1_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "one: 40%, 500 ms of 400 s simulated, 10.0 M packet-hops; 10 s gone, about 15 s left",
        "one: 80%, 1 s of 400 s simulated, 20.0 M packet-hops; 20 s gone, about 5.0 s left",
        "one: more packets than expected, which counts none that are sent again or trimmed, "
        "1.5 s of 400 s simulated, 30.0 M packet-hops; 30 s gone",
    ]
    assert asked == [110.0], "a short run does not ask, a long one once"
    with progress.watching_runs("many") as (watch_runs, note):
        watch_runs(0.0, 1.0, 0, 4, "2 at a time", lambda: None)
        note("drawing figure")
        now[0] += 20
        watch_runs(0.0, 1.0, 0, 4, "2 at a time", lambda: None)
        now[0] += 20
        watch_runs(0.25, 1.0, 1, 4, "2 at a time", lambda: 300.0)
    assert capsys.readouterr().err.splitlines() == [
        "drawing figure",
        "many: 0%, 0 of 4 runs, 2 at a time; 20 s gone",
        "many: 25%, 1 of 4 runs, 2 at a time; 40 s gone, about 5 min left",
    ]


@pytest.mark.parametrize(
    ("hops", "shown"),
    [
        (
            10,
            r"one \S+ +40% 500 ms of 400 s simulated, 10.0 M packet-hops "
            "10 s gone, about 15 s left",
        ),
        (
            30,
            r"one \S+ +99% 500 ms of 400 s simulated, 30.0 M packet-hops "
            "10 s gone, more packets than expected",
        ),
    ],
)
def test_a_terminal_gets_a_bar_with_the_time_that_is_left(
    hops: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=160, color_system=None)
    monkeypatch.setattr(progress, "stderr", lambda: terminal)

    def interrupted() -> None:
        with progress.watching("one", lambda: 25e6) as watch:
            now[0] = 110.0
            watch(0.5, 400.0, hops * 1_000_000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()  # the bar stays as it was
    last = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text.getvalue()).splitlines()[-1]
    assert re.fullmatch(shown, last.strip()), last


@pytest.mark.core
def test_what_is_done_after_the_runs_is_said(tmp_path: Path) -> None:
    file = tmp_path / "asked.toml"
    file.write_text(
        f'base = "{INCAST}"\nmeasures = ["fct.mean"]\nfigures = ["fct-cdf"]\nreport = true\n',
        encoding="utf-8",
    )
    said = call("study", "run", file, "--out", tmp_path / "results")
    assert said.exit_code == 0, said.output
    lines = said.stderr.splitlines()
    assert "drawing figure-fct-cdf.svg" in lines
    assert "tracing the 4 slowest flows of base: its run is made again" in lines
