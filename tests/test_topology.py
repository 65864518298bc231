"""Topologies: numbers of nodes and paths, bisections by formula, and pages that are true."""

import json
import os
import random
import re
import struct
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from typer.testing import CliRunner

import linkpool
from linkpool import _core
from linkpool.cli import app
from linkpool.optimum.fair import concurrent
from linkpool.optimum.network import Flow, Network
from linkpool.topology import Fabric
from linkpool.topology.bisection import bisection
from linkpool.topology.drawing import draw
from linkpool.topology.layout import positions

PAGES = sorted((Path(__file__).parent.parent / "docs" / "topologies").glob("*.toml"))

REST = '[transport.t]\ncontrol = "reno"\n[[workload.flow]]\ntransport = "t"\nfrom = 0\nto = 1\n'


def fabric(topology: str) -> Fabric:
    text = f'duration = "1s"\n[topology.{topology}\ndelay = "1us"\n{REST}'
    return Fabric(_core.plan(text, "test.toml", None, []))


def test_max_flow_is_the_least_cut(rng: random.Random) -> None:
    """On random graphs, against all cuts there are (Ford and Fulkerson's theorem)."""
    for _ in range(200):
        n = rng.randint(2, 7)
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b and rng.random() < 0.5]
        arcs = {pair: float(rng.randint(0, 9)) for pair in pairs}
        between = range(1, n - 1)
        cuts = (
            sum(c for (a, b), c in arcs.items() if a in side and b not in side)
            for size in range(n - 1)
            for chosen in combinations(between, size)
            for side in [{0, *chosen}]
        )
        # A maximum flow is a concurrent flow of one pair. Node n keeps capacities above zero.
        names = [str(node) for node in range(n + 1)]
        network = Network(names, [*arcs, (n, n - 1)], np.array([*arcs.values(), 1.0]))
        assert concurrent(network, [Flow(0, n - 1)]) == pytest.approx(min(cuts), abs=1e-6)


