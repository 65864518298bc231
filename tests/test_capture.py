"""Packet captures, read by the real tshark: well formed, with the connections that ran."""

import hashlib
import hmac
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import linkpool

TSHARK = shutil.which("tshark")

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(TSHARK is None, reason="tshark is not installed"),
]

OPTIONS = (
    "tcp.check_checksum:TRUE",
    "ip.check_checksum:TRUE",
    "tcp.analyze_sequence_numbers:TRUE",
    "mptcp.analyze_mptcp:TRUE",
    "mptcp.analyze_mappings:TRUE",
    "mptcp.intersubflows_retransmission:TRUE",
)

ERROR = "8388608"
"""The severity of an error in tshark's numbers."""

GOOD = "1"
"""Of a checksum: it was computed, and is right."""

TREE = """
seed = 5
duration = "3ms"
drain = "900ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "2us"
[queue]
limit = 30
mark = 8
[queue.layer.host]
limit = 1000
[transport.t]
syn_timeout = "10ms"
min_rto = "5ms"
{transport}
[[workload.incast]]
transport = "t"
senders = 6
receiver = "h0"
size = "{size}"
every = "3ms"
[record.capture]
payload = true
{capture}
"""

TRANSPORTS = {
    "reno": 'control = "reno"\nrecovery = "newreno"',
    "sack": 'control = "cubic"\nrecovery = "sack"',
    "dctcp": 'control = "dctcp"',
    "buffer": 'control = "reno"\nreceive_buffer = "64KiB"\nread_rate = "500Mbps"',
    "lia": 'control = "lia"\nsubflows = 2',
    "backup": 'control = "olia"\nsubflows = 2\nbackup = [1]',
    "amp": 'control = "amp"\nsubflows = 2',
    "xmp": 'control = "xmp"\nsubflows = 4',
    "mmptcp": 'control = "mmptcp"\nsubflows = 3\nswitch_bytes = "50KB"',
    "plb": 'control = "dctcp"\npaths = "plb"',
    "reps": 'control = "dctcp"\npaths = "reps"',
    "scatter": 'control = "dctcp"\npaths = "scatter"',
}

MULTIPATH = ("lia", "backup", "amp", "xmp", "mmptcp")

KEYS = ("sendkey", "recvkey", "recvtok", "sendrand", "sendtrunchmac", "sendhmac")


Run = Callable[..., linkpool.Result]


@pytest.fixture
def captured(scenario: Callable[[str], Path]) -> Run:
    """Return a function that runs incast of a transport, with a capture."""

    def run(transport: str, size: str = "300KB", capture: str = "") -> linkpool.Result:
        text = TREE.format(transport=TRANSPORTS[transport], size=size, capture=capture)
        return linkpool.run(scenario(text))

    return run


