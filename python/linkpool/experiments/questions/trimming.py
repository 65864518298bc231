"""Q-trimming and Q-stall: what trimming costs in incasts, and where NSCC's quick adapt stalls.

A tree of 1,024 hosts. From 8 hosts to all others send to one; hosts beside it get messages of
others meanwhile.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import (
    Case,
    Hypothesis,
    Panel,
    Quantities,
    Question,
    compared,
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

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Say what each scheme pays."""
        own = [
            ("incast-128", "nscc", "last", None, 1.25, "quick adapt finds what gets through"),
            ("incast-1023", "nscc", "last", None, 1.5, "a window is a packet at least: 1,023"),
            ("incast-1023", "rccc", "last", None, 1.1, "credit fills the link exactly"),
            ("incast-1023", "ndp", "last", None, 1.1, "pulls fill the link exactly"),
            ("incast-1023", "nscc", "resent", 1.0, None, "first windows alone are 1,023 packets"),
            ("incast-1023", "rccc", "waste", 0.01, 0.05, "a header of each first window's packet"),
            ("incast-8", "nscc", "waste", None, 0.05, "8 first windows: some 300 headers"),
        ]
        for setting, scheme, quantity, low, high, why in own:
            yield Hypothesis(
                f"{setting}-{scheme}-{quantity}",
                f"{setting}: {quantity} of {scheme}: {why}",
                quantity,
                (setting, scheme),
                above=low,
                below=high,
            )
        against = [
            (
                "incast-8",
                "dctcp-trim",
                "dctcp-drop",
                "last",
                None,
                0.8,
                "a NACK is faster than a timer",
            ),
            (
                "incast-1023",
                "dctcp-trim",
                "dctcp-drop",
                "last",
                None,
                1.0,
                "headers cost less than RTOs",
            ),
            (
                "incast-128",
                "nscc-sleek",
                "nscc",
                "last",
                1.1,
                None,
                "losses at the end need timers",
            ),
            ("incast-128", "rccc", "nscc", "resent", None, 0.7, "after one window credit sets it"),
            ("incast-512", "fastflow", "nscc", "resent", 1.2, None, "its cuts are slower"),
            (
                "incast-1023",
                "rccc",
                "nscc",
                "victims",
                None,
                0.8,
                "the core is empty after a window",
            ),
            (
                "incast-1023",
                "nscc",
                "dctcp-drop",
                "victims",
                None,
                0.9,
                "queues in the core are shorter",
            ),
            ("incast-512", "nscc-rccc", "rccc", "last", 0.95, 1.1, "credit is what binds"),
        ]
        for setting, scheme, other, quantity, low, high, why in against:
            of = compared(setting, scheme, other, quantity, low, high, why)
            yield replace(of, id=f"{of.id}-{quantity}")


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
STALLS = 1.5
"""A run stalls that takes so many times as long as its scheme's default."""


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

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare each value with the default: a stall is 1.5 times as long."""
        for scheme in QUEUES:
            for setting, why in (
                ("target-0.76", "a hundredth of a base RTT more changes nothing"),
                ("target-0.74", "nor does a hundredth less"),
                ("gate-2", "twice the gate cuts sooner"),
                ("gate-4", "half of it cuts later"),
                ("late-2", "half of the threshold cuts sooner"),
            ):
                of = "target-0.75" if setting.startswith("target") else "gate-3"
                yield Hypothesis(
                    f"{scheme}-{setting}",
                    f"{scheme}, {setting}: last completion over that of {of}: {why}",
                    "last",
                    (setting, scheme),
                    over=(of, scheme),
                    above=1 / STALLS,
                    below=STALLS,
                    said=f"{1 / STALLS:.2f} to {STALLS:g}",
                )
        yield Hypothesis(
            "nscc-gate-0",
            "nscc, gate-0: last completion over that of gate-3: all periods are cut",
            "last",
            ("gate-0", "nscc"),
            over=("gate-3", "nscc"),
            above=STALLS,
        )
        yield Hypothesis(
            "nscc-deep-resent",
            "nscc-deep, gate-3: data sent again: queues of 5 BDP end in timeouts",
            "resent",
            ("gate-3", "nscc-deep"),
            above=0.1,
        )


EXPERIMENT = Trimming()
STALL = Stall()
