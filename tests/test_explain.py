"""Explained flows: scenarios worked by hand, and sums that hold for random ones."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import matplotlib.image
import polars as pl
import pytest

import linkpool
from explained import SLOW_RECEIVER, Run, check_sum, runner
from linkpool import Result, ResultError
from linkpool.columns import nodes_of
from linkpool.explain.blocked import Held
from linkpool.explain.critical import Cause, Chain, breakdown
from linkpool.explain.picture import draw
from linkpool.explain.replay import ExplainError, Life, replay
from linkpool.explain.story import Story, as_text, tell
from linkpool.explain.wires import Wires
from linkpool.study import Study
from linkpool.units import PS
from test_cli import call

pytestmark = pytest.mark.core

US = PS // 1_000_000

# Two hosts, a switch, 1 Gbit/s: what has b bytes takes 8 b ns over a link, and then 2 us.
FABRIC = """
duration = "10ms"
drain = "3s"
[topology.many-to-one]
senders = 2
rate = "1Gbps"
delay = "2us"
"""
ACK, DATA = 70, 1500  # bytes on the wire, set below
SHORT = 2 * (ACK * 8 * 1000 + 2 * US)  # a SYN or an ACK over two links
THIRD = ACK * 8 * 1000  # the first segment leaves after the third packet of the handshake
LONG = 2 * (DATA * 8 * 1000 + 2 * US)  # a full segment over two links

TRANSPORT = """
[transport.t]
control = "reno"
mss = "1400B"
header = "100B"
ack_size = "70B"
initial_window = 1
"""


def flow(size: str, source: str = "S1", start: str = "0s") -> str:
    return f"""
[[workload.flow]]
transport = "t"
from = "{source}"
to = "R"
size = "{size}"
start = "{start}"
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a scenario."""
    return runner(tmp_path)


def story(result: Result, number: int = 0) -> Story:
    (life,) = replay(result, [number])
    return tell(life, Wires(result))


def test_a_flow_alone_is_on_the_way_all_the_time(run: Run) -> None:
    told = story(run(FABRIC + TRANSPORT + flow("1400B")))
    assert told.breakdown == {
        Cause.HANDSHAKE: 2 * SHORT,
        Cause.DATA: LONG,
        Cause.HOST_QUEUE: THIRD,
        Cause.ACK: SHORT,
    }
    assert told.held == {Held.HANDSHAKE: 2 * SHORT, Held.NOTHING: THIRD + LONG + SHORT}
    check_sum(told)


def test_a_delayed_ack_is_named(run: Run) -> None:
    """Of three segments the first comes alone: its ACK waits for 40 ms. The others go together."""
    settings = TRANSPORT + 'recovery = "newreno"\nack_every = 2\nquickack = false\n'
    told = story(run(FABRIC + settings + flow("4200B")))
    wait = told.breakdown[Cause.DELAYED_ACK]
    assert wait == 40_000 * US
    # The third segment waits at its host until the second is out.
    assert told.breakdown[Cause.HOST_QUEUE] == THIRD + DATA * 8 * 1000
    assert told.breakdown[Cause.DATA] == 2 * LONG
    assert told.breakdown[Cause.ACK] == 2 * SHORT
    assert told.life.row["timeouts"] == told.life.row["retransmits"] == 0, "no table says so"
    assert told.held[Held.WINDOW] == THIRD + LONG + wait + SHORT
    check_sum(told)
    text = as_text(told)
    assert "Most of it, 100%: wait for the delayed ACK timer" in text
    assert "for 40 ms the receiver held back the ACK of a single segment" in text


def test_a_timeout_is_named_with_the_loss_before_it(run: Run) -> None:
    """The link behind the switch is down when the only segment comes there."""
    down = """
[routing]
reconverge = "never"
[[change]]
links = ["W->R"]
state = "down"
at = "15us"
until = "1ms"
"""
    settings = TRANSPORT + 'recovery = "newreno"\n'
    told = story(run(FABRIC + settings + flow("1400B") + down))
    assert told.breakdown == {
        Cause.HANDSHAKE: 2 * SHORT,
        Cause.DATA: LONG,
        Cause.ACK: SHORT,
        Cause.RTO: 2 * SHORT + 200_000 * US,
    }, "from when the segment was sent: the RTT and min_rto"
    check_sum(told)
    (loss,) = [m for m in told.moments if m.kind == "loss"]
    assert loss.text == "bytes 0 to 1399 (subflow 0) lost at W->R, which was down"
    assert loss.at == 2 * SHORT + THIRD + LONG // 2
    (timeout,) = [m for m in told.moments if m.kind == "timeout"]
    assert timeout.text.startswith("retransmission timeout on subflow 0, after an RTO of 200 ms")


def test_a_tail_loss_probe_is_named(run: Run) -> None:
    """The same loss with RACK: a probe takes the place of the timeout, which follows."""
    down = """
