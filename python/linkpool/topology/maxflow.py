"""Maximum flow by Dinic's algorithm."""

from collections import deque
from collections.abc import Mapping


class _Residual:
    """Arcs with their room; arc i and arc i ^ 1 are the two directions of one."""

    def __init__(self, arcs: Mapping[tuple[int, int], float]) -> None:
        self.heads: list[int] = []
        self.room: list[float] = []
        self.out: list[list[int]] = [[] for _ in range(1 + max(max(arc) for arc in arcs))]
        for (tail, head), capacity in arcs.items():
            self.out[tail].append(len(self.heads))
            self.out[head].append(len(self.heads) + 1)
            self.heads += [head, tail]
            self.room += [capacity, 0.0]

    def levels(self, source: int) -> list[int]:
        """Return the distance of each node over arcs with room, or -1."""
        level = [-1] * len(self.out)
        level[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for arc in self.out[node]:
                if self.room[arc] > 0 and level[self.heads[arc]] < 0:
                    level[self.heads[arc]] = level[node] + 1
                    queue.append(self.heads[arc])
        return level

    def augment(self, source: int, sink: int, level: list[int], next_arc: list[int]) -> float:
        """Send what one shortest way has room for; return it, or 0."""
        way: list[int] = []
        node = source
        while node != sink:
            if next_arc[node] == len(self.out[node]):
                if not way:
                    return 0.0
                node = self.heads[way.pop() ^ 1]
                next_arc[node] += 1
                continue
            arc = self.out[node][next_arc[node]]
            if self.room[arc] > 0 and level[self.heads[arc]] == level[node] + 1:
                way.append(arc)
                node = self.heads[arc]
            else:
                next_arc[node] += 1
        sent = min(self.room[arc] for arc in way)
        for arc in way:
            self.room[arc] -= sent
            self.room[arc ^ 1] += sent
        return sent


def max_flow(arcs: Mapping[tuple[int, int], float], source: int, sink: int) -> float:
    """Return the most that can flow from `source` to `sink` over `arcs` of these capacities."""
    if not any(arc[0] == source for arc in arcs) or not any(arc[1] == sink for arc in arcs):
        return 0.0
    residual = _Residual(arcs)
    total = 0.0
    while (level := residual.levels(source))[sink] >= 0:
        next_arc = [0] * len(residual.out)
        while sent := residual.augment(source, sink, level, next_arc):
            total += sent
    return total
