"""The least time that a packet takes from one host to another."""

import heapq
from functools import cache
from itertools import pairwise

from linkpool.result import Result
from linkpool.units import PS


class Wires:
    """The links of a fabric, as the topology has them."""

    def __init__(self, result: Result) -> None:
        """Read the fabric of a result."""
        plan = result.load().plan()
        names = [name for name, _ in plan["nodes"]]
        self._out: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in names}
        forwarding = {names[host] for host in plan["forwarding"]}
        hosts = set(names[: plan["hosts"]]) - forwarding
        self._ends = hosts
        self.hosts_forward = bool(forwarding)
        """Do packets wait in queues of hosts that pass them on?"""
        for source, target, rate, delay in plan["links"]:
            cables = self._out[names[source]].setdefault(names[target], [])
            cables.append((rate, round(delay * PS)))
        self.least = cache(self._least)

    def uplink(self, host: str) -> tuple[str, str] | None:
        """Return the link of a host by its two ends; None: it has several."""
        out = [target for target, cables in self._out[host].items() for _ in cables]
        return (host, out[0]) if len(out) == 1 else None

    def hop(self, source: str, target: str, size: int) -> int:
        """Return the time over one link without a queue, ps.

        Of parallel cables it is the least time, or that of the one that `NODE#n` names.
        """
        source = source if source in self._out else source.rpartition("#")[0]
        cables = self._out[source].get(target)
        if cables is None:
            target, _, member = target.rpartition("#")
            cables = [self._out[source][target][int(member)]]
        return min(-(-size * 8 * PS // rate) + delay for rate, delay in cables)

    def along(self, path: list[str], size: int) -> int:
        """Return the time along a path without queues, ps: stored and forwarded at each node."""
        return sum(self.hop(a, b, size) for a, b in pairwise(path))

    def _least(self, source: str, target: str, size: int) -> int:
        """Return the least time from host to host without queues, ps, over whatever path."""
        best = {source: 0}
        ahead = [(0, source)]
        while ahead:
            time, node = heapq.heappop(ahead)
            if node == target:
                return time
            if time > best[node] or (node in self._ends and node != source):
                continue
            for after in self._out[node]:
                reached = time + self.hop(node, after, size)
                if reached < best.get(after, 1 << 62):
                    best[after] = reached
                    heapq.heappush(ahead, (reached, after))
        return 0