@pytest.mark.core
@pytest.mark.parametrize("k", [2, 4, 6, 8])
@pytest.mark.parametrize("share", [1, 2, 4])
def test_bisection_of_fat_trees(k: int, share: int) -> None:
    """Half of what the hosts send, over the oversubscription."""
    tree = fabric(f'fat-tree]\nk = {k}\nhosts_per_edge = {share * k // 2}\nrate = "1Gbps"')
    across, access = bisection(tree)
    hosts = share * k**3 // 4
    assert access == hosts / 2 * 1e9
    assert across == pytest.approx(access / share)
    assert tree.nodes_by_layer() == {
        "host": hosts,
        "edge": k * k // 2,
        "aggregation": k * k // 2,
        "core": k * k // 4,
    }
    expected = {(4, k // 2), (6, k * k // 4)} - ({(4, 1)} if k == 2 else set())
    assert {(c.hops, c.paths) for c in tree.path_classes()[0]} - {(2, 1)} == expected


@pytest.mark.core
@pytest.mark.parametrize(
    ("topology", "across"),
    [
        # Uplinks of half of the leaves: 2 leaves with 2 of 20G each; hosts send 2 * 8 * 10G.
        (
            'leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 8\nrate = "10Gbps"\n'
            'uplink_rate = "20Gbps"',
            80e9,
        ),
        # Ten hosts on either side of the one cable.
        ('dumbbell]\npairs = 10\nrate = "1Gbps"\nbottleneck_rate = "300Mbps"', 0.3e9),
        # Half of the ports of each switch of the highest level, n^k switches of n ports.
        ('bcube]\nn = 4\nk = 1\nrate = "1Gbps"', 8e9),
        ('bcube]\nn = 2\nk = 2\nrate = "1Gbps"', 4e9),
        # Never less than what the hosts send: 16 of 1G, with links ten times as fast above.
        (
            "vl2]\naggregation_ports = 4\nintermediate_ports = 4\nhosts_per_rack = 8\n"
            'rate = "1Gbps"',
            16e9,
        ),
        # Two NICs: twice as much to send, and the same links above the edge.
        ('fat-tree]\nk = 4\nnics = 2\nrate = "1Gbps"', 8e9),
        # Oversubscribed by rates at any tier: 2:1 at the core, where half of 4 pods have 2 * 4
        # cables; then also 4:1 above the racks, 2 * 4 cables of half of the pods.
        ('fat-tree]\nk = 4\nrate = "10Gbps"\ncore_rate = "5Gbps"', 40e9),
        (
            'fat-tree]\nk = 4\nrate = "10Gbps"\naggregation_rate = "2.5Gbps"\ncore_rate = "5Gbps"',
            20e9,
        ),
        # Uplinks of half of the leaves, 2 of each plane: 2 planes * 2 leaves * 1 * 20G; the hosts
        # send 16 * 2 * 10G.
        (
            "multi-plane]\nplanes = 2\nleaves = 4\nspines = 1\nhosts_per_leaf = 8\n"
            'rate = "10Gbps"\nuplink_rate = "20Gbps"',
            80e9,
        ),
        # Spines that all planes share make no difference.
        (
            "multi-plane]\nplanes = 2\nleaves = 4\nspines = 1\nshared_spines = true\n"
            'hosts_per_leaf = 8\nrate = "10Gbps"\nuplink_rate = "20Gbps"',
            80e9,
        ),
        # One switch a plane: all that the ports of 4 hosts send.
        (
            "multi-plane]\nplanes = 8\nleaves = 1\nspines = 0\nhosts_per_leaf = 8\n"
            'rate = "100Gbps"',
            3200e9,
        ),
        # Four groups, a cable between any two: four join two of them with the two others.
        (
            "dragonfly]\nrouters_per_group = 3\nhosts_per_router = 2\nglobal_ports = 1\n"
            'rate = "10Gbps"',
            40e9,
        ),
        # Four groups of three switches: two join two others by 2 * 2 * 3 cables, and each of their
        # six switches has three hosts.
        ('xpander]\ndegree = 3\nlift = 3\nhosts_per_switch = 3\nrate = "10Gbps"', 120e9),
        # Two of four servers: 2 * 4 NICs of 4G, whatever their 8 GPUs have inside.
        (
            "gpu-servers]\ngroups = 2\nservers_per_group = 2\nnics = 4\nspines = 4\n"
            'nvlink_rate = "40Gbps"\nnvlink_delay = "1us"\nrate = "4Gbps"\npcie_rate = "5Gbps"',
            32e9,
        ),
        # The same with PXN, and half of it above the leaves.
        (
            "gpu-servers]\ngroups = 2\nservers_per_group = 2\nnics = 4\nspines = 1\npxn = true\n"
            'nvlink_rate = "40Gbps"\nnvlink_delay = "1us"\nrate = "4Gbps"\npcie_rate = "5Gbps"',
            16e9,
        ),
        # One host and R against the other two: the ports of S1 and S2.
        ('many-to-one]\nsenders = 3\nrate = "1Gbps"', 2e9),
        # S1, S2, S3 to D1, D2, D3 over two cables.
        ('traffic-shift]\nrate = "1Gbps"', 2e9),
    ],
)
def test_bisection(topology: str, across: float) -> None:
    """Worked out by hand."""
    assert bisection(fabric(topology))[0] == pytest.approx(across)


@pytest.mark.core
@pytest.mark.parametrize(
    ("keys", "classes"),
    [
        # NVLink (three switches) and the own rail; by a spine.
        ("", {(2, 3), (2, 1), (4, 2)}),
        # By NVLink in the group, and to the other group, where the own rail has four links too.
        ("pxn = true", {(2, 3), (2, 1), (4, 3), (4, 2), (6, 6)}),
        # Two GPUs at each PCIe switch: one more link at either end, and two GPUs that forward.
        ("nics = 2", {(2, 3), (4, 1), (6, 2)}),
        ("nics = 2\npxn = true", {(2, 3), (4, 1), (6, 6), (6, 2), (8, 12)}),
        ("rails = false", {(2, 3), (2, 1), (4, 2)}),
    ],
)
def test_paths_of_gpu_servers(keys: str, classes: set[tuple[int, int]]) -> None:
    """Worked out by hand, with hops and numbers of paths."""
    of = fabric(
        "gpu-servers]\ngroups = 2\nservers_per_group = 2\ngpus = 4\nspines = 2\n"
        f'nvlink_switches = 3\nnvlink_rate = "40Gbps"\nnvlink_delay = "1us"\nrate = "4Gbps"\n{keys}'
    )
    found, _ = of.path_classes()
    assert {(c.hops, c.paths) for c in found} == classes


SERVERS = Path(__file__).parent.parent / "docs" / "topologies" / "graph.md"


@pytest.mark.core
def test_a_graph_of_servers() -> None:
    """That of its page: two cables inside, the own rail, and the other rail by the other GPU.

    The first server sends to the second by a NIC of 400G of each of its two GPUs.
    """
    text = SERVERS.read_text(encoding="utf-8")
    [graph] = [one for one in re.findall(r"```toml\n(.*?)```", text, re.S) if "rail = 0" in one]
    of = Fabric(_core.plan(f'duration = "1s"\n{graph}{REST}', "test.toml", None, []))
    found, _ = of.path_classes()
    assert {(c.hops, c.paths) for c in found} == {(1, 2), (2, 1), (3, 2)}
    sent, carried = bisection(of)
    assert sent == pytest.approx(800e9)
    assert carried == 800e9
    assert len({tuple(at) for at in positions(of)}) == 6


@pytest.mark.core
@pytest.mark.parametrize(
    "topology",
    [
        'slim-fly]\nq = 3\nhosts_per_router = 6\nrate = "10Gbps"',
        'slim-fly]\nq = 5\nhosts_per_router = 8\nrate = "10Gbps"',
        'slim-fly]\nq = 4\nhosts_per_router = 6\nrate = "10Gbps"',
        'xpander]\ndegree = 4\nlift = 3\nhosts_per_switch = 3\nrate = "10Gbps"',
        'dragonfly]\nrouters_per_group = 4\nrate = "10Gbps"\nglobal_rate = "1Gbps"',
        'dragonfly]\nrouters_per_group = 4\ngroups = 4\nhosts_per_router = 6\nrate = "10Gbps"',
        'multi-plane]\nplanes = 3\nleaves = 3\nspines = 2\nhosts_per_leaf = 5\nrate = "10Gbps"',
    ],
)
def test_bisection_by_another_algorithm(topology: str) -> None:
    """SciPy's maximum flow (Dinic) from the first half of the hosts to the second, in Mbit/s."""
    of = fabric(topology)
    n, half = len(of.names), of.hosts // 2
    capacity = np.zeros((n + 2, n + 2), np.int32)
    for one, other, rate, _ in of.links:
        capacity[one, other] += round(rate / 1e6)
    capacity[n, :half] = capacity[half : of.hosts, n + 1] = 10**8
    found = maximum_flow(csr_array(capacity), n, n + 1).flow_value
    assert bisection(of)[0] == pytest.approx(found * 1e6, rel=1e-6)


@pytest.mark.core
@pytest.mark.parametrize("scenario", PAGES, ids=lambda path: path.stem)
def test_pages_say_what_the_command_says(scenario: Path, tmp_path: Path) -> None:
    """Each page shows its scenario and the command's output, and the picture can be drawn."""
    out = tmp_path / "picture.png"
    done = CliRunner().invoke(app, ["topology", str(scenario), "--plot", str(out)])
    assert done.exit_code == 0
    page = scenario.with_suffix(".md").read_text(encoding="utf-8")
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL)[-1]

    def words(text: str) -> list[str]:
        return text.replace("─", "").split()

    assert words(shown) == words(done.stdout)
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[-1]
    assert example in scenario.read_text(encoding="utf-8")
    assert out.stat().st_size > 5000
    assert scenario.with_suffix(".png").exists()
    assert scenario.with_suffix(".md").name in (scenario.parent / "README.md").read_text("utf-8")


@pytest.mark.core
def test_parallel_cables_are_counted_one_by_one(tmp_path: Path) -> None:
    """Two hosts at each of two switches, which three cables join."""
    nodes = [{"id": name, "kind": "host"} for name in "abcd"]
    nodes += [{"id": name, "kind": "switch"} for name in "st"]
    pairs = [*zip("abcd", "sstt", strict=True), ("s", "t"), ("s", "t"), ("t", "s")]
    edges = [{"source": s, "target": t, "rate": "10Gbps", "delay": "1us"} for s, t in pairs]
    file = tmp_path / "g.json"
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    of = Fabric.of(file)
    assert [cables.number for cables in of.cables()] == [4, 3]
    assert [(c.hops, c.paths) for c in of.path_classes()[0]] == [(2, 1), (3, 3)]
    assert list(bisection(of)) == pytest.approx([20e9, 20e9])
    written = [text.get_text() for text in draw(of).axes[0].texts]
    assert "3 x" in written
    assert "1 x" not in written


@pytest.mark.core
def test_names_of_control_characters_are_drawn_as_escapes(tmp_path: Path) -> None:
    """No font has a glyph for them."""
    nodes = [
        {"id": name, "kind": kind}
        for name, kind in (("a\a", "host"), ("b", "host"), ("s", "switch"))
    ]
    edges = [{"source": h, "target": "s", "rate": "1Gbps", "delay": "1us"} for h in ("a\a", "b")]
    file = tmp_path / "g.json"
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    written = [text.get_text() for text in draw(Fabric.of(file)).axes[0].texts]
    assert written == ["a\\x07", "b", "s"]


@pytest.mark.core
@pytest.mark.parametrize("scenario", PAGES, ids=lambda path: path.stem)
def test_no_two_nodes_are_drawn_on_each_other(scenario: Path) -> None:
    """Whatever the layout."""
    at = positions(Fabric.of(scenario))
    for i, j in combinations(range(len(at)), 2):
        assert abs(at[i] - at[j]).max() > 0.004


@pytest.mark.core
def test_layouts_do_not_depend_on_the_machine() -> None:
    """They are the same where OpenBLAS computes, and rounds, as on another processor."""
    script = (
        "import sys; from pathlib import Path; from linkpool.topology import Fabric;"
        "from linkpool.topology.layout import positions;"
        "print([positions(Fabric.of(Path(page))).round(6).tolist() for page in sys.argv[1:]])"
    )
    command = [sys.executable, "-c", script, *map(str, PAGES)]
    here = subprocess.run(command, check=True, capture_output=True)
    other = os.environ | {"OPENBLAS_CORETYPE": "Prescott"}
    assert subprocess.run(command, check=True, capture_output=True, env=other).stdout == here.stdout


@pytest.mark.core
def test_graph_files_and_mistakes(tmp_path: Path) -> None:
    """A graph needs no scenario; what is wrong with it is said with its line."""
    graph = PAGES[0].parent / "graph.json"
    done = CliRunner().invoke(app, ["topology", str(graph)])
    assert done.exit_code == 0
    assert "switch and switch" in done.stdout
    bad = tmp_path / "bad.json"
    bad.write_text(graph.read_text("utf-8").replace('"rate": "40Gbps", ', ""), encoding="utf-8")
    done = CliRunner().invoke(app, ["topology", str(bad)])
    assert done.exit_code == 2
    assert 'bad.json: line 10: edges[0], edge "paris" to "lyon": has no `rate`' in done.stderr
    done = CliRunner().invoke(app, ["topology", str(tmp_path / "none.json")])
    assert (done.exit_code, "cannot read" in done.stderr) == (2, True)
    done = CliRunner().invoke(app, ["topology", str(graph), "--plot", "x.gif"])
    assert (done.exit_code, ".png, .svg, .pdf" in done.stderr) == (2, True)


@pytest.mark.core
def test_cables_within_a_half_are_no_part_of_a_bisection(tmp_path: Path) -> None:
    """Each of four hosts has a cable to each other: four of the six join the two halves."""
    nodes = [{"id": name, "kind": "host"} for name in "abcd"]
    pairs = combinations("abcd", 2)
    edges = [{"source": s, "target": t, "rate": "10Gbps", "delay": "1us"} for s, t in pairs]
    file = tmp_path / "g.json"
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}), encoding="utf-8")
    assert list(bisection(Fabric.of(file))) == pytest.approx([40e9, 40e9])


