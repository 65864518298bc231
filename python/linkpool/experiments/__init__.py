"""The published experiments and open questions, grouped by paper and registered by id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from linkpool.experiments.papers import EXPERIMENTS as EXPERIMENTS
from linkpool.study.registry import Registry

if TYPE_CHECKING:
    from linkpool.study.experiment import Experiment


def registry(folder: Path | None = None) -> Registry:
    """Return the registry of these, of what installed packages offer, and of a folder's files."""
    found = published()
    found.add_installed()
    if folder is not None:
        found.add_folder(folder)
    return found


def published() -> Registry:
    """Return the registry of the published experiments, in the papers' order."""
    found = Registry()
    homes = {name: declared.home for name, declared in EXPERIMENTS.items()}
    found.add(homes, lambda of_paper, name: of_paper.named(name))
    return found


def all_experiments() -> list[Experiment]:
    """Return every published experiment, in the papers' order."""
    return published().load_all()