[routing]
reconverge = "never"
[[change]]
links = ["W->R"]
state = "down"
at = "15us"
until = "1ms"
"""
    told = story(run(FABRIC + TRANSPORT + 'recovery = "rack"\n' + flow("1400B") + down))
    # RFC 8985, section 7.2: PTO = 2 SRTT, and min_rto as it is alone, but not after the timeout.
    assert told.breakdown[Cause.PTO] == 2 * SHORT + 200_000 * US
    check_sum(told)


def test_a_queue_is_named(run: Run) -> None:
    """Two segments leave two hosts at once: one of them waits at the switch for the other."""
    text = FABRIC + TRANSPORT + flow("1400B") + flow("1400B", "S2")
    result = run(text)
    told = [story(result, number) for number in (0, 1)]
    late = max(told, key=lambda one: one.life.end)
    # The SYNs met there, too: the later flow's segment came so much later.
    assert late.breakdown[Cause.HANDSHAKE_QUEUE] == ACK * 8 * 1000
    assert late.breakdown[Cause.QUEUE] == (DATA - ACK) * 8 * 1000
    for one in told:
        check_sum(one)


def test_a_full_queue_says_who_stood_in_it(run: Run) -> None:
    """Six segments from each of two hosts come at twice the rate of a link that holds two."""
    settings = TRANSPORT.replace("initial_window = 1", "initial_window = 6")
    text = FABRIC + "[queue]\nlimit = 6\n" + settings
    crowded = text.replace("limit = 6", "limit = 2") + flow("8400B") + flow("8400B", "S2")
    result = run(crowded)
    links = {row["link"]: row["drops"] for row in result.links.iter_rows(named=True)}
    assert sum(links.values()) > 0
    told = [story(result, number) for number in (0, 1)]
    losses = [m for one in told for m in one.moments if m.kind == "loss"]
    assert len(losses) == sum(links.values())
    for one in told:
        for moment in one.moments:
            if moment.kind == "loss" and "W->R" in moment.text:
                # Two wait, and one is being sent.
                assert "dropped at W->R: the queue held 3 packets (" in moment.text
                held = moment.text.split("(")[-1].rstrip(")")
                assert sum(int(part.split()[0]) for part in held.split(", ")) == 3
        check_sum(one)


def test_a_receive_buffer_is_named(run: Run) -> None:
    """Two segments of room: the sender waits for their ACKs, whatever its window."""
    # A small receive buffer leaves fewer quick ACKs; with an ACK a packet both runs are alike.
    settings = TRANSPORT.replace("initial_window = 1", "initial_window = 10\nack_every = 1")
    told = story(run(FABRIC + settings + 'receive_buffer = "2800B"\n' + flow("14000B")))
    assert not {Held.WINDOW, Held.SEND_BUFFER} & set(told.held)
    assert told.held[Held.RECEIVE_BUFFER] > 3 * (LONG + SHORT)
    check_sum(told)
    sends = story(run(FABRIC + settings + 'send_buffer = "2800B"\n' + flow("14000B")))
    assert not {Held.WINDOW, Held.RECEIVE_BUFFER} & set(sends.held)
    assert sends.held[Held.SEND_BUFFER] == told.held[Held.RECEIVE_BUFFER]


def test_a_slow_reader_is_named(run: Run) -> None:
    """20 MB read at 100 Mbit/s take 1.6 s; a buffer of 181 packets, a window of thousands."""
    text = """
duration = "200ms"
drain = "100s"
[topology.many-to-one]
senders = 1
rate = "10Gbps"
delay = "1ms"
[queue]
limit = 20000
[transport.t]
control = "reno"
ack_every = 1
receive_buffer = "256KiB"
read_rate = "100Mbps"
[[workload.flow]]
transport = "t"
from = "S1"
to = "R"
size = "20MB"
"""
    told = story(run(text))
    life = told.life.end - told.life.start
    assert told.held[Held.RECEIVE_BUFFER] > 0.95 * life
    assert told.held.get(Held.WINDOW, 0) < 0.02 * life
    assert "the receive buffer: the receiver's window offers no more" in as_text(told)
    check_sum(told)


# The receiver reads one byte in a microsecond, and has room for one segment.
READS = 'receive_buffer = "1400B"\nread_rate = "8Mbps"\n'


def test_a_wait_for_the_reader_is_named(run: Run) -> None:
    """The receiver offers a window as half of the segment is read, and one more as all is read."""
    told = story(run(FABRIC + TRANSPORT + READS + flow("2800B")))
    check_sum(told)
    assert told.breakdown == {
        Cause.HANDSHAKE: 2 * SHORT,
        Cause.HOST_QUEUE: THIRD,
        Cause.DATA: 2 * LONG,
        Cause.ACK: 2 * SHORT,
        Cause.READ: 1400 * US,
    }
    assert told.held[Held.RECEIVE_BUFFER] == THIRD + LONG + 1400 * US + SHORT
    text = as_text(told)
    assert "for 700 us the receiving application read, until there was a window to offer" in text


def test_a_wait_for_the_reader_is_named_while_an_ack_is_delayed(run: Run) -> None:
    """No ACK goes at once, and the application reads sooner than the timer of 40 ms passes."""
    settings = TRANSPORT + "ack_every = 2\nquickack = false\n"
    told = story(run(FABRIC + settings + READS + flow("2800B")))
    check_sum(told)
    assert told.breakdown[Cause.READ] == 1400 * US
    assert Cause.DELAYED_ACK not in told.breakdown


def test_a_delayed_ack_of_a_reader_in_time_is_one(run: Run) -> None:
    """In 40 ms the application reads a segment of 2.8 KB of room; nothing has to be announced."""
    settings = TRANSPORT + 'recovery = "newreno"\nack_every = 2\nquickack = false\n'
    reads = READS.replace("1400B", "9000B")
    told = story(run(FABRIC + settings + reads + flow("4200B")))
    assert told.breakdown[Cause.DELAYED_ACK] == 40_000 * US
    assert Cause.READ not in told.breakdown
    check_sum(told)


def test_a_probe_of_the_window_is_named(run: Run) -> None:
    """The ACK that opens the window for a segment is lost, and the sender asks after its RTO."""
    down = """
