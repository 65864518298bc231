"""The cookbook's commands do what it says, on its own files."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

import linkpool
from linkpool.cli import app

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def test_its_files_are_those_shown() -> None:
    scenario = (ROOT / "docs" / "cookbook" / "scenario.toml").read_text(encoding="utf-8")
    assert f"```toml\n{scenario}```" in PAGE
    flows = (ROOT / "docs" / "cookbook" / "flows.csv").read_text(encoding="utf-8")
    assert "```\n" + "\n".join(flows.splitlines()[:4]) + "\n```" in PAGE


def test_its_commands_give_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has the rows that it shows; the numbers are the simulator's matter."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cookbook").symlink_to(ROOT / "docs" / "cookbook")
    monkeypatch.chdir(tmp_path)
    every = commands()
    assert [command[0] for command in every] == ["run"] * 4 + ["compare"]
    for command in every:
        capsys.readouterr()
        app(command, standalone_mode=False)
    printed = capsys.readouterr().out
    shown = re.findall(r"```\n(measured period.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 1
    assert _names(printed) == _names(shown[0])


def _names(table: str) -> list[str]:
    rows = (re.split(r"  +", line.strip())[0] for line in table.splitlines())
    return [name for name in rows if re.match(r"[a-zA-Z9]", name)]


def test_a_program_outside_plays_a_trace_to_the_picosecond(tmp_path: Path) -> None:
    """The ranks of ranks.goal, run by linkpool and by ranks.py, with requests beside them."""
    folder = ROOT / "docs" / "cookbook"
    played = runpy.run_path(str(folder / "ranks.py"))
    hosts = [3 * (rank % 4) + rank // 4 for rank in range(8)]
    trace = folder / "ranks.goal"
    ranks = played["play"](folder / "ranks.toml", trace, hosts, 2, tmp_path / "outside")
    outside = linkpool.Result(tmp_path / "outside")
    inside = linkpool.run(folder / "ranks-trace.toml", out=tmp_path / "inside")
    ends = [max(rank.ends[iteration] for rank in ranks) * 1e-12 for iteration in range(2)]
    assert inside.jobs["end_s"].to_list() == pytest.approx(ends, rel=1e-12)
    columns = ["src", "dst", "start_s", "end_s", "size_bytes", "label"]
    flows = [result.flows.select(columns).sort(columns) for result in (inside, outside)]
    assert flows[0].equals(flows[1])
    assert len(flows[0]) == 184
    waits = [result.requests["ttft_s"] for result in (inside, outside)]
    assert waits[0].equals(waits[1])
    assert len(waits[0]) == 24
