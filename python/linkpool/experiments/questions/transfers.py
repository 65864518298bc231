"""Transfers in trees: permutations, the workloads of the REPS paper, and incasts."""

import random
from dataclasses import dataclass

import polars as pl

from linkpool.experiments.papers import QUESTIONS
from linkpool.experiments.questions.completion import (
    HEADER,
    MSS,
    RATE_BPS,
    Completion,
    completion,
    on_wire_s,
    permutation,
    trouble,
)
from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.experiments.scenarios import filled, transport
from linkpool.result import Result
from linkpool.study.toml import Table, Value

LEAVES, SENDERS, HOSTS_OF_LEAF = 8, 8, 12


def elephants(spines: int) -> list[Table]:
    """Return the flows of another job: from each leaf to the next over each of so many spines."""
    flows: list[Table] = []
    for leaf in range(LEAVES):
        after = (leaf + 1) % LEAVES
        for spine in range(spines):
            of = [f"h{HOSTS_OF_LEAF * at + SENDERS + spine}" for at in (leaf, after)]
            path: list[Value] = [of[0], f"l{leaf}", f"s{spine}", f"l{after}", of[1]]
            ends: Table = {"from": of[0], "to": of[1], "stop": "3ms", "paths": [path]}
            flows.append({"transport": "elephant", **ends})
    return flows


@dataclass(frozen=True)
class Window(Completion):
    """The permutation, alone or beside elephants."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows of the permutation, and elephants if there are some."""
        spines: int = self.setup.said(setting, scheme)["elephants"] or 0
        flows: list[Value] = [*self.flows(setting, scheme, seed), *elephants(spines)]
        return {"flows": flows, "elephant": transport(QUESTIONS, "ecmp") if spines else None}


TO_ONE = {
    "incast": (16, 1 << 20, 0),
    "many": (63, 1 << 18, 0),
    "join": (4, 8 << 20, 500),
    "drops": (16, 1 << 20, 0),
}
"""How many flows of what size go to one host; each begins so many us after the one before."""
LAWS_SIZE = 4 << 20


@dataclass(frozen=True)
class Laws(Completion):
    """A permutation, an incast, and flows that join."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the permutation, or flows from one host of each other leaf in turn."""
        if setting == "permutation":
            return {"flows": [*self.flows(setting, scheme, seed)]}
        count, size, gap = TO_ONE[setting]
        flows: list[Table] = []
        for i in range(count):
            host = (1 + (i + seed) % (LEAVES - 1)) * HOSTS_OF_LEAF + i // (LEAVES - 1)
            ends: Table = {"transport": scheme, "from": f"h{host}", "to": "h0"}
            flows.append({**ends, "start": f"{i * gap}us", "size": f"{size}B"})
        return {"flows": [*flows]}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion over the least time of the receivers' links, and the longest queue."""
        flows = result.flows
        wrong = trouble(flows, ("unfinished", "resent"))
        data = LAWS_SIZE if setting == "permutation" else int(flows["size_bytes"].sum())
        queue = result.links.filter(pl.col("to") == "h0")["max_queue_pkts"].max()
        found = completion(flows, on_wire_s(data, RATE_BPS), wrong)
        longest = None if queue is None or found == wrong else float(queue)  # type: ignore[arg-type]
        return {"last": found.get("last"), "mean": found.get("mean"), "queue": longest, **wrong}


@dataclass(frozen=True)
class Rules(Laws):
    """The same, with an incast over queues that drop: settings change what all transports have."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows, and the transport with what the setting changes."""
        said = self.setup.said(setting, scheme)
        changed = {**said["transport"], **(said["set"] or {})}
        return {**super().words(setting, scheme, seed), "transport": changed}


AT_US = 200
SPANS_US = {"10us": 10, "100us": 100, "1ms": 1000, "10ms": 10_000}