[routing]
reconverge = "never"
[[change]]
links = ["R->W"]
state = "down"
at = "1ms"
until = "2ms"
"""
    settings = TRANSPORT + READS + 'min_rto = "10ms"\n'
    told = story(run(FABRIC + settings + flow("2800B") + down))
    check_sum(told)
    probe = 2 * (100 * 8 * 1000 + 2 * US)
    assert told.breakdown == {
        Cause.HANDSHAKE: 2 * SHORT,
        Cause.HOST_QUEUE: THIRD,
        Cause.DATA: 2 * LONG + probe,
        Cause.ACK: 3 * SHORT,
        Cause.READ: 700 * US,
        # An RTO of min_rto and the mean of two RTTs, of the SYN and of the first segment.
        Cause.PROBE: 10_000 * US + (7 * 2 * SHORT + THIRD + LONG + SHORT) // 8,
    }
    assert "for 10 ms the window was shut, until the sender asked for it" in as_text(told)


def test_the_repeated_end_of_a_handshake_is_named(run: Run) -> None:
    """Both paths fail after the SYN of the further subflow, and the second one works again.

    The sender repeats the third segment of that handshake after two RTTs each.
    """
    text = """
duration = "1s"
[topology.ring]
bottleneck_rates = ["100Mbps", "100Mbps"]
bottleneck_delays = ["100us", "100us"]
rate = "1Gbps"
delay = "2us"
[routing]
reconverge = "never"
[transport.t]
control = "lia"
subflows = 2
paths = "disjoint"
join_jitter = "0s"
initial_window = 1
min_rto = "10ms"
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
size = "4200B"
[[change]]
links = ["A1->B1"]
state = "down"
at = "590us"
[[change]]
links = ["A2->B2"]
state = "down"
at = "750us"
until = "20ms"
"""
    told = story(run(text))
    check_sum(told)
    syn = told.breakdown[Cause.HANDSHAKE] // 2  # of each of the two subflows
    repeats, rest = divmod(told.breakdown[Cause.JOIN_ACK], 2 * syn)
    assert (repeats, rest) == (43, 0), "until after 20 ms, each 450.56 us, from 816 us on"
    assert Cause.OTHER_TIMER not in told.breakdown


def test_a_name_may_have_blanks(run: Run) -> None:
    """A path of `New York`, `s` and `say "b" here` has three nodes."""
    nodes = ["New York", 'say "b" here']
    quoted = [json.dumps(name) for name in nodes]
    hosts = "".join(f'{{ id = {name}, kind = "host" }}, ' for name in quoted)
    edges = ", ".join(f'{{ source = {name}, target = "s" }}' for name in quoted)
    text = f"""
duration = "1ms"
[topology.graph]
nodes = [{hosts}{{ id = "s", kind = "switch" }}]
edges = [{edges}]
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
[[workload.flow]]
transport = "t"
from = {quoted[0]}
to = {quoted[1]}
size = "20KB"
"""
    result = run(text)
    told = story(result)
    assert told.life.paths == {0: ["New York", "s", 'say "b" here']}
    assert nodes_of(result.subflows["path"][0]) == told.life.paths[0]
    check_sum(told)


def test_a_window_of_a_subflow_is_named(run: Run) -> None:
    """Two segments in flight at most, whatever the congestion window."""
    settings = TRANSPORT.replace("initial_window = 1", "initial_window = 10")
    told = story(run(FABRIC + settings + 'subflow_window = "2800B"\n' + flow("14000B")))
    assert not {Held.WINDOW, Held.SEND_BUFFER, Held.RECEIVE_BUFFER} & set(told.held)
    assert told.held[Held.SUBFLOW_WINDOW] > 3 * (LONG + SHORT)
    check_sum(told)


def test_a_pacer_is_named(run: Run) -> None:
    """The twelfth segment of twelve waits for its time, by Linux's rule, though the window is 11.

    The SYN gave an RTT of 10.24 us. The first ACK comes 560 ns + 28 us + 5.12 us after the first
    ten segments were sent, which none holds back: srtt is 7/8 of 10.24 us and 1/8 of 33.68 us,
    13.17 us. The eleventh leaves at once. At two windows a round the next one is due 13.17 us / 22
    = 598,636 ps later, less half of that, as the eleventh was late.
    """
    settings = TRANSPORT.replace("initial_window = 1", "initial_window = 10\nack_every = 1")
    settings += 'recovery = "newreno"\n'  # a tail loss probe would be sent before
    told = story(run(FABRIC + settings + 'pacing = "fq"\n' + flow("16800B")))
    assert told.held[Held.PACED] == 299_318
    assert told.held[Held.WINDOW] == THIRD + LONG + SHORT
    check_sum(told)
    assert Held.PACED not in story(run(FABRIC + settings + flow("16800B"))).held


def test_a_rate_of_bbr_is_named(run: Run) -> None:
    """Its window has room for two bandwidth-delay products, so its rate is what holds it most."""
    settings = TRANSPORT.replace("reno", "bbr").replace("initial_window = 1", "initial_window = 10")
    told = story(run(FABRIC + settings + flow("2MB")))
    assert told.held[Held.PACED] > 0.5 * sum(told.held.values())
    check_sum(told)


def test_a_send_buffer_that_grows_is_named(run: Run) -> None:
    """On two paths, one slow: the fast subflow has room, and waits for the slow one's data."""
    text = """
duration = "10s"
[topology.ring]
bottleneck_rates = ["100Mbps", "1Mbps"]
bottleneck_delays = ["100us", "100us"]
rate = "1Gbps"
delay = "2us"
[queue]
limit = 20
[transport.t]
control = "lia"
subflows = 2
paths = "disjoint"
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
size = "1MB"
"""
    told = story(run(text))
    assert told.held[Held.SEND_BUFFER] > 0.2 * sum(told.held.values())
    check_sum(told)
    plain = story(run(text.replace("subflows = 2", 'subflows = 2\nsend_buffer = "unlimited"')))
    assert Held.SEND_BUFFER not in plain.held


