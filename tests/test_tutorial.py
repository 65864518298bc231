"""The tutorial's files are those of the repository, and its commands do what it says."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from linkpool.cli import app
from linkpool.study import Plan, Study

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCENARIO, STUDY = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def commands() -> list[list[str]]:
    """Return the words of each command of linkpool that the page shows, in its order."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("linkpool ")]


def test_its_study_is_that_of_the_cookbook() -> None:
    shown = (ROOT / "docs" / "cookbook" / "transports.toml").read_text(encoding="utf-8")
    assert shown == STUDY


@pytest.mark.core
def test_its_first_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but the study, which the page on studies runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "incast.toml").write_text(SCENARIO, encoding="utf-8")
    every = commands()
    assert [words[0] for words in every] == [
        *("--version", "run", "run", "run", "compare", "plot", "study")
    ]
    for words in every[1:-1]:
        if "results/bad" in words:
            capsys.readouterr()
            with pytest.raises(SystemExit):
                app(words, standalone_mode=False)
            said = "incast.toml: queue.limits: unknown key `limits`; did you mean `limit`?"
            assert said in PAGE
            assert capsys.readouterr().err.startswith(said)
        else:
            app(words, standalone_mode=False)
    assert set(pl.read_csv(tmp_path / "fct.csv")["series"]) == {"amp", "dctcp"}


@pytest.mark.core
def test_its_graph_and_trace_are_read(tmp_path: Path) -> None:
    (graph,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (trace,) = re.findall(r"```text\n(src,.*?)```", PAGE, re.DOTALL)
    (tmp_path / "fabric.json").write_text(graph, encoding="utf-8")
    (tmp_path / "flows.csv").write_text(trace, encoding="utf-8")
    study = Study.parse(STUDY, tmp_path / "transports.toml")
    assert len(Plan.of(study, tmp_path / "results").missing) == 5 * 5