def change(setting: str) -> Table:
    """Return what happens at 200 us: links of plane 0 fail, flap or have a tenth of their rate."""
    where, how, span = setting.split("-")
    us = SPANS_US[span]
    planes: list[Value] = [f"l0.{leaf}" for leaf in range(4)]
    of: Table = {"links": ["h0<->l0.0"]} if where == "cable" else {"nodes": planes}
    of = {**of, "at": f"{AT_US}us", "until": f"{AT_US + us}us"}
    if how == "slow":
        return {**of, "rate_factor": 0.1}
    flaps: Table = {"repeat": {"every": f"{us * 250}ns", "lasts": f"{us * 125}ns"}}
    return {**of, "state": "down", **(flaps if how == "flap" else {})}


@dataclass(frozen=True)
class Planes(Completion):
    """The permutation while a plane or a cable of plane 0 changes."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows, and what changes; routes are as they were before."""
        changed = None if setting == "quiet" else change(setting)
        routing: Table | None = {"reconverge": "never"} if changed and "state" in changed else None
        return {
            "flows": [*self.flows(setting, scheme, seed)],
            "change": [changed] if changed else None,
            "routing": routing,
        }


RDMA_LEAVES, RDMA_SPINES, RDMA_HOSTS_OF_LEAF = 8, 8, 8
DELAY_NS = 1000
RDMA_PACKETS = 4096
"""Of a flow: 4 MiB in packets of 1 KiB."""


def graph(skew_ns: int, rate: str) -> tuple[list[Value], list[Value]]:
    """Return nodes and edges; the first spine is `skew_ns` further away, at `rate`."""
    nodes: list[Value] = []
    edges: list[Value] = []
    for spine in range(RDMA_SPINES):
        nodes.append({"id": f"s{spine}", "kind": "switch", "layer": "core"})
    for leaf in range(RDMA_LEAVES):
        nodes.append({"id": f"l{leaf}", "kind": "switch", "layer": "edge"})
        for spine in range(RDMA_SPINES):
            own: Table = {}
            if spine == 0:
                own = {"rate": rate, "delay": f"{DELAY_NS + skew_ns // 2}ns"}
            edges.append({"source": f"l{leaf}", "target": f"s{spine}", **own})
        for host in range(leaf * RDMA_HOSTS_OF_LEAF, (leaf + 1) * RDMA_HOSTS_OF_LEAF):
            nodes.append({"id": f"h{host}", "kind": "host"})
            edges.append({"source": f"h{host}", "target": f"l{leaf}"})
    return nodes, edges


