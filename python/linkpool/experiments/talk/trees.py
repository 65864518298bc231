"""The MPTCP talk: long flows in trees of 100 Mbps links, and how many paths a flow needs there.

The talk names neither rates nor delays nor queues of its simulations. These are those of the MMPTCP
paper's fat-trees, which simulate the same transport.
"""

import random
import threading
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Published
from linkpool.experiments.rows import spread, values
from linkpool.optimum.network import Floats
from linkpool.optimum.problem import Measured, Problem
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.toml import Table, Value

RATE = "100Mbps"
RATE_BPS = 100e6
DELAY = "20us"
QUEUE = 100
PACKET_BITS = 8 * 1462


@dataclass(frozen=True)
class Timed(Published, ABC):
    """An experiment that is shortened in simulated time."""

    duration_s: float = 20.0
    said: ClassVar = "{duration_s:g} s simulated"
    cuts: ClassVar = {"duration_s": (3, 0.004)}

    def long_flows(self, name: str, keys: Keys, seed: int, links: int, **words: Value) -> Point:
        """Return a run of long flows that fill so many links of hosts."""
        time: Table = {"duration": seconds(self.duration_s), "record": record(self.duration_s)}
        words |= {"name": name, **time}
        return self.run(
            "long", keys, seed, self.duration_s, packets(links, self.duration_s), **words
        )


def fat_tree(k: int, **keys: Value) -> Table:
    """Return a fat-tree of k-port switches; `keys` are further ones of its topology."""
    return {"fat-tree": {"k": k, "rate": RATE, "delay": DELAY, **keys}}


def mptcp(subflows: int, **keys: Value) -> Table:
    """Return MPTCP with linked increases, as the talk has it."""
    return {"preset": "paper-2013", "control": "lia", "subflows": subflows, **keys}


def tcp(**keys: Value) -> Table:
    """Return TCP with NewReno."""
    return {"preset": "paper-2013", "control": "reno", **keys}


def permutation(hosts: Sequence[int], rng: random.Random) -> list[tuple[int, int]]:
    """Return a random permutation of hosts in which none sends to itself."""
    order = list(hosts)
    while any(a == b for a, b in zip(hosts, order, strict=True)):
        rng.shuffle(order)
    return list(zip(hosts, order, strict=True))


def flows(scheme: str, pairs: Sequence[tuple[int, int]]) -> Table:
    """Return the workload of a long flow of each pair of hosts."""
    return {"flow": [{"transport": scheme, "from": f"h{a}", "to": f"h{b}"} for a, b in pairs]}


def record(end_s: float, start_s: float = 0.0) -> Table:
    """Return the record of the rates in the second half of the time from `start_s` to the end."""
    quarter = (end_s - start_s) / 4
    return {"rate": {"every": seconds(quarter), "from": seconds(start_s + 2 * quarter)}}


def subflow_goodputs(result: Result) -> pl.DataFrame:
    """Return the payload rate of each subflow in the time recorded, 0 where there is none."""
    times = result.rate["time_s"].n_unique()
    ids = ("flow", "subflow")
    rates = result.rate.group_by(ids).agg(
        (pl.col("goodput_bps").sum() / times).alias("goodput_bps")
    )
    subflows = result.subflows.select(ids).sort(ids)
    return subflows.join(rates, on=ids, how="left", maintain_order="left").with_columns(
        pl.col("goodput_bps").fill_null(0.0)
    )


def goodputs(result: Result) -> pl.DataFrame:
    """Return the payload rate of each flow in the time recorded, 0 where there is none."""
    rates = subflow_goodputs(result).group_by("flow").agg(pl.col("goodput_bps").sum())
    return rates.sort("flow")


def packets(hosts: int, duration_s: float) -> float:
    """Return the packets that so many hosts send at line rate."""
    return hosts * duration_s * RATE_BPS / PACKET_BITS


def seconds(value: float) -> str:
    """Write a time for a scenario, to the microsecond."""
    return f"{round(value * 1e6)}us"


def concurrent(problem: Problem) -> float:
    """Return `problem.concurrent()`, computed once for all runs that pose the same problem."""
    return _once("concurrent", problem, problem.concurrent)