FABRICS = [
    """[topology.fat-tree]
k = 4
rate = "1Gbps"
delay = "2us"
""",
    # Its hosts pass packets on, and lose some of them.
    """[topology.bcube]
n = 2
k = 2
rate = "1Gbps"
delay = "1us"
""",
    """[topology.multi-plane]
planes = 2
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "1Gbps"
delay = "500ns"
""",
]
BUFFERS = ["", "", 'receive_buffer = "30KB"\nread_rate = "200Mbps"', 'send_buffer = "20KB"']
CONTROLS = ["reno", "dctcp", "cubic", "lia", "amp", "xmp", "mmptcp"]


def random_scenario(rng: random.Random) -> str:
    control = rng.choice(CONTROLS)
    multipath = control in ("lia", "amp", "xmp", "mmptcp")
    subflows = rng.randint(2, 4) if multipath else 1
    change = ""
    if rng.random() < 0.5:
        change = f'[[change]]\nlinks = ["e0.0<->a0.0"]\nloss = {rng.choice([0.01, 0.05])}\n'
    every = rng.choice([1, 2])
    return f"""
seed = {rng.randrange(1 << 30)}
duration = "1ms"
drain = "20s"
{rng.choice(FABRICS) if not change else FABRICS[0]}
[queue]
limit = {rng.choice([3, 10, 100])}
{"mark = 2" if rng.random() < 0.5 else ""}
{'discipline = "priority"' if rng.random() < 0.3 else ""}
[transport.t]
control = "{control}"
{f"subflows = {subflows}" if multipath else ""}
{rng.choice(BUFFERS)}
{'switch_bytes = "10KB"' if control == "mmptcp" else ""}
ack_every = {every}
min_rto = "{rng.choice(["1ms", "10ms", "200ms"])}"
[[workload.permutation]]
transport = "t"
size = "{rng.choice([1, 1400, 20_000, 150_000])}B"
jitter = "100us"
{change}"""


def random_pulled(rng: random.Random) -> str:
    """Return a scenario of NDP, beside TCP whose packets are trimmed too."""
    failing = rng.choice(["e0.0<->a0.0", "h1<->e0.0"])
    change = f'[[change]]\nlinks = ["{failing}"]\nloss = {rng.choice([0.01, 0.05])}\n'
    return f"""
seed = {rng.randrange(1 << 30)}
duration = "1ms"
drain = "20s"
[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"
[queue]
discipline = "trimming"
limit = {rng.choice([2, 8])}
trimming = {{ headers = {rng.choice([3, 100])} }}
[transport.n]
control = "ndp"
initial_window = {rng.choice([1, 12])}
[transport.t]
control = "dctcp"
trimming = true
[[workload.incast]]
transport = "n"
senders = {rng.randint(3, 12)}
receiver = "h0"
size = "{rng.choice([1, 20_000, 200_000])}B"
every = "2s"
[[workload.permutation]]
transport = "t"
size = "20KB"
jitter = "100us"
{change if rng.random() < 0.5 else ""}"""


def test_a_loss_at_a_host_that_passes_packets_on_is_no_sending(run: Run) -> None:
    """In a BCube the hosts between two hosts drop packets of their flows."""
    text = """
duration = "1ms"
drain = "5s"
[topology.bcube]
n = 2
k = 1
rate = "1Gbps"
delay = "1us"
[queue]
limit = 5
[transport.t]
control = "reno"
[[workload.all-to-all]]
transport = "t"
size = "20KB"
"""
    result = run(text)
    wires, elsewhere, waits = Wires(result), 0, 0
    for life in replay(result, result.flows.drop_nulls("end_s")["flow"].to_list()):
        sent = [e for e in life.events if e.what == "sent" and e["kind"] == "data"]
        assert len(sent) == life.row["segments"]
        lost = [e for e in life.events if e.what == "lost" and e["kind"] == "data"]
        own = life.row["src"]
        elsewhere += sum(e["link"].startswith("h") and not e["link"].startswith(own) for e in lost)
        told = tell(life, wires)
        check_sum(told)
        assert Cause.QUEUE not in told.breakdown, "hosts have queues, too"
        waits += told.breakdown.get(Cause.ANY_QUEUE, 0)
    assert elsewhere > 0
    assert waits > 0


