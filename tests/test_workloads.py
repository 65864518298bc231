"""The pages of workloads: every kind has one, and their examples and pictures are true."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import linkpool

ROOT = Path(__file__).parents[1]
DIRECTORY = ROOT / "docs" / "workloads"
PAGES = sorted(path for path in DIRECTORY.glob("*.md") if path.name != "README.md")

pytestmark = pytest.mark.core


def kinds() -> set[str]:
    """Return those that the schema knows."""
    schema: dict[str, Any] = json.loads(linkpool.schema())
    return set(schema["properties"]["workload"]["properties"])


def test_every_kind_has_an_example_and_a_line_in_the_index() -> None:
    index = (DIRECTORY / "README.md").read_text(encoding="utf-8")
    examples = "".join(path.read_text(encoding="utf-8") for path in DIRECTORY.glob("*.toml"))
    assert len(kinds()) > 10
    assert set(re.findall(r"\[\[workload\.([a-z-]+)\]\]", examples)) == kinds()
    assert kinds() <= set(re.findall(r"`([a-z-]+)`", index))
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", index)) == {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_pages_show_scenarios_that_run(page: Path) -> None:
    """Each shows its scenario whole, and the files of flows that it reads."""
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    scenario = page.with_suffix(".toml")
    assert shown == [scenario.read_text(encoding="utf-8")]
    assert "[[workload." in linkpool.check(scenario)
    assert f"]({page.stem}.png)" in text
    for name, lines in re.findall(r"\[(\S+)\]\(\1\):\n\n```text\n(.*?)```", text, re.DOTALL):
        assert lines == (DIRECTORY / name).read_text(encoding="utf-8")


def test_pictures_can_be_drawn_and_are_small(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "workloads.py"), "--out", str(tmp_path)]
    subprocess.run(script, check=True)
    drawn = {path.stem for path in tmp_path.glob("*.png")}
    assert drawn == {page.stem for page in PAGES}
    for name in drawn:
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        assert 5000 < (DIRECTORY / f"{name}.png").stat().st_size < 40_000
