"""A fabric as a graph: its structure, its equal-cost paths."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from linkpool import _core
from linkpool.loading import read_text

LAYERS = ["host", "nvlink", "pcie", "edge", "aggregation", "core", "switch"]
"""From below; `switch` is where a topology has no layers."""

SOURCES = 32
"""Paths are counted from so many racks at most, evenly spread."""

_AROUND_A_GRAPH = """duration = "1s"
[topology.graph]
file = {file}
[transport.any]
control = "reno"
[[workload.permutation]]
transport = "any"
"""


@dataclass(frozen=True)
class Cables:
    """Cables that are alike."""

    ends: tuple[str, str]
    """Layers."""
    number: int
    rate_bps: int
    delay_s: float


@dataclass(frozen=True)
class PathClass:
    """Pairs of hosts that are equally far from each other and have as many shortest paths."""

    hops: int
    paths: int
    example: tuple[str, str]


class Fabric:
    """Nodes, hosts first, and the links between them."""

    def __init__(self, plan: _core.Plan) -> None:
        """Take the fabric of a plan."""
        self.names = [name for name, _ in plan["nodes"]]
        self.layers = [layer for _, layer in plan["nodes"]]
        self.hosts = plan["hosts"]
        self.forwarding = frozenset(plan["forwarding"])
        self.servers = plan["servers"]
        self.inner = frozenset(plan["inner"])
        self.rails = plan["rails"]
        self.by_rail = plan["by_rail"]
        self.links = plan["links"]
        self.neighbours: list[list[int]] = [[] for _ in self.names]
        for source, target, _, _ in self.links:
            self.neighbours[source].append(target)

    @staticmethod
    def of(file: Path, run_code: bool = False) -> Fabric:
        """Read the fabric of a scenario, or a graph from a file of its own.

        Args:
            file: either.
            run_code: run the code that a scenario brings.

        """
        if file.suffix == ".toml":
            text = read_text(file)
        else:
            file.open(encoding="utf-8").close()  # that it cannot be read is said as of any file
            text = _AROUND_A_GRAPH.format(file=_quoted(file.name))
        return Fabric(_core.load(text, str(file), None, [], run_code).plan())

    def nodes_by_layer(self) -> dict[str, int]:
        """Return how many nodes each layer has, from below."""
        counts = Counter(self.layers)
        return {layer: counts[layer] for layer in LAYERS if counts[layer]}

    def cables(self) -> list[Cables]:
        """Return the cables by the layers that they join, from below."""
        kinds: Counter[tuple[int, int, int, float]] = Counter()
        for source, target, rate, delay in self.links:
            low, high = sorted(LAYERS.index(self.layers[node]) for node in (source, target))
            kinds[low, high, rate, delay] += 1
        return [
            Cables((LAYERS[low], LAYERS[high]), links // 2, rate, delay)
            for (low, high, rate, delay), links in sorted(kinds.items())
        ]

    def racks(self) -> list[list[int]]:
        """Return the hosts, grouped by the same neighbours."""
        racks: dict[tuple[int, ...], list[int]] = {}
        for host in range(self.hosts):
            racks.setdefault(tuple(self.neighbours[host]), []).append(host)
        return list(racks.values())

    def path_classes(self) -> tuple[list[PathClass], bool]:
        """Return the classes of pairs by hops and paths, and whether all racks were looked at."""
        racks = self.racks()
        step = -(-len(racks) // SOURCES)
        found: dict[tuple[int, int], tuple[str, str]] = {}
        for rack in racks[::step]:
            source = rack[0]
            hops, paths = self._paths_to(source)
            # Of a rack one host stands for all, and for the host's own rack its neighbour.
            ends: Iterable[int] = (
                other[other is rack] for other in racks if len(other) > (other is rack)
            )
            for end in ends:
                example = (self.names[source], self.names[end])
                found.setdefault((hops[end], paths[end]), example)
        classes = [PathClass(*key, example) for key, example in sorted(found.items())]
        return [c for c in classes if c.paths], step == 1

    def steps_to(self, node: int, end: int) -> list[int]:
        """Return the neighbours from which packets to `end` may come to `node`."""
        if node < self.hosts and node != end and node not in self.forwarding:
            return []
        return [other for other in self.neighbours[node] if self._leads(other, node, end)]

    def _leads(self, node: int, other: int, end: int) -> bool:
        """Return whether a packet to `end` may go from a node to another.

        Inside a server packets stay there, over its inner nodes. Others leave it by the NIC of the
        sender, or, where rails say so, of a host of the server on the rail of `end`.
        """
        here, home = self.servers[node], self.servers[end]
        if here is None or home is None:
            return True
        stays = self.servers[other] == here
        if node >= self.hosts:
            return stays or here != home
        if stays and other in self.inner:
            return True
        own, wanted = self.rails[node], self.rails[end]
        return here != home and (not self.by_rail or None in (own, wanted) or own == wanted)

    def _paths_to(self, end: int) -> tuple[list[int], list[int]]:
        """Return the hops from each node, and over how many shortest paths."""
        hops = [-1] * len(self.names)
        paths = [0] * len(self.names)
        hops[end], paths[end] = 0, 1
        queue = deque([end])
        while queue:
            node = queue.popleft()
            for source in self.steps_to(node, end):
                if hops[source] < 0:
                    hops[source] = hops[node] + 1
                    queue.append(source)
                if hops[source] == hops[node] + 1:
                    paths[source] += paths[node]
        return hops, paths


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
