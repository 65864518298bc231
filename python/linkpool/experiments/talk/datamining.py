"""The MPTCP talk: flows of VL2's sizes, beside packet scatter, a scheduler, and as in a cloud."""

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Kept, LongRuns
from linkpool.experiments.rows import spread
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Table

PERIODS_MS = (1000, 100, 10)
"""From one look of the scheduler to the next."""
SHARE = 0.1
"""The share of its host's link that a flow must have got in a period to be placed."""

CHOICES: dict[str, tuple[str, Table]] = {
    "ecmp": ("TCP, ECMP", trees.tcp()),
    "scatter": ("TCP, packets\nscattered", trees.tcp(paths="scatter", dupack_threshold="auto")),
    **{
        f"central-{ms}ms": (f"TCP, placed\nevery {ms} ms", trees.tcp(paths="placed"))
        for ms in PERIODS_MS
    },
    "mptcp": ("MPTCP,\n8 subflows", trees.mptcp(8)),
}
COLOURS = {"mptcp": "#d55e00", "scatter": "#009e73", "ecmp": "#7f7f7f"}


@dataclass(frozen=True)
class Scatter(trees.Timed):
    """A permutation in a fat-tree of 128 hosts, in which the end of a flow starts the next."""

    k: int = 8
    schemes: ClassVar = tuple(CHOICES)
    over: ClassVar = ("schemes",)

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme; a central scheduler has a period."""
        _, central, period = scheme.partition("central-")
        placement: Table = {"placement": {"period": period, "share": SHARE}}
        return self.run(
            "T-scatter",
            {"scheme": scheme},
            seed,
            self.duration_s,
            trees.packets(self.k**3 // 4, self.duration_s),
            duration=trees.seconds(self.duration_s),
            topology=trees.fat_tree(self.k),
            routing=placement if central else None,
            transport=CHOICES[scheme][1],
        )

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each host."""
        rate = 8 * pl.col("acked_bytes").sum() / self.duration_s
        hosts = result.flows.group_by(pl.col("src").alias("host")).agg(
            pl.len().cast(pl.UInt32).alias("flows"), rate.cast(pl.Float64).alias("goodput_bps")
        )
        return hosts.sort("host")

    def frame(self) -> Frame:
        """Return the mean goodput of a host by scheme, with the range over the seeds."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for i, (scheme, (name, _)) in enumerate(CHOICES.items()):
                mean = spread(data, self.quantity("mbps"), scheme=scheme)
                if mean.value is None or mean.low is None or mean.high is None:
                    continue
                error = [[mean.value - mean.low], [mean.high - mean.value]]
                colour = COLOURS.get(scheme, "#0072b2")
                axes.bar(i, mean.value, 0.7, yerr=error, capsize=3, color=colour, label=name)
            axes.set_xticks(range(len(CHOICES)), [name for name, _ in CHOICES.values()], fontsize=8)
            axes.grid(visible=False, axis="x")

        panel = Panel(paint, y="mean goodput of a host (Mbps)", from_zero=True)
        return Frame([panel], self.title, (6.4, 3.2), legend=0)


TENANTS = 10
"""Hosts of the tenant, each of which sends to the nine others in turn."""
TURN_S = 2.0
SCHEMES: dict[str, Table] = {"tcp": trees.tcp(), "mptcp": trees.mptcp(4)}
TENANT = "tenant"


def _mbps(rows: pl.DataFrame) -> pl.Series:
    return 1e-6 * rows["goodput_bps"].fill_null(0.0)


@dataclass(frozen=True)
class Ec2(LongRuns):
    """A stand-in for the cloud: a fat-tree, most of whose hosts send flows of VL2's sizes."""

    k: int = 8
    duration_s: float = TURN_S * (TENANTS - 1)
    step_s: ClassVar = 0.001
    least_s: ClassVar = 0.004
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("schemes",)
    kept: ClassVar = Kept(
        "flows",
        [pl.col("src").alias("source"), "start_s", "goodput_bps"],
        pl.col("label") == TENANT,
    )

    terms: ClassVar = {
        "mbps": lambda rows: _mbps(rows).mean(),
        "slowest": lambda rows: _mbps(rows).quantile(0.1, "linear"),
    }

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of the tenant's flows in turn, beside the others."""
        hosts = self.k**3 // 4
        rng = random.Random(f"T-ec2, seed {seed}")
        tenants = rng.sample(range(hosts), min(TENANTS, hosts // 2))
        turn = self.duration_s / (len(tenants) - 1)
        flows = [
            {
                "transport": scheme,
                "label": TENANT,
                "from": f"h{source}",
                "to": f"h{tenants[(i + step) % len(tenants)]}",
                "start": trees.seconds((step - 1) * turn),
                "stop": trees.seconds(step * turn),
            }
            for step in range(1, len(tenants))
            for i, source in enumerate(tenants)
        ]
        return self.run(
            "T-ec2",
            {"scheme": scheme},
            seed,
            self.duration_s,
            trees.packets(hosts // 2, self.duration_s),
            duration=trees.seconds(self.duration_s),
            topology=trees.fat_tree(self.k),
            transport=SCHEMES[scheme],
            tcp=trees.tcp(),
            flows=[*flows],
        )

    def frame(self) -> Frame:
        """Return the goodputs of all turns, ranked."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme, colour in (("tcp", "#7f7f7f"), ("mptcp", "#0072b2")):
                mbps = np.sort(_mbps(data.filter(scheme=scheme)).to_numpy())
                x = np.arange(1, mbps.size + 1) / max(mbps.size, 1)
                axes.plot(x, mbps, color=colour, label=scheme.upper())
            axes.legend()

        panel = Panel(paint, "", "share of turns", "goodput at most (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)
