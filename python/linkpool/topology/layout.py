"""Where the nodes of a fabric are drawn."""

import numpy as np
import numpy.typing as npt

from linkpool.topology.fabric import Fabric

Points = npt.NDArray[np.float64]

ROWS = {"edge": 1.0, "aggregation": 2.0, "core": 3.0}
"""Heights of the layers of a tree; hosts are at 0."""

ABOVE_SERVERS = {
    "host": 0.0,
    "pcie": 0.7,
    "nvlink": 1.7,
    "switch": 1.7,
    "edge": 1.7,
    "aggregation": 2.2,
    "core": 2.7,
}
"""Heights of the layers above the switches inside servers."""

HOSTS_IN_A_ROW = 8


def positions(fabric: Fabric) -> Points:
    """Return x and y of each node: in layers, on a circle of groups, or by distance."""
    if any(server is not None for server in fabric.servers):
        return _servers(fabric)
    if len(fabric.forwarding) == fabric.hosts < len(fabric.names):
        return _levels(fabric)
    if set(fabric.layers) <= {"host", *ROWS} and "edge" in fabric.layers:
        return _tree(fabric)
    groups = _groups(fabric)
    return _circle(fabric, groups) if len(groups) > 1 else _by_distance(fabric)


def _spread(n: int) -> Points:
    """Return n places from 0 to 1, with half a place free at either end."""
    return (np.arange(n) + 0.5) / max(n, 1)


def _tree(fabric: Fabric) -> Points:
    """Rows of switches, each of the same width; hosts in a block below their first edge switch."""
    at = np.zeros((len(fabric.names), 2))
    for layer, height in ROWS.items():
        nodes = [node for node, of in enumerate(fabric.layers) if of == layer]
        at[nodes, 0] = _spread(len(nodes))
        at[nodes, 1] = height
    below: dict[int, list[int]] = {}
    for host in range(fabric.hosts):
        below.setdefault(fabric.neighbours[host][0], []).append(host)
    width = 1.0 / max(len(below), 1)
    if len(below) < fabric.layers.count("edge"):
        # Hosts with a port in each of several planes stand in the middle of all.
        middle = dict(zip(below, _spread(len(below)), strict=True))
    else:
        middle = {switch: at[switch, 0] for switch in below}
    for switch, hosts in below.items():
        columns = min(len(hosts), HOSTS_IN_A_ROW)
        for i, host in enumerate(hosts):
            row, column = divmod(i, columns)
            at[host] = middle[switch] + 0.8 * width * (_spread(columns)[column] - 0.5), -0.12 * row
    return at


def _servers(fabric: Fabric) -> Points:
    """GPUs in a row, server by server; their switches below them, PCIe and others above."""
    at = np.zeros((len(fabric.names), 2))
    rows: dict[tuple[int | None, float], list[int]] = {}
    for node, (server, layer) in enumerate(zip(fabric.servers, fabric.layers, strict=True)):
        inside = server is not None and layer not in ("host", "pcie")
        rows.setdefault((server, -1.0 if inside else ABOVE_SERVERS[layer]), []).append(node)
    places = {server: i for i, server in enumerate(dict.fromkeys(fabric.servers[: fabric.hosts]))}
    for (server, height), nodes in rows.items():
        at[nodes, 0], at[nodes, 1] = _spread(len(nodes)), height
        if server in places and server is not None:
            middle = places[server] + 0.5
            at[nodes, 0] = (middle + 0.9 * (at[nodes, 0] - 0.5)) / len(places)
    return at


def _levels(fabric: Fabric) -> Points:
    """Hosts in a row; above it the switches of each level, known by their names, in another."""
    at = np.zeros((len(fabric.names), 2))
    at[: fabric.hosts, 0] = _spread(fabric.hosts)
    rows: dict[str, list[int]] = {}
    for node in range(fabric.hosts, len(fabric.names)):
        rows.setdefault(fabric.names[node].split(".")[0], []).append(node)
    for height, nodes in enumerate(rows.values(), start=1):
        at[nodes, 0] = _spread(len(nodes))
        at[nodes, 1] = height
    return at


def _groups(fabric: Fabric) -> list[list[int]]:
    """Return the groups of switches without layers, which their names say: `r0.1` is of `r0`."""
    groups: dict[str, list[int]] = {}
    for node in range(fabric.hosts, len(fabric.names)):
        group, dot, _ = fabric.names[node].partition(".")
        if not dot or fabric.layers[node] != "switch":
            return []
        groups.setdefault(group, []).append(node)
    return list(groups.values())


def _circle(fabric: Fabric, groups: list[list[int]]) -> Points:
    """Switches on a circle with a gap between groups; hosts outside, beyond their first switch."""
    places = sum(len(group) + 1 for group in groups)
    angle, place = np.zeros(len(fabric.names)), 0
    for group in groups:
        angle[group] = 2.0 * np.pi * (place + np.arange(len(group))) / places
        place += len(group) + 1
    radius = np.ones(len(fabric.names))
    below: dict[int, list[int]] = {}
    for host in range(fabric.hosts):
        below.setdefault(fabric.neighbours[host][0], []).append(host)
    for switch, hosts in below.items():
        columns = min(len(hosts), 2)
        for i, host in enumerate(hosts):
            row, column = divmod(i, columns)
            angle[host] = angle[switch] + 2.0 * np.pi / places * 0.8 * (
                _spread(columns)[column] - 0.5
            )
            radius[host] = 1.25 + 0.1 * row
    at = radius[:, None] * np.column_stack([np.sin(angle), np.cos(angle)])
    return np.asarray((at - at.min(axis=0)) / float(np.ptp(at, axis=0).max()))


def _by_distance(fabric: Fabric) -> Points:
    """Nodes as far from each other as there are hops between them, as nearly as a plane allows.

    Classical scaling (Torgerson 1952), then stress majorisation (Gansner et al. 2004).
    """
    hops = _hops(fabric)
    n = len(hops)
    if n < 3:
        return np.column_stack([_spread(n), np.zeros(n)])
    centre = np.eye(n) - 1.0 / n
    # Where nodes are alike any turn of the picture would do, and rounding, which differs from
    # machine to machine, would choose. A slight tilt by number leaves one choice, but for signs.
    tilt = np.diag(1e-3 * np.arange(n))
    values, vectors = np.linalg.eigh(tilt - 0.5 * centre @ hops**2 @ centre)
    sizeable = np.abs(vectors) > 0.1 * np.abs(vectors).max(axis=0)
    vectors *= -np.sign(vectors[sizeable.argmax(axis=0), np.arange(n)])
    at: Points = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 1e-9))
    # Nodes that are alike fall onto one point, which no step would part: move each a little.
    angle = np.arange(n) * 2.399963
    at = at + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    weight = 1.0 / np.maximum(hops, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    for _ in range(300):
        apart = np.linalg.norm(at[:, None] - at[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        pull = -weight * hops / np.maximum(apart, 1e-6)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        at = inverse @ (pull @ at)
    low, high = at.min(axis=0), at.max(axis=0)
    return np.asarray((at - low) / max(float((high - low).max()), 1e-9))


def _hops(fabric: Fabric) -> Points:
    """Return the hops between any two nodes; nodes that no path joins are far apart."""
    n = len(fabric.names)
    hops = np.full((n, n), float(n))
    for source in range(n):
        hops[source, source] = 0.0
        reached = [source]
        for node in reached:
            for target in fabric.neighbours[node]:
                if hops[source, target] == n and target != source:
                    hops[source, target] = hops[source, node] + 1
                    reached.append(target)
    return hops
