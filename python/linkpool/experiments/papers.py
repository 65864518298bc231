"""What each paper's `paper.toml` declares: its experiments, its figures and claims in words."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDERS = ("amp", "xmp", "mmptcp", "talk", "ndp", "questions")
"""The folders of the papers, which are also the names of their pages in `docs/experiments`."""

QUESTIONS = "questions"
"""The folder of the experiments that no paper has."""

FAULTS = "-faults"
"""In the names of claims: published numbers once more, with the faults of the authors."""


class Declared(NamedTuple):
    """An experiment as its paper's file declares it.

    Attributes:
        home: where it is, as MODULE:NAME.
        title: what it shows.
        paper: where it stands.
        runs: how many runs it makes.
        figure: the published figure or table in words.
        again: it was declared after a trial: published numbers once more, with settings of the
            transports that other experiments do not have.
        claims: what the paper claims, by name; each is an array of the fields of a
            `Stated` of `linkpool.study.stated`.

    """

    home: str
    title: str
    paper: str
    runs: int
    figure: str
    claims: dict[str, list[str]]
    again: bool = False


class Paper(NamedTuple):
    """A paper, or the open questions, with the experiments in its order.

    Attributes:
        name: as people call it.
        experiments: by id.
        columns: of the data of experiments, or of what several have in common, by name. Each is a
            list of columns, as the fields of a `Column`, and of names of others.

    """

    name: str
    experiments: dict[str, Declared]
    columns: dict[str, list[Any]]


def paper(folder: str) -> Paper:
    """Read the file of a paper."""
    file = Path(__file__).parent / folder / "paper.toml"
    content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    name, shared = content.pop("name"), content.pop("claims", {})
    columns = content.pop("columns", {})
    columns |= {i: of.pop("columns") for i, of in content.items() if "columns" in of}
    experiments = {i: _declared(folder, shared, **of) for i, of in content.items()}
    return Paper(name, experiments, columns)


def _declared(
    folder: str,
    shared: Mapping[str, list[str]],
    home: str,
    claims: Mapping[str, list[str]] | None = None,
    **of: Any,
) -> Declared:
    module, _, name = home.partition(":")
    home = f"linkpool.experiments.{folder}.{module}:{name or 'EXPERIMENT'}"
    return Declared(home=home, claims={**shared, **(claims or {})}, **of)


PAPERS = {folder: paper(folder) for folder in FOLDERS}
"""The papers, by the name of their folder."""

EXPERIMENTS = {i: of for one in PAPERS.values() for i, of in one.experiments.items()}
"""The experiments by id. Each is loaded when it is asked for."""
