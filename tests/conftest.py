"""Fixtures: a stand-in for the simulator, for tests of what is around it, and scenario files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fake_core import FakeCore
from linkpool import _core


@pytest.fixture
def fake_core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """Replace the simulator by one that invents results at once and counts its runs."""
    fake = FakeCore()
    monkeypatch.setattr(_core, "run", fake.run)
    monkeypatch.setattr(_core, "check", fake.check)
    monkeypatch.setattr(_core, "worthwhile_threads", fake.worthwhile_threads)
    return fake


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a scenario file."""

    def write(text: str, name: str = "scenario.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