@pytest.mark.parametrize("number", range(9))
def test_times_add_up_in_random_scenarios(run: Run, rng: random.Random, number: int) -> None:
    result = run(random_scenario(rng))
    finished = result.flows.drop_nulls("end_s")["flow"].to_list()
    assert finished
    wires = Wires(result)
    for life in replay(result, rng.sample(finished, min(len(finished), 8))):
        told = tell(life, wires)
        check_sum(told)
        assert Cause.OTHER_TIMER not in told.breakdown, told.life.flow
        assert as_text(told)


@pytest.mark.parametrize("number", range(4))
def test_times_of_pulled_flows_add_up(run: Run, rng: random.Random, number: int) -> None:
    result = run(random_pulled(rng))
    finished = result.flows.drop_nulls("end_s")["flow"].to_list()
    wires = Wires(result)
    for life in replay(result, rng.sample(finished, min(len(finished), 12))):
        told = tell(life, wires)
        check_sum(told)
        assert as_text(told)


PULLED = """
duration = "10ms"
drain = "3s"
[topology.many-to-one]
senders = 2
rate = "1Gbps"
delay = "2us"
[queue]
discipline = "trimming"
limit = 1
TRIMMING
[transport.t]
control = "ndp"
mss = "1400B"
header = "100B"
ack_size = "100B"
initial_window = 2
min_rto = "10ms"
"""
NO_RETURN = "trimming = { return_to_sender = false, trim_arriving = 1.0 }"
CONTROL = 2 * (100 * 8 * 1000 + 2 * US)  # an ACK or a PULL over two links


def test_a_pulled_flow_alone(run: Run) -> None:
    """Three packets: two at once, and the last as the PULL for the first comes."""
    told = story(run(PULLED.replace("TRIMMING", "") + flow("4200B")))
    check_sum(told)
    assert told.breakdown == {
        Cause.DATA: 2 * LONG,
        Cause.ACK: CONTROL,
        Cause.PULL: CONTROL,
        # The ACK of the first packet goes before its PULL.
        Cause.PULL_QUEUE: 100 * 8 * 1000,
    }
    # When the PULL comes, the last packet is sent.
    pulled = LONG + CONTROL + 100 * 8 * 1000
    assert told.held == {Held.PULL: pulled, Held.NOTHING: LONG + CONTROL}
    text = as_text(told)
    assert "the first window, 2 packets, is sent without being asked for; later 2 PULLs" in text
    assert "SYN" not in text


def test_a_trimmed_packet_is_told(run: Run) -> None:
    """Two first windows meet at R's port: as the last packets come, the first one has just left."""
    result = run(PULLED.replace("TRIMMING", NO_RETURN) + flow("2800B") + flow("2800B", "S2"))
    told = [story(result, number) for number in (0, 1)]
    for one in told:
        check_sum(one)
    (trimmed,) = [one for one in told if any(m.kind == "trim" for m in one.moments)]
    (trim,) = [m.text for m in trimmed.moments if m.kind == "trim"]
    assert trim == "bytes 1400 to 2799 trimmed at W->R: the queues held 2 packets"
    assert trimmed.life.row["retransmits"] == 1
    # The PULL for its first packet had come before: the NACK made the sender send it again.
    assert trimmed.breakdown == {
        Cause.DATA: LONG,
        Cause.HOST_QUEUE: DATA * 8 * 1000,
        Cause.ACK: CONTROL,
        # It crossed the first link whole, and waited at W for the packet in service.
        Cause.HEADER: (DATA + 100) * 8 * 1000 + 2 * 2 * US,
        Cause.HEADER_QUEUE: DATA * 8 * 1000,
        Cause.NACK: CONTROL + 100 * 8 * 1000,
    }


def test_flows_of_an_incast_wait_for_their_turn(run: Run) -> None:
    text = PULLED.replace("TRIMMING", "").replace("senders = 2", "senders = 8")
    result = run(text + "".join(flow("14000B", f"S{i}") for i in range(1, 9)))
    slowest = result.flows.sort("fct_s")["flow"][-1]
    told = story(result, slowest)
    check_sum(told)
    # R's link has 80 packets to carry, and asks for one after the other.
    assert told.breakdown[Cause.TURN] > (told.life.end - told.life.start) / 2
    assert max(told.held, key=lambda held: told.held[held]) is Held.PULL


def test_a_header_sent_back_is_told(run: Run) -> None:
    """Four packets come to W: one is sent, one waits, so does one header, and one goes back."""
    trimming = "trimming = { headers = 1, trim_arriving = 1.0 }"
    text = PULLED.replace("TRIMMING", trimming).replace("senders = 2", "senders = 4")
    result = run(text + "".join(flow("1400B", f"S{i}") for i in (1, 2, 3, 4)))
    told = [story(result, number) for number in range(4)]
    for one in told:
        check_sum(one)
    (back,) = [one for one in told if Cause.RETURNED in one.breakdown]
    assert any("their header sent back: no room for it at W->R" in m.text for m in back.moments)
    # The packet to W, and its header back.
    assert back.breakdown[Cause.RETURNED] == (DATA + 100) * 8 * 1000 + 2 * 2 * US


