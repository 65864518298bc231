"""The MPTCP talk: a core that carries a quarter of what all hosts can send."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED, each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table, Value

PERMUTATION, RANDOM = "permutation", "random"
DASHES = {PERMUTATION: "-", RANDOM: "--"}
SCHEMES: dict[str, Table] = {"tcp": trees.tcp(), "mptcp": trees.mptcp(8)}
LOADS = (5, 10, 20, 25, 30, 40, 60, 100)
"""Hosts that send, in per cent; with 25 they could just fill the core."""


@dataclass(frozen=True)
class Oversub(trees.Timed):
    """Some of 512 hosts send without end, over a core oversubscribed 4:1."""

    id: str = "T-oversub"
    k: int = 8
    loads: tuple[int, ...] = LOADS
    columns: ClassVar[tuple[Column, ...]] = (
        Column("matrix", "string", "", "permutation or random"),
        Column("scheme", "string", "", "tcp or mptcp"),
        Column("load", "i32", "%", "hosts that send"),
        KEY_SEED,
        trees.KEY_FLOW,
        trees.GOODPUT,
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every matrix, load, scheme and seed."""
        return [
            self._point(matrix, scheme, load, seed)
            for matrix in (PERMUTATION, RANDOM)
            for load in self.loads
            for scheme in SCHEMES
            for seed in seeds
        ]

    def _point(self, matrix: str, scheme: str, load: int, seed: int) -> Point:
        per_edge = 2 * self.k
        hosts = self.k * self.k // 2 * per_edge
        rng = random.Random(f"T-oversub, {matrix}, {load}, seed {seed}")
        senders = rng.sample(range(hosts), max(hosts * load // 100, 2))
        # The permutation is of all hosts, of whom only some send.
        to = dict(trees.permutation(range(hosts), rng))
        pairs = [(a, to[a] if matrix == PERMUTATION else _other(a, hosts, rng)) for a in senders]
        flows: list[Value] = [
            {"transport": scheme, "from": f"h{a}", "to": f"h{b}"} for a, b in pairs
        ]
        name, fabric = (
            f"{matrix}, {load}% of {hosts} hosts, {scheme}",
            trees.fat_tree(self.k, hosts_per_edge=per_edge),
        )
        text = trees.long_flows(
            name, self.duration_s, fabric, scheme, SCHEMES[scheme], {"flow": flows}
        )
        keys: Keys = {"matrix": matrix, "scheme": scheme, "load": load}
        cost = trees.packets(min(len(pairs), hosts // 4), self.duration_s)
        return Point(keys, text, seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return trees.goodputs(result)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the matrices."""
        return each("matrix", (PERMUTATION, RANDOM))

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge how much MPTCP gains at low, right and high load."""
        gains = {load: _gain(data, load).value for load in self.loads}
        low, high = min(self.loads), max(self.loads)
        for level, load in (("low", low), ("high", high)):
            gain = gains[load]
            shown = "no data" if gain is None else f"{gain:.3g} times at {load}%"
            ledger.judge("{level}", shown, gain, level=level)
        between = [gain for load, gain in gains.items() if low < load < high and gain is not None]
        best = max(between, default=None)
        ledger.judge("between", "no data" if best is None else f"up to {best:.3g} times", best)

    def frame(self) -> Frame:
        """Return mean goodputs and the gain against the load, of both matrices together."""

        def goodputs(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                rows = data.filter(matrix=matrix)
                for scheme, colour in (("tcp", "#7f7f7f"), ("mptcp", "#0072b2")):
                    y = [_or_nan(_mean(rows, load, scheme)) for load in self.loads]
                    axes.plot(
                        self.loads, y, dash, color=colour, label=f"{scheme.upper()}, {matrix}"
                    )
            axes.legend()

        def gains(axes: Axes, data: pl.DataFrame) -> None:
            for matrix, dash in DASHES.items():
                y = [_or_nan(_gain(data.filter(matrix=matrix), load)) for load in self.loads]
                axes.plot(self.loads, y, dash, color="#0072b2", label=matrix)
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


def _by_seed(data: pl.DataFrame, load: int, scheme: str) -> list[float]:
    rows = data.filter(load=load, scheme=scheme)
    parts = rows.sort("seed").partition_by("seed", maintain_order=True) if rows.height else []
    return [1e-6 * float(part["goodput_bps"].to_numpy().mean()) for part in parts]


def _mean(data: pl.DataFrame, load: int, scheme: str) -> Spread:
    return Spread.of(_by_seed(data, load, scheme))


def _gain(data: pl.DataFrame, load: int) -> Spread:
    tcp, mptcp = (_by_seed(data, load, scheme) for scheme in SCHEMES)
    return Spread.of([b / a for a, b in zip(tcp, mptcp, strict=False) if a > 0])


def _or_nan(spread: Spread) -> float:
    return float("nan") if spread.value is None else spread.value


EXPERIMENT = Oversub()
