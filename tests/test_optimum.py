"""The optimum against what is worked out by hand, and against its definition."""

import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import linkpool
from linkpool import _core
from linkpool.optimum import Flow, Network, concurrent, max_min, water_filling
from linkpool.optimum.problem import Measured, NoLongFlowsError, Problem
from linkpool.optimum.region import Region

TOLERANCE = 1e-6


def cables(names: str, *pairs: str, capacity: float = 1.0) -> Network:
    """Return a network of nodes with one letter each, and links in both directions."""
    ends = [(names.index(p[i]), names.index(p[1 - i])) for p in pairs for i in (0, 1)]
    return Network(list(names), ends, np.full(len(ends), capacity))


def posed(text: str) -> Problem:
    """Return the problem that a scenario poses."""
    return Problem.of(_core.plan(text, "test.toml", 1, []), "test.toml")


def near(rates: object) -> object:
    return pytest.approx(rates, rel=TOLERANCE)


def test_the_solver_prints_nothing() -> None:
    """HiGHS prints a banner when a process makes its first solver, before it can be told not to."""
    program = (
        "import numpy as np\n"
        "from linkpool.optimum import Flow, Network, concurrent\n"
        "network = Network(['a', 'b'], [(0, 1), (1, 0)], np.full(2, 3.0))\n"
        "print(round(concurrent(network, [Flow(0, 1)]), 6))"
    )
    words = [sys.executable, "-c", program]
    printed = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (printed.stdout, printed.stderr) == ("3.0\n", "")


def test_triangle() -> None:
    """Each of three flows has its direct link of 1, and half of the two links the other way round.

    With x over the two hops, each link there carries what two other flows send: 2x = 1.
    """
    network = cables("abc", "ab", "bc", "ca")
    flows = [Flow(0, 1), Flow(1, 2), Flow(2, 0)]
    assert concurrent(network, flows) == near(1.5)
    assert max_min(network, flows) == near([1.5, 1.5, 1.5])


def test_triangle_over_paths_that_are_given() -> None:
    """With the detour in the same sense the two-hop path of each flow shares its links with others.

    a->b and a->c->b, b->c and b->a->c, c->a and c->b->a: six links, each carries one direct or two
    detours; detours use ac, cb, ba, none of which is direct, each in two of them.
    """
    network = cables("abc", "ab", "bc", "ca")
    routes = [("ab", "acb"), ("bc", "bac"), ("ca", "cba")]
    flows = [
        Flow(i, (i + 1) % 3, tuple(network.path(list(path)) for path in paths))
        for i, paths in enumerate(routes)
    ]
    assert concurrent(network, flows) == near(1.5)
    direct = [Flow(f.src, f.dst, f.paths[:1]) for f in flows if f.paths]
    assert concurrent(network, direct) == near(1.0)


def test_dumbbell() -> None:
    """Three pairs over one link of 1; one from host to host on the left has what is left there."""
    network = cables("abcLRxyz", "aL", "bL", "cL", "LR", "Rx", "Ry", "Rz")
    across = [Flow(0, 5), Flow(1, 6), Flow(2, 7)]
    assert concurrent(network, across) == near(1 / 3)
    beside = Flow(0, 1)
    assert concurrent(network, [*across, beside]) == near(1 / 3)
    assert max_min(network, [*across, beside]) == near([1 / 3, 1 / 3, 1 / 3, 2 / 3])


def test_a_link_from_a_node_to_itself_carries_nothing() -> None:
    network = cables("abc", "ab", "bc", "aa", "bb")
    assert max_min(network, [Flow(0, 2), Flow(0, 1)]) == near([0.5, 0.5])


def test_a_path_takes_of_a_link_what_it_takes_each_time() -> None:
    """There, back, and there again."""
    network = cables("ab", "ab")
    assert concurrent(network, [Flow(0, 1, (network.path(list("abab")),))]) == near(0.5)


def test_demands_weigh() -> None:
    network = cables("aLb", "aL", "Lb", capacity=6.0)
    assert concurrent(network, [Flow(0, 2), Flow(0, 2)], [1.0, 2.0]) == near(2.0)


def test_the_parking_lot() -> None:
    """One flow over links of 1 and 2, one on each: 0.5, 0.5 and what is left, 1.5."""
    network = Network(["a", "b", "c"], [(0, 1), (1, 2)], np.array([1.0, 2.0]))
    paths = [(0, 1), (0,), (1,)]
    assert water_filling(network, paths) == near([0.5, 0.5, 1.5])
    assert max_min(network, [Flow(0, 2), Flow(0, 1), Flow(1, 2)]) == near([0.5, 0.5, 1.5])


def test_nothing_passes_through_hosts() -> None:
    """From a to c there are two ways of 1: one through b, which may be a host."""
    open_ = cables("abcs", "ab", "bc", "as", "sc")
    shut = Network(open_.names, open_.ends, open_.capacity, frozenset({0, 1, 2}))
    assert concurrent(open_, [Flow(0, 2)]) == near(2.0)
    assert concurrent(shut, [Flow(0, 2)]) == near(1.0)
    assert concurrent(shut, [Flow(0, 1)]) == near(1.0)


