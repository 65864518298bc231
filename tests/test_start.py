"""What a command loads before it does its work: libraries that take long only where they work.

The time itself is no test, as machines differ; `import polars` alone takes 0.3 s of a core, scipy
0.35 s, matplotlib 0.5 s.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command

from linkpool.cli.commands import COMMANDS, STUDY_COMMANDS, app
from linkpool.cli.group import Command, loaded
from linkpool.cli.quick import QuickCommand

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import atexit, sys
file, sys.argv = sys.argv[1], ["linkpool", *sys.argv[2:]]
atexit.register(lambda: open(file, "w").write(" ".join(sys.modules)))
from linkpool import cli
cli.main()
"""

NUMBERS = {"polars", "numpy", "scipy", "matplotlib", "highspy", "numba", "distributed", "pandas"}
SLOW = {"pydantic", "importlib.metadata", "secrets", "tempfile"}
"""They take 0.02 s and more."""

OWN = {"linkpool.study", "linkpool.experiments", "linkpool.figures", "linkpool.report.page"}

STUDY = """
measures = ["slowdown.p99", "jct.mean"]
figures = ["slowdown", "sweep"]
vary = { queue.mark = [10, 20] }

[base]
duration = "1ms"
topology.many-to-one = { senders = 2, rate = "10Gbps", delay = "2us" }
queue.limit = 100
transport.t.control = "dctcp"
workload.partition-aggregate = [{ transport = "t", servers = 1, answer = "14KB", gap = "1ms" }]
"""


def modules(tmp_path: Path, *arguments: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    file = tmp_path / "modules"
    program = [sys.executable, "-c", PROGRAM, str(file), *arguments]
    subprocess.run(program, cwd=ROOT, check=True, capture_output=True)
    return set(file.read_text(encoding="utf-8").split())


@pytest.mark.core
def test_the_version_needs_no_library_of_numbers_and_none_that_draws_tables(tmp_path: Path) -> None:
    found = modules(tmp_path, "--version")
    assert "linkpool._core" in found
    assert found & (NUMBERS | OWN | {"pydantic", "rich", "linkpool.result"}) == set()


@pytest.mark.core
@pytest.mark.parametrize("arguments", [("--help",), ("study", "--help")])
def test_help_needs_no_library_of_numbers(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert modules(tmp_path, *arguments) & (NUMBERS | OWN | {"linkpool.result"}) == set()


@pytest.mark.core
@pytest.mark.parametrize("workload", ["incast", "poisson"])
def test_a_run_needs_no_library_of_numbers(workload: str, tmp_path: Path) -> None:
    """The load of each tier is printed, too; values that typer would read by pydantic are read."""
    file = f"docs/workloads/{workload}.toml"
    options = ("--set", "queue.mark=9", "--seed", "3", "--threads", "1")
    found = modules(tmp_path, "run", file, "--out", str(tmp_path / "out"), *options)
    assert {"rich.table", "linkpool.result"} <= found
    assert found & (NUMBERS | OWN | SLOW) == set()


@pytest.mark.core
def test_to_check_a_scenario_needs_no_library_of_numbers(tmp_path: Path) -> None:
    found = modules(tmp_path, "check", "docs/workloads/incast.toml")
    assert "linkpool.meaning" in found
    assert found & (NUMBERS | OWN | SLOW | {"rich"}) == set()


@pytest.mark.core
def test_to_plan_a_study_needs_no_library_of_numbers(tmp_path: Path) -> None:
    """What measures and figures there are is known without what takes and draws them."""
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    found = modules(tmp_path, "study", "status", str(file), "--out", str(tmp_path))
    assert {"linkpool.study.plan", "linkpool.figures.kinds"} <= found
    assert found & (NUMBERS | {"rich", "linkpool.report.page"}) == set()


@pytest.mark.core
def test_to_list_experiments_loads_none(tmp_path: Path) -> None:
    found = modules(tmp_path, "reproduce", "--list")
    assert "linkpool.experiments" in found
    assert found & (NUMBERS | {"linkpool.study.experiment", "linkpool.experiments.amp"}) == set()


@pytest.mark.core
def test_a_page_of_results_is_what_draws(tmp_path: Path) -> None:
    """The test before would see these names."""
    found = modules(tmp_path, "plot", "--help")
    assert "matplotlib" not in found
    modules(tmp_path, "run", "docs/workloads/incast.toml", "--out", str(tmp_path / "out"))
    figure = str(tmp_path / "f.svg")
    found = modules(tmp_path, "plot", str(tmp_path / "out"), "fct-cdf", "--out", figure)
    assert {"matplotlib", "linkpool.figures"} <= found


@pytest.mark.parametrize(
    ("name", "command"),
    [
        *((name, one) for name, one in COMMANDS.items() if isinstance(one, Command)),
        *((f"study {name}", one) for name, one in STUDY_COMMANDS.items()),
    ],
)
def test_a_command_is_listed_by_the_first_paragraph_of_its_help(
    name: str, command: Command
) -> None:
    whole = loaded(app)[name].help.split("\n\n")[0]
    assert command.help == " ".join(whole.split())


def test_names_that_a_folder_shows_are_where_it_says() -> None:
    for package in ("linkpool", "linkpool.study"):
        shown = import_module(package)
        modules_shown = {"style"} & set(shown.__all__)
        assert set(shown._HOMES) == set(shown.__all__) - modules_shown <= set(dir(shown))
        for name in set(shown.__all__) - modules_shown:
            assert getattr(shown, name) is not None, name
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            shown.nothing  # noqa: B018


@pytest.mark.core
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threads", "65"], "invalid value for '--threads'"),
        (["--threads", "0"], "invalid value for '--threads'"),
        (["--threads", "-1"], "invalid value for '--threads'"),
        (["--threads", "two"], "invalid value for '--threads'"),
        (["--seed", "1.5"], "invalid value for '--seed'"),
        (["--threads", "64", "--seed", "0", "--set", "queue.mark=0"], "queue.mark"),
    ],
)
def test_what_is_no_plain_value_is_typers_matter(
    options: list[str], said: str, tmp_path: Path
) -> None:
    scenario, out = "docs/workloads/incast.toml", str(tmp_path / "out")
    command = [sys.executable, "-m", "linkpool", "run", scenario, "--out", out]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert said in done.stderr.lower()


def test_plain_values_are_of_their_types(tmp_path: Path) -> None:
    """A file that is there and cannot be read is refused, so it is typer's matter, too."""
    found: list[object] = []

    def one(
        file: Path,
        more: Annotated[list[str] | None, typer.Option()] = None,
        count: Annotated[int, typer.Option(min=-2, max=3)] = 1,
        checked: Annotated[Path | None, typer.Option(exists=True)] = None,
        flag: bool = False,
    ) -> None:
        found.extend([file, more, count, checked, flag])

    made = typer.Typer()
    made.command(cls=QuickCommand)(one)
    command = get_command(made)
    there = tmp_path / "there"
    there.touch()
    values = ["--more", "a", "--more", "b", "--count", "-2", "--flag", "--checked", str(there)]
    command(["x", *values], standalone_mode=False)
    assert found == [Path("x"), ["a", "b"], -2, there, True]
    found.clear()
    command([str(there)], standalone_mode=False)
    assert found == [there, None, 1, None, False]
    for wrong in (["--count", "4"], ["--count", "-3"], ["--checked", str(tmp_path / "x")]):
        with pytest.raises(typer.BadParameter.__bases__[0]):
            command(["x", *wrong], standalone_mode=False)
