"""Packet captures of RoCE and UET: by tshark, byte by byte, and beside the counters of the run."""

import shutil
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import linkpool

pytestmark = pytest.mark.core

TSHARK = shutil.which("tshark")

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
{queue}
[transport.t]
{transport}
[[workload.incast]]
transport = "t"
senders = 6
receiver = "h0"
size = "{size}"
every = "3ms"
[record.capture]
{capture}
"""

LOSSY = "limit = 30\nmark = 8\n[queue.layer.host]\nlimit = 1000"
TRIMMING = 'limit = "40KB"\nmark = "10KB"\ndiscipline = "trimming"'
DROPPING = 'limit = "40KB"\nmark = "10KB"'

WINDOW = 'min_rto = "1ms"\nwindow = "60KB"'

ROCE = {
    "roce": f'control = "roce"\n{WINDOW}',
    "reordering": f'control = "roce"\n{WINDOW}\nreorder_window = 8\npaths = "scatter"',
    "selective": f'control = "roce"\n{WINDOW}\nretransmission = "selective"',
    "pinned": f'control = "roce"\n{WINDOW}\npaths = "distinct"',
    "dcqcn": 'control = "dcqcn"\nmin_rto = "1ms"\ncnp_interval = "10us"',
    "dcqcn-hpcc": 'control = "dcqcn-hpcc"\nmin_rto = "1ms"',
    "hpcc": 'control = "hpcc"\nmin_rto = "1ms"',
    "hpcc-pint": 'control = "hpcc-pint"\nmin_rto = "1ms"',
    "powertcp": 'control = "powertcp"\nmin_rto = "1ms"\nretransmission = "selective"',
}

UET = {
    "nscc": (TRIMMING, 'control = "uet"'),
    "credit": (TRIMMING, 'control = "uet"\nreceiver_credit = true'),
    "eqds": (TRIMMING, 'control = "uet"\nreceiver_credit = true\nsender_law = "none"'),
    "sleek": (DROPPING, 'control = "uet"\ntrimmable = false\nsleek = true'),
    "dropping": (DROPPING, 'control = "uet"\ntrimmable = false\nmss = "1000B"'),
    "subflows": (TRIMMING, 'control = "uet"\nsubflows = 4'),
    "many-values": (TRIMMING, 'control = "uet"\nentropies = 32768'),
}

CABLES = [f"h{host}<->l{host // 4}" for host in range(8)]
CABLES += [f"l{leaf}<->s{spine}" for leaf in range(2) for spine in range(2)]
ALL_LINKS = "links = [{}]".format(", ".join(f'"{cable}"' for cable in CABLES))


@dataclass
class Frame:
    """A frame of a capture."""

    port: str
    at: int
    length: int
    data: bytes

    @property
    def ip_length(self) -> int:
        """The length that the header of IPv4 has."""
        return int.from_bytes(self.data[16:18], "big")

    def word(self, at: int, size: int) -> int:
        """Return a number of `size` bytes, from a place behind the header of UDP."""
        return int.from_bytes(self.data[42 + at : 42 + at + size], "big")

    @property
    def ports(self) -> tuple[int, int]:
        """The ports of UDP."""
        return struct.unpack(">HH", self.data[34:38])


def frames(result: linkpool.Result) -> Iterator[Frame]:
    """Return the frames of a capture (draft-ietf-opsawg-pcapng, section 4)."""
    content, at = (result.dir / "capture.pcapng").read_bytes(), 0
    names: list[str] = []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 1:
            options = at + 16
            while options < at + length - 4:
                code, size = struct.unpack_from("<HH", content, options)
                if code == 2:
                    names.append(content[options + 4 : options + 4 + size].decode())
                options += 4 + (size + 3) // 4 * 4
        elif kind == 6:
            port, high, low, kept, whole = struct.unpack_from("<IIIII", content, at + 8)
            data = content[at + 28 : at + 28 + kept]
            yield Frame(names[port], high << 32 | low, whole, data)
        at += length


Run = Callable[..., linkpool.Result]


@pytest.fixture
def run(scenario: Callable[[str], Path]) -> Run:
    """Return a function that runs an incast with a capture."""

    def run(queue: str, transport: str, size: str = "300KB", capture: str = "") -> linkpool.Result:
        text = TREE.format(queue=queue, transport=transport, size=size, capture=capture)
        return linkpool.run(scenario(text))

    return run


def dissected(result: linkpool.Result, *fields: str) -> list[tuple[str, ...]]:
    """Return fields of the packets that tshark reads from a capture."""
    assert TSHARK is not None
    command = [TSHARK, "-r", str(result.dir / "capture.pcapng"), "-n", "-T", "fields"]
    command += ["-o", "ip.check_checksum:TRUE", "--disable-protocol", "rpcordma"]
    command += [arg for field in fields for arg in ("-e", field)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    return [tuple(line.split("\t")) for line in said.stdout.splitlines()]


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed")
@pytest.mark.parametrize("payload", [True, False])
@pytest.mark.parametrize("transport", [*ROCE, *UET])
def test_every_packet_is_well_formed(run: Run, transport: str, payload: bool) -> None:
    queue, text = UET.get(transport) or (LOSSY, ROCE[transport])
    result = run(queue, text, "30001B", f"payload = {str(payload).lower()}")
    rows = dissected(
        result, "frame.protocols", "ip.checksum.status", "_ws.malformed", "_ws.expert.severity"
    )
    assert len(rows) > 100
    assert {row[1:] for row in rows} == {("1", "", "")}
    protocols = {name for row in rows for name in row[0].split(":")}
    family = {"data"} if transport in UET else {"infiniband", "data"}
    assert protocols <= {"eth", "ethertype", "ip", "udp"} | family, "and no guess at payload"


def invariant_check(data: bytes) -> bytes:
    """Return the ICRC of a frame, with zlib (InfiniBand, annex A17.3.3)."""
    packet = bytearray(data[14:-4])
    for place in (1, 8, 10, 11, 26, 27, 32):
        packet[place] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + packet))


SENDS = {0: "first", 1: "middle", 2: "last", 4: "only"}
TELEMETRY = {"hpcc": 42, "powertcp": 42, "hpcc-pint": 2}
"""Bytes of what switches write: records, or a digest."""
UNCOUNTED = 24
"""Preamble, check sequence and gap of Ethernet, which are not in a capture."""


@pytest.mark.parametrize("transport", ROCE)
def test_frames_of_roce_are_what_the_run_counted(run: Run, transport: str) -> None:
    result = run(LOSSY, ROCE[transport], "300001B", "payload = true")
    told = TELEMETRY.get(transport, 0)
    digests: set[int] = set()
    sums = totals(result)
    flows, counts, named = result.flows, Counter[str](), Counter[str]()
    seen: set[tuple[int, int]] = set()
    for frame in frames(result):
        assert frame.data[-4:] == invariant_check(frame.data)
        assert len(frame.data) == frame.length
        assert frame.ports[1] == 4791
        assert frame.ports[0] >= 0xC000
        if transport == "pinned":
            assert frame.ports[0] == 0xC000 + (frame.word(5, 3) - 2) // 2
        opcode, flags, partition = frame.word(0, 1), frame.word(1, 1), frame.word(2, 2)
        becn, pair, number = frame.word(4, 1), frame.word(5, 3), frame.word(9, 3)
        assert partition == 0xFFFF
        if opcode in SENDS:
            assert (pair % 2, becn, frame.word(8, 1)) == (0, 0, 0x80)
            payload, padding = frame.length - 58 - told - (flags >> 4), flags >> 4
            assert payload == (1_024 if number < 292 else 300_001 - 292 * 1_024)
            assert (payload + padding) % 4 == 0
            place = {0: "first", 292: "last"}.get(number, "middle")
            assert SENDS[opcode] == place
            counts["data"] += 1
            counts["again"] += (pair, number) in seen
            seen.add((pair, number))
            continue
        assert (pair % 2, flags, frame.word(8, 1)) == (1, 0, 0)
        if opcode == 0x81:
            assert (frame.length, becn, number) == (74, 0x40, 0)
            counts["cnps"] += 1
            continue
        assert opcode == 0x11
        syndrome, messages = frame.word(12, 1), frame.word(13, 3)
        more = frame.length - 62 - told
        assert more in (0, 4)
        named[f"{syndrome} {more}"] += 1
        done = number == 292 if syndrome == 0x1F else False
        assert messages == int(done)
        counts["nacks"] += syndrome == 0x60
        counts["cnps"] += becn == 0x40
        if more:
            answered = frame.word(16 + told, 4)
            assert answered != number
            if syndrome == 0x60:
                assert answered > number
        else:
            assert syndrome == 0x1F
        if told == 2:
            digests.add(frame.word(16, 2))
        elif told:
            hops = frame.word(16 + told - 2, 2)
            assert hops in (1, 3), "switches on the way"
            records = [frame.word(16 + 8 * hop, 8) for hop in range(5)]
            assert all((record > 0) == (hop < hops) for hop, record in enumerate(records))
            assert {record >> 61 for record in records[:hops]} == {7}, "10 Gbit/s have no number"
    if told == 2:
        # The port to h0 is full: 512 is between the powers 127 and 128 of 1.05.
        assert digests & {127, 128}
        assert max(digests) < 256
    assert counts["data"] == flows["segments"].sum()
    assert counts["again"] == flows["retransmits"].sum() > 0
    # Answers that come after the end of a flow are not counted.
    late = 2 * flows.height
    for name in ("nacks", "cnps"):
        assert 0 <= counts[name] - sums[name] <= late, name
    assert (counts["cnps"] > 0) == transport.startswith("dcqcn")
    assert counts["nacks"] > 0
    assert named["31 0"] > 0
    assert named["96 4"] == counts["nacks"], "each says what came in place of what is missing"
    if transport == "reordering":
        assert named["31 4"] > 0, "packets that are kept out of order"


def totals(result: linkpool.Result) -> dict[str, int]:
    """Return the sums of all metrics."""
    sums = result.metrics.group_by("metric").agg(pl.col("value").sum())
    return {metric: int(value) for metric, value in sums.iter_rows()}


def carried(result: linkpool.Result) -> dict[str, int]:
    """Return the bytes of each link that has carried any."""
    return {row["link"]: row["bytes"] for row in result.links.to_dicts() if row["bytes"]}


@pytest.mark.parametrize("transport", ["dcqcn", "hpcc", "hpcc-pint", "selective"])
def test_lengths_of_roce_are_those_of_the_run(run: Run, transport: str) -> None:
    """All bytes that links carried, but those that the model has not."""
    result = run(LOSSY, ROCE[transport], "300001B", ALL_LINKS)
    told = TELEMETRY.get(transport, 0)
    sizes = Counter[str]()
    for frame in frames(result):
        opcode = frame.word(0, 1)
        more = {0x81: 12, 0x11: frame.length - 62 - told}.get(opcode, frame.word(1, 1) >> 4)
        sizes[frame.port] += frame.length + UNCOUNTED - more
        assert opcode in SENDS or len(frame.data) == frame.length, "answers are whole"
    assert sizes == carried(result)


TYPES = {1: "data", 2: "probe", 3: "rts", 4: "ack", 5: "nack", 6: "pull"}


@pytest.mark.parametrize("transport", UET)
def test_frames_of_uet_are_what_the_run_counted(run: Run, transport: str) -> None:
    queue, text = UET[transport]
    result = run(queue, text, "300001B")
    mss = 1_000 if transport == "dropping" else 4_096
    last = 300_001 // mss
    sums = totals(result)
    counts, values = Counter[str](), set()
    received: dict[int, int] = {}
    for frame in frames(result):
        kind = TYPES[frame.word(0, 1) >> 4]
        flags, subflow = frame.word(0, 2) >> 5 & 0x7F, frame.word(0, 2) & 0x1F
        flow, psn, total, count = (
            frame.word(at, size) for at, size in ((2, 2), (4, 4), (8, 4), (12, 4))
        )
        assert frame.ports[1] == 4793
        assert (flow < 6, subflow < 4) == (True, True)
        source = frame.ports[0]
        values.add(source - 49_152 if source >= 49_152 else source - 16_384)
        payload = count if kind == "data" and not flags & 0b100 else 0
        assert frame.ip_length == 64 + payload
        assert (frame.length, len(frame.data)) == (14 + 64 + payload, 78)
        counts[kind] += 1
        match kind:
            case "data":
                assert count == (mss if psn < last else 300_001 - last * mss)
                assert (flags >> 4 & 1) == (psn == last), "LAST"
                counts["again"] += flags >> 5 & 1
                assert not flags & 0b100, "no switch before its sender has trimmed it"
            case "ack":
                base, bitmap, bytes_ = frame.word(16, 4), frame.word(20, 8), frame.word(28, 8)
                assert total <= last + 1
                above = [base + bit for bit in range(64) if bitmap >> bit & 1]
                assert all(number > total for number in above), "the first missing one is no bit"
                assert len(above) <= count
                assert bytes_ >= received.get(flow, 0) - 64 * mss
                received[flow] = max(bytes_, received.get(flow, 0))
                counts["marked"] += flags >> 4 & 1
    assert counts["data"] == result.flows["segments"].sum()
    assert counts["again"] == result.flows["retransmits"].sum()
    assert counts["rts"] == sums["asked"]
    assert counts["probe"] == sums["probes"]
    for kind, metric in (("ack", "acks"), ("nack", "nacks"), ("pull", "pulls")):
        late = max(3, counts[kind] // 10)
        assert 0 <= counts[kind] - sums[metric] <= late, kind
    assert set(received.values()) == {300_001 + 64 * (last + 1)}
    assert (counts["nack"] > 0) == (queue == TRIMMING)
    assert (counts["pull"] > 0) == (transport in ("credit", "eqds"))
    assert (counts["probe"] > 0) == (transport == "sleek")
    assert max(values) < (32_768 if transport == "many-values" else 64)
    assert (max(values) >= 16_384) == (transport == "many-values")


@pytest.mark.parametrize("transport", UET)
def test_lengths_of_uet_are_those_of_the_run(run: Run, transport: str) -> None:
    """The packet of IPv4 has the size of the model, which has no header of Ethernet."""
    queue, text = UET[transport]
    result = run(queue, text, "300001B", ALL_LINKS)
    sizes, trimmed = Counter[str](), Counter[str]()
    for frame in frames(result):
        sizes[frame.port] += frame.ip_length
        trimmed[frame.port] += frame.word(0, 1) >> 4 == 1 and frame.ip_length == 64
    assert sizes == carried(result)
    assert (sum(trimmed.values()) > 0) == (queue == TRIMMING)


@pytest.mark.parametrize("transport", ["dcqcn", "credit", "sleek"])
def test_what_hosts_say_is_known_between_switches(run: Run, transport: str) -> None:
    """Whose packets are, and which messages have arrived, is told where no port is recorded."""
    queue, text = UET.get(transport) or (LOSSY, ROCE[transport])
    # Answers of RoCE pass no port that their data has passed, and data of UET none of its answers.
    leaf = "l0" if transport == "dcqcn" else "l1"
    result = run(queue, text, "300001B", f'links = ["{leaf}->s0", "{leaf}->s1"]')
    counts, messages = Counter[str](), set()
    for frame in frames(result):
        counts[frame.port] += 1
        if transport == "dcqcn" and frame.word(0, 1) == 0x11:
            messages.add(frame.word(13, 3))
    links = {row["link"]: row["packets"] for row in result.links.to_dicts() if row["packets"]}
    assert counts == {link: count for link, count in links.items() if link.startswith(f"{leaf}->s")}
    assert len(counts) == 2
    assert messages == ({0, 1} if transport == "dcqcn" else set())


@pytest.mark.parametrize("transport", ["dcqcn", "credit"])
def test_flows_can_be_chosen(run: Run, transport: str) -> None:
    queue, text = UET.get(transport) or (LOSSY, ROCE[transport])
    both = [list(frames(run(queue, text, "30001B", more))) for more in ("", "flows = [2]")]

    def of_two(frame: Frame) -> bool:
        if transport == "dcqcn":
            return frame.word(5, 3) in (6, 7)
        return frame.word(2, 2) == 2

    every, chosen = both
    assert [frame.data for frame in every if of_two(frame)] == [frame.data for frame in chosen]
    assert len(every) > len(chosen) > 0
