"""What flows of UET tell: both breakdowns add up, whatever grants, limits or loses."""

import re
from pathlib import Path

import polars as pl
import pytest

from explained import Run, check_sum, runner
from linkpool import Result
from linkpool.explain.blocked import Held
from linkpool.explain.critical import Cause
from linkpool.explain.replay import replay
from linkpool.explain.story import Story, as_text, tell
from linkpool.explain.wires import Wires

FABRICS = {
    "fat-tree": '[topology.fat-tree]\nk = 4\nrate = "10Gbps"\ndelay = "1us"\n',
    "many-to-one": '[topology.many-to-one]\nsenders = 4\nrate = "10Gbps"\ndelay = "1us"\n',
}
HOSTS = {
    "fat-tree": (["h0", "h4", "h8", "h9"], "h15"),
    "many-to-one": (["S1", "S2", "S3", "S4"], "R"),
}
QUEUE = 'discipline = "trimming"'
TRANSPORTS = (
    "",
    "receiver_credit = true",
    'receiver_credit = true\nsender_law = "none"',
    'sender_law = "swift"',
    'sender_law = "strack"',
    'sender_law = "strack-htsim"',
    'sender_law = "dctcp"',
    'sender_law = "fastflow"',
    "sleek = true\ntrimmable = false",
    "trimmable = false",
    "subflows = 2",
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a scenario."""
    return runner(tmp_path)


def scenario(fabric: str, transport: str, senders: int, size: str, queue: str) -> str:
    hosts, to = HOSTS[fabric]
    flows = "".join(
        f'[[workload.flow]]\ntransport = "t"\nfrom = "{host}"\nto = "{to}"\nsize = "{size}"\n'
        for host in hosts[:senders]
    )
    return f"""
duration = "1ms"
drain = "100ms"
{FABRICS[fabric]}
[queue]
{queue}
[transport.t]
control = "uet"
{transport}
{flows}"""


def stories(result: Result) -> list[Story]:
    flows = result.flows.drop_nulls("end_s")["flow"].to_list()
    told = [tell(life, Wires(result)) for life in replay(result, flows)]
    for one in told:
        check_sum(one)
    return told


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("senders", "size"), [(1, "20KB"), (1, "1MB"), (4, "200KB")])
def test_where_the_time_went_adds_up(
    fabric: str, transport: str, senders: int, size: str, run: Run
) -> None:
    trims = "trimmable = false" not in transport
    queue = 'discipline = "trimming"' if trims else "limit = 20\nmark = 5"
    told = stories(run(scenario(fabric, transport, senders, size, queue)))
    assert len(told) == senders
    for one in told:
        assert "together: the FCT" in as_text(one)


def test_packets_of_a_lone_flow_wait_for_their_turn(run: Run) -> None:
    """Two packets of 4,096 B with headers of 64 B at 10 Gbit/s: 3,328 ns each, an ACK 51.2 ns."""
    (told,) = stories(run(scenario("many-to-one", "trimmable = false", 1, "8192B", "limit = 100")))
    each, ack = 3_328_000, 51_200
    assert told.breakdown == {
        Cause.DATA: 2 * (each + 1_000_000),
        Cause.ACK: 2 * (ack + 1_000_000),
        Cause.PORT: each,
    }
    assert told.held == {
        Held.TURN: each,
        Held.NOTHING: 2 * (each + 1_000_000) + 2 * (ack + 1_000_000),
    }


def test_credit_holds_a_sender_back(run: Run) -> None:
    """Four senders share what the receiver grants, and wait for its PULLs."""
    for told in stories(run(scenario("many-to-one", TRANSPORTS[2], 4, "1MB", QUEUE))):
        fct = told.life.end - told.life.start
        assert told.held[Held.CREDIT] > 0.5 * fct
        assert Held.WINDOW not in told.held
        assert told.breakdown[Cause.TURN] > 0.3 * fct


def test_a_timeout_counts_from_when_its_packet_was_sent(run: Run) -> None:
    """Full queues drop, and nothing but the timeout tells: each lasts as long as the setting."""
    told = stories(
        run(scenario("many-to-one", 'trimmable = false\nrto = "115us"', 4, "1MB", "limit = 5"))
    )
    waits = [span for one in told for span in one.spans if span.cause is Cause.RTO]
    assert len(waits) > 4
    assert {span.end - span.start for span in waits} == {115_000_000}


def test_a_timeout_of_any_subflow_is_told(run: Run) -> None:
    """The sender has one timer: what it waits for is a timeout of whichever subflow had lost."""
    keys = 'trimmable = false\nrto = "115us"\nsubflows = 4'
    told = stories(run(scenario("many-to-one", keys, 4, "1MB", "limit = 5")))
    waits = [span for one in told for span in one.spans if span.cause is Cause.RTO]
    assert len(waits) > 4
    assert {span.end - span.start for span in waits} == {115_000_000}
    assert all(Cause.OTHER_TIMER not in one.breakdown for one in told)


def test_marks_that_cut_windows_and_trims_are_counted(run: Run) -> None:
    """Each packet that a port trims has a NACK, as none of these headers is lost."""
    trims = 'trimming = { headers = "1MB", mark_min = "6KB", mark_max = "24KB" }'
    queue = f'{QUEUE}\nlimit = "30KB"\n{trims}'
    result = run(scenario("many-to-one", "", 4, "1MB", queue))
    nacks = result.metrics.filter(pl.col("metric") == "nacks")["value"].sum()
    assert result.links["trims"].sum() == nacks == result.summary.trims > 5
    assert set(result.links.filter(pl.col("trims") > 0)["link"]) == {"W->R"}
    cuts = result.subflows["cuts"].to_list()
    assert min(cuts) > 0
    for told, expected in zip(stories(result), cuts, strict=True):
        (said,) = re.findall(r"they cut windows ([\d,]+) times?", as_text(told))
        assert said == f"{expected:,}"