def test_marks_and_losses_are_those_of_the_tables(run: Run, rng: random.Random) -> None:
    result = run(random_scenario(rng))
    flows = result.flows["flow"].to_list()
    for life in replay(result, flows):
        spans = Chain(life, Wires(result))
        marks = [m for m in tell(life, Wires(result)).moments if m.kind == "mark"]
        assert len(marks) <= life.row["marked_acks"]
        assert breakdown([]) == {}
        assert len(spans.lost_sendings) == sum(e.what == "lost" for e in life.events)


def test_a_flow_that_did_not_finish_is_told_without_a_sum(run: Run) -> None:
    cut = FABRIC.replace('"3s"', '"0s"').replace('"10ms"', '"50us"')
    told = story(run(cut + TRANSPORT + flow("1MB")))
    assert told.spans == []
    text = as_text(told)
    assert "It did not finish" in text
    assert "What kept the sender from sending" in text


def test_a_flow_that_waits_for_a_timer_waits_until_the_run_ends(run: Run) -> None:
    """One SYN of three is sent, one waits, one is dropped; the run is shorter than its timer."""
    cut = FABRIC.replace('"3s"', '"0s"').replace('"10ms"', '"50us"').replace("= 2", "= 3")
    flows = "".join(flow("1400B", f"S{i}") for i in (1, 2, 3))
    result = run(cut + "[queue]\nlimit = 1\n" + TRANSPORT + flows)
    told = [story(result, number) for number in range(3)]
    (lost,) = [one for one in told if one.life.row["established_s"] is None]
    assert lost.held == {Held.HANDSHAKE: 50 * US}
    assert "+    50 us  the run ends" in as_text(lost)


RING = """
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
ranks = 2
size = "2800B"
"""


def test_a_message_waits_for_the_acks_of_the_one_before(run: Run) -> None:
    """The second step begins as the first one's data arrives, with a window of one segment."""
    result = run(FABRIC + TRANSPORT + RING)
    assert result.flows["connection"].to_list() == [0, 1, 0, 1]
    told = story(result, 2)
    assert told.breakdown == {Cause.DATA: LONG, Cause.ACK: 2 * SHORT}
    assert told.held == {Held.WINDOW: SHORT, Held.NOTHING: LONG + SHORT}
    check_sum(told)
    text = as_text(told)
    assert "bytes 1400 to 2799 of connection 0, which stays open; of earlier" in text
    assert "of earlier messages 1.4 KB were not acknowledged then, and 0 B not sent" in text
    first = story(result, 0)
    assert first.breakdown[Cause.HANDSHAKE] == 2 * SHORT
    check_sum(first)
    assert "the first message of its connection" in as_text(first)
    # Each by itself is told as both together.
    assert [life.events for life in replay(result, [0, 2])][1] == told.life.events


def test_messages_behind_others_are_held_by_them(run: Run) -> None:
    """Three messages of ten segments are given to a connection at once."""
    many = """
[[workload.collective]]
transport = "t"
algorithm = "all-to-all"
ranks = 2
size = "84000B"
chunks = 3
outstanding = 3
"""
    result = run(FABRIC + TRANSPORT + many)
    last = result.flows.filter(pl.col("connection") == 0)["flow"].max()
    told = story(result, int(str(last)))
    check_sum(told)
    assert told.life.message is not None
    assert told.life.message["begin"] == 28000
    # Until the last segment of the second message is sent, it is the first two that go.
    sent = [
        e.at
        for e in told.life.events
        if e.what == "sent" and e["kind"] == "data" and e["ack"] == 28000 - 1400
    ]
    handshake = told.held[Held.HANDSHAKE]
    assert told.held[Held.EARLIER] == sent[0] - told.life.start - handshake


def random_messages(rng: random.Random) -> str:
    control = rng.choice(CONTROLS)
    multipath = control in ("lia", "amp", "xmp", "mmptcp")
    algorithm = rng.choice(["ring-all-reduce", "all-to-all", "halving-doubling-all-reduce"])
    loss = f'[[change]]\nlinks = ["e0.0<->a0.0"]\nloss = {rng.choice([0.01, 0.05])}\n'
    return f"""
seed = {rng.randrange(1 << 30)}
duration = "5s"
drain = "20s"
[topology.fat-tree]
k = 4
rate = "1Gbps"
delay = "2us"
[queue]
limit = {rng.choice([3, 10, 100])}
{"mark = 2" if rng.random() < 0.5 else ""}
[transport.t]
control = "{control}"
{f"subflows = {rng.randint(2, 4)}" if multipath else ""}
{'switch_bytes = "10KB"' if control == "mmptcp" else ""}
ack_every = {rng.choice([1, 2])}
min_rto = "{rng.choice(["1ms", "10ms"])}"
[[workload.collective]]
transport = "t"
algorithm = "{algorithm}"
ranks = 8
stride = 2
size = "{rng.choice([4000, 100_000, 400_000])}B"
chunks = {rng.randint(1, 3)}
iterations = 2
compute = "{rng.choice(["0s", "100us"])}"
{f"outstanding = {rng.randint(1, 5)}" if algorithm == "all-to-all" else ""}
{loss if rng.random() < 0.5 else ""}"""


