"""The MPTCP talk: many paths of varying background load, as measured in a public cloud."""

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.rows import ratio, spread, values
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Table, dumps

TENANTS = 10
"""Hosts of the tenant, each of which sends to the nine others in turn."""
TURN_S = 2.0
SCHEMES: dict[str, Table] = {"tcp": trees.tcp(), "mptcp": trees.mptcp(4)}
TENANT = "tenant"


@dataclass(frozen=True)
class Ec2(LongRuns):
    """A stand-in for the cloud: a fat-tree, most of whose hosts send flows of VL2's sizes."""

    id: str = "T-ec2"
    k: int = 8
    duration_s: float = TURN_S * (TENANTS - 1)
    step_s: ClassVar = 0.001
    least_s: ClassVar = 0.004
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("schemes",)
    columns: ClassVar = declared.columns("talk", "T-ec2")

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
        written = scenario(
            "talk",
            "T-ec2",
            scheme=scheme,
            duration=trees.seconds(self.duration_s),
            topology=trees.fat_tree(self.k),
            transport=SCHEMES[scheme],
            tcp=trees.tcp(),
            flows=[*flows],
        )
        cost = trees.packets(hosts // 2, self.duration_s)
        return Point({"scheme": scheme}, dumps(written), seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each turn of the tenant's hosts."""
        mine = result.flows.filter(pl.col("label") == TENANT)
        return mine.select(pl.col("src").alias("source"), "start_s", "goodput_bps")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the mean and the slowest turns."""
        mbps = 1e-6 * pl.col("goodput_bps").fill_null(0.0)
        for name, of in (("mean", mbps.mean()), ("slow", mbps.quantile(0.1, "linear"))):
            tcp, mptcp = (spread(data, of, scheme=scheme) for scheme in SCHEMES)
            ledger.judge(name, f"{mptcp} against {tcp} Mbps", ratio(mptcp.value, tcp.value))

    def frame(self) -> Frame:
        """Return the goodputs of all turns, ranked."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            known = data.with_columns(pl.col("goodput_bps").fill_null(0.0))
            for scheme, colour in (("tcp", "#7f7f7f"), ("mptcp", "#0072b2")):
                mbps = np.sort(1e-6 * values(known, "goodput_bps", scheme=scheme))
                x = np.arange(1, mbps.size + 1) / max(mbps.size, 1)
                axes.plot(x, mbps, color=colour, label=scheme.upper())
            axes.legend()

        panel = Panel(paint, "", "share of turns", "goodput at most (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


EXPERIMENT = Ec2()
