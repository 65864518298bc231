"""Q-trimming and Q-stall: what trimming costs in incasts, and where NSCC's quick adapt stalls.

A tree of 1,024 hosts. From 8 hosts to all others send to one; hosts beside it get messages of
others meanwhile.
"""

import random
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import (
    Case,
    Panel,
    Quantities,
    Question,
)
from linkpool.experiments.questions.trees import BDP, LIMIT, RATE_BPS, REPS, tree, trimming
from linkpool.result import Result
from linkpool.study.toml import Table, Value

LEAVES, SPINES, HOSTS_OF_LEAF = 32, 32, 32
HOSTS = LEAVES * HOSTS_OF_LEAF
SIZE = 128 << 10
"""Of each message of an incast: more than a first window."""
VICTIMS, EVERY_S, VICTIM_SIZE = 8, 20e-6, 64 << 10
"""So many hosts of the receiver's rack get a message each so often: 27% of their links' rate."""
NDP_LIMIT = 8
SENDERS = (8, 32, 128, 512, 1023)

DCTCP = balancing.transport("spray", BDP, "250us")
TRANSPORTS: dict[str, Table] = {
    "nscc": REPS,
    "nscc-sleek": {**REPS, "trimmable": False, "sleek": True},
    "rccc": {**REPS, "sender_law": "none", "receiver_credit": True},
    "nscc-rccc": {**REPS, "receiver_credit": True},
    "fastflow": {**REPS, "sender_law": "fastflow"},
    "ndp": balancing.transport("ndp", BDP, "1ms"),
    "dctcp-trim": {**DCTCP, "trimming": True},
    "dctcp-drop": DCTCP,
}


@dataclass(frozen=True)
class Trimming(Question):
    """Incasts of 128 KiB a sender in a tree of 32 leaves and 32 spines at 100 Gbps."""

    id: str = "Q-trimming"
    settings: ClassVar = {f"incast-{n}": f"{n:,}" for n in SENDERS}
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = (
        Panel("last", "last completion over ideal", log=True),
        Panel("waste", "beyond the data, on the\nreceiver's link, %", 100.0),
        Panel("resent", "data packets sent again, %", 100.0),
        Panel("victims", "p99 slowdown of hosts beside it", log=True),
    )
    figure_rows: ClassVar[int] = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return one incast by one scheme, and what the hosts beside the receiver get meanwhile."""
        senders = int(setting.partition("-")[2])
        drawn = random.Random(seed)
        near = range(HOSTS_OF_LEAF)
        far = range(HOSTS_OF_LEAF, HOSTS)
        chosen = range(1, HOSTS) if senders == HOSTS - 1 else drawn.sample(far, senders)
        of: Table = {"transport": scheme}
        flows: list[Value] = [
            {**of, "label": "incast", "from": f"h{a}", "to": "h0", "size": f"{SIZE}B"}
            for a in chosen
        ]
        span = balancing.on_wire_s(senders * SIZE, RATE_BPS)
        for victim in drawn.sample(near[1:], VICTIMS):
            start = drawn.uniform(0, EVERY_S)
            while start < span:
                at: Table = {"from": f"h{drawn.choice(far)}", "to": f"h{victim}"}
                size: Table = {"size": f"{VICTIM_SIZE}B", "start": f"{round(start * 1e9)}ns"}
                flows.append({**of, "label": "beside", **at, **size})
                start += EVERY_S
        limit: Value = NDP_LIMIT if scheme == "ndp" else f"{LIMIT}B"
        scenario: dict[str, Value] = {
            "duration": f"{round(span * 1e6)}us",
            "drain": "200ms",
            "topology": tree(LEAVES, SPINES, HOSTS_OF_LEAF),
            "queue": trimming(limit),
            "transport": {scheme: TRANSPORTS[scheme]},
            "workload": {"flow": flows},
        }
        return Case(scenario, span, senders * SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion, what else came over the receiver's link, and slowdowns beside it."""
        flows = result.flows
        incast = flows.filter(pl.col("label") == "incast")
        beside = flows.filter(pl.col("label") == "beside")
        data = len(incast) * SIZE
        packets = data / balancing.MSS
        on_wire = data * (balancing.MSS + balancing.HEADER) / balancing.MSS
        into = float(result.links.filter(pl.col("to") == "h0")["bytes"].sum())
        trouble = {
            "waste": into / on_wire - 1.0,
            "resent": float(incast["retransmits"].sum()) / packets,
            "timeouts": float(incast["timeouts"].sum()),
            "unfinished": float(flows["fct_s"].null_count()),
        }
        if trouble["unfinished"] > 0:
            return trouble
        last = float(incast["end_s"].max())  # type: ignore[arg-type]
        first = float(incast["end_s"].min())  # type: ignore[arg-type]
        ideal = balancing.on_wire_s(data, RATE_BPS)
        p99 = beside["slowdown"].quantile(0.99, "linear")
        return {"last": last / ideal, "first": first / ideal, "victims": p99, **trouble}


