"""Explained flows of RoCE: waits for rates, turns, windows, pauses and timeouts."""

import random
from pathlib import Path

import pytest

from explained import SLOW_RECEIVER, Run, check_sum, runner
from linkpool import Result
from linkpool.explain.blocked import Held, blocked
from linkpool.explain.critical import Cause
from linkpool.explain.picture import COLOURS
from linkpool.explain.replay import replay
from linkpool.explain.story import Story, as_text, tell
from linkpool.explain.wires import Wires
from linkpool.units import PS

pytestmark = pytest.mark.core

US = PS // 1_000_000
# S1 -- W -- R at 10 Gbit/s with 2 us a link: a packet of 1,024 B and 82 B of headers, and an ACK.
DATA, ACK = 884_800, 68_800
FORTH, BACK = 2 * (DATA + 2 * US), 2 * (ACK + 2 * US)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a scenario."""
    return runner(tmp_path)


def scenario(
    keys: str, *flows: tuple[str, int], queue: str = "limit = 1000", more: str = ""
) -> str:
    """Return a scenario with flows from a host, of so many packets, to R."""
    each = "".join(
        f'[[workload.flow]]\ntransport = "t"\nfrom = "{source}"\nto = "R"\n'
        f'size = "{packets * 1024}B"\n'
        for source, packets in flows
    )
    return f"""
duration = "50ms"
[topology.many-to-one]
senders = 3
rate = "10Gbps"
delay = "2us"
[queue]
{queue}
[transport.t]
{keys}
{each}{more}"""


def stories(result: Result) -> list[Story]:
    flows = result.flows.drop_nulls("end_s")["flow"].to_list()
    told = [tell(life, Wires(result)) for life in replay(result, flows)]
    for one in told:
        check_sum(one)
    return told


def test_a_lone_flow_waits_for_its_rate(run: Run) -> None:
    """Ten packets at line rate: nine times that of one, then the last one's way and its ACK's."""
    (told,) = stories(run(scenario('control = "roce"', ("S1", 10))))
    assert told.breakdown == {Cause.DATA: FORTH, Cause.ACK: BACK, Cause.RATE: 9 * DATA}
    assert told.held == {Held.RATE: 9 * DATA, Held.NOTHING: FORTH + BACK}
    text = as_text(told)
    assert "SYN" not in text
    assert "Its life, in time since its begin:" in text


def test_queue_pairs_of_a_host_wait_for_their_turn(run: Run) -> None:
    """Two take turns: each waits a packet's time for its rate, and another for the port."""
    first, second = stories(run(scenario('control = "roce"', ("S1", 10), ("S1", 10))))
    for told, turns in ((first, 9), (second, 10)):
        waits = {Cause.RATE: 9 * DATA, Cause.PORT: turns * DATA}
        assert told.breakdown == {Cause.DATA: FORTH, Cause.ACK: BACK, **waits}
        assert told.held == {
            Held.RATE: 9 * DATA,
            Held.TURN: turns * DATA,
            Held.NOTHING: FORTH + BACK,
        }


ADAPTER = """[nic]
message_time = "300ns"
latency = "1700ns"
rate = "8Gbps"
"""
BUSY = 1_024_000
"""With a packet: 1,024 B at 8 Gbit/s; the rate of the queue pair lets the next go after DATA."""


def test_an_adapter_that_takes_time_is_named(run: Run) -> None:
    """It takes 2 us before the first of ten packets, and then keeps each from the link."""
    (told,) = stories(run(scenario('control = "roce"', ("S1", 10), more=ADAPTER)))
    waits = 2 * US + 9 * (BUSY - DATA)
    ways = {Cause.DATA: FORTH, Cause.ACK: BACK}
    assert told.breakdown == {**ways, Cause.RATE: 9 * DATA, Cause.ADAPTER: waits}
    sends = {Held.RATE: 9 * DATA, Held.ADAPTER: waits}
    assert told.held == {**sends, Held.NOTHING: FORTH + BACK}
    assert "wait for the adapter of its host" in as_text(told)


