"""Q-spray-rdma: a tree of which one spine is further away, or slower, than the others."""

from dataclasses import dataclass

from linkpool.experiments.questions.completion import Completion, permutation
from linkpool.experiments.questions.question import Words
from linkpool.study.toml import Table, Value

LEAVES, SPINES, HOSTS_OF_LEAF = 8, 8, 8
DELAY_NS = 1000
PACKETS = 4096
"""Of a flow: 4 MiB in packets of 1 KiB."""


def graph(skew_ns: int, rate: str) -> tuple[list[Value], list[Value]]:
    """Return nodes and edges; the first spine is `skew_ns` further away, at `rate`."""
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
    return nodes, edges


@dataclass(frozen=True)
class SprayRdma(Completion):
    """The permutation of all hosts, or of one of each leaf."""

    id: str = "Q-spray-rdma"

    def pairs(self, setting: str, seed: int) -> list[tuple[int, int]]:
        """Return senders and receivers."""
        hosts = range(LEAVES * HOSTS_OF_LEAF)
        if setting.startswith("skew"):
            hosts = hosts[seed % HOSTS_OF_LEAF :: HOSTS_OF_LEAF]
        return permutation(seed, tuple(hosts), HOSTS_OF_LEAF)

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the graph and the flows."""
        of = self.setup.said(setting, scheme)
        nodes, edges = graph(of["skew_ns"], of["rate"])
        flows = self.flows(setting, scheme, seed)
        packets = float(len(flows) * PACKETS)
        return {"nodes": nodes, "edges": edges, "flows": [*flows], "packets": packets}


EXPERIMENT = SprayRdma()
