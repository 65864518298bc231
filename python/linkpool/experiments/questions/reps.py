"""Q-reps: MPTCP with 4, 8 and 16 subflows in the comparison of the REPS paper.

Two-tier trees of 400 Gbps with full bisection, as Bonato et al. (arXiv:2407.21625) compare load
balancing: packets of 4 KiB, queues of one BDP, marks between 25 and 75% of it, first windows of 1.5
BDP. Their "MPTCP" is eight fixed entropies in turn under one window; here it is MPTCP.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from linkpool.experiments.papers import EXPERIMENTS
from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result
from linkpool.study.toml import Table, Value

SIZE = 4 << 20
BDP = 102
"""Packets: 400 Gbps and 8 links of 1 us, there and back, and four packets' serialisation."""
WINDOW = 153
"""Of a connection, at first and at most; its subflows share it."""
HOST = 100_000
RANKS = 32
"""Ranks of a group of a collective operation; each in a rack of its own at 1,024 hosts."""

WORKLOADS = {
    "permutation": "permutation",
    "tornado": "tornado",
    "incast": "incast 8:1",
    "all-to-all": "all-to-all",
    "ring": "ring all-reduce",
    "butterfly": "butterfly all-reduce",
}
COLLECTIVES = {
    "all-to-all": "all-to-all",
    "ring": "ring-all-reduce",
    "butterfly": "halving-doubling-all-reduce",
}


class Tree(NamedTuple):
    """A two-tier tree with as many uplinks as hosts in a rack."""

    leaves: int
    spines: int

    @property
    def hosts(self) -> int:
        """Return the number of hosts."""
        return self.leaves * self.spines


TREES = {128: Tree(16, 8), 1024: Tree(32, 32)}


def queue(scheme: str) -> Table:
    """Return the queues; a queue with marks would drop LIA's packets early, so it has none.

    Hosts neither mark nor drop, and SYNs and ACKs, which cannot be marked, are not dropped for it.
    """
    common: Table = {"limit": BDP, "exempt": ["syn", "fin", "ack"]}
    if scheme.startswith("lia"):
        return {**common, "layer": {"host": {"limit": HOST}}}
    red: Table = {"min": round(BDP / 4), "max": round(3 * BDP / 4), "max_probability": 1.0}
    marks: Table = {"red": {**red, "weight": 1.0, "gentle": False}}
    return {**common, **marks, "layer": {"host": {"limit": HOST, "mark": HOST}}}


@dataclass(frozen=True)
class Reps(Question):
    """Six workloads in a tree of 128 hosts, or of 1,024."""

    id: str = "Q-reps"
    seeds: int = 20
    hosts: int = 128
    settings: ClassVar = {
        name: label.replace(" all-", "\nall-").replace(" 8:1", "\n8:1")
        for name, label in WORKLOADS.items()
    }
    schemes: ClassVar = ("ecmp", "plb", "spray", "reps", "lia-4", "lia-8", "lia-16", "amp-8")
    panels: ClassVar = (Panel("last", "last completion over ideal", log=True),)

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return one workload by one scheme."""
        tree = TREES[self.hosts]
        scenario: dict[str, Value] = {
            "duration": "100ms",
            "topology": {
                "leaf-spine": {
                    "leaves": tree.leaves,
                    "spines": tree.spines,
                    "hosts_per_leaf": tree.spines,
                    "rate": "400Gbps",
                    "delay": "1us",
                }
            },
            "queue": queue(scheme),
            "transport": {scheme: _capped(balancing.transport(scheme, WINDOW, "100us"))},
            "workload": _workload(setting, scheme, tree),
        }
        share = 1 / 2 if setting == "incast" else 2 if setting in ("ring", "butterfly") else 1
        return Case(scenario, 1e-3, share * tree.hosts * SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the last completion over the least time of the links, and what went wrong."""
        last, trouble = balancing.last_s(result), balancing.trouble(result)
        ideal = ideal_s(setting)
        return {"last": None if last is None else last / ideal, **trouble}


def _capped(transport: Table) -> Table:
    """Return a transport whose connections have at most the window in flight."""
    return {**transport, "send_buffer": f"{WINDOW * balancing.MSS}B"}


def ideal_s(name: str) -> float:
    """Return how long the links of a host take for all its data with headers."""
    times = {"incast": 8.0, "ring": 2 * (RANKS - 1) / RANKS, "butterfly": 2 * (RANKS - 1) / RANKS}
    share = times.get(name, (RANKS - 1) / RANKS if name == "all-to-all" else 1.0)
    return balancing.on_wire_s(share * SIZE, 400e9)


def _workload(name: str, scheme: str, tree: Tree) -> Table:
    size = f"{SIZE}B"
    if name == "permutation":
        return {"permutation": [{"transport": scheme, "size": size}]}
    if name == "tornado":
        half: Table = {"transport": scheme, "step": tree.hosts // 2, "size": size}
        return {"stride": [half]}
    if name == "incast":
        # A receiver in 16 hosts; its senders are in all parts of the tree, and send to it alone.
        flows: list[Value] = [
            {
                "transport": scheme,
                "from": f"h{(receiver + 1 + k * (tree.hosts // 8 + 1)) % tree.hosts}",
                "to": f"h{receiver}",
                "size": size,
            }
            for receiver in range(0, tree.hosts, 16)
            for k in range(8)
        ]
        return {"flow": flows}
    groups = tree.hosts // RANKS
    collective: Table = {
        "transport": scheme,
        "algorithm": COLLECTIVES[name],
        "ranks": RANKS,
        "groups": groups,
        "stride": groups,
        "group_stride": 1,
        "size": size,
        **({"outstanding": 8} if name == "all-to-all" else {}),
    }
    return {"collective": [collective]}


EXPERIMENT = Reps()
_AS_SMALL = EXPERIMENTS["Q-reps1024"]._replace(claims=EXPERIMENT.declared.claims)
LARGE = Reps("Q-reps1024", seeds=5, hosts=1024, declared=_AS_SMALL)
