"""Q-window: one window over all paths, or one for each subflow, where paths differ.

A permutation by UET with NSCC and its relatives, by MPTCP, and by NSCC with a window for each of
eight subflows (MP-NSCC), while some of eight spines are slow, or carry another job's elephants.
"""

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
from linkpool.experiments.questions.trees import (
    BDP,
    LIMIT,
    RATE_BPS,
    REPS,
    UET,
    permutation,
    tree,
    trimming,
)
from linkpool.result import Result
from linkpool.study.toml import Table, Value

LEAVES, SPINES, SENDERS = 8, 8, 8
"""Of the hosts of a leaf eight are in the permutation, as many as there are spines."""
ELEPHANTS = 4
"""The other hosts of a leaf: each may send an elephant over a spine of its own to the next leaf."""
HOSTS_OF_LEAF = SENDERS + ELEPHANTS
SIZE = 4 << 20
START, OVER = "300us", "3ms"
"""When the permutation starts, and when elephants stop."""
START_S = 300e-6

SLOW = {"slow-1": 1, "slow-2": 2, "slow-4": 4}
BUSY = {"busy-1": 1, "busy-2": 2, "busy-4": 4}

SUBFLOWS: Table = {**UET, "entropies": 8, "subflows": 8}
"""A value for each of eight subflows, as MPTCP has a path for each."""

TRANSPORTS: dict[str, Table] = {
    "nscc": UET,
    "mnscc": {**UET, "feedback_median": 7},
    "fastflow": {**UET, "sender_law": "fastflow"},
    "nscc-rss": {**UET, "balancer": "rss"},
    "nscc-reps": REPS,
    "lia-8": balancing.transport("lia-8", BDP, "250us"),
    "amp-8": balancing.transport("amp-8", BDP, "250us"),
    "mp-amp": {**SUBFLOWS, "subflow_coupling": "amp"},
    "mp-lia": {**SUBFLOWS, "subflow_coupling": "lia"},
    "mp-reps": {**SUBFLOWS, "subflow_coupling": "amp", "entropies": 64, "balancer": "reps"},
}


def senders(seed: int) -> list[tuple[int, int]]:
    """Return the permutation, by host: each sends to one, and no host to itself."""
    hosts = [HOSTS_OF_LEAF * leaf + i for leaf in range(LEAVES) for i in range(SENDERS)]
    return permutation(seed, tuple(hosts), 1)


def elephants(spines: int) -> list[Table]:
    """Return the flows of another job: from each leaf to the next over each of so many spines."""
    flows: list[Table] = []
    for leaf in range(LEAVES):
        after = (leaf + 1) % LEAVES
        for spine in range(spines):
            of = [f"h{HOSTS_OF_LEAF * at + SENDERS + spine}" for at in (leaf, after)]
            path: list[Value] = [of[0], f"l{leaf}", f"s{spine}", f"l{after}", of[1]]
            ends: Table = {"from": of[0], "to": of[1], "stop": OVER, "paths": [path]}
            flows.append({"transport": "elephant", **ends})
    return flows


@dataclass(frozen=True)
class Window(Question):
    """A permutation of 4 MiB in a two-tier tree of 8 leaves and 8 spines at 100 Gbps."""

    id: str = "Q-window"
    settings: ClassVar = {
        "even": "all alike",
        **{name: f"{n} of 8 spines\nat a quarter" for name, n in SLOW.items()},
        **{name: f"{n} of 8 spines\nwith elephants" for name, n in BUSY.items()},
    }
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = (
        Panel("last", "last completion over ideal", log=True),
        Panel("mean", "mean completion over ideal", log=True),
    )
    figure_rows: ClassVar[int] = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the permutation by one scheme."""
        ends = [{"transport": scheme, "from": f"h{a}", "to": f"h{b}"} for a, b in senders(seed)]
        flows: list[Value] = [{**of, "size": f"{SIZE}B", "start": START} for of in ends]
        scenario: dict[str, Value] = {
            "duration": OVER,
            "drain": "97ms",
            "topology": tree(LEAVES, SPINES, HOSTS_OF_LEAF),
            "queue": trimming(f"{LIMIT}B"),
            "transport": {scheme: TRANSPORTS[scheme]},
        }
        if setting in SLOW:
            spines: list[Value] = [f"s{spine}" for spine in range(SLOW[setting])]
            scenario["change"] = [{"nodes": spines, "rate_factor": 0.25}]
        if setting in BUSY:
            flows += elephants(BUSY[setting])
            scenario["transport"] = {
                scheme: TRANSPORTS[scheme],
                "elephant": balancing.transport("ecmp", BDP, "250us"),
            }
        scenario["workload"] = {"flow": flows}
        packets = LEAVES * SENDERS * SIZE / balancing.MSS
        return Case(scenario, 1e-3, packets)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times of the permutation over the least time of a host's link."""
        flows = result.flows.filter(pl.col("transport") != "elephant")
        ideal = balancing.on_wire_s(SIZE, RATE_BPS)
        sent = max(float(flows["segments"].sum()), 1.0)
        trouble = {
            "unfinished": float(flows["fct_s"].null_count()),
            "retransmits": float(flows["retransmits"].sum()) / sent,
        }
        if trouble["unfinished"] > 0:
            return trouble
        last = float(flows["end_s"].max()) - START_S  # type: ignore[arg-type]
        mean = float(flows["fct_s"].mean())  # type: ignore[arg-type]
        return {"last": last / ideal, "mean": mean / ideal, **trouble}


EXPERIMENT = Window()
