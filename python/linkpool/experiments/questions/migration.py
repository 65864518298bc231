"""Q-migration: who gets what while one transport replaces another on a fabric.

NSCC, DCQCN, DCTCP, LIA and AMP, two at a time and all five, send to one host from 1, 4 and 16 hosts
each: in one queue with the thresholds of one of them, and in a queue for each.
"""

import random
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import polars as pl

from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.experiments.questions.trees import (
    BDP,
    LIMIT,
    RATE_BPS,
    REPS,
    ROCE_MARKS,
    tree,
    trimming,
)
from linkpool.result import Result
from linkpool.study.toml import Table, Value

LEAVES, SPINES, HOSTS_OF_LEAF = 2, 8, 80
"""The receiver is in one rack, and in the other one there are 16 hosts for each of five laws."""
SENDERS = (1, 4, 16)

TCP = balancing.transport("ecmp", BDP, "1ms")
MPTCP = balancing.transport("lia-4", BDP, "1ms")
LAWS: dict[str, Table] = {
    "nscc": REPS,
    "dcqcn": {"control": "dcqcn", "mss": f"{balancing.MSS}B"},
    "dctcp": TCP,
    "lia": MPTCP,
    "amp": {**MPTCP, "control": "amp"},
}
PAIRS = {"~".join(pair): pair for pair in combinations(LAWS, 2)}
SCHEMES = {**PAIRS, "all-five": tuple(LAWS)}

SLOPE: Table = {"red": ROCE_MARKS}
LEAVING: Table = {
    "min": f"{LIMIT // 5}B",
    "max": f"{4 * LIMIT // 5}B",
    "max_probability": 1.0,
    "weight": 1,
    "gentle": False,
    "leaving": True,
    "even": False,
}
DROPS: Table = {"limit": "2MB"}
STEP: Table = {**DROPS, "mark": "200KB"}
BUFFER: Table = {"pfc": {"buffer": "32MB"}}

CLASSES: dict[str, Table] = {
    "nscc": {"limit": f"{LIMIT}B", "red": LEAVING, "trim": True},
    "dcqcn": {**SLOPE, "lossless": True},
    "dctcp": STEP,
    "lia": DROPS,
    "amp": STEP,
}
"""By law: the queue with thresholds of its own."""
ONE_QUEUE: dict[str, Table] = {
    "step": STEP,
    "slope": {**DROPS, **SLOPE},
    "pauses": {**BUFFER, **SLOPE},
    "trims": trimming(f"{LIMIT}B"),
}
"""One queue for all: marks of DCTCP, marks of DCQCN, the same without drops, and NSCC's queue."""
WORDS = {
    "step": "DCTCP's marks",
    "slope": "DCQCN's marks",
    "pauses": "DCQCN's, PFC",
    "trims": "NSCC's, trimming",
    "own": "queues apart",
}


def transport(law: str, kind: str, priority: int) -> Table:
    """Return a law as it runs in such queues: by trims where ports trim, by drops elsewhere."""
    of = LAWS[law]
    if law == "nscc" and kind not in ("trims", "own"):
        of = {**of, "trimmable": False, "sleek": True}
    if law in ("dctcp", "lia", "amp") and kind == "trims":
        of = {**of, "trimming": True}
    return {**of, "priority": priority} if kind == "own" else of


def queues(kind: str, laws: tuple[str, ...]) -> Table:
    """Return the queues of a setting: one for all, or one of its own for each law."""
    if kind != "own":
        return ONE_QUEUE[kind]
    classes: list[Value] = [
        {**CLASSES[law], "priorities": [number], "weight": 1}
        for number, law in enumerate(laws, start=1)
    ]
    return {**(BUFFER if "dcqcn" in laws else {}), **DROPS, "class": classes}


@dataclass(frozen=True)
class Migration(Question):
    """Flows without end of two laws, or of five, to one host at 100 Gbps."""

    id: str = "Q-migration"
    settings: ClassVar = {f"{kind}-{n}": f"{n} each" for kind in WORDS for n in SENDERS}
    schemes: ClassVar = tuple(SCHEMES)
    panels: ClassVar = (
        *(
            Panel("share", f"share of the first, %\n{WORDS[kind]}", 100.0, only=kind)
            for kind in WORDS
        ),
        Panel("used", "data of what the link carries, %\nqueues apart", 100.0, only="own"),
    )
    figure_rows: ClassVar[int] = 3

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the flows of these laws; they start within 200 us."""
        kind, _, number = setting.partition("-")
        laws, drawn = SCHEMES[scheme], random.Random(seed)
        hosts = drawn.sample(range(HOSTS_OF_LEAF, 2 * HOSTS_OF_LEAF), len(laws) * int(number))
        flows: list[Value] = []
        for place, host in enumerate(hosts):
            start = round(drawn.uniform(0, 200e3))
            ends: Table = {"from": f"h{host}", "to": "h0", "start": f"{start}ns"}
            flows.append({"transport": laws[place % len(laws)], **ends})
        transports: Table = {
            law: transport(law, kind, priority) for priority, law in enumerate(laws, start=1)
        }
        scenario: dict[str, Value] = {
            "duration": "10ms",
            "measure": {"warm_up": "2ms"},
            "topology": tree(LEAVES, SPINES, HOSTS_OF_LEAF),
            "queue": queues(kind, laws),
            "transport": transports,
            "workload": {"flow": flows},
        }
        return Case(scenario, 10e-3, RATE_BPS / 8 * 10e-3 / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the subflows of each law delivered, as shares, and of the link."""
        flows = result.flows
        got = dict(
            flows.group_by("transport").agg(pl.col("measured_subflow_bytes").sum()).iter_rows()
        )
        total = sum(got.values())
        if not total:
            return {}
        laws = [law for law in LAWS if law in got]
        shares = {f"share-{law}": got[law] / total for law in laws}
        used = 8 * total / (8e-3 * RATE_BPS)
        return {"share": shares[f"share-{laws[0]}"], "used": used, **shares}


EXPERIMENT = Migration()