@pytest.mark.parametrize("number", range(8))
def test_times_of_messages_add_up(run: Run, rng: random.Random, number: int) -> None:
    result = run(random_messages(rng))
    finished = result.flows.drop_nulls("end_s")["flow"].to_list()
    assert finished
    wires = Wires(result)
    lives = replay(result, rng.sample(finished, 12))
    for life in lives:
        told = tell(life, wires)
        check_sum(told)
        assert as_text(told)
    (alone,) = replay(result, [lives[0].flow])
    assert tell(alone, wires).spans == tell(lives[0], wires).spans


def test_a_message_may_begin_before_what_another_host_has_done(run: Run) -> None:
    """Data of an earlier message comes to h6 192 ns after flow 169 begins on its connection at h2.

    Hosts run one after another in a window, and h6 had run when h2 did. The ACK of that data begins
    the chain.
    """
    result = run(
        """
seed = 822992488
duration = "5s"
drain = "20s"
[topology.fat-tree]
k = 4
rate = "1Gbps"
delay = "2us"
[queue]
limit = 3
mark = 2
[transport.t]
control = "mmptcp"
subflows = 4
switch_bytes = "10KB"
ack_every = 1
min_rto = "10ms"
[[workload.collective]]
transport = "t"
algorithm = "halving-doubling-all-reduce"
ranks = 8
stride = 2
size = "100000B"
chunks = 2
iterations = 2
compute = "0s"
[[change]]
links = ["e0.0<->a0.0"]
loss = 0.01
"""
    )
    told = story(result, 169)
    check_sum(told)
    first, second = told.spans[:2]
    assert (first.cause, second.cause) == (Cause.DATA, Cause.ACK)
    assert first.end - first.start == 192_000


def test_another_run_is_refused(run: Run, tmp_path: Path) -> None:
    result = run(FABRIC + TRANSPORT + flow("1400B"))
    with pytest.raises(ExplainError, match="has no flow 7"):
        replay(result, [7])
    other = result.flows.with_columns(end_s=result.flows["end_s"] + 1e-9)
    other.write_parquet(result.dir / "flows.parquet")
    with pytest.raises(linkpool.ResultError, match=r"flows\.parquet changed since it was written"):
        replay(Result(result.dir), [0]) if Result(result.dir).flows.height else None
    (result.dir / "manifest.json").unlink()
    with pytest.raises(ExplainError, match="the result has no manifest"):
        replay(Result(result.dir), [0])


def test_another_build_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(FABRIC + TRANSPORT + flow("1400B"))
    monkeypatch.setattr("linkpool.replay.run_key", lambda _: "0" * 64)
    told = story(result)
    assert "Note: another build of linkpool made the result" in as_text(told)


def test_the_picture_shows_the_chain(run: Run, tmp_path: Path) -> None:
    told = story(run(FABRIC + TRANSPORT + "ack_every = 2\nquickack = false\n" + flow("40000B")))
    draw(told, tmp_path / "flow.png")
    pixels = matplotlib.image.imread(tmp_path / "flow.png")[..., :3]
    green = abs(pixels - [0x00 / 255, 0x9E / 255, 0x73 / 255]).max(axis=2) < 0.02
    assert green.mean() > 0.02, "the delayed ACK, as wide as it is long"


Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Return the command as a function that gives its exit code and what it prints."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = call(monkeypatch, "explain", *arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_explain_on_the_command_line(run: Run, tmp_path: Path, explain: Explain) -> None:
    result = run(FABRIC + TRANSPORT + flow("1400B"))
    code, out, err = explain(result.dir, "--flow", 0, "--plot", tmp_path / "flow.svg")
    assert code == 0, err
    assert "together: the FCT" in out
    assert (tmp_path / "flow.svg").read_text().startswith("<?xml")
    code, _, err = explain(result.dir, "--flow", 3)
    assert (code, "has no flow 3" in err) == (2, True)


