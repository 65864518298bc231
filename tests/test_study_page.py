"""The page on studies: its example, its table of measures, its Python."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from linkpool.cli import app
from linkpool.study import Study
from linkpool.study.measures import MEASURES
from linkpool.study.model import Arm

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
FILE = ROOT / "docs" / "cookbook" / "transports.toml"


def test_its_file_is_that_shown_and_short() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert f"```toml\n{text}```" in PAGE
    assert len(text.splitlines()) < 30
    assert len(Study.load(FILE).arms) == 5


def test_every_measure_and_every_key_is_explained() -> None:
    (table,) = re.findall(r"<!-- measures -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    rows = [row.split(" | ") for row in table.splitlines()[2:]]
    assert [row[0].strip("| `") for row in rows] == list(MEASURES)
    for row, measure in zip(rows, MEASURES.values(), strict=True):
        assert row[1].strip() == measure.unit
        assert re.findall(r"`([^`]+)`", row[2]) == list(measure.statistics)
        assert row[3].startswith(measure.meaning)
    (keys,) = re.findall(r"## The file\n\n(.*?)\n\n", PAGE, re.DOTALL)
    said = re.findall(r"^\| `(\w+)` ", keys, re.MULTILINE)
    fields = {field.alias or name for name, field in Study.model_fields.items()}
    assert set(said) == fields
    for name in Arm.model_fields:
        assert f"`{name}`" in keys


@pytest.mark.core
def test_its_command_gives_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the rows that it shows; the numbers are the simulator's matter."""
    monkeypatch.chdir(FILE.parent)
    text = FILE.read_text(encoding="utf-8").replace("seeds = 5", "seeds = 2")
    file = tmp_path / "transports.toml"
    for name in ("fabric.json", "flows.csv"):
        (tmp_path / name).symlink_to(FILE.parent / name)
    file.write_text(text, encoding="utf-8")
    app(["study", "run", str(file), "--out", str(tmp_path / "results")], standalone_mode=False)
    printed = capsys.readouterr().out
    shown = re.findall(r"```\n(transports: 25 runs.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 1
    assert names(printed) == names(shown[0])
    place = tmp_path / "results" / "transports"
    for made in re.findall(r"^results/transports/(.+)$", shown[0], re.MULTILINE):
        assert (place / made).stat().st_size > 10_000


def test_its_slurm_recipe_makes_the_job_that_it_shows() -> None:
    pytest.importorskip("dask_jobqueue")
    (recipe,) = re.findall(r"```python\n(from dask_jobqueue.*?)cluster\.scale", PAGE, re.DOTALL)
    (shown,) = re.findall(r"```text\n(#SBATCH.*?)```", PAGE, re.DOTALL)
    code = f"{recipe}print(cluster.scheduler_address)\nprint(cluster.job_script())\n"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    address, _, script = done.stdout.partition("\n")
    made = script.partition("#SBATCH")
    wanted = shown.replace("PYTHON", sys.executable).replace("ADDRESS", address)
    assert (made[1] + made[2]).strip() == wanted.strip()


def names(table: str) -> list[str]:
    """Return the first cells of the rows of a table that have one, each once."""
    starts = ("slowdown", "  up to", "fct", "goodput", "timeouts")
    rows = table.partition("slowdown and fct: geometric mean")[0].splitlines()
    lines = [line for line in rows if line.startswith(starts)]
    return list(dict.fromkeys(re.split(r"  +", line.strip())[0] for line in lines))
