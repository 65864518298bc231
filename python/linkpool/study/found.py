"""What a search found: what it asked, its trials, and the answer in a few lines."""

import base64
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.study.space import Search
from linkpool.study.threshold import shown
from linkpool.study.values import key_name
from linkpool.units import counted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SEARCH = "search.toml"
"""The table `[search]` of the file of the study."""

FRONT_KIND = "pareto"
"""The kind of figure that is drawn of every search."""

FRONT = f"figure-{FRONT_KIND}"
"""The table of all trials, and the figure of it, without their suffixes."""

MOST_LINES = 8
"""Trials of the front that the answer names; the table has the others."""

_TEXTS = ("at_least", "stopped", "why")


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        search: what was searched.
        seeds: of each trial.
        trials: a row per trial, as `figure-pareto.csv` has them; settings are texts.
        figure: the figure of the front, as SVG.

    """

    search: Search
    seeds: int
    trials: pl.DataFrame
    figure: bytes

    @classmethod
    def read(cls, folder: Path, seeds: int) -> "Found | None":
        """Read the directory of a study; None: it has not searched."""
        file = folder / SEARCH
        if not file.exists():
            return None
        search = Search.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        types: dict[str, Any] = dict.fromkeys([*search.space, *_TEXTS], pl.String)
        types |= dict.fromkeys([*search.measures, *search.bounds], pl.Float64)
        trials = pl.read_csv(folder / f"{FRONT}.csv", schema_overrides=types)
        trials = trials.with_columns(pl.col(_TEXTS).fill_null(""))
        return cls(search, seeds, trials, (folder / f"{FRONT}.svg").read_bytes())

    @property
    def image(self) -> str:
        """The figure as the address of an image."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.figure).decode()}"

    def asked(self) -> str:
        """Say what was searched."""
        keys = ", ".join(map(key_name, self.search.space))
        goals = " and ".join(_goal(*of) for of in self.search.objectives)
        needs = ", ".join(map(str, self.search.require))
        where = f", where {needs}" if needs else ""
        many = f"{counted(self.trials.height, 'trial')} × {counted(self.seeds, 'seed')}"
        return f"search over {keys} for {goals}{where}; {many}"

    def answer(self) -> list[str]:
        """Say which trials are best, with their settings, and what became of the others."""
        names = [name for name, _ in self.search.objectives]
        front = self.trials.filter("front").sort(names[0])
        rows = [self._said(row) for row in front.iter_rows(named=True)]
        trials = counted(self.trials.height, "trial")
        lines = [f"on the Pareto front: {len(rows)} of {trials}", *rows[:MOST_LINES]]
        if len(names) == 1 and len(rows) == 1:
            lines = [f"best of {trials}: {rows[0]}"]
        if (left := len(rows) - MOST_LINES) > 0:
            lines.append(f"{left} more on the Pareto front: see {FRONT}.csv")
        return [*lines, *self._others()]

    def _said(self, row: Mapping[str, Any]) -> str:
        at = ", ".join(f"{key_name(key)} {row[key]}" for key in self.search.space)
        values = (f"{name} {shown(name, row[name])}" for name in self.search.measures)
        return f"trial {row['trial']}: {at}: {', '.join(values)}"

    def _others(self) -> list[str]:
        """Say how many trials did not come into question, and why."""
        unknown = pl.any_horizontal(
            pl.col(name).is_null() | (pl.col("at_least").str.contains(name, literal=True) & small)
            for name, small in self.search.objectives
        )
        failed = self.trials.filter(pl.col("why") != "")
        ran = self.trials.filter(why="")
        stopped = ran.filter(pl.col("stopped") != "").height
        unmet = ran.filter(~pl.col("feasible"), stopped="").height
        left = ran.filter(unknown, "feasible", stopped="").height
        said = []
        if not failed.is_empty():
            said.append(f"{failed.height} could not run (the first: {failed['why'][0]})")
        if unmet:
            said.append(f"{unmet} did not meet what is required")
        if left:
            said.append(f"{left} left an objective open or without a value")
        if stopped:
            said.append(f"{stopped} were stopped before their last seed")
        return [f"of {counted(self.trials.height, 'trial')} {'; '.join(said)}"] if said else []


def _goal(name: str, is_small: bool) -> str:
    return f"the {'least' if is_small else 'largest'} {name}"
