"""The public interface of studies, and where experiments come from."""

import importlib.metadata
import inspect
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from fake_core import FakeCore
from linkpool import study
from linkpool.experiments import EXPERIMENTS, registry
from linkpool.experiments.amp.shift import Shift
from linkpool.study import Registry, RegistryError
from linkpool.study.reproduce import SET
from tables import KINDS

MINE = """
from dataclasses import dataclass, replace
from linkpool.experiments.amp.shift import Shift
from .shared import NAME

EXPERIMENT = replace(Shift.named("A-fig6"), id=NAME)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an experiment, and a file that it shares with others."""
    (tmp_path / "shared.py").write_text('NAME = "Mine-1"\n', encoding="utf-8")
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path


def test_the_public_interface_is_documented() -> None:
    for name in study.__all__:
        value = getattr(study, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_an_experiment_is_found_in_upper_and_lower_case() -> None:
    found = registry()
    assert found.find("a-FIG8") == "A-fig8"
    assert found.find("A-fig99") is None
    assert found.load("A-fig8").id == "A-fig8"


def test_only_what_is_asked_for_is_imported() -> None:
    program = """
import sys
import linkpool.cli
from linkpool.experiments import registry
known = registry()
assert len(list(known)) > 30
own = {m for m in sys.modules if m.startswith("linkpool.experiments.")}
assert own == {"linkpool.experiments.papers"}
assert "matplotlib" not in sys.modules
known.load("X-fig6")
assert "linkpool.experiments.xmp.rates" in sys.modules
assert "linkpool.experiments.amp" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_installed_package_brings_experiments(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.syspath_prepend(str(folder.parent))
    (folder / "__init__.py").touch()
    target = f"{folder.name}.mine:EXPERIMENT"
    offered = EntryPoints([EntryPoint("Mine-1", target, study.GROUP)])
    monkeypatch.setattr(study.registry, "entry_points", lambda group: offered.select(group=group))
    found = registry()
    assert list(found)[-1] == "Mine-1"
    assert found.load("Mine-1").id == "Mine-1"


def test_an_entry_of_another_id_is_named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.syspath_prepend(str(folder.parent))
    (folder / "__init__.py").touch()
    found = Registry()
    found.add({"X": f"{folder.name}.mine:EXPERIMENT"})
    with pytest.raises(RegistryError, match="is registered as X, but its id is Mine-1"):
        found.load("X")


def test_the_group_of_entry_points_is_asked_for() -> None:
    assert not importlib.metadata.entry_points(group=study.GROUP)
    assert list(registry()) == list(EXPERIMENTS)


def test_a_folder_brings_experiments_whose_files_share_others(folder: Path) -> None:
    found = registry(folder)
    assert found.load("Mine-1").title == found.load("A-fig6").title


def test_two_folders_do_not_meet(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "shared.py").write_text('NAME = "Mine-2"\n', encoding="utf-8")
    (other / "mine.py").write_text(MINE, encoding="utf-8")
    found = Registry()
    found.add_folder(folder)
    found.add_folder(other)
    assert list(found) == ["Mine-1", "Mine-2"]


def test_an_id_is_registered_once(folder: Path) -> None:
    (folder / "again.py").write_text("from .mine import EXPERIMENT\n", encoding="utf-8")
    with pytest.raises(RegistryError, match=r"two experiments have the id Mine-1: .*mine.py"):
        registry(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("EXPERIMENT = 3", r"mine.py: EXPERIMENT is not a linkpool.study.Experiment"),
        ("1 / 0", r"cannot load .*mine.py: ZeroDivisionError: division by zero"),
        ("def", r"cannot load .*mine.py: SyntaxError"),
        ("import nowhere", r"cannot load .*mine.py: ModuleNotFoundError"),
        ("x = 1", r"no Python file in .* has an EXPERIMENT"),
    ],
)
def test_a_folder_that_cannot_be_read_is_named(folder: Path, content: str, message: str) -> None:
    (folder / "mine.py").write_text(content, encoding="utf-8")
    with pytest.raises(RegistryError, match=message):
        registry(folder)


def test_a_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"nowhere is not a folder"):
        registry(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("linkpool.nowhere:EXPERIMENT", "experiment X: cannot load linkpool.nowhere:EXPERIMENT"),
        ("linkpool.units:EXPERIMENT", "experiment X: cannot load linkpool.units:EXPERIMENT"),
        ("linkpool.units:show_seconds", "show_seconds is not an Experiment"),
    ],
)
def test_a_wrong_entry_is_named(target: str, message: str) -> None:
    found = Registry()
    found.add({"X": target})
    with pytest.raises(RegistryError, match=message):
        found.load("X")


@pytest.mark.core
def test_the_example_of_the_docs_runs(tmp_path: Path) -> None:
    page = Path(__file__).parents[1] / "docs" / "experiments" / "your-own.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "marks.py").write_text(code, encoding="utf-8")
    experiment = registry(tmp_path).load("Mine-marks")
    report = study.reproduce_experiment(experiment, tmp_path / "results", jobs=2)
    assert [claim.verdict.value for claim in report.claims] == ["reproduced"]
    data = pl.read_parquet(tmp_path / "results" / "Mine-marks" / "data.parquet")
    assert dict(data.schema) == {c.name: KINDS[c.type] for c in experiment.columns}
    assert data.height == 3 * 2 * 2 * 8


@dataclass(frozen=True)
class Undrawn(Shift):
    """An experiment whose figure cannot be drawn."""

    def draw(self, data: pl.DataFrame) -> Figure:
        raise MemoryError("no figure")


def one_delay(kind: type[Shift]) -> Shift:
    given = [field.name for field in fields(Shift.named("A-fig6")) if field.init]
    named = {name: getattr(Shift.named("A-fig6"), name) for name in given}
    return kind(**{**named, "delays": ("2us",)})


def test_a_reproduction_that_fails_leaves_all_of_the_earlier_one(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    study.reproduce_experiment(one_delay(Shift), tmp_path, seeds=1, jobs=1)
    where = tmp_path / "A-fig6"
    before = {path.name: path.read_bytes() for path in where.iterdir()}
    with pytest.raises(MemoryError, match="no figure"):
        study.reproduce_experiment(one_delay(Undrawn), tmp_path, seeds=2, jobs=1)
    assert {path.name: path.read_bytes() for path in where.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A-fig6", "runs"]


def test_the_second_reproduction_to_one_place_is_refused(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    with (
        study.publish(tmp_path / "A-fig6", lambda _: "", SET),
        pytest.raises(study.BusyError, match=r"another linkpool is writing .*A-fig6"),
    ):
        study.reproduce_experiment(one_delay(Shift), tmp_path, seeds=1, jobs=1)
    assert fake_core.runs == 0


def test_what_is_not_a_reproduction_is_not_replaced(fake_core: FakeCore, tmp_path: Path) -> None:
    (tmp_path / "A-fig6").mkdir()
    (tmp_path / "A-fig6" / "thesis.tex").touch()
    with pytest.raises(study.NotAResultError, match=r"thesis\.tex, which is not part of"):
        study.reproduce_experiment(one_delay(Shift), tmp_path, seeds=1, jobs=1)
    assert fake_core.runs == 0