def random_network(rng: random.Random) -> Network:
    """Return a connected graph of 5 to 8 nodes with links of unlike capacity."""
    n = rng.randint(5, 8)
    pairs = {(rng.randrange(i), i) for i in range(1, n)}
    pairs |= {(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.3}
    ends = [end for a, b in sorted(pairs) for end in ((a, b), (b, a))]
    capacity = np.array([rng.choice([1.0, 2.0, 3.0, 10.0]) for _ in ends])
    return Network([f"n{i}" for i in range(n)], ends, capacity)


def random_path(network: Network, src: int, dst: int, rng: random.Random) -> tuple[int, ...]:
    """Return a simple path by a walk in random order, depth first."""
    out: dict[int, list[int]] = {}
    for a, b in network.ends:
        out.setdefault(a, []).append(b)

    def walk(node: int, seen: list[int]) -> list[int] | None:
        if node == dst:
            return seen
        for to in rng.sample(out[node], len(out[node])):
            if to not in seen and (found := walk(to, [*seen, to])):
                return found
        return None

    nodes = walk(src, [src])
    assert nodes is not None
    return tuple(network.ends.index(pair) for pair in pairwise(nodes))


def random_flows(network: Network, paths: int, rng: random.Random) -> list[Flow]:
    flows = []
    for _ in range(rng.randint(2, 8)):
        src, dst = rng.sample(range(len(network.names)), 2)
        own = {random_path(network, src, dst, rng) for _ in range(paths)}
        flows.append(Flow(src, dst, tuple(sorted(own)) if paths else None))
    return flows


@pytest.mark.parametrize("case", range(40))
def test_with_one_path_the_programme_fills_links_as_water_does(
    case: int, rng: random.Random
) -> None:
    network = random_network(rng)
    flows = random_flows(network, 1, rng)
    filled = water_filling(network, [flow.paths[0] for flow in flows if flow.paths])
    assert max_min(network, flows) == near(filled)


@pytest.mark.parametrize("case", range(40))
@pytest.mark.parametrize("paths", [0, 3])
def test_max_min_is_what_it_is_defined_as(case: int, paths: int, rng: random.Random) -> None:
    """No rate can be raised while those that are no larger are kept; the least is the optimum's."""
    network = random_network(rng)
    flows = random_flows(network, paths, rng)
    rates = max_min(network, flows)
    together = concurrent(network, flows)
    assert rates.min() >= together * (1 - TOLERANCE)
    assert rates.min() == near(together)
    region = Region(network, flows)
    for i, rate in enumerate(rates):
        kept = np.where(rates <= rate * (1 + TOLERANCE), rates * (1 - TOLERANCE), np.nan)
        kept[i] = np.nan
        weights = np.zeros(len(flows))
        weights[i] = 1.0
        assert region.raise_together(weights, kept)[0] <= rate * (1 + 1e-3)


@pytest.mark.parametrize("case", range(20))
def test_more_paths_are_no_worse(case: int, rng: random.Random) -> None:
    network = random_network(rng)
    flows = random_flows(network, 3, rng)
    single = [Flow(f.src, f.dst, f.paths[:1]) for f in flows if f.paths]
    free = [Flow(f.src, f.dst) for f in flows]
    few, several, any_ = (concurrent(network, fs) for fs in (single, flows, free))
    assert few <= several * (1 + TOLERANCE)
    assert several <= any_ * (1 + TOLERANCE)


SCENARIO = """
duration = "{duration}"
[topology.fat-tree]
k = 4
hosts_per_edge = {hosts}
rate = "1Gbps"
delay = "1us"
[queue]
mark = 10
[transport.t]
control = "xmp"
subflows = 4
mss = "1400B"
header = "100B"
[[workload.{workload}]]
transport = "t"
"""


def problem(workload: str, hosts: int = 2) -> Problem:
    text = SCENARIO.format(duration="1ms", workload=workload, hosts=hosts)
    return posed(text)


PAYLOAD = 1e9 * 1400 / 1500


@pytest.mark.core
def test_a_full_fat_tree_serves_any_permutation() -> None:
    assert problem("permutation").concurrent() == near(PAYLOAD)
    assert problem("permutation").max_min() == near([PAYLOAD] * 16)


@pytest.mark.core
def test_a_tree_oversubscribed_four_to_one_serves_a_quarter() -> None:
    """Stride 8 of 64 hosts: all flows leave their racks of 8, which have 2 links up."""
    text = SCENARIO.format(duration="1ms", workload="stride", hosts=8) + "step = 8\n"
    assert posed(text).concurrent() == near(PAYLOAD / 4)


@pytest.mark.core
def test_into_one_host_all_share_its_link() -> None:
    text = SCENARIO.format(duration="1ms", workload="many-to-one", hosts=2)
    text += 'flows = 5\nreceiver = "h15"\n'
    found = posed(text)
    assert found.concurrent() == near(PAYLOAD / 5)


@pytest.mark.core
def test_shares_are_for_flows_that_last() -> None:
    text = SCENARIO.format(duration="1ms", workload="permutation", hosts=2) + 'size = "1KB"\n'
    with pytest.raises(NoLongFlowsError, match=r"test\.toml: no flow is unlimited"):
        posed(text)


@pytest.mark.core
def test_a_run_stays_below_its_optimum(tmp_path: Path) -> None:
    """What all can have over its own paths is at most that over any, and at least its least."""
    file = tmp_path / "permutation.toml"
    file.write_text(SCENARIO.format(duration="50ms", workload="permutation", hosts=2))
    measured = Measured.of(linkpool.run(file))
    best, own = measured.problem.concurrent(), measured.restricted.concurrent()
    assert own <= best * (1 + TOLERANCE)
    assert measured.goodput.min() <= own
    assert 0.5 < measured.share(best) < 1.0
