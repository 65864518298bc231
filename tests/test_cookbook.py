"""The cookbook's commands do what it says, on its own files."""

import re
import shlex
from pathlib import Path

import pytest

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
