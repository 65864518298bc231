"""The MPTCP talk: a core that carries a quarter of what hosts can send, and hosts of two NICs."""

import random
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.rows import spread
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.toml import Table

PERMUTATION, RANDOM = "permutation", "random"
DASHES = {PERMUTATION: "-", RANDOM: "--"}
COLOURS = {"tcp": "#7f7f7f", "mptcp": "#0072b2"}
SCHEMES: dict[str, Table] = {"tcp": trees.tcp(), "mptcp": trees.mptcp(8)}
LOADS = (5, 10, 20, 25, 30, 40, 60, 100)
"""Hosts that send, in per cent; with 25 they could just fill the core."""


@dataclass(frozen=True)
class Oversub(trees.Timed):
    """Some of 512 hosts send without end, over a core oversubscribed 4:1."""

    k: int = 8
    loads: tuple[int, ...] = LOADS
    matrices: ClassVar = (PERMUTATION, RANDOM)
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("matrices", "loads", "schemes")
    apart: ClassVar = ("matrix", "matrices")
    varied: ClassVar = ("load", "loads")

    def point(self, seed: int, matrix: str, load: int, scheme: str) -> Point:
        """Return the run in which so many per cent of the hosts send."""
        per_edge = 2 * self.k
        hosts = self.k * self.k // 2 * per_edge
        rng = random.Random(f"T-oversub, {matrix}, {load}, seed {seed}")
        senders = rng.sample(range(hosts), max(hosts * load // 100, 2))
        # The permutation is of all hosts, of whom only some send.
        to = dict(trees.permutation(range(hosts), rng))
        pairs = [(a, to[a] if matrix == PERMUTATION else _other(a, hosts, rng)) for a in senders]
        name = f"{matrix}, {load}% of {hosts} hosts, {scheme}"
        fabric = trees.fat_tree(self.k, hosts_per_edge=per_edge)
        of: Table = {"transport": SCHEMES[scheme], "workload": trees.flows(scheme, pairs)}
        keys: Keys = {"matrix": matrix, "scheme": scheme, "load": load}
        links = min(len(pairs), hosts // 4)
        return self.long_flows(name, keys, seed, links, topology=fabric, **of)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return trees.goodputs(result)

    def frame(self) -> Frame:
        """Return mean goodputs and the gain against the load, of both matrices together."""

        def goodputs(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                for scheme, colour in COLOURS.items():
                    y = self._by_load(data, "mbps", matrix=matrix, scheme=scheme)
                    label = f"{scheme.upper()}, {matrix}"
                    axes.plot(self.loads, y, dash, color=colour, label=label)
            axes.legend()

        def gains(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                y = self._by_load(data, "gain", matrix=matrix)
                axes.plot(self.loads, y, dash, color=COLOURS["mptcp"], label=matrix)
            axes.legend()

        x = "hosts that send (%)"
        panels = [
            Panel(goodputs, "", x, "mean goodput (Mbps)", from_zero=True),
            Panel(gains, "", x, "MPTCP over TCP", from_zero=True),
        ]
        return Frame(panels, self.title, (4.4, 2.8), sharey=False, legend=0, together=True)

    def _by_load(self, data: pl.DataFrame, name: str, **keys: str) -> list[float]:
        of = self.quantity(name)
        found = (spread(data, of, load=load, **keys).value for load in self.loads)
        return [float("nan") if value is None else value for value in found]


def _other(host: int, hosts: int, rng: random.Random) -> int:
    found = rng.randrange(hosts - 1)
    return found + (found >= host)


HALF, LOCAL = "half", "local"
WORKLOADS = {HALF: "half of the hosts active", LOCAL: "half of the traffic in the rack"}
OF_NICS: dict[str, tuple[str, Table]] = {
    "tcp": ("TCP", trees.tcp()),
    "scatter": ("TCP, packets scattered", trees.tcp(paths="scatter", dupack_threshold="auto")),
    "mptcp": ("MPTCP, 8 subflows", trees.mptcp(8)),
}


@dataclass(frozen=True)
class Dual(trees.Timed):
    """Long flows in a fat-tree of 128 hosts, of which each has one NIC or two."""

    k: int = 8
    workloads: tuple[str, ...] = (HALF, LOCAL)
    schemes: ClassVar = tuple(OF_NICS)
    nics: ClassVar = (1, 2)
    over: ClassVar = ("workloads", "schemes", "nics")
    terms: ClassVar = {
        "worth": lambda rows: (rows["goodput_bps"] / rows["nic_bps"]).mean(),
        "best-worth": lambda rows: (rows["best_bps"] / rows["nic_bps"]).mean(),
    }

    def point(self, seed: int, workload: str, scheme: str, nics: int) -> Point:
        """Return the run with so many NICs of a host."""
        pairs = self._pairs(workload, random.Random(f"T-dual, {workload}, seed {seed}"))
        name = f"{WORKLOADS[workload]}, {scheme}, {nics} NICs"
        fabric = trees.fat_tree(self.k, nics=nics)
        of: Table = {"transport": OF_NICS[scheme][1], "workload": trees.flows(scheme, pairs)}
        keys: Keys = {"workload": workload, "scheme": scheme, "nics": nics}
        return self.long_flows(name, keys, seed, nics * len(pairs), topology=fabric, **of)

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

    def frame(self) -> Frame:
        """Return the mean goodput of each scheme in NICs, a panel per workload."""
        panels = [self._panel(workload) for workload in self.workloads]
        return Frame(panels, self.title, (3.6, 2.8), legend=3)

    def _panel(self, workload: str) -> Panel:
        def paint(axes: Axes, data: pl.DataFrame) -> None:
            worth, best_worth = self.terms["worth"], self.terms["best-worth"]
            for i, nics in enumerate(self.nics):
                at = {"workload": workload, "nics": nics}
                x = [j + 0.38 * (i - 0.5) for j in range(len(OF_NICS))]
                y = [spread(data, worth, scheme=s, **at).value or 0.0 for s in OF_NICS]
                colour, several = ("#bbbbbb", "#0072b2")[i], "s" if nics > 1 else ""
                axes.bar(x, y, 0.34, color=colour, label=f"{nics} NIC{several} a host")
                best = spread(data, best_worth, scheme="tcp", **at).value
                if best is not None:
                    label = f"best sharing, {nics} NIC{several}"
                    axes.axhline(best, color=colour, lw=1.0, ls="--", label=label)
            axes.axhline(1.0, color="#d55e00", lw=1.0, ls=":", label="one NIC")
            names = [name.replace(", ", ",\n") for name, _ in OF_NICS.values()]
            axes.set_xticks(range(len(OF_NICS)), names, fontsize=8)
            axes.grid(visible=False, axis="x")

        return Panel(paint, WORKLOADS[workload], y="mean goodput of a flow (NICs)", from_zero=True)
