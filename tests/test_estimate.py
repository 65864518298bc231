"""Scale models of fabrics: their shape, their flows, their answers beside whole runs."""

import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from linkpool import _core, cli
from linkpool.api import simulate_loaded
from linkpool.cli.override import override
from linkpool.estimate import OutsideError, Shape, estimate
from linkpool.estimate.flows import Source
from linkpool.estimate.perform import percentile_of, slowdowns
from linkpool.study.measuring import Part
from linkpool.study.toml import dumps
from linkpool.topology.fabric import Fabric

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LEAF_SPINE = """
seed = 3
duration = "30ms"
drain = "300ms"
[measure]
warm_up = "3ms"
[topology.leaf-spine]
leaves = 16
spines = 4
hosts_per_leaf = 4
rate = "1Gbps"
delay = "1us"
[queue]
limit = 200
mark = 20
[transport.dctcp]
control = "dctcp"
min_rto = "10ms"
[[workload.poisson]]
transport = "dctcp"
load = 0.6
size = { uniform = ["1KB", "100KB"] }
"""

FAT_TREE = (
    LEAF_SPINE.replace("[topology.leaf-spine]", "[topology.fat-tree]")
    .replace("leaves = 16\nspines = 4\nhosts_per_leaf = 4\n", "k = 8\nhosts_per_edge = 8\n")
    .replace('delay = "1us"', 'delay = "1us"\naggregation_rate = "2Gbps"\ncore_delay = "3us"')
)


def loaded(text: str, *settings: str) -> _core.Scenario:
    """Read a scenario, with other values of some keys."""
    return _core.load(text, "test.toml", None, [override(one) for one in settings])


def document(text: str, *settings: str) -> dict[str, Any]:
    """Return a scenario with every default written out."""
    return tomllib.loads(loaded(text, *settings).toml)


def shape(text: str, *settings: str) -> Shape:
    return Shape.of(document(text, *settings)["topology"])


def test_shapes_by_hand() -> None:
    access, middle, core = ("1Gbps", "1us"), ("2Gbps", "1us"), ("1Gbps", "3us")
    tree = Shape(8, 4, 8, 4, 4, (access, middle, core))
    assert shape(FAT_TREE) == tree
    assert tree.size == 256
    # Two hosts an uplink, as in the tree.
    assert tree.model(24) == Shape(4, 3, 4, 2, 3, tree.links)
    assert tree.model(49) == Shape(4, 3, 6, 3, 3, tree.links)
    assert tree.model(97) == tree  # No smaller one has as many hosts.
    leaves = Shape(1, 16, 4, 4, 0, (access, access))
    assert shape(LEAF_SPINE) == leaves
    assert leaves.model(8) == Shape(1, 6, 2, 2, 0, leaves.links)
    assert leaves.model(24) == Shape(1, 6, 4, 4, 0, leaves.links)
    two = shape(
        LEAF_SPINE.replace("leaf-spine", "fat-tree")
        .replace("leaves = 16", "k = 6\ntiers = 2")
        .replace("spines = 4\nhosts_per_leaf = 4\n", "")
    )
    assert two == Shape(1, 6, 3, 3, 0, (access, access))


def test_a_model_keeps_the_load_of_links(rng: random.Random) -> None:
    for _ in range(500):
        tiers = rng.choice([2, 3])
        racks = rng.randint(2, 8)
        whole = Shape(
            rng.randint(2, 12) if tiers == 3 else 1,
            racks,
            rng.randint(1, 24),
            rng.randint(1, 24),
            racks if tiers == 3 else 0,
            (("1Gbps", "1us"),) * tiers,
        )
        keeps_the_load(whole, rng.randint(8, 200))


def keeps_the_load(whole: Shape, asked: int) -> None:
    model = whole.model(asked)
    assert model.hosts * whole.uplinks == whole.hosts * model.uplinks
    # Racks that send to a switch of their pod, over its links to the core.
    assert model.racks * whole.core_links == whole.racks * model.core_links
    assert model.pods <= whole.pods
    assert model == whole or model.size >= asked
    assert model == whole or min(model.hosts, model.uplinks) >= 2


