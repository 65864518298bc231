"""Fixtures: random numbers, scenario files, and a stand-in for the simulator.

Random numbers are others in each run. The seed stands at the end of a run that fails;
`LINKPOOL_SEED=SEED` in the environment replays it.
"""

import os
import random
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_core import FakeCore, replace_core


def pytest_configure() -> None:
    """Draw the seed of this run, which the processes of pytest-xdist share."""
    os.environ.setdefault("LINKPOOL_SEED", str(secrets.randbelow(1_000_000_000)))


@pytest.fixture(autouse=True)
def _no_result_is_unverified() -> None:
    """Forget the results that other tests have read without a manifest, as a new process does."""
    if module := sys.modules.get("linkpool.result"):
        module.unverified.clear()


def pytest_report_header() -> str:
    """Say which seed it is."""
    return f"LINKPOOL_SEED={os.environ['LINKPOOL_SEED']}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: pytest.ExitCode
) -> None:
    """Say how to replay a run that failed."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.write_line(f"replay: LINKPOOL_SEED={os.environ['LINKPOOL_SEED']}")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Return random numbers of this test's own in this run."""
    return random.Random(f"{os.environ['LINKPOOL_SEED']} {request.node.nodeid}")


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """Replace the simulator by one that invents results at once and counts its runs."""
    return replace_core(monkeypatch)


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a scenario file."""

    def write(text: str, name: str = "scenario.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
