"""The shape of a fabric in which all racks are alike, and that of its scale model.

A scale model has the same tiers, rates, delays and queues, the same number of uplinks for each
host, and at each load of the hosts the same load on each link; it has fewer pods, racks and hosts.
So a packet crosses as many ports as in the fabric, each of which is about as busy. (Pan, Prabhakar
and Psounis, "SHRiNK", HotNets 2003, scale rates in place of hosts.)
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, TypeAlias

from linkpool.estimate.domain import OutsideError

Table: TypeAlias = "dict[str, Any]"

MODEL_PODS = 4
MODEL_RACKS = 3
"""Racks of a pod. With fewer pods or racks, flows that share a link share the next one, too."""

MODEL_LEAVES = 6
LEAST_UPLINKS = 2
"""Uplinks of a rack, and hosts of it."""


@dataclass(frozen=True)
class Shape:
    """A fabric of pods of racks; a fabric of two tiers is one pod.

    Attributes:
        pods: how many.
        racks: of a pod.
        hosts: of a rack.
        uplinks: links from a rack's switch, each to another switch of its pod; in a fabric of two
            tiers, to another core switch.
        core_links: links from such a switch of a pod to core switches; 0: two tiers.
        links: rate and delay of the links by tier, from the hosts up, as scenarios have them.

    """

    pods: int
    racks: int
    hosts: int
    uplinks: int
    core_links: int
    links: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, topology: Mapping[str, Any]) -> "Shape":
        """Read the shape of a fabric, from its table with every default written out.

        Raises:
            OutsideError: not all of its racks are alike.

        """
        ((kind, keys),) = topology.items()
        access = (keys["rate"], keys["delay"])
        core = tuple(keys.get(f"core_{what}") for what in ("rate", "delay"))
        if kind == "leaf-spine":
            up = (keys["uplink_rate"], keys["uplink_delay"])
            leaves, hosts = keys["leaves"], keys["hosts_per_leaf"]
            return cls(1, leaves, hosts, keys["spines"], 0, (access, up))
        if kind != "fat-tree":
            raise OutsideError("topology", f"is of the kind {kind!r}", "fat-tree and leaf-spine")
        if keys["nics"] != 1:
            raise OutsideError("topology.fat-tree.nics", f"is {keys['nics']}", "1")
        k, hosts = keys["k"], keys["hosts_per_edge"]
        if keys["tiers"] == 2:
            return cls(1, k, hosts, k // 2, 0, (access, core))
        middle = (keys["aggregation_rate"], keys["aggregation_delay"])
        return cls(k, k // 2, hosts, k // 2, k // 2, (access, middle, core))

    @property
    def size(self) -> int:
        """How many hosts it has."""
        return self.pods * self.racks * self.hosts

    def model(self, hosts: int) -> "Shape":
        """Return the smallest scale model with at least so many hosts, or this fabric itself.

        The hosts and the uplinks of a rack are divided by the same number, the racks of a pod and
        the links of its switches to the core by another.
        """
        step = gcd(self.hosts, self.uplinks)
        few = self.hosts // step, self.uplinks // step
        racks = min(self.racks, MODEL_RACKS if self.core_links else MODEL_LEAVES)
        pods = min(self.pods, MODEL_PODS)
        for times in range(1, step + 1):
            small = few[0] * times, few[1] * times
            if min(small) >= LEAST_UPLINKS and pods * racks * small[0] >= hosts:
                core = self.core_links and racks * self.core_links // self.racks
                return Shape(pods, racks, *small, core, self.links)
        return self

    def topology(self) -> Table:
        """Return the fabric as a scenario has it; hosts are called by their numbers, from h0."""
        nodes = [{"id": f"h{i}", "kind": "host"} for i in range(self.size)]
        nodes += [
            {"id": name, "kind": "switch", "layer": layer} for name, layer in self._switches()
        ]
        edges = [
            {"source": below, "target": above, "rate": rate, "delay": delay}
            for below, above, tier in self._cables()
            for rate, delay in [self.links[tier]]
        ]
        return {"graph": {"nodes": nodes, "edges": edges}}

    def _switches(self) -> Iterator[tuple[str, str]]:
        for pod in range(self.pods):
            for rack in range(self.racks):
                yield f"e{pod}.{rack}", "edge"
            for i in range(self.uplinks if self.core_links else 0):
                yield f"a{pod}.{i}", "aggregation"
        for i in range(self.uplinks * max(self.core_links, 1)):
            yield f"c{i}", "core"

    def _cables(self) -> Iterator[tuple[str, str, int]]:
        """Give the cables: the nodes below and above, and the tier."""
        for host in range(self.size):
            pod, rack = divmod(host // self.hosts, self.racks)
            yield f"h{host}", f"e{pod}.{rack}", 0
        for pod in range(self.pods):
            for i in range(self.uplinks):
                above = f"a{pod}.{i}" if self.core_links else f"c{i}"
                for rack in range(self.racks):
                    yield f"e{pod}.{rack}", above, 1
                for j in range(self.core_links):
                    yield above, f"c{i * self.core_links + j}", 2