@pytest.mark.parametrize("text", [FAT_TREE, LEAF_SPINE])
def test_a_shape_is_the_fabric_that_it_was_read_from(text: str) -> None:
    """Written as a graph it has the cables and the paths of the simulator's own."""
    native = document(text)
    graph = {**native, "topology": Shape.of(native["topology"]).topology()}
    fabrics = [Fabric(loaded(dumps(one)).plan()) for one in (native, graph)]
    assert fabrics[0].nodes_by_layer() == fabrics[1].nodes_by_layer()
    assert fabrics[0].cables() == fabrics[1].cables()
    paths = [[(found.hops, found.paths) for found in one.path_classes()[0]] for one in fabrics]
    assert paths[0] == paths[1]


def model_of(text: str, tmp_path: Path, *settings: str, hosts: int = 24) -> _core.Scenario:
    """Return the scale model of a scenario, as it would run."""
    whole = document(text, *settings)
    fabric = Shape.of(whole["topology"])
    model = fabric.model(hosts)
    workload = Source(whole, "test.toml", fabric, False).write(model, whole["seed"], tmp_path)
    return loaded(dumps({**whole, "topology": model.topology(), "workload": workload}))


@pytest.mark.parametrize("text", [FAT_TREE, LEAF_SPINE])
@pytest.mark.parametrize("to", ["random", "other-racks"])
def test_each_tier_is_offered_the_load_of_the_fabric(text: str, to: str, tmp_path: Path) -> None:
    """1,500 flows a host of one size: 5% are five standard deviations of a tier's load."""
    settings = (
        "workload.poisson.0.size=1KB",
        f"workload.poisson.0.to={to}",
        "duration=20ms",
        "measure.cut_off=20ms",
    )
    fabric, model = (
        {f"{tier[0]}->{tier[1]}": tier[2] for tier in scenario.offered_loads()}
        for scenario in (loaded(text, *settings), model_of(text, tmp_path, *settings))
    )
    assert fabric.keys() == model.keys()
    for tier, load in fabric.items():
        assert model[tier] == pytest.approx(load, rel=0.05), tier


def trace_of(text: str, tmp_path: Path) -> tuple[str, pl.DataFrame]:
    """Return a scenario whose workload is a trace of the same flows."""
    flows = [
        (f"h{a}", f"h{b}", size, start) for a, b, size, start, _ in loaded(text).plan()["flows"]
    ]
    table = pl.DataFrame(flows, ["src", "dst", "size_bytes", "start_s"], orient="row")
    table.write_csv(tmp_path / "trace.csv")
    head = text.partition("[[workload")[0]
    return (
        f'{head}[[workload.trace]]\ntransport = "dctcp"\nlabel = "seen"\n'
        f'file = "{tmp_path}/trace.csv"\nformat = "csv"\n',
        table,
    )


