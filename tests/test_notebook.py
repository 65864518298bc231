"""The notebook of the documentation runs, and has the output that it shows.

`LINKPOOL_WRITE_NOTEBOOK=1` writes the output into it.
"""

import importlib.util
import os
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

FILE = Path(__file__).parents[1] / "docs" / "notebook.ipynb"

FRAME = re.compile(r"<div><style>.*?</table></div>", re.S)

pytestmark = pytest.mark.core

pytest.importorskip("mkdocs")
_spec = importlib.util.spec_from_file_location("notebook", FILE.parent / ".hooks" / "notebook.py")
assert _spec is not None
assert _spec.loader is not None
hook: ModuleType = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hook)


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_shows_what_it_gives() -> None:
    shown = nbformat.read(FILE, as_version=4)
    run = nbformat.read(FILE, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = nbclient.NotebookClient(run, timeout=600, record_timing=False)
        client.execute(cwd=str(FILE.parent))
    if os.environ.get("LINKPOOL_WRITE_NOTEBOOK"):
        nbformat.write(run, FILE)
        return
    assert kinds(run) == kinds(shown)
    assert texts(run) == texts(shown)
    assert own(run) == own(shown)
    first, *_ = own(shown)
    assert first.startswith("<h4>scenario</h4><p>seed 1, ")


def kinds(notebook: Any) -> list[list[str]]:
    """Return, for each cell, the kinds of its outputs."""
    return [
        [kind for out in outputs for kind in sorted(out.get("data", {}))]
        for outputs in of(notebook)
    ]


def texts(notebook: Any) -> list[str]:
    """Return what cells printed, and the errors that they ended with."""
    return [out["text"] for outputs in of(notebook) for out in outputs if "text" in out]


def own(notebook: Any) -> list[str]:
    """Return what linkpool's objects show; data frames are as wide as polars makes them."""
    pages = [
        out.get("data", {}).get("text/html", "") for outputs in of(notebook) for out in outputs
    ]
    return [FRAME.sub("", page) for page in pages if "<h4>" in page]


def test_the_site_has_each_cell_with_its_output() -> None:
    page = hook.page(nbformat.read(FILE, as_version=4))
    codes = [cell["source"] for cell in nbformat.read(FILE, as_version=4)["cells"]]
    places = [page.index(code) for code in codes]
    assert places == sorted(places)
    assert page.count("```python") == page.count("```\n") - 1
    assert "```text\nscenario.toml: queue.limits: unknown key" in page
    assert page.count('<img alt="the figure of this cell" src="data:image/svg+xml;base64,') == 1
    frames = re.findall(r"^<div class=\"cell-output\">.*</div>$", page, re.M)
    assert len(frames) == 5
    assert "mean goodput of a flow" in frames[0]


def of(notebook: Any) -> list[Any]:
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
