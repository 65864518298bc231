"""The tutorial's files are those of the repository. (test_page_commands.py runs its commands.)"""

import re
from pathlib import Path

import pytest

from linkpool.study import Plan, Study

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCENARIO, STUDY = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_its_study_is_that_of_the_cookbook() -> None:
    shown = (ROOT / "docs" / "cookbook" / "transports.toml").read_text(encoding="utf-8")
    assert shown == STUDY


def test_its_scenario_is_that_of_other_pages() -> None:
    assert (ROOT / "docs" / "incast.toml").read_text(encoding="utf-8") == SCENARIO


@pytest.mark.core
def test_its_graph_and_trace_are_read(tmp_path: Path) -> None:
    (graph,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (trace,) = re.findall(r"```text\n(src,.*?)```", PAGE, re.DOTALL)
    (tmp_path / "fabric.json").write_text(graph, encoding="utf-8")
    (tmp_path / "flows.csv").write_text(trace, encoding="utf-8")
    study = Study.parse(STUDY, tmp_path / "transports.toml")
    assert len(Plan.of(study, tmp_path / "results").missing) == 5 * 5