def test_a_trace_gives_its_flows_of_some_hosts(tmp_path: Path) -> None:
    """The flows of 24 hosts, each whole: sizes, starts, and how far they go."""
    text, real = trace_of(FAT_TREE, tmp_path)
    model = model_of(text, tmp_path)
    small = shape(FAT_TREE).model(24)
    taken = model.plan()["flows"]

    def far(a: int, b: int, hosts: int, racks: int) -> int:
        return (a // hosts != b // hosts) + (a // hosts // racks != b // hosts // racks)

    sent: dict[int, list[tuple[int, float, int]]] = {}
    for src, dst, size, start, _ in taken:
        assert src != dst
        sent.setdefault(src, []).append((size or 0, round(start, 9), far(src, dst, 4, 3)))
    whole: dict[int, list[tuple[int, float, int]]] = {}
    for src, dst, size, start in real.iter_rows():
        a, b = int(src[1:]), int(dst[1:])
        whole.setdefault(a, []).append((size, round(start, 9), far(a, b, 8, 4)))
    sources = {tuple(sorted(flows)): host for host, flows in whole.items()}
    stands_for = {host: sources[tuple(sorted(flows))] for host, flows in sent.items()}
    assert len(stands_for) == small.size == 48
    assert len(set(stands_for.values())) == 48
    # Hosts of one rack stand for hosts of one rack.
    for host, of in stands_for.items():
        assert stands_for[host - host % 4] // 8 == of // 8


def test_destinations_are_spread_evenly(tmp_path: Path) -> None:
    flows = model_of(FAT_TREE, tmp_path, "workload.poisson.0.size=1KB").plan()["flows"]
    for end in (0, 1):
        counts = np.bincount([flow[:2][end] for flow in flows], minlength=48)
        mean = len(flows) / 48
        assert abs(counts - mean).max() < 5 * mean**0.5


WRONG: list[tuple[str, Callable[[str], str], str]] = [
    (
        "a triangle of hosts",
        lambda text: (
            text.partition("[topology")[0]
            + '[topology.dumbbell]\npairs = 4\nrate = "1Gbps"\ndelay = "1us"\n[queue]'
            + text.partition("[queue]")[2]
        ),
        "topology is of the kind 'dumbbell'",
    ),
    ("two NICs", lambda text: text.replace("k = 8", "k = 8\nnics = 2"), "nics is 2"),
    (
        "a failure",
        lambda text: text + '[[change]]\nat = "1ms"\nlinks = ["e0.0->a0.0"]\nrate = "1Gbps"\n',
        "change is in the scenario",
    ),
    (
        "pauses",
        lambda text: text.replace(
            "limit = 200\nmark = 20", 'mark = 20\nshared_buffer = { size = "1MB", alpha = 1 }'
        ),
        "queue.shared_buffer is in the scenario",
    ),
    (
        "an incast",
        lambda text: (
            text + '[[workload.incast]]\ntransport = "dctcp"\nsenders = 4\n'
            'receiver = "h0"\nsize = "1KB"\nevery = "1ms"\n'
        ),
        "workload.incast.0 is of the kind 'incast'",
    ),
    (
        "a role",
        lambda text: text.replace("load = 0.6", 'load = 0.6\nrole = "big"') + "[roles]\nbig = 8\n",
        "roles is in the scenario",
    ),
    (
        "a shared buffer of one layer",
        lambda text: text.replace(
            "[transport",
            '[queue.layer.core]\nshared_buffer = { size = "1MB", alpha = 1 }\n[transport',
        ),
        "queue.layer.core.shared_buffer is in the scenario",
    ),
    (
        "a weight",
        lambda text: text.replace(
            "[queue]", '[routing]\nlink = [{ name = "e0.0->a0.0", weight = 3 }]\n[queue]'
        ),
        "routing.link is in the scenario",
    ),
    (
        "conga",
        lambda text: text.replace("[queue]", '[routing]\nkind = "conga"\n[queue]'),
        "routing.kind is 'conga'",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [one[1:] for one in WRONG], ids=[w[0] for w in WRONG]
)
def test_what_a_model_says_nothing_about_is_refused(
    change: Callable[[str], str], message: str
) -> None:
    scenario = loaded(change(FAT_TREE))
    with pytest.raises(OutsideError) as error:
        estimate(scenario, "test.toml", [1])
    assert message in str(error.value)


def flows_of(tmp_path: Path, lines: str) -> str:
    (tmp_path / "t.csv").write_text(lines)
    head = LEAF_SPINE.partition("[[workload")[0]
    return (
        f'{head}[[workload.trace]]\ntransport = "dctcp"\n'
        f'file = "{tmp_path}/t.csv"\nformat = "csv"\n'
    )


def test_a_trace_that_is_uneven_or_waits_is_refused(tmp_path: Path) -> None:
    to_one = "".join(f"h{4 + i % 60},h0,1000,{i}e-6\n" for i in range(600))
    uneven = flows_of(tmp_path, f"src,dst,size_bytes,start_s\n{to_one}")
    with pytest.raises(OutsideError, match="a rack receives 600 of its flows, and the mean is 38"):
        estimate(loaded(uneven), "test.toml", [1])
    waits = flows_of(tmp_path, "src,dst,size_bytes,start_s,after\nh0,h5,1,0,\nh5,h0,1,0,0\n")
    with pytest.raises(OutsideError, match="flows with 'after'"):
        estimate(loaded(waits), "test.toml", [1])
    urgent = flows_of(tmp_path, "src,dst,size_bytes,start_s,priority\nh0,h5,1,0,high\n")
    with pytest.raises(OutsideError, match="flows with 'priority'"):
        estimate(loaded(urgent, "queue.discipline=priority"), "test.toml", [1])
    # Each host in turn receives from 20 others at once.
    turns = [
        (f"h{(to + 4 + i) % 64}", f"h{to}", 1000, to * 4e-4) for to in range(64) for i in range(20)
    ]
    lines = "".join(",".join(map(str, flow)) + "\n" for flow in turns)
    incasts = flows_of(tmp_path, f"src,dst,size_bytes,start_s\n{lines}")
    with pytest.raises(
        OutsideError, match="receives 20 flows that start within 100 us, and the mean"
    ):
        estimate(loaded(incasts), "test.toml", [1])


@pytest.mark.parametrize("to", ["random", "other-racks"])
def test_flows_go_as_far_as_in_the_fabric(to: str, tmp_path: Path) -> None:
    """Of 15 other hosts of k = 4, one is in the rack, two are in the pod, and twelve beyond."""
    small = FAT_TREE.replace("k = 8\nhosts_per_edge = 8", "k = 4")
    settings = ("workload.poisson.0.size=1KB", f"workload.poisson.0.to={to}")
    whole = document(small, *settings)
    fabric = Shape.of(whole["topology"])
    assert fabric.size == 16
    workload = Source(whole, "test.toml", fabric, False).write(fabric, 1, tmp_path)
    text = dumps({**whole, "topology": fabric.topology(), "workload": workload})
    flows = loaded(text).plan()["flows"]
    far = np.bincount([(a // 2 != b // 2) + (a // 4 != b // 4) for a, b, *_ in flows], minlength=3)
    shares = np.array([1, 2, 12] if to == "random" else [0, 2, 12], float)
    shares /= shares.sum()
    error = 5 * np.sqrt(shares * (1 - shares) / len(flows))
    assert (abs(far / len(flows) - shares) <= error).all()


def test_hosts_of_a_trace_carry_their_share_of_its_bytes(tmp_path: Path) -> None:
    """One host in ten sends 100 times as much: 12 hosts at random vary by two thirds."""
    flows = [(i % 64, (i + 7) % 64, 100_000 if i % 10 == 0 else 1000, i * 1e-5) for i in range(640)]
    heavy = [(a, b, 100 * size if a % 10 == 3 else size, at) for a, b, size, at in flows]
    lines = "".join(f"h{a},h{b},{size},{at}\n" for a, b, size, at in heavy)
    text = flows_of(tmp_path, f"src,dst,size_bytes,start_s\n{lines}")
    total = sum(size for _, _, size, _ in heavy)
    small = model_of(text, tmp_path, "seed=1", hosts=12)
    assert small.hosts == 12
    taken = sum(flow[2] or 0 for flow in small.plan()["flows"])
    assert taken == pytest.approx(total * 12 / 64, rel=0.2)


def test_a_trace_that_is_uneven_by_chance_or_by_little_is_estimated(tmp_path: Path) -> None:
    """A rack with 3 flows of 16, and one with 1.4 times the mean of 500."""
    few = [(0, 9), (1, 13), (2, 17)] + [(4 * i, (4 * i + 8) % 64) for i in range(1, 14)]
    many = [(i % 64, (i * 7 + 5) % 64) for i in range(8000)]
    many += [(i % 4, 8 + i % 50) for i in range(200)]
    for ends in (few, many):
        pairs = [(a, b) for a, b in ends if a != b]
        lines = "".join(f"h{a},h{b},1000,{i}e-6\n" for i, (a, b) in enumerate(pairs))
        text = flows_of(tmp_path, f"src,dst,size_bytes,start_s\n{lines}")
        assert model_of(text, tmp_path, hosts=12).hosts == 12


def test_columns_without_values_are_no_reason_to_refuse(tmp_path: Path) -> None:
    lines = "".join(f"h{i},h{(i + 9) % 64},1000,0,\n" for i in range(64))
    text = flows_of(tmp_path, f"src,dst,size_bytes,start_s,after\n{lines}")
    assert len(model_of(text, tmp_path, hosts=12).plan()["flows"]) == 12


def test_flows_that_stand_in_the_scenario_are_estimated(tmp_path: Path) -> None:
    flows = ", ".join(
        f'{{ from = "h{i}", to = "h{(i + 9) % 64}", size = "1KB" }}' for i in range(64)
    )
    head = LEAF_SPINE.partition("[[workload")[0]
    text = f'{head}[[workload.trace]]\ntransport = "dctcp"\nflows = [{flows}]\n'
    assert len(model_of(text, tmp_path, hosts=12).plan()["flows"]) == 12


def test_a_fabric_that_is_as_small_as_its_model_is_refused() -> None:
    with pytest.raises(OutsideError, match="has 64 hosts, and its model with 40 or more has 64"):
        estimate(loaded(LEAF_SPINE), "test.toml", [1], hosts=40)
    twice = loaded(
        LEAF_SPINE, "topology.leaf-spine.leaves=12", "duration=4ms", "measure.cut_off=4ms"
    )
    assert estimate(twice, "test.toml", [1]).model.size == 24


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("transport.dctcp.paths=scatter", "transport.dctcp.recovery=rack"),
        ("routing.kind=adaptive", "transport.dctcp.recovery=rack"),
    ],
    ids=["ecmp", "scatter", "adaptive"],
)
def test_models_have_the_slowdowns_of_the_whole_fabric(settings: tuple[str, ...]) -> None:
    """Percentiles of thousands of flows within 10%."""
    scenario = loaded(LEAF_SPINE, *settings)
    found = estimate(scenario, "test.toml", range(1, 5))
    assert found.model.size == 24
    whole = slowdowns([simulate_loaded(scenario, None, None, threads=1)])
    assert found.slowdown.keys() == whole.keys()
    for name in ("all", "up to 100 KB"):
        for percent in (50, 95, 99):
            mine, other = (
                percentile_of(found.slowdown[name], percent),
                percentile_of(whole[name], percent),
            )
            assert mine
            assert other
            assert mine.value == pytest.approx(other.value, rel=0.1), (name, percent)


def test_what_a_scenario_records_is_left_out() -> None:
    """A model has no such link."""
    text = LEAF_SPINE.replace("30ms", "5ms")
    text += '[record.queue]\nevery = "1ms"\nlinks = ["l9->s3"]\n'
    assert estimate(loaded(text), "test.toml", [1], hosts=12).cost.packet_hops > 1000


def test_the_same_seeds_give_the_same_answer() -> None:
    first, again, other = (
        estimate(loaded(LEAF_SPINE), "test.toml", [seed], hosts=12).slowdown["all"][0].values
        for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_intervals_are_from_the_differences_between_runs() -> None:
    """Medians 1, 2 and 8: t(2) = 4.3027, and logarithms to base 2 of 0, 1 and 3 have s^2 = 7/3."""
    runs = [Part("all", np.array([x - 0.5, x, x + 0.5])) for x in (1.0, 2.0, 8.0)]
    found = percentile_of(runs, 50)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    factor = 2 ** (4.302653 * (7 / 3) ** 0.5 / 3**0.5)
    assert found.value == 2.0
    assert found.high == pytest.approx(2.0 * factor)
    assert found.low == pytest.approx(2.0 / factor)
    assert percentile_of(runs, 95) is None
    one = percentile_of([Part("all", np.array([1.0, 3.0]))], 50)
    assert one is not None
    assert one == (2.0, None, None, False)


def test_models_have_the_sizes_of_the_distribution(tmp_path: Path) -> None:
    """A heavy tail: 300 independent flows would have a mean that varies by 14%."""
    heavy = 'workload.poisson.0.size={ pareto = { shape = 1.2, mean = "20KB", max = "2MB" } }'
    means = [
        np.mean([flow[2] or 0 for flow in scenario.plan()["flows"]])
        for scenario in (model_of(LEAF_SPINE, tmp_path, heavy), loaded(LEAF_SPINE, heavy))
    ]
    assert means[0] == pytest.approx(means[1], rel=0.05)


Command = Callable[..., int]


@pytest.fixture
def linkpool_(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command line as a function that gives its exit code."""

    def call(*arguments: object) -> int:
        monkeypatch.setattr("sys.argv", ["linkpool", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return int(caught.value.code or 0)

    return call


STUDY = """
name = "loads"
base = "base.toml"
seeds = 2
vary = { "workload.poisson.0.load" = [0.3, 0.6] }
measures = ["slowdown"]
[[arm]]
name = "dctcp"
[[arm]]
name = "reno"
set = { "transport.dctcp.control" = "reno" }
"""


def test_the_command_prints_estimates_and_whole_runs_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], linkpool_: Command
) -> None:
    base = tmp_path / "base.toml"
    base.write_text(LEAF_SPINE)
    study = tmp_path / "loads.toml"
    study.write_text(STUDY)
    assert linkpool_("estimate", base, "--hosts", 12, "--models", 2, "--beside", 1) == 0
    printed = capsys.readouterr().out
    assert "2 models of 12 hosts for 64" in printed
    (all_,) = re.findall(r"^ all +\d+ +([0-9.]+)", printed, re.M)
    ((whole, error),) = re.findall(
        r"all.*\n +whole run, seed 3 +\d+ +([0-9.]+) \(error ([-+0-9.]+)%\)", printed
    )
    assert float(error) == pytest.approx(100 * (float(all_) / float(whole) - 1), abs=1)
    (models,) = re.findall(r"hops, ([0-9.]+) s of CPU", printed)
    ((cpu, times, one),) = re.findall(
        r"took ([0-9.]+) s of CPU, ([0-9.]+) times the models, ([0-9.]+) times one", printed
    )
    assert float(times) == pytest.approx(float(cpu) / float(models), rel=0.2)
    assert float(one) == pytest.approx(2 * float(times), rel=0.1)
    assert linkpool_("estimate", study, "--hosts", 12, "--json") == 0
    arms = json.loads(capsys.readouterr().out)
    assert [arm["seeds"] for arm in arms] == [[1, 2]] * 4
    # 5% of eight runs is one.
    assert sum(len(arm["whole"]) for arm in arms) == 1
    for arm in arms:
        everything = arm["slowdown"][0]
        assert everything["part"] == "all"
        assert everything["p50"]["low"] < everything["p50"]["value"] < everything["p50"]["high"]
    assert linkpool_("estimate", study, "--seed", 1) == 2
    assert "--seed, --set and --models are about a scenario" in capsys.readouterr().err
    small = base.with_name("small.toml")
    small.write_text(LEAF_SPINE.replace("leaves = 16", "leaves = 4"))
    assert linkpool_("estimate", small) == 2
    assert "topology has 16 hosts" in capsys.readouterr().err