def test_a_message_that_enters_the_adapter_is_named(run: Run) -> None:
    """Three messages of one packet, one after another: each passes the adapter for 2 us."""
    chain = """
[[workload.collective]]
transport = "t"
algorithm = "chain-broadcast"
ranks = 2
chunks = 3
size = "3072B"
"""
    result = run(scenario('control = "roce"', more=chain + ADAPTER + "send_queue = 1\n"))
    round_trip = 2 * US + FORTH + BACK
    for number, told in enumerate(stories(result)):
        # The second waits for the ACK of the first, which is what lets it enter.
        assert told.breakdown == {
            Cause.DATA: (number + 1) * FORTH,
            Cause.ACK: (number + 1) * BACK,
            Cause.ADAPTER: (number + 1) * 2 * US,
        }
        assert sum(told.held.values()) == (number + 1) * round_trip
        assert told.held[Held.ADAPTER] == 2 * US


def test_uet_sends_as_its_message_has_passed_the_adapter(run: Run) -> None:
    """The message takes 2 us in the adapter, and then a packet goes and its ACK comes."""
    keys = 'control = "uet"\ntrimmable = false\nmss = "1024B"\nheader = "82B"\nack_size = "86B"'
    (told,) = stories(run(scenario(keys, ("S1", 1), more=ADAPTER)))
    assert told.breakdown == {Cause.ADAPTER: 2 * US, Cause.DATA: FORTH, Cause.ACK: BACK}
    assert told.held == {Held.ADAPTER: 2 * US, Held.NOTHING: FORTH + BACK}


def test_a_window_is_named(run: Run) -> None:
    """One packet in flight: the next goes as its ACK comes."""
    (told,) = stories(run(scenario('control = "roce"\nwindow = "1KB"', ("S1", 4))))
    assert told.breakdown == {Cause.DATA: 4 * FORTH, Cause.ACK: 4 * BACK}
    # The last is sent as the third ACK comes.
    assert told.held == {Held.WINDOW: 3 * (FORTH + BACK), Held.NOTHING: FORTH + BACK}


def test_a_timeout_counts_from_the_first_packet(run: Run) -> None:
    """Both packets meet a link that is down; 1 ms after the first has left, they go again."""
    down = '[routing]\nreconverge = "never"\n[[change]]\nlinks = ["W->R"]\nstate = "down"\n'
    keys = 'control = "roce"\nmin_rto = "1ms"'
    more = down + 'until = "500us"\n'
    (told,) = stories(run(scenario(keys, ("S1", 2), queue="limit = 100", more=more)))
    assert told.breakdown == {
        Cause.DATA: FORTH,
        Cause.ACK: BACK,
        Cause.RATE_AGAIN: DATA,
        Cause.RTO: 1000 * US + DATA,
    }
    (timeout,) = [m for m in told.moments if m.kind == "timeout"]
    assert timeout.text == "no progress for 1 ms: a retransmission timeout"
    assert timeout.at == 1000 * US + DATA
    assert sum(m.kind == "loss" for m in told.moments) == 2
    # It is told once.
    assert not [m for m in told.moments if m.kind == "wait"]


@pytest.mark.parametrize(("way", "again"), [("go-back-n", 13), ("selective", 1)])
def test_packets_that_are_sent_again_stand_apart(run: Run, way: str, again: int) -> None:
    """The first packet of 40 is lost. The NACK comes at 10.8 us, before the 14th would leave.

    It goes back to the first, or sends that alone, and then goes on.
    """
    down = '[routing]\nreconverge = "never"\n[[change]]\nlinks = ["W->R"]\nstate = "down"\n'
    keys = f'control = "roce"\nretransmission = "{way}"'
    (told,) = stories(run(scenario(keys, ("S1", 40), more=down + 'until = "3us"\n')))
    assert told.breakdown == {
        Cause.DATA: FORTH,
        Cause.ACK: BACK,
        Cause.RATE: 39 * DATA,
        Cause.RATE_AGAIN: again * DATA,
    }
    # With selective repeat each packet out of order is a NACK: it is told once.
    (nack,) = [m.text for m in told.moments if m.kind == "recovery"]
    assert nack == "a NACK asks for packet 0, as 1 has come without it"


def test_messages_of_a_queue_pair_go_one_after_another(run: Run) -> None:
    """Four packets each: the second message waits for those of the first, then for its rate."""
    ring = """
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
ranks = 2
chunks = 2
size = "16384B"
"""
    result = run(scenario('control = "roce"', more=ring))
    first, second = (tell(life, Wires(result)) for life in replay(result, [0, 2]))
    check_sum(first)
    check_sum(second)
    # Then they wait for ACKs.
    assert min(told.held.pop(Held.NOTHING) for told in (first, second)) > FORTH
    assert first.held == {Held.RATE: 3 * DATA}
    assert second.held == {Held.EARLIER: 3 * DATA, Held.RATE: 4 * DATA}
    assert second.breakdown[Cause.RATE] == 7 * DATA