def tshark(result: linkpool.Result, *fields: str, only: str = "") -> list[dict[str, str]]:
    """Return fields of the packets that tshark reads from a capture."""
    assert TSHARK is not None
    wanted = [arg for field in fields for arg in ("-e", field)]
    options = [arg for option in OPTIONS for arg in ("-o", option)]
    file = str(result.dir / "capture.pcapng")
    chosen = ["-Y", only] if only else []
    said = subprocess.run(
        [TSHARK, "-2", "-r", file, "-n", *options, *chosen, "-T", "fields", *wanted],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = [line.split("\t") for line in said.stdout.splitlines()]
    return [dict(zip(fields, row, strict=True)) for row in rows]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("size", ["900B", "300KB"])
def test_every_packet_is_well_formed(captured: Run, transport: str, size: str) -> None:
    result = captured(transport, size)
    rows = tshark(
        result,
        "frame.protocols",
        "ip.checksum.status",
        "tcp.checksum.status",
        "_ws.malformed",
        "_ws.expert.severity",
        "_ws.expert.message",
        "frame.len",
        "frame.cap_len",
    )
    assert len(rows) > 6
    messages = Counter(row["_ws.expert.message"] for row in rows)
    assert not any(ERROR in row["_ws.expert.severity"].split(",") for row in rows), messages
    assert {row["_ws.malformed"] for row in rows} == {""}
    assert {(row["ip.checksum.status"], row["tcp.checksum.status"]) for row in rows} == {
        (GOOD, GOOD)
    }
    protocols = {name for row in rows for name in row["frame.protocols"].split(":")}
    assert protocols <= {"eth", "ethertype", "ip", "tcp", "mptcp", "data"}, (
        "and no guess at payload"
    )
    assert all(row["frame.len"] == row["frame.cap_len"] for row in rows)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_its_analysis_agrees_with_the_counters(captured: Run, transport: str) -> None:
    """At the sender no packet is lost before it is seen, so counts must be the same."""
    result = captured(transport)
    analysis = ("retransmission", "out_of_order")
    rows = tshark(
        result,
        "tcp.stream",
        "mptcp.stream",
        "tcp.len",
        "tcp.flags.ece",
        "tcp.flags.syn",
        "ip.src",
        "ip.dsfield.ecn",
        *(f"tcp.analysis.{name}" for name in analysis),
    )
    sums = result.flows.sum()
    data = [row for row in rows if row["tcp.len"] != "0"]
    assert len(data) == sums["segments"][0]
    # A segment that is sent again soon is taken for one that was overtaken.
    again = [row for row in data if any(row[f"tcp.analysis.{name}"] for name in analysis)]
    assert len(again) == sums["retransmits"][0] > 0
    echoes = [row for row in rows if row["tcp.flags.ece"] == "1" and row["tcp.flags.syn"] == "0"]
    # ACKs that come after the end of a flow are not counted.
    late = len(echoes) - sums["marked_acks"][0]
    assert 0 <= late <= 2 * result.flows.height
    assert ("2" in {row["ip.dsfield.ecn"] for row in data}) == (len(echoes) > 0)
    assert len({row["tcp.stream"] for row in rows}) >= sums["subflows"][0]
    connections = {row["mptcp.stream"] for row in rows} - {""}
    assert len(connections) == (result.flows.height if transport in MULTIPATH else 0)
    streams: dict[str, set[str]] = {}
    for row in rows:
        streams.setdefault(row["tcp.stream"], set()).add(row["mptcp.stream"])
    if transport in MULTIPATH:
        answered = result.subflows.drop_nulls("established_s").height
        assert sum(len(of - {""}) == 1 for of in streams.values()) >= answered


def test_joins_prove_that_they_have_the_keys(captured: Run) -> None:
    """Tokens, random numbers and codes are those of RFC 8684, section 3.2."""
    result = captured("xmp")
    option = "tcp.options.mptcp"
    rows = tshark(
        result,
        "tcp.stream",
        "mptcp.stream",
        *(f"{option}.{name}" for name in KEYS),
        only=f"{option}.subtype <= 1",
    )
    by_connection: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_connection.setdefault(row["mptcp.stream"], []).append(row)
    joins = 0
    for of_connection in by_connection.values():
        keys = next(row for row in of_connection if row[f"{option}.recvkey"])
        a, b = (int(keys[f"{option}.{end}key"], 0).to_bytes(8, "big") for end in ("send", "recv"))
        token = int.from_bytes(hashlib.sha256(b).digest()[:4], "big")
        by_stream: dict[str, list[dict[str, str]]] = {}
        for row in of_connection:
            by_stream.setdefault(row["tcp.stream"], []).append(row)
        for handshake in by_stream.values():
            tokens = {row[f"{option}.recvtok"] for row in handshake} - {""}
            if not tokens:
                continue
            assert {int(found, 0) for found in tokens} == {token}
            short = [row for row in handshake if row[f"{option}.sendtrunchmac"]]
            long = [row for row in handshake if row[f"{option}.sendhmac"]]
            if not long:
                continue
            joins += 1
            random_a = int(handshake[0][f"{option}.sendrand"], 0).to_bytes(4, "big")
            random_b = int(short[0][f"{option}.sendrand"], 0).to_bytes(4, "big")
            code_b = hmac.digest(b + a, random_b + random_a, "sha256")
            code_a = hmac.digest(a + b, random_a + random_b, "sha256")
            assert int(short[0][f"{option}.sendtrunchmac"], 0).to_bytes(8, "big") == code_b[:8]
            assert bytes.fromhex(long[0][f"{option}.sendhmac"].replace(":", "")) == code_a[:20]
    assert joins == result.subflows.drop_nulls("established_s").height - result.flows.height > 0


@pytest.mark.parametrize("transport", ["lia", "mmptcp"])
def test_mappings_cover_the_stream(captured: Run, transport: str) -> None:
    result = captured(transport)
    option = "tcp.options.mptcp"
    rows = tshark(
        result,
        "mptcp.stream",
        "tcp.len",
        f"{option}.sendkey",
        f"{option}.recvkey",
        f"{option}.rawdataseqno",
        f"{option}.datalvllen",
        f"{option}.rawdataack",
        f"{option}.datafin.flag",
        "tcp.srcport",
    )
    size = 300_000
    for stream in {row["mptcp.stream"] for row in rows}:
        of_one = [row for row in rows if row["mptcp.stream"] == stream]
        keys = next(row for row in of_one if row[f"{option}.recvkey"])
        digest = hashlib.sha256(int(keys[f"{option}.sendkey"], 0).to_bytes(8, "big")).digest()
        first = int.from_bytes(digest[-4:], "big") + 1
        reached = set()
        acked = 0
        for row in of_one:
            server = int(row["tcp.srcport"]) >= 49152
            if row[f"{option}.rawdataseqno"]:
                start = (int(row[f"{option}.rawdataseqno"]) - first) % (1 << 32)
                length = int(row[f"{option}.datalvllen"])
                fin = row[f"{option}.datafin.flag"] == "1"
                assert length == int(row["tcp.len"]) + fin
                reached.add((start, start + length - fin))
                assert not fin or start + length - 1 == size
            elif row[f"{option}.datalvllen"]:
                reached.add((0, int(row["tcp.len"])))
            if server and row[f"{option}.rawdataack"]:
                acked = max(acked, (int(row[f"{option}.rawdataack"]) - first) % (1 << 32))
        at = 0
        for start, end in sorted(reached):
            assert start <= at, "without a gap"
            at = max(at, end)
        assert (at, acked) == (size, size + 1), "the DATA_FIN is acknowledged, too"


def test_ports_of_hosts_and_links_show_what_they_carried(captured: Run) -> None:
    capture = 'hosts = ["h1"]\nlinks = ["l0->h0", "s0->l0"]'
    result = captured("dctcp", capture=capture)
    rows = tshark(result, "frame.interface_name", "frame.packet_flags_direction", "frame.len")
    seen = Counter(
        (row["frame.interface_name"], row["frame.packet_flags_direction"]) for row in rows
    )
    carried = dict(result.links.select("link", "packets").iter_rows())
    out, back = "0x00000002", "0x00000001"
    assert seen == {
        ("h1->l0", out): carried["h1->l0"],
        ("h1->l0", back): carried["l0->h1"],
        ("l0->h0", out): carried["l0->h0"],
        ("s0->l0", out): carried["s0->l0"],
    }


def test_it_is_the_same_on_several_threads(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = scenario(TREE.format(transport=TRANSPORTS["xmp"], size="300KB", capture=""))
    contents = []
    for threads in (1, 3):
        result = linkpool.run(file, threads=threads, out=tmp_path / str(threads))
        contents.append((result.dir / "capture.pcapng").read_bytes())
    assert contents[0] == contents[1]


def test_flows_time_and_payload_are_chosen(captured: Run) -> None:
    whole = captured("sack")
    chosen = 'flows = [2]\nfrom = "100us"\nuntil = "10ms"'
    part = captured("sack", capture=chosen)
    fields = ("frame.time_epoch", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.checksum")
    of_flow = f"(tcp.port == {36000 + 2 * 32})"
    expected = [
        row
        for row in tshark(whole, *fields, only=of_flow)
        if 100e-6 <= float(row["frame.time_epoch"]) <= 10e-3
    ]
    found = tshark(part, *fields)
    assert len(found) > 10
    assert [list(row.values()) for row in found] == [list(row.values()) for row in expected]


def test_payload_is_left_out(scenario: Callable[[str], Path]) -> None:
    text = TREE.format(transport=TRANSPORTS["lia"], size="300KB", capture="")
    whole, headers = (
        linkpool.run(scenario(text.replace("payload = true", f"payload = {payload}")))
        for payload in ("true", "false")
    )
    fields = ("frame.len", "tcp.len", "tcp.checksum", "ip.len")
    assert tshark(whole, *fields) == tshark(headers, *fields)
    lengths = tshark(headers, "frame.cap_len", "frame.len", "tcp.len", "_ws.malformed")
    assert all(
        int(row["frame.len"]) - int(row["frame.cap_len"]) == int(row["tcp.len"]) for row in lengths
    )
    assert {row["_ws.malformed"] for row in lengths} == {""}


@pytest.mark.parametrize(
    ("transport", "why"),
    [
        ('control = "ndp"', 'control = "ndp"'),
        ('control = "dctcp"\ntrimming = true', "trimming = true"),
    ],
)
def test_packets_without_a_tcp_header_are_refused(
    scenario: Callable[[str], Path], transport: str, why: str
) -> None:
    text = f"""
duration = "1ms"
[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "1us"
[queue]
discipline = "trimming"
[transport.t]
{transport}
[[workload.incast]]
transport = "t"
senders = 2
receiver = "R"
size = "9KB"
every = "1ms"
[record.capture]
"""
    with pytest.raises(linkpool.ScenarioError, match="cannot be captured") as said:
        linkpool.check(scenario(text))
    assert "record.capture" in str(said.value)
    assert why in str(said.value)


PAUSED = """
duration = "100us"
[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "2us"
[queue]
discipline = "priority"
pfc = { buffer = "200KB", xoff = "20KB", reserve = "0B", quanta = 50000 }
[transport.high]
control = "roce"
priority = "high"
[transport.low]
control = "roce"
[[workload.flow]]
transport = "high"
from = "S1"
to = "R"
[[workload.flow]]
transport = "low"
from = "S2"
to = "R"
[record.capture]
packets = false
links = ["W->S1", "W->S2"]
"""


def test_pause_frames_are_those_of_ieee_802_1qbb(scenario: Callable[[str], Path]) -> None:
    """Low priority, class 0, waits behind high, class 7, so W pauses S2 and never S1."""
    result = linkpool.run(scenario(PAUSED))
    rows = tshark(
        result,
        "frame.protocols",
        "frame.len",
        "frame.interface_name",
        "eth.dst",
        "macc.opcode",
        "macc.cbfc.enbv",
        "macc.cbfc.pause_time.c0",
        "macc.cbfc.pause_time.c7",
        "frame.time_epoch",
        "_ws.malformed",
        "_ws.expert.message",
    )
    pauses = dict(result.pauses.select("link", "frames_sent").iter_rows())
    assert len(rows) == pauses["W->S2"] > 0
    assert pauses["W->S1"] == 0
    for row in rows:
        assert row["frame.protocols"] == "eth:ethertype:macc"
        assert (row["frame.len"], row["frame.interface_name"]) == ("60", "W->S2")
        assert (row["eth.dst"], int(row["macc.opcode"], 0)) == ("01:80:c2:00:00:01", 0x0101)
        assert (int(row["macc.cbfc.enbv"], 0), row["macc.cbfc.pause_time.c7"]) == (1, "0")
        assert not row["_ws.malformed"]
        assert not row["_ws.expert.message"]
    # Packet n of S2, 1,106 B, comes to W after n x 884.8 + 2,000 ns. One leaves, as the port falls
    # free at the instant at which the second of S1 comes. Of those that wait the 19th passes 20 KB,
    # and the frame takes 67.2 ns.
    assert rows[0]["macc.cbfc.pause_time.c0"] == "50000"
    assert float(rows[0]["frame.time_epoch"]) == pytest.approx(19.763e-6, abs=1e-9)