@pytest.mark.core
def test_two_hosts_at_one_cable_are_shown_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a switch: what each command says of it, and what it writes."""
    text = """
duration = "1ms"
[topology.graph]
nodes = [{ id = "a", kind = "host" }, { id = "b", kind = "host" }]
edges = [{ source = "a", target = "b" }]
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
[transport.t]
control = "dctcp"
[[workload.flow]]
transport = "t"
from = "a"
to = "b"
size = "20KB"
[record]
capture = { links = ["a->b"] }
"""
    file, result = tmp_path / "s.toml", tmp_path / "result"
    file.write_text(text, encoding="utf-8")
    said = {}
    for name, *arguments in (
        ("run", file, "--out", result),
        ("topology", file, "--plot", tmp_path / "t.png"),
        ("explain", result, "--plot", tmp_path / "e.png"),
        ("report", result, "-o", tmp_path / "r.html"),
    ):
        app([name, *map(str, arguments)], standalone_mode=False)
        said[name] = capsys.readouterr().out
    assert "in-rack" in said["explain"]
    assert "together: the FCT" in said["explain"]
    assert re.search(r"host and host +1 +10 Gbit/s +1 us +10 Gbit/s", said["topology"])
    assert re.search(r"a and b +1 +1", said["topology"])
    assert "second): 10 Gbit/s, 100% of their links' rate" in " ".join(said["topology"].split())
    assert [(tmp_path / name).stat().st_size > 0 for name in ("t.png", "e.png")] == [True, True]
    assert (tmp_path / "r.html").stat().st_size > 100_000
    (packets,) = linkpool.Result(result).links.filter(link="a->b")["packets"]
    # SYN, the ACK of the SYN-ACK, 14 segments and the FIN.
    assert packets == captured_packets(result / "capture.pcapng") == 17


def captured_packets(file: Path) -> int:
    """Count the blocks of pcapng that hold a packet, which are of type 6."""
    content, kinds, at = file.read_bytes(), [], 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        kinds.append(kind)
        at += length
    return kinds.count(6)
