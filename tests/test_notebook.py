"""The notebook of the documentation runs, and has the output that it shows.

`LINKPOOL_WRITE_NOTEBOOK=1` writes the output into it.
"""

import os
import warnings
from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

FILE = Path(__file__).parents[1] / "docs" / "notebook.ipynb"

pytestmark = pytest.mark.core


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


def kinds(notebook: Any) -> list[list[str]]:
    """Return, for each cell, the kinds of its outputs."""
    return [
        [kind for out in outputs for kind in sorted(out.get("data", {}))]
        for outputs in of(notebook)
    ]


def texts(notebook: Any) -> list[str]:
    """Return what cells printed, and the errors that they ended with."""
    return [out["text"] for outputs in of(notebook) for out in outputs if "text" in out]


def of(notebook: Any) -> list[Any]:
    return [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
