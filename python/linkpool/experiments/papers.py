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
        folder: of its paper.
        home: where its class is, as MODULE:CLASS.
        title: what it shows.
        paper: where it stands.
        runs: how many runs it makes.
        figure: the published figure or table in words.
        again: it was declared after a trial: published numbers once more, with settings of the
            transports that other experiments do not have.
        settings: the attributes that it has in another way than its class.
        columns: the name of those of its data, if it shares them; "": they are its own.
        claims: what the paper claims, by name; each is an array of the fields of a
            `Stated` of `linkpool.study.stated`.
        frame: its figure, if that is of declared panels: the attributes of a `Frame`, the panels as
            the arguments of their kinds in `linkpool.experiments.panels`, and `common` for those of
            all. A number of columns may be an attribute, whose values they are of.
        tables: numbers of the paper, and whatever else claims say of each row: by name, the columns
            and the rows. Column `at` has the setting at which a row counts.
        words: what stands in braces in the formulas of all claims of the paper.
        quantities: formulas by the names that other formulas call them by, those of the paper and
            its own.

    """

    folder: str
    home: str
    title: str
    paper: str
    runs: int
    figure: str
    claims: dict[str, list[Any]]
    again: bool = False
    settings: Mapping[str, Any] = {}
    columns: str = ""
    frame: Mapping[str, Any] = {}
    tables: Mapping[str, list[list[Any]]] = {}
    words: Mapping[str, str] = {}
    quantities: Mapping[str, str] = {}


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
    name, shared = content.pop("name"), content.pop("shared", {})
    words, panels = content.pop("words", {}), content.pop("panels", {})
    shared.setdefault("", {})["quantities"] = content.pop("quantities", {})
    columns = content.pop("columns", {})
    own = {i: of for i, of in content.items() if isinstance(of.get("columns"), list)}
    columns |= {i: of.pop("columns") for i, of in own.items()}
    for frame in (of["frame"] for of in content.values() if "frame" in of):
        frame["panels"] = [_panel(panels, of) for of in frame["panels"]]
    experiments = {i: _declared(folder, shared, words=words, **of) for i, of in content.items()}
    return Paper(name, experiments, columns)


def _panel(panels: Mapping[str, Mapping[str, Any]], of: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return a panel, or one that several figures have by its name, or one that is `like` this."""
    own = {"like": of} if isinstance(of, str) else dict(of)
    return {**panels.get(own.pop("like", ""), {}), **own}


def _declared(
    folder: str,
    shared: Mapping[str, Mapping[str, dict[str, list[Any]]]],
    home: str,
    like: str = "",
    **of: Any,
) -> Declared:
    home = f"linkpool.experiments.{folder}.{home}"
    common = {**shared[""], **shared[like]}
    both: dict[str, Any] = {
        key: {**common.get(key, {}), **of.pop(key, {})}
        for key in ("claims", "tables", "quantities")
    }
    return Declared(folder=folder, home=home, **both, **of)


PAPERS = {folder: paper(folder) for folder in FOLDERS}
"""The papers, by the name of their folder."""

EXPERIMENTS = {i: of for one in PAPERS.values() for i, of in one.experiments.items()}
"""The experiments by id. Each is loaded when it is asked for."""