def max_min(problem: Problem) -> Floats:
    """Return `problem.max_min()`, computed once for all runs that pose the same problem."""
    return _once("max-min", problem, problem.max_min)


_T = TypeVar("_T", float, Floats)
_KNOWN: dict[object, float | Floats] = {}
_LOCK = threading.Lock()


def _once(what: str, problem: Problem, compute: Callable[[], _T]) -> _T:
    network = problem.network
    flows = tuple((flow.src, flow.dst) for flow in problem.flows)
    rates = (tuple(network.capacity), tuple(problem.payload))
    key = (what, tuple(network.ends), rates, network.closed, flows)
    with _LOCK:
        if key not in _KNOWN:
            _KNOWN[key] = compute()
        return cast(_T, _KNOWN[key])


ONE, FULL = 1, 8
"""The talk's numbers of paths."""


@dataclass(frozen=True)
class Paths(Timed):
    """A permutation in a fat-tree of 128 hosts, each flow over some random paths."""

    k: int = 8
    subflows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
    over: ClassVar = ("subflows",)
    varied: ClassVar = ("subflows", "subflows")

    def point(self, seed: int, subflows: int) -> Point:
        """Return the run with so many subflows."""
        of: Table = {
            "topology": fat_tree(self.k),
            "scheme": "mptcp",
            "transport": mptcp(subflows),
            "workload": {"permutation": [{"transport": "mptcp"}]},
        }
        name = f"permutation, {subflows} subflows"
        return self.long_flows(name, {"subflows": subflows}, seed, self.k**3 // 4, **of)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow, and its rate under the best sharing."""
        measured = Measured.of(result)
        fair = pl.Series("fair_bps", measured.restricted.max_min())
        best = pl.lit(concurrent(measured.problem)).alias("optimum_bps")
        return goodputs(result).with_columns(fair, best)

    def frame(self) -> Frame:
        """Return the share of the optimum against the number of paths."""
        looks = {
            "fair_bps": ("max-min fair over the same paths", "#7f7f7f", "--"),
            "goodput_bps": ("MPTCP", "#0072b2", "-"),
        }

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for column, (label, colour, dash) in looks.items():
                of = self.of(f"mean {column} / mean optimum_bps")
                found = [(n, spread(data, of, subflows=n)) for n in self.subflows]
                rows = [(n, s.value, s.low, s.high) for n, s in found if s.value is not None]
                x, y, low, high = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
                error = np.array([y - low, high - y])
                axes.errorbar(
                    x, y, error, fmt=f"o{dash}", color=colour, ms=3, capsize=2, label=label
                )
            axes.axhline(0.9, color="#d55e00", lw=1.0, ls=":", label="90%")
            axes.legend(loc="lower right")

        x, y = "paths, chosen at random, of each flow", "mean rate over the optimum"
        panel = Panel(paint, "", x, y, from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)


@dataclass(frozen=True)
class Ecmp(Paths):
    """Two of the runs of T-paths: with one path a flow is TCP's, with eight MPTCP's."""

    subflows: tuple[int, ...] = (ONE, FULL)
    ends: ClassVar = (ONE, FULL)
    over: ClassVar = ("ends",)
    terms: ClassVar = {
        "jain": lambda rows: jain(rows["goodput_bps"].to_list()),
    }

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow."""
        return goodputs(result)

    def frame(self) -> Frame:
        """Return the goodput of each flow of the first seed, ranked."""
        looks = {ONE: ("TCP, a path by ECMP", "#7f7f7f"), FULL: (f"MPTCP, {FULL} paths", "#0072b2")}

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            first = data.filter(pl.col("seed") == data["seed"].min())
            for subflows, (label, colour) in looks.items():
                mbps = np.sort(1e-6 * values(first, "goodput_bps", subflows=subflows))
                axes.plot(mbps, color=colour, label=label)
            axes.legend(loc="lower right")

        panel = Panel(paint, "", "rank of the flow", "goodput (Mbps)", from_zero=True)
        return Frame([panel], self.title, (5.5, 3.2), legend=0)
