"""The talk's design goals: users of two paths, and their goodput over each path."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.study.experiment import Experiment
from linkpool.study.point import Point
from linkpool.study.toml import Table, Value, dumps

USER = "user"
"""The label of the flows that are looked at."""

COLUMNS = declared.columns("talk", "design")


def transport(control: str) -> Table:
    """Return an algorithm's transport, with two subflows if it may have them."""
    several: dict[str, Value] = {} if control == "reno" else {"subflows": 2}
    return {"preset": "paper-2013", "initial_ssthresh": "unlimited", "control": control, **several}


@dataclass(frozen=True)
class Goal(Published, ABC):
    """An experiment of users, each of whom has a subflow over each of two paths.

    Attributes:
        duration_s: simulated seconds.
        least_s: none is shorter.

    """

    duration_s: float = 120.0
    least_s: ClassVar[int] = 5
    columns: ClassVar = COLUMNS
    over: ClassVar = ("runs_of",)

    def extent(self) -> str:
        """Say how much time is simulated."""
        return f"{self.duration_s:g} s of {self.seeds} seed{'s' if self.seeds > 1 else ''}"

    def shortened(self, scale: float) -> Experiment:
        """Return less simulated time."""
        return replace(self, duration_s=max(round(self.duration_s * scale), self.least_s))

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per subflow of the users."""
        users = result.flows.filter(pl.col("label") == USER).select("flow", "active_s")
        goodput = (8 * pl.col("acked_bytes") / pl.col("active_s")).alias("goodput_bps")
        rows = result.subflows.join(users, on="flow").sort("flow", "subflow")
        return rows.select("flow", "subflow", goodput)

    def written(self, name: str, scheme: str, **words: Value) -> str:
        """Return a scenario of users."""
        of = {"scheme": scheme, "duration": f"{self.duration_s:g}s", **words}
        return dumps(scenario("talk", name, **of))


def user(scheme: str, ends: tuple[str, str], rng: Random, paths: list[Value]) -> Value:
    """Return a user's flow, which starts within a second."""
    start = f"{round(1e6 * rng.random())}us"
    to: Table = {"from": ends[0], "to": ends[1], "start": start, "paths": paths}
    return {"transport": scheme, "label": USER, **to}


@dataclass(frozen=True)
class Split:
    """A user's goodput over each path, Mbit/s, as a mean over users and seeds."""

    first: float
    second: float

    @property
    def total(self) -> float:
        """Return the user's total goodput."""
        return self.first + self.second

    @property
    def share(self) -> float:
        """Return the part that comes over the second path."""
        return self.second / self.total if self.total else 0.0

    def __str__(self) -> str:
        """Write both rates."""
        return f"{self.first:.3g} + {self.second:.3g} Mbps"


def splits(data: pl.DataFrame) -> Mapping[str, Split]:
    """Return the mean split of each scheme whose users got anything."""
    found = {}
    for (scheme,), rows in data.partition_by("scheme", as_dict=True).items():
        users = rows.select("seed", "flow").unique().height
        rate = [
            float(rows.filter(pl.col("subflow") == s)["goodput_bps"].sum()) / users / 1e6
            for s in (0, 1)
        ]
        if sum(rate):
            found[str(scheme)] = Split(*rate)
    return found
