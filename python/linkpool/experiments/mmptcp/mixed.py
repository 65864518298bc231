"""Long flows from a third of the hosts, short ones from the others: MMPTCP's common scenario.

The transports, the fabric and the numbers of the paper are those of each experiment.
"""

from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.formulas import Quantity
from linkpool.experiments.mmptcp import setting
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Table, Value, dumps

LONG_SHARE = 0.33
SECOND = "1s"
"""The paper's means over the core are over seconds."""
QUIET_S = 0.2
"""Short flows stop arriving so long before the end."""
HOTSPOT_LIMIT = 10
"""Packets that the queues at a hotspot hold."""

OVERSUBSCRIBED = Tree(4)

SHORT, LONG, CORE = "short", "long", "core"

COLUMNS = declared.columns("mmptcp", "mixed")


@dataclass(frozen=True)
class Mix:
    """The settings of the common scenario.

    Attributes:
        long: the scheme of the long flows.
        short: the scheme of the short flows.
        arrivals: short flows per second, over the whole network.
        duration_s: simulated seconds, without the drain.
        tree: the fat-tree.
        rate_mbps: of all links.
        hotspots: the share of core switches with short queues.
        long_share: the share of hosts that send long flows.
        size: the size of short flows, as scenarios have it.
        keys: replace settings of the transports.

    """

    long: str
    short: str
    arrivals: float
    duration_s: float
    tree: Tree = OVERSUBSCRIBED
    rate_mbps: int = 100
    hotspots: float = 0.0
    long_share: float = LONG_SHARE
    size: Value = setting.SHORT
    keys: Mapping[str, Value] = field(default_factory=dict)

    def point(self, keys: Keys, seed: int) -> Point:
        """Return the run."""
        senders = int(self.long_share * self.tree.hosts)
        schemes = sorted({self.long, self.short})
        stop = max(self.duration_s - QUIET_S, self.duration_s / 2)
        hotspot: Table = {"layer": "core", "share": self.hotspots, "limit": HOTSPOT_LIMIT}
        written = scenario(
            "mmptcp",
            "mixed",
            short=self.short,
            long=self.long,
            short_name=NAMES[self.short],
            long_name=NAMES[self.long],
            duration=f"{self.duration_s:g}s",
            topology=self.tree.topology(f"{self.rate_mbps}Mbps"),
            transports={scheme: setting.transport(scheme, self.keys) for scheme in schemes},
            senders=senders,
            arrivals=self.arrivals,
            size=self.size,
            stop=f"{stop:g}s",
            change=[hotspot] if self.hotspots > 0 else None,
        )
        work = senders * 0.6e6 * self.rate_mbps * self.duration_s / (8 * 1400)
        work += self.arrivals * self.duration_s * setting.SHORT_PACKETS
        return Point(keys, dumps(written), seed, self.duration_s, work)


def measure(result: Result) -> pl.DataFrame:
    """Return a row per flow, and one per second and port of a core switch."""
    flows = result.flows.select(
        pl.col("label").alias("kind"),
        pl.col("established_s").is_not_null().alias("established"),
        "fct_established_s",
        "goodput_bps",
        "timeouts",
        "recoveries",
    )
    core = result.links.filter(pl.col("layer") == CORE)
    ports = result.counters.join(core.select("link"), on="link", how="semi").select(
        pl.lit(CORE).alias("kind"),
        "utilisation",
        (pl.col("packets") + pl.col("drops")).alias("offered"),
        "drops",
    )
    rows = pl.concat([flows, ports], how="diagonal")
    return rows.select(column.name for column in COLUMNS)


@dataclass(frozen=True)
class Cell:
    """The results of runs with the same settings, all seeds together."""

    rows: pl.DataFrame

    @property
    def short(self) -> pl.DataFrame:
        """Return the short flows that were established: the paper counts only these."""
        return self.rows.filter(pl.col("kind") == SHORT, pl.col("established"))

    @property
    def fct(self) -> Sample:
        """Describe the completion times of short flows that finished, in ms."""
        return describe(self.times)

    @property
    def times(self) -> "np.ndarray":
        """Return the completion times of short flows that finished, in ms."""
        return 1e3 * self.short["fct_established_s"].drop_nulls().to_numpy()

    @property
    def goodputs(self) -> "np.ndarray":
        """Return the goodputs of long flows, in Mbit/s."""
        long = self.rows.filter(pl.col("kind") == LONG)
        return 1e-6 * long["goodput_bps"].drop_nulls().to_numpy()

    @property
    def goodput(self) -> Sample:
        """Describe the goodputs of long flows, in Mbit/s."""
        return describe(self.goodputs)

    @property
    def utilisation(self) -> float | None:
        """Return the mean utilisation of the core switches' ports, by second, in per cent."""
        ports = self.rows.filter(pl.col("kind") == CORE)
        return describe(100 * ports["utilisation"].drop_nulls().to_numpy()).mean

    @property
    def loss(self) -> float | None:
        """Return the mean drop rate of the core switches' ports, by second, in per cent."""
        ports = self.rows.filter(pl.col("kind") == CORE, pl.col("offered") > 0)
        return describe((100 * ports["drops"] / ports["offered"]).to_numpy()).mean

    def __str__(self) -> str:
        """Write the mean completion time and its deviation, and the share of flows left out."""
        never = self.rows.filter(pl.col("kind") == SHORT, ~pl.col("established")).height
        fct = self.fct
        return written(fct, self.short.height - fct.count, never)


def quantities(cell: Callable[[pl.DataFrame], Any]) -> dict[str, Quantity]:
    """Return what formulas call the quantities of cells, which are of flows or of sums of runs.

    Times are in ms, goodputs in Mbit/s, shares of the core in per cent.
    """
    of: dict[str, Quantity] = {
        "fct": attrgetter("fct.mean"),
        "sd": attrgetter("fct.sd"),
        "goodput": attrgetter("goodput.mean"),
        "goodput-sd": attrgetter("goodput.sd"),
        "core": attrgetter("utilisation"),
        "loss": attrgetter("loss"),
        "times": str,
    }
    return {name: lambda rows, of=one: of(cell(rows)) for name, one in of.items()}  # type: ignore[misc]


def written(fct: Sample, unfinished: int, never: int) -> str:
    """Write the mean completion time, its deviation, and the numbers of flows left out."""
    if fct.mean is None:
        return "no finished flow"
    sd = "" if fct.sd is None else f" ± {fct.sd:.3g}"
    missing = f", {unfinished:,} unfinished" if unfinished else ""
    return f"{fct.mean:.3g}{sd} ms{missing}" + (f", {never} not established" if never else "")


QUANTITIES: Mapping[str, Quantity] = {
    **quantities(Cell),
    "each-fct": lambda rows: Cell(rows).times,
    "each-goodput": lambda rows: Cell(rows).goodputs,
    "each-timeouts": lambda rows: Cell(rows).short["timeouts"].to_numpy(),
    "rates": lambda rows: with_sd(Cell(rows).goodput),
}


@dataclass(frozen=True)
class Mixed(LongRuns, ABC):
    """An experiment of runs of the common scenario."""

    step_s: ClassVar = 0.1
    terms: ClassVar[Mapping[str, Quantity]] = QUANTITIES

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow, and one per second and port of a core switch."""
        return measure(result)


def with_sd(of: Sample) -> str | None:
    """Write a mean and, if there is one, its deviation."""
    if of.mean is None:
        return None
    return f"{of.mean:.3g}" + ("" if of.sd is None else f" ± {of.sd:.3g}")
