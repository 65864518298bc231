"""Traces for Perfetto, decoded by Perfetto's own package: they tell what the tables tell."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import linkpool
from linkpool.cli.commands import app
from linkpool.perfetto import perfetto
from linkpool.request_spans import request_spans
from tables import finished, table, write_result
from test_request_spans import LINES, RUN, lives, transfer

pytestmark = pytest.mark.core

PB = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
)
unknown = pytest.importorskip("google.protobuf.unknown_fields")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4

INCAST = """
duration = "1ms"
drain = "2s"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "1Gbps"
delay = "5us"
[queue]
{queue}
[transport.t]
{transport}
[[workload.incast]]
transport = "t"
senders = 6
receiver = "h0"
size = "150KB"
every = "1ms"
"""

MULTIPATH = ["lia", "dcm", "xmp", "amp", "mptcp-cut", "olia", "balia", "ewtcp", "fully-coupled"]
MULTIPATH += ["semi-coupled", "uncoupled", "swift"]
TRANSPORTS = {
    **{control: f'control = "{control}"' for control in ("reno", "dctcp", "cubic", "ndp")},
    **{control: f'control = "{control}"\nsubflows = 2\nmin_rto = "10ms"' for control in MULTIPATH},
    "mmptcp": 'control = "mmptcp"\nsubflows = 3\nswitch_bytes = "50KB"\nmin_rto = "10ms"',
}


def filled(text: str, transport: str) -> str:
    """Return a scenario with a transport, and with switches that trim packets if it is NDP."""
    trims = transport == "ndp"
    queue = 'discipline = "trimming"\nlimit = 4' if trims else "limit = 12\nmark = 5"
    return text.format(queue=queue, transport=TRANSPORTS[transport])


JOB = """
duration = "20ms"
drain = "0s"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "2us"
[transport.t]
control = "reno"
[[workload.training]]
transport = "t"
label = "train"
dp = 4
forward = "60us"
gradients = "100KB"
iterations = 4
stragglers = { ranks = [2], slowdown = 2, from_iteration = 1 }
failures = { at = ["700us"], recovery = "300us", checkpoint_every = 2, checkpoint_time = "30us" }
[[workload.flow]]
transport = "t"
from = "h6"
to = "h7"
size = "9KB"
"""


@dataclass
class Track:
    """A track as it was read: slices are (name, begin, end), in ns."""

    name: str
    parent: int
    slices: list[tuple[str, int, int]] = field(default_factory=list)
    instants: list[tuple[str, int]] = field(default_factory=list)
    counts: list[tuple[int, float]] = field(default_factory=list)


@dataclass
class Trace:
    """A trace as it was read."""

    processes: dict[int, str] = field(default_factory=dict)
    tracks: dict[int, Track] = field(default_factory=dict)
    arrows: dict[int, list[tuple[str, int, int]]] = field(default_factory=lambda: defaultdict(list))

    def of(self, flow: int) -> dict[str, Track]:
        """Return the tracks of a flow by name."""
        [process] = [u for u, name in self.processes.items() if name.startswith(f"flow {flow}:")]
        return {track.name: track for track in self.tracks.values() if track.parent == process}


def read(path: Path) -> Trace:
    """Decode a trace; every event must be on a track that was described before."""
    whole: Any = PB.Trace()
    whole.ParseFromString(path.read_bytes())
    trace = Trace()
    open_slices: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for packet in whole.packet:
        assert len(unknown.UnknownFieldSet(packet)) == 0
        if packet.HasField("track_descriptor"):
            of = packet.track_descriptor
            if of.HasField("process"):
                trace.processes[of.uuid] = of.process.process_name
            assert of.uuid not in trace.tracks
            assert not of.parent_uuid or of.parent_uuid in trace.tracks
            trace.tracks[of.uuid] = Track(of.name, of.parent_uuid)
            continue
        event, at = packet.track_event, packet.timestamp
        track = trace.tracks[event.track_uuid]
        if event.type == BEGIN:
            open_slices[event.track_uuid].append((event.name, at))
        elif event.type == END:
            name, begin = open_slices[event.track_uuid].pop()
            track.slices.append((name, begin, at))
        elif event.type == INSTANT:
            track.instants.append((event.name, at))
        else:
            assert event.type == COUNTER
            track.counts.append((at, event.double_counter_value))
        for arrow in event.flow_ids:
            trace.arrows[arrow].append(("from", event.track_uuid, at))
        for arrow in event.terminating_flow_ids:
            trace.arrows[arrow].append(("to", event.track_uuid, at))
    assert not any(open_slices.values()), "all flows have ended, and so have their slices"
    return trace


Traced = Callable[..., tuple[linkpool.Result, Trace]]


@pytest.fixture
def traced(scenario: Callable[[str], Path], tmp_path: Path) -> Traced:
    """Return a function that runs incast of a transport, and traces flows of it."""

    def run(transport: str, **options: Any) -> tuple[linkpool.Result, Trace]:
        result = linkpool.run(scenario(filled(INCAST, transport)))
        out = tmp_path / "trace.perfetto-trace"
        assert perfetto(result, out, **options) == ""
        return result, read(out)

    return run


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_events_add_up_to_the_counters(traced: Traced, transport: str) -> None:
    result, trace = traced(transport)
    # NDP sends again what was trimmed, without a timeout.
    troubles = pl.sum("timeouts", "probes", "retransmits")
    assert result.flows.select(pl.sum_horizontal(troubles)).item() > 0
    for flow in result.flows.iter_rows(named=True):
        tracks = trace.of(flow["flow"])
        names = Counter(
            name for track in tracks.values() for name, _ in track.instants if "lost" not in name
        )
        assert names["retransmission timeout"] == flow["timeouts"]
        assert names["tail loss probe"] == flow["probes"]
        assert names["window restored"] == flow["undos"]
        phases = Counter(name for track in tracks.values() for name, _, _ in track.slices)
        assert phases["fast recovery"] == flow["recoveries"]
        acked = [value for _, value in tracks["acknowledged"].counts]
        assert acked == sorted(acked)
        # The last ACK ends the flow, and is no change of it.
        assert acked[-1] < 150_000


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_phases_adjoin_from_the_first_syn_to_the_end(traced: Traced, transport: str) -> None:
    result, trace = traced(transport)
    rows = result.subflows.join(result.flows.select("flow", "start_s", "end_s"), on="flow")
    for row in rows.iter_rows(named=True):
        track = trace.of(row["flow"]).get(f"subflow {row['subflow']}")
        if track is None:
            assert row["established_s"] is None
            continue
        if transport == "ndp":
            assert track.slices == [], "NDP has neither a handshake nor a loss recovery"
            continue
        (first, start, established), *rest = track.slices
        assert first == "handshake"
        if row["subflow"] == 0:
            assert start == int(round(row["start_s"] * 1e12) // 1000)
        end = int(round(row["end_s"] * 1e12) // 1000)
        if row["established_s"] is None:
            assert (established, rest) == (end, [])
            continue
        assert established == int(round(row["established_s"] * 1e12) // 1000)
        at = established
        for _, begin, until in rest:
            assert begin == at
            at = until
        assert at == end


def test_amp_shows_its_suppressions(traced: Traced) -> None:
    result, trace = traced("amp")
    assert result.flows["suppressions"].sum() > 0
    for flow, suppressions in result.flows.select("flow", "suppressions").iter_rows():
        tracks = trace.of(flow)
        slices = [s for name, t in tracks.items() if "suppression" in name for s in t.slices]
        assert len(slices) >= suppressions
        assert {name for name, _, _ in slices} <= {"suppressed"}


def test_mmptcp_hands_over_by_arrows(traced: Traced) -> None:
    _, trace = traced("mmptcp")
    assert trace.arrows
    for ends in trace.arrows.values():
        [(first, source, sent), (second, target, taken)] = ends
        assert (first, second, sent) == ("from", "to", taken)
        assert trace.tracks[source].name == "subflow 0"
        assert trace.tracks[target].name in {"subflow 1", "subflow 2", "subflow 3"}
        assert trace.tracks[source].parent == trace.tracks[target].parent
        assert trace.tracks[target].slices[0][1] == taken


def test_queues_are_those_of_a_replay(traced: Traced) -> None:
    result, trace = traced("dctcp", flows=[0, 3], queues=["l0->h0"], every="20us")
    assert len(trace.processes) == 2
    again = result.replay({"queue": {"links": ["l0->h0"], "every": "20us"}})
    for unit, column in (("packets", "queue_pkts"), ("B", "queue_bytes")):
        [track] = [t for t in trace.tracks.values() if t.name == f"l0->h0, {unit}"]
        queue = again.queue.with_columns(ns=(pl.col("time_s") * 1e9).round().cast(pl.Int64))
        expected = list(queue.select("ns", pl.col(column).cast(pl.Float64)).iter_rows())
        assert track.counts == expected[: len(track.counts)]
        assert len(track.counts) > 100
        assert max(value for _, value in track.counts) > 0


def test_losses_say_where(traced: Traced) -> None:
    result, trace = traced("dctcp")
    names = [name for track in trace.tracks.values() for name, _ in track.instants]
    dropped = [name for name in names if name == "data lost at l0->h0: its queue is full"]
    drops = result.links.filter(pl.col("link") == "l0->h0")["drops"].item()
    assert len(dropped) == drops > 0


MESSAGES = (
    INCAST[: INCAST.index("[[workload")].replace('"1ms"', '"1s"', 1)
    + """