def test_of_a_study_the_run_with_the_slowest_flow_is_explained(
    tmp_path: Path, explain: Explain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.toml").write_text(FABRIC + TRANSPORT + flow("200KB"), encoding="utf-8")
    arms = '[{ name = "wide", set.transport.t.initial_window = 10 }, { name = "narrow" }]'
    text = f'base = "base.toml"\nseeds = 2\nmeasures = ["fct.mean"]\narm = {arms}'
    study = Study.parse(text, tmp_path / "s.toml").run(tmp_path / "results")
    slowest = {}
    for keys, result in study.results():
        slowdown = float(result.flows["slowdown"].max())  # type: ignore[arg-type]
        slowest[keys["arm"], keys["seed"]] = (slowdown, result.dir.name)
    for asked, arms_of_it in (((), ("wide", "narrow")), (("--arm", "wide"), ("wide",))):
        (name, seed), (_, run) = max(
            ((key, value) for key, value in slowest.items() if key[0] in arms_of_it),
            key=lambda item: item[1][0],
        )
        code, out, err = explain(study.dir, *asked)
        assert code == 0, err
        assert name == ("wide" if asked else "narrow"), "a larger first window takes less time"
        first = f"the run with the slowest flow is that of {name}, seed {seed}: results/runs/{run}"
        assert out.splitlines()[0] == first
        assert "together: the FCT" in out
    with pytest.raises(
        ResultError, match=r"is the result of a study; name one of its runs, .*--arm"
    ):
        Result(study.dir).check()
    trace = tmp_path / "wide.perfetto-trace"
    assert call(monkeypatch, "perfetto", study.dir, "--arm", "wide", "-o", trace) == 0
    assert trace.stat().st_size > 0
    code, _, err = explain(study.dir, "--arm", "broad")
    assert (code, "it has 'wide', 'narrow'" in err) == (2, True)
    code, _, err = explain(tmp_path / "results/runs" / run, "--arm", "wide")
    assert (code, "is not the result of one" in err) == (2, True)


def test_windows_of_subflows_hold_a_sender_back(run: Run) -> None:
    """UET has no send buffer, though a buffer of MPTCP grows by default."""
    keys = 'control = "uet"\ntrimmable = false\nsubflows = 2\nfirst_window = "9KB"\n'
    told = story(run(FABRIC + f"[transport.t]\n{keys}" + flow("100KB")))
    assert set(told.held) == {Held.WINDOW, Held.TURN, Held.NOTHING}
    assert sum(told.held.values()) == told.life.end - told.life.start


def test_lives_are_of_one_flow_each(run: Run) -> None:
    result = run(FABRIC + TRANSPORT + flow("1400B") + flow("2800B", "S2"))
    lives: list[Life] = replay(result, [0, 1])
    assert [life.flow for life in lives] == [0, 1]
    assert [life.events[0]["size"] for life in lives] == [1400, 2800]


def test_an_explanation_is_words_tables_and_a_picture(run: Run, tmp_path: Path) -> None:
    result = run(FABRIC + TRANSPORT + flow("1400B"))
    explanation = result.explain(0)
    fct = 3 * SHORT + THIRD + LONG
    times = {
        Cause.HANDSHAKE: 2 * SHORT,
        Cause.DATA: LONG,
        Cause.HOST_QUEUE: THIRD,
        Cause.ACK: SHORT,
    }
    assert explanation.breakdown.sort("cause").rows() == [
        (cause.value, time / PS, pytest.approx(time / fct))
        for cause, time in sorted(times.items(), key=lambda item: item[0].value)
    ]
    assert explanation.held["time_s"].to_list() == [2 * SHORT / PS, (fct - 2 * SHORT) / PS]
    established = explanation.moments.filter(kind="established")
    assert established["time_s"].to_list() == [2 * SHORT / PS]
    for cause in times:
        assert cause.value in str(explanation)
    shown = explanation._repr_html_()
    assert shown.startswith("<svg")
    assert "Where the time went" in shown
    explanation.plot(tmp_path / "flow.png")
    assert matplotlib.image.imread(tmp_path / "flow.png").ndim == 3
    with pytest.raises(ExplainError, match="has no flow 7"):
        result.explain(7)


PAUSED = """
duration = "5ms"
[topology.dumbbell]
pairs = 1
rate = "10Gbps"
delay = "2us"
bottleneck_rate = "100Mbps"
[queue.pfc]
buffer = "100KB"
xoff = "3KB"
reserve = "0B"
[transport.t]
control = "reno"
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
size = "14480B"
"""


def test_pauses_are_a_part_of_the_time(run: Run) -> None:
    """Ten segments of 1,538 B leave at once, and take 123.04 us each over the link behind L.

    The second to come to L asks for the pause, 2 x 1.2304 us after the ACK of the handshake, which
    takes 7.2 us there. L tells S1 to go on when six have left, which came before the pause held.
    The last segment waits for that at its own host, and so do three others, and what a tail loss
    probe sends again: its wait is not that of the segment that came first.
    """
    found = story(run(PAUSED))
    paused = 7_200_000 + 6 * 123_040_000 - 2 * 1_230_400
    assert found.breakdown[Cause.HOST_PAUSED] == paused
    assert Cause.PAUSED not in found.breakdown
    assert sum(found.breakdown.values()) == found.life.end - found.life.start
    (told,) = [m for m in found.moments if m.kind == "pause"][:1]
    assert told.text.startswith(
        "S1->L is paused by L, because what came from S1 and waited there was above its threshold: "
        "1538 B of priority 0 shared, with a threshold of 3000 B, and 1538 B of headroom, most of "
        "them for L->R. 5 packets of the flow waited while it was paused, for 743 us at the most"
    )
    text = as_text(found)
    assert "data held back by pauses at its own host" in text
    assert "S1->L is paused by L" in text


def test_pauses_at_switches_stand_apart(run: Run) -> None:
    """Two hosts fill W, which R pauses for 1 ms: the packets of both wait for that at W."""
    text = SLOW_RECEIVER + 'control = "reno"\n'
    flows = flow("200KB", "S1") + flow("200KB", "S2")
    found = story(run(text + flows))
    assert 0.9 * 1000 * US < found.breakdown[Cause.PAUSED] <= 1000 * US
    assert sum(found.breakdown.values()) == found.life.end - found.life.start
    assert any("W->R is paused by R" in m.text for m in found.moments)
