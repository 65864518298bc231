"""What the first half of the hosts of a fabric can send to the second."""

import numpy as np

from linkpool.optimum.fair import concurrent
from linkpool.optimum.network import Flow, Network
from linkpool.topology.fabric import Fabric


def bisection(fabric: Fabric) -> tuple[float, float]:
    """Return what the first half of the hosts can send to the second, and what its links carry.

    Both are in bit/s; of servers of several hosts, the links are those of their NICs. The first is
    a maximum flow: data may be split over all paths, shortest or not. It is the optimum of a linear
    programme, to about nine digits.
    """
    half = fabric.hosts // 2
    source, sink = len(fabric.names), len(fabric.names) + 1

    def node_of(node: int) -> int:
        # Hosts that do not forward are only ends: the hosts of a half are one node.
        if node >= fabric.hosts or node in fabric.forwarding:
            return node
        return source if node < half else sink

    servers = {fabric.servers[host] for host in range(half)} - {None}

    def is_access(start: int, end: int) -> bool:
        if servers:
            return fabric.servers[start] in servers and fabric.servers[start] != fabric.servers[end]
        return start < half and node_of(start) != node_of(end)

    arcs: list[tuple[int, int]] = []
    rates: list[float] = []
    access = 0.0
    for start, end, rate, _ in fabric.links:
        a, b = node_of(start), node_of(end)
        access += rate if is_access(start, end) else 0
        if a != b and a != sink and b != source:
            arcs.append((a, b))
            rates.append(rate)
    arcs += [(source, host) if host < half else (host, sink) for host in fabric.forwarding]
    rates += [sum(rates)] * len(fabric.forwarding)
    if not arcs or half == 0:
        return 0.0, access
    network = Network([*fabric.names, "first half", "second half"], arcs, np.array(rates))
    return concurrent(network, [Flow(source, sink)]), access
