"""The MPTCP talk: a core that carries a quarter of what all hosts can send."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.rows import by_seed, spread, told
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table

PERMUTATION, RANDOM = "permutation", "random"
DASHES = {PERMUTATION: "-", RANDOM: "--"}
COLOURS = {"tcp": "#7f7f7f", "mptcp": "#0072b2"}
SCHEMES: dict[str, Table] = {"tcp": trees.tcp(), "mptcp": trees.mptcp(8)}
LOADS = (5, 10, 20, 25, 30, 40, 60, 100)
"""Hosts that send, in per cent; with 25 they could just fill the core."""
MBPS = 1e-6 * pl.col("goodput_bps").mean()


@dataclass(frozen=True)
class Oversub(trees.Timed):
    """Some of 512 hosts send without end, over a core oversubscribed 4:1."""

    id: str = "T-oversub"
    k: int = 8
    loads: tuple[int, ...] = LOADS
    matrices: ClassVar = (PERMUTATION, RANDOM)
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("matrices", "loads", "schemes")
    columns: ClassVar = declared.columns("talk", "T-oversub")

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
        flows = trees.flows(scheme, pairs)
        text = trees.long_flows(name, self.duration_s, fabric, scheme, SCHEMES[scheme], flows)
        cost = trees.packets(min(len(pairs), hosts // 4), self.duration_s)
        keys: Keys = {"matrix": matrix, "scheme": scheme, "load": load}
        return Point(keys, text, seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return trees.goodputs(result)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the matrices."""
        return each("matrix", self.matrices)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge how much MPTCP gains at low, right and high load."""
        gains = {load: _gain(data, load).value for load in self.loads}
        low, high = min(self.loads), max(self.loads)
        for level, load in (("low", low), ("high", high)):
            shown = told(f"{{:.3g}} times at {load}%", gains[load])
            ledger.judge("{level}", shown, gains[load], level=level)
        between = [gain for load, gain in gains.items() if low < load < high and gain is not None]
        best = max(between, default=None)
        ledger.judge("between", told("up to {:.3g} times", best), best)

    def frame(self) -> Frame:
        """Return mean goodputs and the gain against the load, of both matrices together."""

        def goodputs(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                for scheme, colour in COLOURS.items():
                    at = {"matrix": matrix, "scheme": scheme}
                    y = [_or_nan(spread(data, MBPS, load=load, **at)) for load in self.loads]
                    label = f"{scheme.upper()}, {matrix}"
                    axes.plot(self.loads, y, dash, color=colour, label=label)
            axes.legend()

        def gains(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                y = [_or_nan(_gain(data.filter(matrix=matrix), load)) for load in self.loads]
                axes.plot(self.loads, y, dash, color=COLOURS["mptcp"], label=matrix)
            axes.legend()

        x = "hosts that send (%)"
        panels = [
            Panel(goodputs, "", x, "mean goodput (Mbps)", from_zero=True),
            Panel(gains, "", x, "MPTCP over TCP", from_zero=True),
        ]
        return Frame(panels, self.title, (4.4, 2.8), sharey=False, legend=0, together=True)


def _other(host: int, hosts: int, rng: random.Random) -> int:
    found = rng.randrange(hosts - 1)
    return found + (found >= host)


def _gain(data: pl.DataFrame, load: int) -> Spread:
    tcp, mptcp = (by_seed(data, MBPS, load=load, scheme=scheme) for scheme in SCHEMES)
    return Spread.of([mptcp[seed] / tcp[seed] for seed in tcp if tcp[seed] > 0 and seed in mptcp])


def _or_nan(spread: Spread) -> float:
    return float("nan") if spread.value is None else spread.value


EXPERIMENT = Oversub()
