#!/bin/sh
# networkx joins two cables into one, or counts them as one where they are two.
#
# Seen: networkx 3.6.1: a Graph keeps one of two edges between two switches, and the maximum flow
# over two cables of 10 is 10. parse_edgelist of two equal lines gives one edge. A MultiGraph
# keeps both, but all_shortest_paths counts one path and edge_connectivity says that one cut
# separates the switches. No call warns.
#
# Why it matters: bundles of cables between two switches are common. Bisection, ECMP paths and
# resilience computed by networkx are those of another fabric, and a simulator that is fed from it
# has half the links.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    networkx==3.6.1
cd "$dir"
venv/bin/python - <<'END'
import networkx
simple = networkx.Graph()
for _ in range(2):
    simple.add_edge("s", "t", capacity=10)
listed = networkx.parse_edgelist(["s t", "s t"])
multi = networkx.MultiGraph([("s", "t"), ("s", "t")])
paths = len(list(networkx.all_shortest_paths(multi, "s", "t")))
cut = networkx.edge_connectivity(multi, "s", "t")
flow = networkx.maximum_flow_value(simple, "s", "t")
print(f"Graph: flow {flow}; edge list: {listed.number_of_edges()} edge")
print(f"MultiGraph: {multi.number_of_edges()} edges, {paths} path, connectivity {cut}")
assert (flow, listed.number_of_edges(), multi.number_of_edges(), paths, cut) == (10, 1, 2, 1, 1)
END
echo 'parallel-cables: as described'
