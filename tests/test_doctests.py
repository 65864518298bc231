"""The examples in docstrings: they run, and every public name of the package has one."""

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import linkpool

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "linkpool"


def modules() -> list[str]:
    """Return the modules that have examples."""
    files = [file for file in PACKAGE.rglob("*.py") if ">>> " in file.read_text(encoding="utf-8")]
    return sorted(
        ".".join(file.relative_to(ROOT / "python").with_suffix("").parts) for file in files
    )


@pytest.mark.core
@pytest.mark.parametrize("name", modules())
def test_examples_give_what_they_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", linkpool.__all__)
def test_every_public_name_is_documented_with_an_example(name: str) -> None:
    value = getattr(linkpool, name)
    if isinstance(value, str) or inspect.isbuiltin(value):
        return
    said = inspect.getdoc(value)
    assert said
    if not issubclass(value, Exception) if inspect.isclass(value) else True:
        assert ">>> " in said
