"""The talk's design goals: users of two paths, and their goodput over each path."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from linkpool.columns import Column
from linkpool.result import Result
from linkpool.study.experiment import KEY_SCHEME, KEY_SEED
from linkpool.study.point import Point
from linkpool.study.toml import Table, Value

USER = "user"
"""The label of the flows that are looked at."""

COLUMNS = (
    KEY_SCHEME,
    KEY_SEED,
    Column("flow", "u32", "", "flow of the run"),
    Column("subflow", "u32", "", "0: over the first path, 1: over the second"),
    Column("goodput_bps", "f64", "bit/s", "payload acknowledged on the subflow, over the run"),
)


def transport(control: str) -> Table:
    """Return an algorithm's transport, with two subflows if it may have them."""
    several: dict[str, Value] = {} if control == "reno" else {"subflows": 2}
    return {"preset": "paper-2013", "initial_ssthresh": "unlimited", "control": control, **several}


def measure(point: Point, result: Result) -> pl.DataFrame:
    """Return a row per subflow of the users."""
    users = result.flows.filter(pl.col("label") == USER).select("flow", "active_s")
    goodput = (8 * pl.col("acked_bytes") / pl.col("active_s")).alias("goodput_bps")
    rows = result.subflows.join(users, on="flow").sort("flow", "subflow")
    return rows.select("flow", "subflow", goodput)


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
