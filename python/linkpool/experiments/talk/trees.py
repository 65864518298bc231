"""Long flows in trees of 100 Mbps links: what the experiments of the MPTCP talk share.

The talk names neither rates nor delays nor queues of its simulations. These are those of the MMPTCP
paper's fat-trees, which simulate the same transport.
"""

import random
import threading
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import polars as pl

from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario
from linkpool.optimum.network import Floats
from linkpool.optimum.problem import Problem
from linkpool.result import Result
from linkpool.study.experiment import Experiment
from linkpool.study.toml import Table, Value, dumps

RATE = "100Mbps"
RATE_BPS = 100e6
DELAY = "20us"
QUEUE = 100
PACKET_BITS = 8 * 1462


@dataclass(frozen=True)
class Timed(Published, ABC):
    """An experiment that is shortened in simulated time."""

    duration_s: float = 20.0

    def extent(self) -> str:
        """Say how long it runs."""
        return f"{self.duration_s:g} s simulated"

    def shortened(self, scale: float) -> Experiment:
        """Simulate for a shorter time."""
        return replace(self, duration_s=shortened(self.duration_s, scale))


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


def long_flows(
    name: str, duration_s: float, topology: Table, scheme: str, transport: Table, workload: Table
) -> str:
    """Return a scenario of long flows, as TOML."""
    return dumps(
        scenario(
            "talk",
            "long",
            name=name,
            duration=seconds(duration_s),
            topology=topology,
            scheme=scheme,
            transport=transport,
            workload=workload,
            record=record(duration_s),
        )
    )


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


def shortened(duration_s: float, scale: float) -> float:
    """Return a shorter duration, in whole milliseconds."""
    return max(round(duration_s * scale, 3), 0.004)


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
