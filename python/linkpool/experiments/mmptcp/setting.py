"""The basic configuration of the MMPTCP paper, as parts of scenarios.

Values come from the paper's section 3 and, where it is silent, from what its authors' own
simulation did; `docs/experiments/mmptcp.md` lists them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from linkpool.experiments import scenarios
from linkpool.study.toml import Table, Value

RATE = "100Mbps"
DELAY = "20us"
SUBFLOWS = 8
SHORT = "70KB"
SHORT_PACKETS = 50
SUBFLOW_WINDOW = "65535B"
"""Each subflow of the authors' simulation has a receive window: 46 segments in flight at most."""

ENDS = ("", "-faults")
"""The ends of a scheme's name: without faults, and with those of the authors' implementation."""


def transport(name: str, keys: Mapping[str, Value] | None = None) -> Table:
    """Return a scheme's transport with the receive window that the authors' simulation has."""
    window: Table = {"subflow_window": SUBFLOW_WINDOW}
    return {**scenarios.transport("mmptcp", name), **window, **(keys or {})}


@dataclass(frozen=True)
class Tree:
    """The k = 8 fat-tree with an oversubscription: 1 is 128 hosts, 4 is 512."""

    oversubscription: int = 1

    @property
    def hosts(self) -> int:
        """Return the number of hosts."""
        return 128 * self.oversubscription

    @property
    def name(self) -> str:
        """Name the tree as the paper does."""
        return f"{self.oversubscription}:1"

    def topology(self, rate: str = RATE) -> Table:
        """Return the topology's table."""
        per_edge = 4 * self.oversubscription
        return {"fat-tree": {"k": 8, "hosts_per_edge": per_edge, "rate": rate, "delay": DELAY}}


def flow(
    transport: str, source: int, destination: int, keys: Mapping[str, Value]
) -> dict[str, Value]:
    """Return one flow of a workload."""
    return {"transport": transport, "from": f"h{source}", "to": f"h{destination}", **keys}
