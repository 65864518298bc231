"""The MPTCP talk: many paths of varying background load, as measured in a public cloud."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table, Value, dumps

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
    columns: ClassVar[tuple[Column, ...]] = (
        Column("scheme", "string", "", "of the tenant: tcp or mptcp"),
        KEY_SEED,
        Column("source", "string", "", "host of the tenant"),
        Column("start_s", "f64", "s", "begin of the turn"),
        Column("goodput_bps", "f64", "bit/s", "payload acknowledged over the turn"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both schemes and every seed."""
        return [self._point(scheme, seed) for scheme in SCHEMES for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        hosts = self.k**3 // 4
        rng = random.Random(f"T-ec2, seed {seed}")
        tenants = rng.sample(range(hosts), min(TENANTS, hosts // 2))
        turn = self.duration_s / (len(tenants) - 1)
        flows: list[Value] = [
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
            flows=flows,
        )
        keys: Keys = {"scheme": scheme}
        cost = trees.packets(hosts // 2, self.duration_s)
        return Point(keys, dumps(written), seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each turn of the tenant's hosts."""
        mine = result.flows.filter(pl.col("label") == TENANT)
        return mine.select(pl.col("src").alias("source"), "start_s", "goodput_bps")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the mean and the slowest turns."""
        for name, percentile in (("mean", None), ("slow", 10)):
            tcp, mptcp = (_of(data, scheme, percentile) for scheme in SCHEMES)
            gain = mptcp.value / tcp.value if mptcp.value is not None and tcp.value else None
            ledger.judge(name, f"{mptcp} against {tcp} Mbps", gain)

    def frame(self) -> Frame:
        """Return the goodputs of all turns, ranked."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme, colour in (("tcp", "#7f7f7f"), ("mptcp", "#0072b2")):
                values = np.sort(1e-6 * _goodputs(data, scheme))
                x = np.arange(1, values.size + 1) / max(values.size, 1)
                axes.plot(x, values, color=colour, label=scheme.upper())
            axes.legend()

        panel = Panel(paint, "", "share of turns", "goodput at most (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


def _goodputs(data: pl.DataFrame, scheme: str) -> "np.ndarray":
    return data.filter(pl.col("scheme") == scheme)["goodput_bps"].fill_null(0.0).to_numpy()


def _of(data: pl.DataFrame, scheme: str, percentile: int | None) -> Spread:
    """Return the mean of the turns, or a percentile, by seed, in Mbit/s."""
    rows = data.filter(pl.col("scheme") == scheme)
    parts = [_goodputs(part, scheme) for part in rows.partition_by("seed")] if rows.height else []
    values = [p.mean() if percentile is None else np.percentile(p, percentile) for p in parts]
    return Spread.of([1e-6 * float(value) for value in values])


EXPERIMENT = Ec2()
