"""The MPTCP talk: a fat-tree whose hosts have two NICs."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table, Value

HALF, LOCAL = "half", "local"
WORKLOADS = {HALF: "half of the hosts active", LOCAL: "half of the traffic in the rack"}
SCHEMES: dict[str, tuple[str, Table]] = {
    "tcp": ("TCP", trees.tcp()),
    "scatter": (
        "TCP, packets scattered",
        trees.tcp(paths="scatter", dupack_threshold="auto"),
    ),
    "mptcp": ("MPTCP, 8 subflows", trees.mptcp(8)),
}
NICS = (1, 2)


@dataclass(frozen=True)
class Dual(trees.Timed):
    """Long flows in a fat-tree of 128 hosts, of which each has one NIC or two."""

    id: str = "T-dual"
    k: int = 8
    workloads: tuple[str, ...] = (HALF, LOCAL)
    columns: ClassVar[tuple[Column, ...]] = (
        Column("workload", "string", "", "half: 64 of 128 hosts send; local: half stays in racks"),
        Column("scheme", "string", "", "tcp, scatter or mptcp"),
        Column("nics", "i32", "", "NICs of each host"),
        KEY_SEED,
        trees.KEY_FLOW,
        trees.GOODPUT,
        Column("nic_bps", "f64", "bit/s", "payload rate of one NIC"),
        Column("best_bps", "f64", "bit/s", "max-min fair payload rate over any paths"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every workload, scheme, number of NICs and seed."""
        return [
            self._point(workload, scheme, nics, seed)
            for workload in self.workloads
            for scheme in SCHEMES
            for nics in NICS
            for seed in seeds
        ]

    def _point(self, workload: str, scheme: str, nics: int, seed: int) -> Point:
        pairs = self._pairs(workload, random.Random(f"T-dual, {workload}, seed {seed}"))
        flows: list[Value] = [
            {"transport": scheme, "from": f"h{a}", "to": f"h{b}"} for a, b in pairs
        ]
        name, fabric = (
            f"{WORKLOADS[workload]}, {scheme}, {nics} NICs",
            trees.fat_tree(self.k, nics=nics),
        )
        text = trees.long_flows(
            name, self.duration_s, fabric, scheme, SCHEMES[scheme][1], {"flow": flows}
        )
        keys: Keys = {"workload": workload, "scheme": scheme, "nics": nics}
        cost = trees.packets(nics * len(pairs), self.duration_s)
        return Point(keys, text, seed, self.duration_s, cost)

    def _pairs(self, workload: str, rng: random.Random) -> list[tuple[int, int]]:
        """Return the pairs of senders and receivers; a permutation of the senders."""
        hosts, rack = self.k**3 // 4, self.k // 2
        if workload == HALF:
            return trees.permutation(sorted(rng.sample(range(hosts), hosts // 2)), rng)
        near = [h for h in range(hosts) if h % rack < rack // 2]
        within = [(h, h - h % rack + (h + 1) % (rack // 2)) for h in near]
        return within + trees.permutation([h for h in range(hosts) if h not in set(near)], rng)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow, and its rate under the best sharing."""
        problem = Measured.of(result).problem
        best = pl.Series("best_bps", trees.max_min(problem))
        nic = pl.Series("nic_bps", problem.payload * trees.RATE_BPS)
        return trees.goodputs(result).with_columns(nic, best)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each scheme's goodput with two NICs."""
        for workload in self.workloads:
            rate = {s: nics_worth(data, workload, s, 2) for s in SCHEMES}
            mptcp, tcp = rate["mptcp"].value, rate["tcp"].value
            best = nics_worth(data, workload, "mptcp", 2, "best_bps")
            ledger.judge(
                "{workload}",
                f"{rate['mptcp']} NICs; the best sharing would give {best}",
                mptcp,
                workload=workload,
                what=WORKLOADS[workload],
            )
            gain = None if mptcp is None or not tcp else mptcp / tcp
            ledger.judge(
                "{workload}-tcp",
                "no data" if gain is None else f"MPTCP {gain:.2f} times TCP ({rate['tcp']} NICs)",
                gain,
                workload=workload,
                what=WORKLOADS[workload],
            )

    def frame(self) -> Frame:
        """Return the mean goodput of each scheme in NICs, a panel per workload."""
        panels = [self._panel(workload) for workload in self.workloads]
        return Frame(panels, self.title, (3.6, 2.8), legend=3)

    def _panel(self, workload: str) -> Panel:
        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for i, nics in enumerate(NICS):
                x = [j + 0.38 * (i - 0.5) for j in range(len(SCHEMES))]
                y = [nics_worth(data, workload, s, nics).value or 0.0 for s in SCHEMES]
                colour, several = ("#bbbbbb", "#0072b2")[i], "s" if nics > 1 else ""
                axes.bar(x, y, 0.34, color=colour, label=f"{nics} NIC{several} a host")
                best = nics_worth(data, workload, "tcp", nics, "best_bps").value
                if best is not None:
                    label = f"best sharing, {nics} NIC{several}"
                    axes.axhline(best, color=colour, lw=1.0, ls="--", label=label)
            axes.axhline(1.0, color="#d55e00", lw=1.0, ls=":", label="one NIC")
            names = [name.replace(", ", ",\n") for name, _ in SCHEMES.values()]
            axes.set_xticks(range(len(SCHEMES)), names, fontsize=8)
            axes.grid(visible=False, axis="x")

        return Panel(paint, WORKLOADS[workload], y="mean goodput of a flow (NICs)", from_zero=True)


def nics_worth(
    data: pl.DataFrame, workload: str, scheme: str, nics: int, column: str = "goodput_bps"
) -> Spread:
    """Return the mean rate of the flows over the payload rate of one NIC, by seed."""
    rows = data.filter(
        pl.col("workload") == workload, pl.col("scheme") == scheme, pl.col("nics") == nics
    )
    shares = rows.group_by("seed", maintain_order=True).agg(
        (pl.col(column) / pl.col("nic_bps")).mean().alias("share")
    )
    return Spread.of(shares["share"].to_list())


EXPERIMENT = Dual()
