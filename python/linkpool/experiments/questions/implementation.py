"""Q-implementation: how much of the gain of load balancers is faults of public code.

NSCC with a balancer as its paper or Linux has it, and as published simulations have it by mistake:
PLB that takes one mark for congestion, flowlets by ACKs, RSS that stays on a dead path, and "MPTCP"
that is eight entropy values in turn under one window.
"""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments.questions import balancing, window
from linkpool.experiments.questions.question import (
    Case,
    Panel,
    Quantities,
    Question,
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


EXPERIMENT = Implementation()
