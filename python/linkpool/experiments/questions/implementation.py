"""Q-implementation: how much of the gain of load balancers is faults of public code.

NSCC with a balancer as its paper or Linux has it, and as published simulations have it by mistake:
PLB that takes one mark for congestion, flowlets by ACKs, RSS that stays on a dead path, and "MPTCP"
that is eight entropy values in turn under one window.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments.questions import balancing, window
from linkpool.experiments.questions.question import (
    Case,
    Hypothesis,
    Panel,
    Quantities,
    Question,
    compared,
)
from linkpool.experiments.questions.trees import BDP, LIMIT, RATE_BPS, REPS, UET, tree, trimming
from linkpool.experiments.questions.window import START, START_S
from linkpool.result import Result
from linkpool.study.toml import Table, Value

TRANSPORTS: dict[str, Table] = {
    "nscc-ecmp": {**UET, "entropies": 1},
    "nscc-reps": REPS,
    "nscc-plb": {**UET, "balancer": "plb"},
    "nscc-plb-0": {**UET, "balancer": "plb", "rehash_above": 0.0, "rehash_after": 2},
    "nscc-flowlets": {**UET, "balancer": "flowlets"},
    "nscc-flowlets-acks": {**UET, "balancer": "flowlets", "flowlet_by": "acks"},
    "nscc-rss": {**UET, "balancer": "rss"},
    "nscc-rss-dead": {**UET, "balancer": "rss", "rss_heeds_timeouts": False},
    "nscc-turns": {**UET, "entropies": 8},
    "mp-amp": window.SUBFLOWS,
}


@dataclass(frozen=True)
class Implementation(Question):
    """The permutation of 4 MiB of Q-window."""

    id: str = "Q-implementation"
    settings: ClassVar = {
        "even": "all alike",
        "slow-2": "2 of 8 spines\nat a quarter",
        "busy-2": "2 of 8 spines\nwith elephants",
        "dead-1": "1 of 8 spines\nfails for good",
    }
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = (
        Panel("mean", "mean completion over ideal", log=True),
        Panel("last", "last completion over ideal", log=True),
    )
    figure_rows: ClassVar[int] = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the permutation by one scheme."""
        ends = [
            {"transport": scheme, "from": f"h{a}", "to": f"h{b}", "start": START}
            for a, b in window.senders(seed)
        ]
        flows: list[Value] = [{**of, "size": f"{window.SIZE}B"} for of in ends]
        scenario: dict[str, Value] = {
            "duration": window.OVER,
            "drain": "97ms",
            "topology": tree(window.LEAVES, window.SPINES, window.HOSTS_OF_LEAF),
            "queue": trimming(f"{LIMIT}B"),
            "transport": {scheme: TRANSPORTS[scheme]},
        }
        spines: list[Value] = ["s0", "s1"]
        if setting == "slow-2":
            scenario["change"] = [{"nodes": spines, "rate_factor": 0.25}]
        if setting == "dead-1":
            scenario["routing"] = {"reconverge": "never"}
            scenario["change"] = [{"at": "400us", "nodes": spines[:1], "state": "down"}]
        if setting == "busy-2":
            flows += window.elephants(2)
            scenario["transport"] = {
                scheme: TRANSPORTS[scheme],
                "elephant": balancing.transport("ecmp", BDP, "250us"),
            }
        scenario["workload"] = {"flow": flows}
        return Case(scenario, 1e-3, len(ends) * window.SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times of the permutation over the least time of a host's link."""
        flows = result.flows.filter(pl.col("transport") != "elephant")
        trouble = {
            "unfinished": float(flows["fct_s"].null_count()),
            "timeouts": float(flows["timeouts"].sum()),
            "resent": float(flows["retransmits"].sum()) / max(float(flows["segments"].sum()), 1.0),
        }
        if trouble["unfinished"] > 0:
            return trouble
        ideal = balancing.on_wire_s(window.SIZE, RATE_BPS)
        last = float(flows["end_s"].max()) - START_S  # type: ignore[arg-type]
        mean = float(flows["fct_s"].mean())  # type: ignore[arg-type]
        return {"last": last / ideal, "mean": mean / ideal, **trouble}

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare each with what its paper has, and REPS with both."""
        against = [
            ("even", "nscc-plb-0", "nscc-plb", None, 1.0, "collisions are left at once"),
            ("slow-2", "nscc-plb-0", "nscc-plb", None, 1.0, "slow paths are left at once"),
            ("even", "nscc-flowlets-acks", "nscc-flowlets", 0.9, 1.1, "windows leave few gaps"),
            ("slow-2", "nscc-flowlets-acks", "nscc-flowlets", 1.0, None, "a rest after a change"),
            ("dead-1", "nscc-rss-dead", "nscc-rss", 2.0, None, "an eighth of packets are lost"),
            ("slow-2", "nscc-rss-dead", "nscc-rss", 0.9, 1.1, "slow paths do answer"),
            ("even", "nscc-turns", "mp-amp", 0.9, 1.3, "one window heeds the worst collision"),
            ("slow-2", "nscc-turns", "mp-amp", 1.3, None, "slow paths cut one window for all"),
            ("dead-1", "nscc-turns", "mp-amp", 1.5, None, "a dead path is cut by itself"),
            ("even", "nscc-plb", "nscc-reps", 1.5, None, "one path against all"),
            ("even", "nscc-plb-0", "nscc-reps", 1.3, None, "one path against all, moving"),
            ("dead-1", "nscc-rss", "nscc-reps", 0.8, 1.25, "both leave a dead path"),
            ("even", "nscc-flowlets", "nscc-ecmp", 0.8, 1.0, "few gaps: as a hashed path"),
        ]
        for setting, scheme, other, low, high, why in against:
            yield compared(setting, scheme, other, "mean", low, high, why, "the mean completion")


EXPERIMENT = Implementation()