[[workload.collective]]
transport = "t"
algorithm = "all-to-all"
ranks = 4
stride = 2
size = "400KB"
chunks = 4
outstanding = 6
"""
)


# NDP has no connections that stay open.
@pytest.mark.parametrize("transport", [name for name in TRANSPORTS if name != "ndp"])
def test_messages_are_slices_of_their_connections(
    scenario: Callable[[str], Path], tmp_path: Path, transport: str
) -> None:
    result = linkpool.run(scenario(filled(MESSAGES, transport)))
    out = tmp_path / "trace.perfetto-trace"
    assert perfetto(result, out) == ""
    trace = read(out)
    flows = result.flows
    assert len(trace.processes) == flows["connection"].n_unique() == 12
    slices = {
        name: (begin, end)
        for track in trace.tracks.values()
        if track.name.startswith("messages")
        for name, begin, end in track.slices
    }
    assert len(slices) == flows.height == 48
    assert any(track.name == "messages, lane 2" for track in trace.tracks.values())
    for row in flows.iter_rows(named=True):
        ns = (int(round(row[time] * 1e12) // 1000) for time in ("start_s", "end_s"))
        assert slices[f"flow {row['flow']}, {row['size_bytes']} B"] == tuple(ns)
    # Counters and instants are those of the connection: the sums of its messages.
    for connection, of_it in flows.group_by("connection"):
        [process] = [
            u for u, n in trace.processes.items() if n.startswith(f"connection {connection[0]}:")
        ]
        tracks = [track for track in trace.tracks.values() if track.parent == process]
        names = Counter(name for track in tracks for name, _ in track.instants)
        assert names["retransmission timeout"] == of_it["timeouts"].sum()
        assert names["tail loss probe"] == of_it["probes"].sum()
        phases = Counter(name for track in tracks for name, _, _ in track.slices)
        assert phases["fast recovery"] == of_it["recoveries"].sum()


def test_one_message_is_traced_from_its_beginning(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Its connection appears with it, in the phase that it is in."""
    result = linkpool.run(scenario(filled(MESSAGES, "dctcp")))
    late = (
        result.flows.filter(pl.col("connection") != pl.col("flow"))
        .sort("start_s")
        .row(-1, named=True)
    )
    out = tmp_path / "trace.perfetto-trace"
    perfetto(result, out, flows=[late["flow"]])
    trace = read(out)
    [subflow] = [track for track in trace.tracks.values() if track.name == "subflow 0"]
    begin, end = (int(round(late[time] * 1e12) // 1000) for time in ("start_s", "end_s"))
    assert "handshake" not in {name for name, _, _ in subflow.slices}
    assert (subflow.slices[0][1], subflow.slices[-1][2]) == (begin, end)


def test_a_flow_that_is_not_there_is_an_error(traced: Traced) -> None:
    with pytest.raises(linkpool.ReplayError, match="has no flow 99; the closest number is 5,"):
        traced("dctcp", flows=[99])


# When the run ends, and when the job fails.
ENDS = {
    "done": ("20ms", 'at = ["700us"]'),
    "computing": ("100us", 'mtbf = "900s"'),
    "recovering": ("800us", 'at = ["700us"]'),
}


@pytest.mark.parametrize("when", ENDS)
def test_ranks_are_tracks_with_what_the_table_says(
    when: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Slices in those of iterations; also of runs that end in a computation, or in a recovery."""
    duration, fails = ENDS[when]
    text = JOB.replace('at = ["700us"]', fails)
    result = linkpool.run(
        scenario(text), out=tmp_path / "out", set={"duration": duration, "record.ranks": True}
    )
    result.perfetto(tmp_path / "trace", ranks=True)
    trace = read(tmp_path / "trace")
    assert trace.processes == {}, "no flow was named"
    tracks = {track.name: track for track in trace.tracks.values()}
    assert set(tracks) == {"ranks of train", *(f"rank {rank} on h{rank}" for rank in range(4))}
    spans = result.rank_spans
    assert (spans["doing"] == "recovery").any() == (when != "computing")
    for rank in range(4):
        own = spans.filter(rank=rank)
        track = tracks[f"rank {rank} on h{rank}"]
        assert trace.tracks[track.parent].name == "ranks of train"
        of = own.group_by("iteration", "restart", maintain_order=True).agg(
            pl.col("start_s").min(), pl.col("end_s").max()
        )
        expected = [*own.select("doing", "start_s", "end_s").iter_rows()]
        for iteration, restart, start, end in of.iter_rows():
            again = f", after {restart} restart{'s' * (restart > 1)}" if restart else ""
            expected.append((f"iteration {iteration}{again}", start, end))
        assert sorted(track.slices) == sorted((n, ns(a), ns(b)) for n, a, b in expected)


def ns(seconds: float) -> int:
    """Return whole nanoseconds of a time in whole picoseconds."""
    return round(seconds * 1e12) // 1000


def test_ranks_beside_a_flow_that_is_named(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """The flow ends first, and the run goes on; without `ranks` it ends with the flow."""
    result = linkpool.run(scenario(JOB), out=tmp_path / "out", set={"record.ranks": True})
    flow = result.flows.filter(src="h6")["flow"][0]
    result.perfetto(tmp_path / "both", flows=[flow], ranks=True)
    trace = read(tmp_path / "both")
    assert len(trace.processes) == 1
    last = max(end for track in trace.tracks.values() for _, _, end in track.slices)
    assert last == ns(max(result.rank_spans["end_s"]))
    result.perfetto(tmp_path / "flow", flows=[flow])
    names = [track.name for track in read(tmp_path / "flow").tracks.values()]
    assert not any(name.startswith("rank") for name in names)


def test_ranks_where_there_are_none(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    result = linkpool.run(scenario(filled(INCAST, "reno")), out=tmp_path / "out")
    with pytest.raises(linkpool.ReplayError, match="has no ranks"):
        result.perfetto(tmp_path / "trace", ranks=True)


@pytest.fixture
def served(scenario: Callable[[str], Path], tmp_path: Path) -> linkpool.Result:
    """Run two requests whose times are worked out in `test_two_requests_by_hand`."""
    (tmp_path / "r.csv").write_text(LINES, encoding="utf-8")
    return linkpool.run(scenario(RUN), out=tmp_path / "out")


def test_requests_are_tracks(served: linkpool.Result, tmp_path: Path) -> None:
    """The second request comes while the first is there, so it is on a lane of its own."""
    served.perfetto(tmp_path / "trace", requests=True)
    trace = read(tmp_path / "trace")
    assert trace.processes == {}, "no flow was named"
    tracks = {track.name: track for track in trace.tracks.values()}
    names = ["requests of chat", "requests", "requests, lane 2", "prefill on S1", "requests at S2"]
    assert list(tracks) == names
    assert {trace.tracks[tracks[name].parent].name for name in names[1:]} == {names[0]}
    begin, sent = 105 + transfer(10), 260 + transfer(15)
    last = begin + 252

    def at(*times: float) -> list[int]:
        return [int(1000 * time) for time in times]

    def slices(name: str) -> list[tuple[str, list[int]]]:
        return [(what, [first, last]) for what, first, last in sorted(tracks[name].slices)]

    step, decode = "wait for a step, first step on S2", "decode on S2"
    assert slices("requests") == [
        (decode, at(begin + 50, last)),
        ("prefill on S1", at(0, 105)),
        ("request 0", at(0, last)),
        ("transfer of keys and values to S2", at(105, begin)),
        (step, at(begin, begin + 50)),
    ]
    assert slices("requests, lane 2") == [
        ("prefill on S1", at(105, 260)),
        ("request 1", at(10, last)),
        ("transfer of keys and values to S2", at(260, sent)),
        (step, at(sent, last)),
        ("wait for prefill", at(10, 105)),
    ]
    assert slices("prefill on S1") == [("request 0", at(0, 105)), ("request 1", at(105, 260))]
    assert tracks["requests"].instants == [("first token", *at(begin + 50))]
    assert tracks["requests, lane 2"].instants == [("first token", *at(last))]
    times = at(0, begin, sent, last)
    assert tracks["requests at S2"].counts == list(zip(times, (0, 1, 2, 0), strict=True))


def test_steps_are_a_track(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Four of 50 us for the first request, and one of 52 us for both, as worked out there."""
    (tmp_path / "r.csv").write_text(LINES, encoding="utf-8")
    result = linkpool.run(scenario(f"{RUN}[record]\nsteps = true\n"), out=tmp_path / "out")
    begin = 105 + transfer(10)
    edges = [begin + 50 * i for i in range(5)] + [begin + 252]
    steps = result.decode_steps
    assert steps["host"].unique().to_list() == ["S2"]
    assert steps["step"].to_list() == [0, 1, 2, 3, 4]
    assert steps["start_s"].to_list() == pytest.approx([edge / 1e6 for edge in edges[:-1]])
    assert steps["end_s"].to_list() == pytest.approx([edge / 1e6 for edge in edges[1:]])
    assert steps["computed_s"].to_list() == pytest.approx([5e-5] * 4 + [5.2e-5])
    columns = steps.select("sequences", "joined", "tokens").rows()
    assert columns == [(1, 1, 1), (1, 0, 1), (1, 0, 1), (1, 0, 1), (2, 1, 2)]
    result.perfetto(tmp_path / "trace", requests=True)
    [track] = [t for t in read(tmp_path / "trace").tracks.values() if t.name == "steps on S2"]
    ns = [int(1000 * edge) for edge in edges]
    named = [(f"step {i}", ns[i], ns[i + 1]) for i in range(5)]
    assert sorted(track.slices) == named


@pytest.mark.parametrize("drain", ["0s", "40ms"])
def test_slices_of_many_requests_are_their_spans(tmp_path: Path, drain: str) -> None:
    """Also of requests that the end of the run cuts off. A lane has one request at a time."""
    result = linkpool.run(
        "docs/workloads/inference.toml", out=tmp_path / "out", set={"drain": drain}
    )
    result.perfetto(tmp_path / "trace", requests=True)
    tracks = read(tmp_path / "trace").tracks.values()
    lanes = [track for track in tracks if track.name.partition(",")[0] == "requests"]
    inside: Counter[tuple[int, int]] = Counter()
    whole = 0
    for lane in lanes:
        requests = sorted((a, b) for name, a, b in lane.slices if name.startswith("request "))
        assert all(before[1] <= after[0] for before, after in pairwise(requests))
        whole += len(requests)
        inside.update((a, b) for name, a, b in lane.slices if not name.startswith("request "))
    assert whole == result.requests.height
    spans = request_spans(result)
    assert inside == Counter((ns(a), ns(b)) for a, b in spans.select("start_s", "end_s").rows())
    prompts = [s for track in tracks if track.name.startswith("prefill on ") for s in track.slices]
    begun = result.requests.drop_nulls("prefill_start_s")
    assert len(prompts) == begun.height
    # A counter over time is the sum of the times that requests are there.
    end = ns(float(result.run["simulated_s"]))
    there = 0.0
    for track in (track for track in tracks if track.name.startswith("requests at ")):
        for (at, level), (until, _) in zip(
            track.counts, [*track.counts[1:], (end, 0.0)], strict=True
        ):
            there += level * (until - at)
    expected = sum(
        ns(a) - ns(b)
        for a, b in result.requests.drop_nulls("kv_arrived_s")
        .select(pl.col("end_s").fill_null(float(result.run["simulated_s"])), "kv_arrived_s")
        .rows()
    )
    assert there == expected > 0


def test_requests_have_as_many_lanes_as_they_need(tmp_path: Path) -> None:
    """The third of `LIVES` ends when the fifth comes, which takes its lane."""
    for number, requests in enumerate((lives(), lives()[[2, 4]])):
        out, trace = tmp_path / f"out{number}", tmp_path / f"trace{number}"
        write_result(out, table("flows", [finished(0.1)]), requests=requests)
        linkpool.Result(out).perfetto(trace, requests=True)
        tracks = read(trace).tracks.values()
        lanes = [track for track in tracks if track.name.startswith("requests") and track.slices]
        times = requests.select("arrival_s", until=pl.col("end_s").fill_null(1.0)).rows()
        assert len(lanes) == max(sum(a <= at < b for a, b in times) for at, _ in times)
    assert len(lanes) == 1


def test_events_of_requests_are_in_order_of_time(tmp_path: Path) -> None:
    write_result(tmp_path / "out", table("flows", [finished(0.1)]), requests=lives())
    linkpool.Result(tmp_path / "out").perfetto(tmp_path / "trace", requests=True)
    whole: Any = PB.Trace()
    whole.ParseFromString((tmp_path / "trace").read_bytes())
    events = [p.timestamp for p in whole.packet if p.HasField("track_event")]
    assert events == sorted(events)
    assert {packet.trusted_packet_sequence_id for packet in whole.packet} == {2}


def test_requests_beside_a_flow_that_is_named(served: linkpool.Result, tmp_path: Path) -> None:
    """The simulator writes the flow, and the tracks of requests are added."""
    served.perfetto(tmp_path / "flow", flows=[0])
    served.perfetto(tmp_path / "requests", requests=True)
    served.perfetto(tmp_path / "both", flows=[0], requests=True)
    names = [{t.name for t in read(tmp_path / name).tracks.values()} for name in ("flow", "both")]
    assert "subflow 0" in names[0] <= names[1]
    assert "requests of chat" in names[1] - names[0]
    # Traces that follow each other in a file are one.
    parts = [(tmp_path / name).read_bytes() for name in ("flow", "requests", "both")]
    assert parts[0] + parts[1] == parts[2]


def test_requests_where_there_are_none(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    result = linkpool.run(scenario(filled(INCAST, "reno")), out=tmp_path / "out")
    with pytest.raises(linkpool.ReplayError, match="has no requests"):
        result.perfetto(tmp_path / "trace", requests=True)


def test_queues_need_a_run_that_is_made_again(served: linkpool.Result, tmp_path: Path) -> None:
    with pytest.raises(linkpool.ReplayError, match="name a flow, or ask for ranks"):
        served.perfetto(tmp_path / "trace", requests=True, queues=["S1->W"])


def test_a_sampling_interval_needs_a_queue(tmp_path: Path) -> None:
    said = CliRunner().invoke(
        app, ["perfetto", str(tmp_path), "--every", "1us", "-o", str(tmp_path / "t")]
    )
    assert said.exit_code == 2
    assert "name one with --queue" in " ".join(said.output.split())