STALL_HOSTS, STALL_LEAVES, STALL_SIZE = 64, 8, 512 << 10
HOT = 4
"""So many hosts, each in a rack of its own, get data of all others: busy experts of a model."""
BASE_US = 9.35
"""Base RTT: 8 links of 1 us, and a packet of 4,160 B and an ACK of 64 B on four links each."""
QUEUES: dict[str, tuple[int, Table]] = {
    "nscc": (1, REPS),
    "nscc-spec": (1, {**REPS, "nscc_rules": "spec-1.0.3"}),
    "nscc-deep": (5, {**REPS, "trimmable": False, "sleek": True}),
}
"""By scheme: the queue in bandwidth-delay products, and the transport."""
TARGETS = (0.25, 0.5, 0.7, 0.74, 0.75, 0.76, 0.8, 1.0, 1.5, 3.0)
GATES = (0, 1, 2, 3, 4, 5, 6)
LATE = (1, 2, 3, 4, 5, 6, 8)
CHANGES: dict[str, Table] = {
    **{f"target-{x:g}": {"nscc_target": f"{round(BASE_US * x * 1000)}ns"} for x in TARGETS},
    **{f"gate-{x}": {"nscc_quick_adapt_gate": x} for x in GATES},
    **{f"late-{x}": {"nscc_quick_adapt_targets": x} for x in LATE},
}


@dataclass(frozen=True)
class Stall(Question):
    """Four incasts of 63 hosts at once, by NSCC with other targets, gates and thresholds."""

    id: str = "Q-stall"
    settings: ClassVar = {name: name.partition("-")[2] for name in CHANGES}
    schemes: ClassVar = tuple(QUEUES)
    panels: ClassVar = (
        Panel("last", "last completion over ideal\nby target, base RTTs", only="target"),
        Panel("last", "last completion over ideal\nby gate, powers of 2", only="gate"),
        Panel("last", "last completion over ideal\nby threshold, targets", only="late"),
        Panel("resent", "data packets sent again, %\nby target, base RTTs", 100.0, only="target"),
        Panel("resent", "data packets sent again, %\nby gate, powers of 2", 100.0, only="gate"),
        Panel("resent", "data packets sent again, %\nby threshold, targets", 100.0, only="late"),
    )
    figure_rows: ClassVar[int] = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the incasts with one value changed; each host starts within a base RTT."""
        bdps, of = QUEUES[scheme]
        drawn = random.Random(seed)
        starts = [round(drawn.uniform(0, 1000 * BASE_US)) for _ in range(STALL_HOSTS)]
        flows: list[Value] = [
            {
                "transport": scheme,
                "from": f"h{a}",
                "to": f"h{hot}",
                "size": f"{STALL_SIZE}B",
                "start": f"{starts[a]}ns",
            }
            for hot in range(0, HOT * STALL_LEAVES, STALL_LEAVES)
            for a in range(STALL_HOSTS)
            if a != hot
        ]
        scenario: dict[str, Value] = {
            "duration": "3ms",
            "drain": "97ms",
            "topology": tree(STALL_LEAVES, STALL_LEAVES, STALL_HOSTS // STALL_LEAVES),
            "queue": trimming(f"{bdps * LIMIT}B"),
            "transport": {scheme: {**of, **CHANGES[setting]}},
            "workload": {"flow": flows},
        }
        return Case(scenario, 3e-3, len(flows) * STALL_SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the last completion over the least time of a host's link, and what was resent."""
        flows = result.flows
        packets = len(flows) * STALL_SIZE / balancing.MSS
        trouble = {
            "resent": float(flows["retransmits"].sum()) / packets,
            "timeouts": float(flows["timeouts"].sum()),
            "unfinished": float(flows["fct_s"].null_count()),
        }
        if trouble["unfinished"] > 0:
            return trouble
        ideal = balancing.on_wire_s((STALL_HOSTS - 1) * STALL_SIZE, RATE_BPS)
        last = float(flows["end_s"].max())  # type: ignore[arg-type]
        return {"last": last / ideal, **trouble}


EXPERIMENT = Trimming()
STALL = Stall()
