"""Q-laws: what faults of public code do to the laws of HPCC and NSCC.

HPCC as its paper has it, and with the faults of csg-htsim's; NSCC as uet-htsim has it since its
correction, and as it was before, which "Ordered Chaos" ran.
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
from linkpool.experiments.questions.trees import LIMIT, RATE_BPS, REPS, tree, trimming
from linkpool.result import Result
from linkpool.study.toml import Table, Value

SENDERS, SIZE = 16, 1 << 20
JOINERS, JOIN_SIZE, JOIN_US = 4, 8 << 20, 500
"""So many flows go to one host; each begins 500 us after the one before."""

HPCC: Table = {"control": "hpcc", "mss": f"{balancing.MSS}B"}
TRANSPORTS: dict[str, Table] = {
    "hpcc": HPCC,
    "hpcc-first": {**HPCC, "hpcc_records": "first"},
    "hpcc-answer": {**HPCC, "hpcc_reference": "answer"},
    "hpcc-both": {**HPCC, "hpcc_records": "first", "hpcc_reference": "answer"},
    "nscc": REPS,
    "nscc-before": {**REPS, "nscc_rules": "ordered-chaos"},
}


def to_one_host(setting: str, seed: int) -> list[Table]:
    """Return the flows to the first host, from one host of each other leaf in turn."""
    hosts = window.HOSTS_OF_LEAF
    count, size, gap = (SENDERS, SIZE, 0) if setting == "incast" else (JOINERS, JOIN_SIZE, JOIN_US)
    flows: list[Table] = []
    for i in range(count):
        leaf = 1 + (i + seed) % (window.LEAVES - 1)
        host = leaf * hosts + i // (window.LEAVES - 1)
        ends: Table = {"from": f"h{host}", "to": "h0", "start": f"{i * gap}us"}
        flows.append({**ends, "size": f"{size}B"})
    return flows


@dataclass(frozen=True)
class Laws(Question):
    """A permutation, an incast, and flows that join, on the fabric of Q-window."""

    id: str = "Q-laws"
    settings: ClassVar = {
        "permutation": "permutation\nof 4 MiB",
        "incast": "16 to 1,\n1 MiB each",
        "join": "4 to 1, 8 MiB,\none each 500 us",
    }
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = (
        Panel("mean", "mean completion over ideal", log=True),
        Panel("last", "last completion over ideal", log=True),
        Panel("queue", "longest queue to the receiver, packets", only="incast"),
    )

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return one pattern by one scheme."""
        if setting == "permutation":
            ends = [{"from": f"h{a}", "to": f"h{b}"} for a, b in window.senders(seed)]
            flows: list[Table] = [{**of, "size": f"{window.SIZE}B"} for of in ends]
            packets = len(ends) * window.SIZE / balancing.MSS
        else:
            flows = to_one_host(setting, seed)
            packets = max(SENDERS * SIZE, JOINERS * JOIN_SIZE) / balancing.MSS
        listed: list[Value] = [{"transport": scheme, **of} for of in flows]
        trims = scheme.startswith("nscc")
        scenario: dict[str, Value] = {
            "duration": "5ms",
            "drain": "95ms",
            "topology": tree(window.LEAVES, window.SPINES, window.HOSTS_OF_LEAF),
            "queue": trimming(f"{LIMIT}B") if trims else {"limit": "4MB"},
            "transport": {scheme: TRANSPORTS[scheme]},
            "workload": {"flow": listed},
        }
        return Case(scenario, 3e-3, packets)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion over the least time of the receivers' links, and the longest queue."""
        flows = result.flows
        trouble = {
            "unfinished": float(flows["fct_s"].null_count()),
            "resent": float(flows["retransmits"].sum()) / max(float(flows["segments"].sum()), 1.0),
        }
        last, mean = balancing.last_s(result), flows["fct_s"].mean()
        if last is None:
            return trouble
        data = window.SIZE if setting == "permutation" else int(flows["size_bytes"].sum())
        ideal = balancing.on_wire_s(data, RATE_BPS)
        queue = result.links.filter(pl.col("to") == "h0")["max_queue_pkts"].max()
        return {
            "last": last / ideal,
            "mean": float(mean) / ideal,  # type: ignore[arg-type]
            "queue": None if queue is None else float(queue),  # type: ignore[arg-type]
            **trouble,
        }


EXPERIMENT = Laws()
