"""Q-spray-rdma: spraying under go-back-N, reordering windows and selective repeat.

Queue pairs of DCQCN send over eight paths at once, packet by packet. Where do receivers that keep
no packet out of order, or 8, 32, 128 or all of them, stop to work?
"""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.question import (
    Case,
    Panel,
    Quantities,
    Question,
)
from linkpool.experiments.questions.trees import RATE_BPS, ROCE_MARKS, permutation
from linkpool.result import Result
from linkpool.study.toml import Table, Value

LEAVES, SPINES, HOSTS_OF_LEAF = 8, 8, 8
DELAY_NS = 1000
SIZE = 4 << 20
MSS, HEADER = 1024, 82
SKEWS_NS = {"skew-0.5": 500, "skew-2": 2000, "skew-8": 8000, "skew-32": 32000}
"""By how much one of eight paths is longer than the others, in one direction."""

DCQCN: Table = {"control": "dcqcn"}
SPRAYED: Table = {**DCQCN, "paths": "scatter"}
SELECTIVE: Table = {"retransmission": "selective"}
TRANSPORTS: dict[str, Table] = {
    "hash-gbn": DCQCN,
    "hash-sr": {**DCQCN, **SELECTIVE},
    "spray-0": SPRAYED,
    "spray-8": {**SPRAYED, "reorder_window": 8},
    "spray-32": {**SPRAYED, "reorder_window": 32},
    "spray-128": {**SPRAYED, "reorder_window": 128},
    "spray-sr": {**SPRAYED, **SELECTIVE},
}


def graph(skew_ns: int, rate: str) -> Table:
    """Return leaves and spines; the first spine is `skew_ns` further away, at `rate`."""
    nodes: list[Value] = []
    edges: list[Value] = []
    for spine in range(SPINES):
        nodes.append({"id": f"s{spine}", "kind": "switch", "layer": "core"})
    for leaf in range(LEAVES):
        nodes.append({"id": f"l{leaf}", "kind": "switch", "layer": "edge"})
        for spine in range(SPINES):
            own: Table = {}
            if spine == 0:
                own = {"rate": rate, "delay": f"{DELAY_NS + skew_ns // 2}ns"}
            edges.append({"source": f"l{leaf}", "target": f"s{spine}", **own})
        for host in range(leaf * HOSTS_OF_LEAF, (leaf + 1) * HOSTS_OF_LEAF):
            nodes.append({"id": f"h{host}", "kind": "host"})
            edges.append({"source": f"h{host}", "target": f"l{leaf}"})
    return {"rate": "100Gbps", "delay": f"{DELAY_NS}ns", "nodes": nodes, "edges": edges}


def lossless() -> Table:
    """Return queues of a fabric that pauses, and marks as at 100 Gbit/s in HPCC's repository."""
    return {"pfc": {"buffer": "12MB"}, "red": ROCE_MARKS}


def shallow() -> Table:
    """Return queues of one bandwidth-delay product that drop: 8 links of 1 us at 100 Gbit/s."""
    limit = round(RATE_BPS / 8 * 8 * DELAY_NS * 1e-9)
    red: Table = {"min": f"{limit // 5}B", "max": f"{4 * limit // 5}B", "max_probability": 0.2}
    return {"limit": f"{limit}B", "red": {**red, "weight": 1, "gentle": False}}


@dataclass(frozen=True)
class SprayRdma(Question):
    """A permutation of 4 MiB by RoCE in a two-tier tree of 8 leaves and 8 spines at 100 Gbps."""

    id: str = "Q-spray-rdma"
    settings: ClassVar = {
        **{f"skew-{us}": f"quiet, a path\n{us} us longer" for us in ("0.5", "2", "8", "32")},
        "full": "all send",
        "slow-1": "all send, 1 of 8\nspines at a quarter",
        "lossy": "all send,\nno PFC",
    }
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = (
        Panel("mean", "mean completion over ideal", log=True),
        Panel("last", "last completion over ideal", log=True),
        Panel("resent", "data packets sent again, %", 100.0),
    )
    figure_rows: ClassVar[int] = 3

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the permutation by one scheme."""
        if setting in SKEWS_NS:
            hosts = tuple(leaf * HOSTS_OF_LEAF + seed % HOSTS_OF_LEAF for leaf in range(LEAVES))
        else:
            hosts = tuple(range(LEAVES * HOSTS_OF_LEAF))
        ends = [
            {"from": f"h{a}", "to": f"h{b}"} for a, b in permutation(seed, hosts, HOSTS_OF_LEAF)
        ]
        flows: list[Value] = [{**of, "size": f"{SIZE}B", "transport": "rdma"} for of in ends]
        rate = "25Gbps" if setting == "slow-1" else "100Gbps"
        scenario: dict[str, Value] = {
            "duration": "1ms",
            "drain": "199ms",
            "topology": {"graph": graph(SKEWS_NS.get(setting, 0), rate)},
            "queue": shallow() if setting == "lossy" else lossless(),
            "transport": {"rdma": TRANSPORTS[scheme]},
            "workload": {"flow": flows},
        }
        return Case(scenario, 1e-3, len(hosts) * SIZE / MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times over the least time of a host's link, and what was sent again."""
        flows = result.flows
        packets = len(flows) * SIZE / MSS
        resent = float(flows["retransmits"].sum()) / packets
        trouble = {"resent": resent, "unfinished": float(flows["fct_s"].null_count())}
        if trouble["unfinished"] > 0:
            return trouble
        ideal = 8 * SIZE * (MSS + HEADER) / MSS / RATE_BPS
        last = float(flows["end_s"].max())  # type: ignore[arg-type]
        mean = float(flows["fct_s"].mean())  # type: ignore[arg-type]
        return {"last": last / ideal, "mean": mean / ideal, **trouble}


EXPERIMENT = SprayRdma()