@dataclass(frozen=True)
class SprayRdma(Completion):
    """The permutation of all hosts, or of one of each leaf."""

    def pairs(self, setting: str, seed: int) -> list[tuple[int, int]]:
        """Return senders and receivers."""
        hosts = range(RDMA_LEAVES * RDMA_HOSTS_OF_LEAF)
        if setting.startswith("skew"):
            hosts = hosts[seed % RDMA_HOSTS_OF_LEAF :: RDMA_HOSTS_OF_LEAF]
        return permutation(seed, tuple(hosts), RDMA_HOSTS_OF_LEAF)

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the graph and the flows."""
        of = self.setup.said(setting, scheme)
        nodes, edges = graph(of["skew_ns"], of["rate"])
        flows = self.flows(setting, scheme, seed)
        packets = float(len(flows) * RDMA_PACKETS)
        return {"nodes": nodes, "edges": edges, "flows": [*flows], "packets": packets}


REPS_SIZE, REPS_PACKETS = 4 << 20, 1024
RANKS = 32
REPS_SPINES = {128: 8, 1024: 32}


@dataclass(frozen=True)
class Reps(Question):
    """Six workloads in a tree of 128 hosts, or of 1,024."""

    file: str = "reps"
    seeds: int = 20
    hosts: int = 128

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the tree and the workload."""
        n, spines = self.hosts, REPS_SPINES[self.hosts]
        # Senders to a host are in all parts of the tree, and send to it alone.
        pairs = [((to + 1 + k * (n // 8 + 1)) % n, to) for to in range(0, n, 16) for k in range(8)]
        ends = [{"from": f"h{a}", "to": f"h{b}"} for a, b in pairs]
        incast = [{"transport": scheme, **each, "size": f"{REPS_SIZE}B"} for each in ends]
        of = {"scheme": scheme, "half": n // 2, "groups": n // RANKS, "incast": incast}
        return {
            "leaves": n // spines,
            "spines": spines,
            "workload": filled(self.setup.more["workload"][setting], of),
            "packets": self.setup.said(setting, scheme)["work"] * n * REPS_PACKETS,
        }

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the last completion over the least time of the links, and what went wrong."""
        wrong = trouble(result.flows, ("unfinished", "timeouts", "retransmits"))
        end = result.flows["end_s"]
        if end.null_count() or end.is_empty():
            return wrong
        ideal_s = on_wire_s(self.setup.words[setting]["share"] * REPS_SIZE, 400e9)
        return {"last": float(end.max()) / ideal_s, **wrong}  # type: ignore[arg-type]


HOSTS, RACK = 1024, 32
INCAST_SIZE = 128 << 10
VICTIMS, EVERY_S, VICTIM_SIZE = 8, 20e-6, 64 << 10


@dataclass(frozen=True)
class Trimming(Question):
    """An incast, and messages to hosts beside its receiver."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows to the first host, and those to the hosts beside it meanwhile."""
        senders: int = self.setup.said(setting, scheme)["senders"]
        drawn = random.Random(seed)
        near = range(RACK)
        far = range(RACK, HOSTS)
        chosen = range(1, HOSTS) if senders == HOSTS - 1 else drawn.sample(far, senders)
        of: Table = {"transport": scheme}
        flows: list[Value] = [
            {**of, "label": "incast", "from": f"h{a}", "to": "h0", "size": f"{INCAST_SIZE}B"}
            for a in chosen
        ]
        span = on_wire_s(senders * INCAST_SIZE, RATE_BPS)
        for victim in drawn.sample(near[1:], VICTIMS):
            start = drawn.uniform(0, EVERY_S)
            while start < span:
                at: Table = {"from": f"h{drawn.choice(far)}", "to": f"h{victim}"}
                size: Table = {"size": f"{VICTIM_SIZE}B", "start": f"{round(start * 1e9)}ns"}
                flows.append({**of, "label": "beside", **at, **size})
                start += EVERY_S
        work: Table = {"active_s": span, "packets": senders * INCAST_SIZE / MSS}
        return {"duration": f"{round(span * 1e6)}us", "flows": flows, **work}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion, what else came over the receiver's link, and slowdowns beside it."""
        flows = result.flows
        incast, beside = (flows.filter(label=label) for label in ("incast", "beside"))
        data = len(incast) * INCAST_SIZE
        into = float(result.links.filter(pl.col("to") == "h0")["bytes"].sum())
        wrong = {
            "waste": into / (data * (MSS + HEADER) / MSS) - 1.0,
            **trouble(incast, ("resent", "timeouts"), data / MSS),
            **trouble(flows, ("unfinished",)),
        }
        ideal_s = on_wire_s(data, RATE_BPS)
        last = completion(incast, ideal_s, wrong).get("last")
        if last is None:
            return wrong
        first = float(incast["end_s"].min())  # type: ignore[arg-type]
        p99 = beside["slowdown"].quantile(0.99, "linear")
        return {"last": last, "first": first / ideal_s, "victims": p99, **wrong}


STALL_HOSTS, STALL_LEAVES, STALL_SIZE, HOT = 64, 8, 512 << 10, 4
BASE_NS = 9350


@dataclass(frozen=True)
class Stall(Completion):
    """Four incasts of 63 hosts at once, with one value of NSCC changed."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the incasts, and the transport with the change."""
        said = self.setup.said(setting, scheme)
        drawn = random.Random(seed)
        starts = [round(drawn.uniform(0, BASE_NS)) for _ in range(STALL_HOSTS)]
        pairs = [
            (a, hot)
            for hot in range(0, HOT * STALL_LEAVES, STALL_LEAVES)
            for a in range(STALL_HOSTS)
            if a != hot
        ]
        flows: list[Value] = [
            {
                "transport": scheme,
                "from": f"h{a}",
                "to": f"h{hot}",
                "size": f"{STALL_SIZE}B",
                "start": f"{starts[a]}ns",
            }
            for a, hot in pairs
        ]
        return {"transport": {**said["transport"], **said["set"]}, "flows": flows}