def test_every_cause_has_a_colour_in_pictures() -> None:
    assert set(COLOURS) == set(Cause)


def test_what_go_back_n_sends_again_is_named(run: Run) -> None:
    """Three hosts at line rate into a queue of ten packets: many packets go twice and more."""
    flows = [(source, 60) for source in ("S1", "S2", "S3")]
    keys = 'control = "roce"\nnack_interval = "20us"'
    told = stories(run(scenario(keys, *flows, queue="limit = 10")))
    assert all(one.breakdown.get(Cause.RATE_AGAIN, 0) > 0 for one in told)
    nacks = [m.text for one in told for m in one.moments if m.kind == "recovery"]
    assert any(text.startswith("a NACK asks for packet ") for text in nacks)


def test_a_pause_of_its_own_port_is_named(run: Run) -> None:
    """R pauses W for 1 ms, and W the hosts, whose queue pairs keep their packets for that time."""
    text = SLOW_RECEIVER + 'control = "roce"\n'
    flow = '[[workload.flow]]\ntransport = "t"\nfrom = "S{}"\nto = "R"\nsize = "1MB"\n'
    for told in stories(run(text + flow.format(1) + flow.format(2))):
        assert told.breakdown[Cause.HOST_PAUSED] + told.breakdown.get(Cause.PAUSED, 0) > 0
        assert told.held[Held.PAUSE] > 500 * US
        assert "a pause of the port of its host" in as_text(told)


def random_roce(rng: random.Random) -> str:
    loss = f'[[change]]\nlinks = ["e0.0<->a0.0"]\nloss = {rng.choice([0.01, 0.05])}\n'
    laws = [
        "roce",
        "dcqcn",
        "dcqcn-hpcc",
        "timely",
        "hpcc",
        "hpcc-pint",
        "powertcp",
        "roce-dctcp",
        "roce-swift",
    ]
    way = rng.choice(["", "reorder_window = 16", 'retransmission = "selective"'])
    messages = f"""
[[workload.collective]]
transport = "t"
algorithm = "{rng.choice(["ring-all-reduce", "all-to-all"])}"
ranks = 8
stride = 2
size = "{rng.choice([4000, 100_000])}B"
chunks = {rng.randint(1, 3)}
"""
    nic = rng.choice(
        ["", ADAPTER, '[nic]\npacket_time = "2us"\nmessage_time = "5us"\nsend_queue = 1']
    )
    flows = f"""
[[workload.permutation]]
transport = "t"
size = "{rng.choice([1, 1024, 20_000, 150_000])}B"
jitter = "100us"
[[workload.incast]]
transport = "t"
senders = {rng.randint(3, 12)}
receiver = "h0"
size = "{rng.choice([1000, 50_000])}B"
every = "2s"
"""
    return f"""
seed = {rng.randrange(1 << 30)}
duration = "1ms"
drain = "20s"
[topology.fat-tree]
k = 4
rate = "{rng.choice(["1Gbps", "10Gbps"])}"
delay = "1us"
[queue]
limit = {rng.choice([3, 10, 100])}
{"mark = 2" if rng.random() < 0.5 else ""}
{nic}
[transport.t]
control = "{rng.choice(laws)}"
min_rto = "1ms"
nack_interval = "50us"
paths = "{rng.choice(["hash", "scatter"])}"
{rng.choice(["", 'window = "bdp"', 'window = "20KB"'])}
{way}
{rng.choice([messages, flows])}{loss if rng.random() < 0.5 else ""}""".replace(
        'nack_interval = "50us"\n', "" if "selective" in way else 'nack_interval = "50us"\n'
    )


@pytest.mark.parametrize("number", range(8))
def test_times_add_up_in_random_scenarios(run: Run, rng: random.Random, number: int) -> None:
    result = run(random_roce(rng))
    finished = result.flows.drop_nulls("end_s")["flow"].to_list()
    assert finished
    wires = Wires(result)
    for life in replay(result, rng.sample(finished, min(len(finished), 10))):
        told = tell(life, wires)
        check_sum(told)
        assert Cause.OTHER_TIMER not in told.breakdown, told.life.flow
        assert sum(blocked(life).values()) == life.end - life.start
        assert as_text(told)
