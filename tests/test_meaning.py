"""What `linkpool check` says of a scenario, against values by hand and against runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import linkpool
from linkpool.cli.commands import app
from linkpool.loading import load
from linkpool.meaning import page, ways
from linkpool.topology.fabric import Fabric

ROOT = Path(__file__).resolve().parent.parent

TREE = """
duration = "2ms"
drain = "1ms"
[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
mark = 1
[transport.t]
control = "{control}"
[[workload.flow]]
transport = "t"
from = "h0"
to = "h15"
size = "1448B"
[[workload.flow]]
transport = "t"
from = "h1"
to = "h2"
[record.rtt]
every = "1us"
"""

pytestmark = pytest.mark.core


def write(folder: Path, control: str = "dctcp") -> Path:
    file = folder / "tree.toml"
    file.write_text(TREE.format(control=control), encoding="utf-8")
    return file


def test_round_trips_and_products_are_those_by_hand(tmp_path: Path) -> None:
    fabric = Fabric(load(write(tmp_path), overrides=[]).plan())
    found = ways(fabric, 1538, 90)
    assert [(way.hops, way.paths) for way in found] == [(2, 1), (4, 2), (6, 4)]
    for way in found:
        # At each hop: 1 us there and back, and 1,538 B and 90 B at 10 Gbit/s.
        rtt = way.hops * (2e-6 + 1.2304e-6 + 0.072e-6)
        assert way.rtt_s == pytest.approx(rtt, rel=1e-12)
        assert way.bdp == pytest.approx(1e10 * rtt / (8 * 1538), rel=1e-12)


def test_a_flow_alone_meets_the_round_trip_time(tmp_path: Path) -> None:
    file = write(tmp_path)
    fabric = Fabric(load(file, overrides=[]).plan())
    elsewhere = {"workload.flow.1.from": "h8", "workload.flow.1.to": "h9"}
    rtts = linkpool.run(file, set=elsewhere).rtt.filter(flow=0)["rtt_s"]
    longest = ways(fabric, 1538, 90)[-1].rtt_s
    # The segment waits at its host for the ACK of the SYN-ACK, 90 B at 10 Gbit/s. The sample of the
    # handshake is of packets of 90 B both ways.
    assert rtts.max() == pytest.approx(longest + 0.072e-6, rel=1e-9)
    assert rtts.min() == pytest.approx(ways(fabric, 90, 90)[-1].rtt_s, rel=1e-9)


def test_the_page_says_what_a_scenario_means(tmp_path: Path) -> None:
    said = page(load(write(tmp_path), overrides=[]))
    for line in (
        "tree: flows start for 2ms, and may finish for 1ms more",
        "Fabric: 16 hosts, 8 edge, 8 aggregation, 4 core",
        "  aggregation to core  16 cables of 10 Gbit/s   1 us",
        "Transport t: dctcp; a full segment carries 1448 B in 1538 B on the wire",
        "  min_rto 200ms: 100 times the duration",
        "  h0 and h4         6      4     10 Gbit/s  19.8 us  16.1 packets  24.8 KB",
        "  K, 1 packet, is 0.0621 of the largest BDP",
        "  DCTCP fills a link with K of BDP / 7 or more, 2.3 packets: one flow alone leaves its "
        "link idle at times",
        "  known beforehand, by t: 1 flow of 1.45 KB together, 1 flow without a size, never done",
    ):
        assert line in said.splitlines()
    assert "warning: a drain of 1ms is shorter than the min_rto of transport t" in said
    assert "beta = 4 fills a link with K of BDP / 3" in page(
        load(write(tmp_path, "amp"), overrides=[("transport.t.beta", "4"), ("queue.mark", "10")])
    )


@pytest.mark.parametrize(
    ("control", "keys", "heeds"),
    [
        ("dctcp", {}, True),
        ("amp", {}, True),
        ("amp", {"accept_ecn": "false"}, False),
        ("amp", {"target_delay": "40us"}, False),
        ("reno", {}, False),
        ("lia", {"subflows": "2"}, False),
        ("mmptcp", {"subflows": "2", "switch_bytes": "1MB"}, False),
        ("mmptcp", {"subflows": "2", "switch_bytes": "1MB", "phase_1": "dctcp"}, True),
        ("roce", {}, False),
        ("dcqcn", {}, True),
    ],
)
def test_a_threshold_is_compared_where_marks_are_heeded(
    control: str, keys: dict[str, str], heeds: bool, tmp_path: Path
) -> None:
    overrides = [(f"transport.t.{key}", value) for key, value in keys.items()]
    said = page(load(write(tmp_path, control), overrides=overrides))
    assert ("K, 1 packet, is 0." in said) is heeds
    assert (
        f"  {control} does not heed marks: its packets are not ECN-capable" in said
    ) is not heeds


def test_the_starts_of_known_flows_are_told(tmp_path: Path) -> None:
    later = [("workload.flow.0.start", '"300us"'), ("workload.flow.1.start", '"1500us"')]
    said = " ".join(page(load(write(tmp_path), overrides=later)).split())
    assert "without a size, never done the first starts at 300 us, the last at 1.5 ms" in said
    assert "the first starts" not in page(load(write(tmp_path), overrides=[]))


def test_what_a_fabric_has_is_counted(tmp_path: Path) -> None:
    text = """
duration = "1ms"
[topology.dumbbell]
pairs = 10
rate = "10Gbps"
delay = "1us"
bottleneck_rate = "1Gbps"
bottleneck_delay = "2us"
[transport.t]
control = "reno"
[[workload.permutation]]
transport = "t"
"""
    (tmp_path / "two.toml").write_text(text, encoding="utf-8")
    said = " ".join(page(load(tmp_path / "two.toml", overrides=[])).split())
    assert "Fabric: 20 hosts, 2 switches delay host to switch 20 cables of 10 Gbit/s 1 us" in said
    assert "switch to switch 1 cable of 1 Gbit/s 2 us" in said
    star = page(load(ROOT / "docs/workloads/incast.toml", overrides=[]))
    assert "Fabric: 9 hosts, 1 switch\n" in star


def test_queues_in_bytes_are_compared_too(tmp_path: Path) -> None:
    """The largest product is 19.8 us at 10 Gbit/s, 24.8 KB, which is 16.1 packets of 1,538 B."""
    sizes = [("queue.mark", '"3076B"'), ("queue.limit", '"150KB"')]
    said = page(load(write(tmp_path), overrides=sizes)).splitlines()
    assert "  K, 3076B, is 0.124 of the largest BDP" in said
    assert (
        "  DCTCP fills a link with K of BDP / 7 or more, 2.3 packets: one flow alone leaves its "
        "link idle at times" in said
    )
    queue = "Queue of a port: fifo; 150KB, which 10 Gbit/s sends in 120 us; marks from 3076B on"
    assert queue in " ".join(" ".join(said).split())
    enough = page(load(write(tmp_path), overrides=[("queue.mark", '"3553B"')]))
    assert "K of BDP / 7 or more, 2.3 packets\n" in enough


SCENARIOS = [*sorted((ROOT / "docs/topologies").glob("*.toml"))[::3]]
SCENARIOS += sorted((ROOT / "docs/workloads").glob("*.toml"))[::3]


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_scenario_has_a_page_of_80_columns(file: Path) -> None:
    said = CliRunner().invoke(app, ["check", str(file)])
    assert said.exit_code == 0, said.output
    lines = said.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert {line.split(":")[0].split()[0] for line in lines if line[:1].isupper()} >= {
        *("Fabric", "Transport", "Queue", "Workload"),
    }


def test_the_scenario_is_printed_with_its_defaults(tmp_path: Path) -> None:
    file = write(tmp_path)
    said = CliRunner().invoke(app, ["check", str(file), "--set", "queue.mark=7", "--toml"])
    assert said.stdout.rstrip() == linkpool.check(file, set={"queue.mark": 7}).rstrip()
    assert CliRunner().invoke(app, ["check", str(file), "--set", "queue.marks=7"]).exit_code == 2


PAUSING = TREE.replace("mark = 1", 'pfc = {{ buffer = "400KB"{more} }}')


def test_a_fabric_that_pauses_says_its_headroom(tmp_path: Path) -> None:
    file = tmp_path / "pfc.toml"
    text = PAUSING.replace("{control}", "roce")
    file.write_text(text.format(more=""), encoding="utf-8")
    said = page(load(file, overrides=[]))
    # Twice 1,250 B, three packets of 1,106 B, and a frame; an edge switch has four links.
    assert re.search(r"host to edge +16 links of 10 Gbit/s +1 us +5902 B +5902 B", said)
    assert "edge: a buffer of 400 KB; headroom and reserves take 39.608 KB, 360.392 KB" in said
    assert "all data is lossless" in said
    assert "can be lost" not in said
    assert "one thread" not in said, "pauses use as many as there are"
    file.write_text(text.format(more=', headroom = "5901B"'), encoding="utf-8")
    said = " ".join(page(load(file, overrides=[])).split())
    assert "packets can be lost at edge switches: the headroom of links from host, 5901 B" in said
    assert "1 us until a pause holds, 5902 B; leave queue.pfc.headroom" in said


def test_slow_hosts_and_quanta_are_told(tmp_path: Path) -> None:
    file = tmp_path / "pfc.toml"
    text = PAUSING.replace("{control}", "roce").replace(
        "[transport", '[[slow_host]]\nhosts = ["h1", "h2"]\nuntil = "2ms"\n[transport', 1
    )
    file.write_text(text.format(more=", quanta = 20"), encoding="utf-8")
    said = " ".join(page(load(file, overrides=[])).split())
    assert "for 20 quanta of 512 bits; its frame is repeated after 0.5 of that" in said
    assert "h1, h2 take nothing from 0s until 2ms, with a buffer of 256KB at each link" in said
    assert "a storm of pauses" in said
    assert "a pause may end before its frame is repeated" in said


def test_adapters_are_told(tmp_path: Path) -> None:
    file = tmp_path / "nic.toml"
    text = PAUSING.replace("{control}", "roce")
    nic = '[nic]\npreset = "connectx-5"\nsend_queue = {places}\n{receives}\n[transport'

    def said(places: int, receives: str) -> str:
        keys = nic.format(places=places, receives=receives)
        file.write_text(text.replace("[transport", keys, 1).format(more=""), encoding="utf-8")
        return " ".join(page(load(file, overrides=[])).split())

    told = said(1, "")
    assert "busy for 0s with a message, which has its first packet 2080ns later" in told
    assert "a packet, and payload at 97.7Gbps; 1 message of a connection at a time" in told
    assert "receives" not in told
    told = said(4, 'receive_rate = "9Gbps"')
    assert "4 messages of a connection at a time; receives at 9Gbps, a packet in 0s" in told
    assert "with a buffer of 256KB at each link" in told


STUDY = """
base = "tree.toml"
title = "Which?"
seeds = [3, 4]
measures = ["jain"]
vary = { queue.mark = [1, 4] }
arm = [
    { name = "dctcp" },
    { name = "lia", set = { transport.t.control = "lia", transport.t.subflows = 2 } },
    { name = "long", set = { duration = "3ms" } },
]
"""


def checked(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def test_of_a_study_what_arms_share_is_said_once(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "which.toml"
    file.write_text(STUDY, encoding="utf-8")
    said = checked(file)
    assert said.startswith("Which?\n\nwhich: 12 runs (3 arms × 2 settings × 2 seeds); 0 made")
    assert "what follows is of seed 3\n" in said
    shared, _, differs = said.partition("What differs:\n\n")
    assert (shared.count("Fabric: 16 hosts"), shared.count("Workload")) == (1, 1)
    assert "Transport t" not in shared
    assert not re.search("Fabric|Workload", differs)
    # A paragraph of each text, headed by the runs of which it is true, and of no others.
    paragraphs = [paragraph.partition(":\n") for paragraph in differs.strip().split("\n\n")]
    heads = [(head, text.partition("\n")[0][:26]) for head, _, text in paragraphs]
    assert heads == [
        ("dctcp, queue.mark 1, dctcp, queue.mark 4, lia, queue.mark 1 and lia, queue.mark 4",
         "flows start for 2ms, and m"),
        ("long", "flows start for 3ms, and m"),
        ("dctcp, queue.mark 1", "Transport t: dctcp; a full"),
        ("dctcp, queue.mark 4", "Transport t: dctcp; a full"),
        ("lia", "Transport t: lia, 2 subflo"),
        ("long, queue.mark 1", "Transport t: dctcp; a full"),
        ("long, queue.mark 4", "Transport t: dctcp; a full"),
        ("queue.mark 1", "Queue of a port: fifo; 100"),
        ("queue.mark 4", "Queue of a port: fifo; 100"),
    ]  # fmt: skip
    # The same words as of each scenario by itself.
    alone = page(load(tmp_path / "tree.toml", overrides=[("queue.mark", "4")]))
    for paragraph in alone.split("\n\n")[1:4]:
        assert paragraph in said
    refused = CliRunner().invoke(app, ["check", str(file), "--seed", "1"])
    assert (refused.exit_code, "--seed, --set and --toml are about" in refused.output) == (2, True)


def test_a_study_warns_of_what_its_arms_alone_would(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "which.toml"
    swift = '{ name = "swift", set.transport.t = { control = "swift", swift_base_target = "1us" } }'
    arms = f'arm = [{{ name = "dctcp" }}, {swift}]'
    file.write_text(f'base = "tree.toml"\nmeasures = ["jain"]\n{arms}', encoding="utf-8")
    said = " ".join(checked(file).split())
    assert said.count("it hardly sends; raise swift_base_target") == 1
    assert " swift: warning: the target of transport t over " in said


def test_of_a_study_of_one_arm_or_of_many_settings(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "which.toml"
    file.write_text('base = "tree.toml"\nmeasures = ["jain"]', encoding="utf-8")
    said = checked(file)
    assert "What differs" not in said
    assert "what follows is of seed" not in said
    many = list(range(1, 60))
    text = f'base = "tree.toml"\nmeasures = ["jain"]\nvary = {{ queue.mark = {many} }}'
    file.write_text(text, encoding="utf-8")
    said = checked(file)
    assert "of the 59 combinations of an arm and settings these are the first 48" in said
    assert "queue.mark 48:\n" in said
    assert "queue.mark 49:\n" not in said
    space = '[search]\nminimise = "jain"\nspace = { queue.mark = [1, 2] }\ntrials = 2'
    file.write_text(f'base = "tree.toml"\n{space}', encoding="utf-8")
    assert checked(file).startswith("which searches queue.mark; this is its base\n\nflows start")


def test_a_run_that_records_pauses_has_one_thread(tmp_path: Path) -> None:
    file = tmp_path / "pfc.toml"
    text = PAUSING.replace("{control}", "roce")
    file.write_text(text.format(more=', headroom = "5KB"'), encoding="utf-8")

    def ran(out: Path, *more: str) -> str:
        command = ["run", str(file), "--out", str(out), "--threads", "2", *more]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0
        return " ".join(result.output.split())

    two, one = tmp_path / "two", tmp_path / "one"
    assert "one thread" not in ran(two)
    said = ran(one, "--set", "record.pauses={}")
    assert "warning: the run has one thread, not 2: it records pauses" in said
    assert "warning: packets can be lost at edge switches" in said
    assert [linkpool.Result(out).run["threads"] for out in (two, one)] == [2, 1]
    assert (two / "flows.parquet").read_bytes() == (one / "flows.parquet").read_bytes()


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ("mark = 17", "marks from 17 packets on"),
        ('mark = "20KB"', "marks from 20KB on"),
        ("red = { min = 5, max = 15, max_probability = 0.1 }", "RED"),
        (
            'discipline = "trimming"\ntrimming = { mark_min = "3KB", mark_max = "9KB" }',
            "marks between 3KB and 9KB",
        ),
        ('discipline = "trimming"', "no marks"),
        ("", "no marks"),
    ],
)
def test_how_queues_mark_is_said(queue: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "queue.toml"
    text = TREE.format(control="dctcp").replace("limit = 100\nmark = 1", queue)
    file.write_text(text, encoding="utf-8")
    words = " ".join(page(load(file, overrides=[])).partition("Queue of a port:")[2].split())
    assert re.match(rf"[a-z]+; [^;]+; {said}", words)


def test_a_timeout_of_ndp_below_what_full_queues_take_is_named(tmp_path: Path) -> None:
    """1,125 headers of 64 B, 112.5 packets of 9,000 B between them and 8 behind: 1.1565 MB."""
    text = """
duration = "1ms"
[topology.many-to-one]
senders = 2
rate = "100Mbps"
delay = "1us"
[queue]
discipline = "trimming"
[transport.t]
control = "ndp"
[[workload.incast]]
transport = "t"
senders = 2
receiver = "R"
every = "1s"
size = "10KB"
"""
    file = tmp_path / "n.toml"

    def said(text: str) -> str:
        file.write_text(text, encoding="utf-8")
        return " ".join(page(load(file, overrides=[])).split())

    assert (
        "warning: the min_rto of transport t, 1ms, is shorter than the 92.5 ms in which 100 Mbit/s "
        "serves the full queues of a port"
    ) in said(text)
    assert "full queues of a port" not in said(text.replace("[[", 'min_rto = "93ms"\n[['))
    assert "full queues of a port" in said(text.replace("100Mbps", "9Gbps"))
    assert "full queues of a port" not in said(text.replace("100Mbps", "10Gbps"))
    assert "full queues of a port" in said(
        text.replace("100Mbps", "10Gbps").replace('"trimming"', '"trimming"\nlimit = "200KB"')
    )


def test_a_target_of_swift_below_the_round_trip_time_is_named(tmp_path: Path) -> None:
    """Two links of 50 us: 203 us there and back, for a target of 20 and 3.05 us."""
    text = """
duration = "1ms"
[topology.many-to-one]
senders = 1
rate = "10Gbps"
delay = "50us"
[transport.t]
control = "swift"
[[workload.flow]]
transport = "t"
from = "S1"
to = "R"
size = "10KB"
"""
    file = tmp_path / "s.toml"
    file.write_text(text, encoding="utf-8")
    said = " ".join(page(load(file, overrides=[])).split())
    assert (
        "warning: the target of transport t over 2 links, 23.1 us, is no more than the idle "
        "round-trip time, 203 us, which Swift takes for a queue"
    ) in said
    file.write_text(text.replace("[[work", 'swift_base_target = "220us"\n[[work'), encoding="utf-8")
    assert "which Swift takes" not in page(load(file, overrides=[]))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("", "a window by nscc; mixed over 64 values; packets may be trimmed"),
        (
            'sender_law = "none"\nreceiver_credit = true\nbalancer = "reps"\nentropies = 16',
            "credit of the receiver; reps over 16 values; packets may be trimmed",
        ),
        (
            "trimmable = false\nsleek = true\nreceiver_credit = true",
            "a window by nscc, and credit of the receiver; mixed over 64 values; packets are "
            "never trimmed; losses found by SLEEK",
        ),
    ],
)
def test_what_sets_the_window_of_ultra_ethernet_is_said(
    keys: str, said: str, tmp_path: Path
) -> None:
    """Six links of 10 Gbit/s and 1 us each way, packets of 4,160 B and ACKs of 64 B."""
    file = write(tmp_path, "uet")
    text = file.read_text(encoding="utf-8").replace(
        "limit = 100\nmark = 1", "limit = 100\nmark = 9"
    )
    trims = (
        'discipline = "trimming"\nlimit = 100\ntrimming = { mark_min = "83KB", mark_max = "333KB" }'
    )
    if "trimmable = false" not in keys:
        text = text.replace("limit = 100\nmark = 9", trims)
    file.write_text(text.replace('control = "uet"', f'control = "uet"\n{keys}'), encoding="utf-8")
    shown = " ".join(page(load(file, overrides=[])).split())
    assert said in shown
    # 12 us of propagation, six times 3.328 us of a packet and 51.2 ns of an ACK.
    assert "base RTT 32.3 us, rto " in shown
