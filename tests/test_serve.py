"""The session for another process: each verb, its known answers, and what it refuses."""

import io
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import linkpool
from linkpool.scenario import Scenario
from linkpool.serve import MOST_BYTES, SCHEMA, Server, canonical

pytestmark = pytest.mark.core

ROOT = Path(__file__).resolve().parent.parent

FABRIC = """
duration = "1ms"
drain = "1ms"
[topology.many-to-one]
senders = 3
rate = "400Gbps"
delay = "1us"
[queue]
discipline = "trimming"
[transport.t]
control = "ndp"
mss = "4096B"
header = "64B"
[[workload.session]]
transport = "t"
"""

OPEN = {
    "verb": "open",
    "session_id": "s",
    "profile": "star",
    "topology_identity": "star:nodes=4",
    "node_count": 4,
    "link_rate_bps": 400_000_000_000,
    "seed": 7,
    "effective_hardware_sha256": "0" * 64,
    "wqe_authority": "none",
}


def inject(sequence: int, size: int, at: int = 0, source: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "verb": "inject",
        "sequence": sequence,
        "execution_id": "e",
        "operation_id": "o",
        "flow_id": f"f{sequence}",
        "source": source,
        "destination": 3,
        "tag": 5,
        "payload_bytes": size,
        "eligible_at_ps": at,
        "policy_context_token": "",
        **more,
    }


def advance(sequence: int, to: int) -> dict[str, Any]:
    return {"verb": "advance", "through_sequence": sequence, "through_ps": to}


def drain(sequence: int) -> dict[str, Any]:
    return {"verb": "drain", "through_sequence": sequence}


def close(sequence: int) -> dict[str, Any]:
    return {"verb": "close", "through_sequence": sequence}


def frame(content: dict[str, Any]) -> bytes:
    return raw(canonical({"schema": SCHEMA, **content}))


def raw(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def frames(stream: bytes) -> list[dict[str, Any]]:
    found = []
    while stream:
        (length,) = struct.unpack(">I", stream[:4])
        found.append(json.loads(stream[4 : 4 + length]))
        assert canonical(found[-1]) == stream[4 : 4 + length]
        stream = stream[4 + length :]
    return found


def talk(*requests: bytes, out: Path | None = None) -> tuple[bool, list[dict[str, Any]]]:
    answers = io.BytesIO()
    server = Server(Scenario(FABRIC), "star", out)
    fine = server.serve(io.BytesIO(b"".join(requests)), answers)
    return fine, frames(answers.getvalue())


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([4096], [2_166_400]),
        ([8192], [2_249_600]),
        ([4096, 4096], [2_166_400, 2_249_600]),
        ([8192, 8192], [2_249_600, 2_416_000]),
    ],
)
def test_known_times(sizes: list[int], times: list[int]) -> None:
    """400 Gb/s, two links of 1 us, packets of 4,160 B, as the protocol's own examples have them.

    Two at once from one host are one behind the other on its wire.
    """
    count = len(sizes)
    requests = [inject(i + 1, size) for i, size in enumerate(sizes)]
    fine, answers = talk(
        *map(frame, [OPEN, *requests, advance(count, 3_000_000), drain(count), close(count)])
    )
    assert fine
    assert [answer["status"] for answer in answers] == ["ok"] * (count + 4)
    completions = answers[-2]["completions"]
    assert answers[-2]["quiescent"] is True
    assert [row["completion_time_ps"] for row in completions] == times
    assert completions[-1]["fct_ps"] == times[-1]
    assert {(row["tag"], row["source"], row["destination"]) for row in completions} == {(5, 0, 3)}


def test_rows_are_in_order_and_each_is_told_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    fine, answers = talk(
        frame(OPEN),
        frame(inject(1, 4096, 10)),
        frame(inject(2, 4096, 2_166_410, source=1)),
        frame(advance(2, 9)),
        frame(advance(2, 2_166_409)),
        frame(advance(2, 2_166_410)),
        frame(inject(3, 1, 2_166_411)),
        frame(advance(3, 9_000_000)),
        frame(drain(3)),
        frame(close(3)),
        out=out,
    )
    assert fine
    assert answers[0] == {"schema": SCHEMA, "status": "ok", "sequence": 0, **OPEN}
    rows = [[(r["time_ps"], r["sequence"], r["phase"]) for r in a.get("rows", [])] for a in answers]
    assert rows[3] == [(0, 1, "accepted"), (0, 2, "accepted")]
    assert rows[4] == [(10, 1, "queued"), (10, 1, "started")]
    # The time of an advance is included.
    assert rows[5] == [
        (2_166_410, 1, "completed"),
        (2_166_410, 2, "queued"),
        (2_166_410, 2, "started"),
    ]
    assert [phase for _, _, phase in rows[7]] == ["accepted", "queued", "started"] + [
        "completed"
    ] * 2
    assert answers[-1]["counters"] == {"completed": 3, "injected": 3, "through_ps": 9_000_000}
    assert linkpool.Result(out).flows.height == 3
    # The result has the tags of the client.
    lines = (out / "messages.0.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rsplit(",", 1)[1] for line in lines] == ['"tag"', "5", "5", "5"]


def timer(at: int, host: int = 3, tag: int = 8, name: str = "t") -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "verb": "timer",
        "timer_id": name,
        "host": host,
        "tag": tag,
        "due_at_ps": at,
    }


def test_timers_are_told_when_they_were_due() -> None:
    fine, answers = talk(
        frame(OPEN),
        frame(timer(30, name="late")),
        frame(timer(20, host=1, tag=(1 << 32) - 1, name="soon")),
        frame(inject(1, 4096)),
        frame(advance(1, 20)),
        frame(advance(1, 9_000_000)),
        frame(drain(1)),
        frame(close(1)),
    )
    assert fine
    assert (answers[1]["timer_id"], answers[2]["timer_id"]) == ("late", "soon")
    # The time of an advance is included.
    soon = {"host": 1, "tag": (1 << 32) - 1, "time_ps": 20, "timer_id": "soon"}
    assert answers[4]["timers"] == [soon]
    assert answers[5]["timers"] == [{"host": 3, "tag": 8, "time_ps": 30, "timer_id": "late"}]
    assert [row["phase"] for row in answers[5]["rows"]] == ["completed"]


def test_what_is_not_allowed_ends_the_session(tmp_path: Path) -> None:
    first = frame(inject(1, 1))
    wrong: list[tuple[list[bytes], str]] = [
        ([], "end-of-stream"),
        ([b"\0\0"], "truncated-frame"),
        ([b"\0\0\0\x09{}"], "truncated-frame"),
        ([struct.pack(">I", MOST_BYTES + 1)], "frame-too-large"),
        ([raw(b"{")], "not-json"),
        ([raw(b"\xff")], "not-json"),
        ([raw(b"[" * 100_000)], "not-json"),
        ([raw(b"[]")], "not-an-object"),
        ([raw(b'{"a":1, "b":2}')], "not-canonical"),
        ([raw(b'{"b":1,"a":2}')], "not-canonical"),
        ([raw(b'{"a":1,"a":1}')], "duplicate-key"),
        ([raw(b'{"a":1.0}')], "not-an-integer"),
        ([raw(b'{"a":NaN}')], "not-an-integer"),
        ([raw(b"{}")], "unknown-schema"),
        ([frame({"verb": "x"})], "unknown-verb"),
        ([frame({"verb": ["open"]})], "unknown-verb"),
        ([first], "not-open"),
        ([frame({**OPEN, "x": 1})], "unknown-key"),
        ([frame({k: v for k, v in OPEN.items() if k != "seed"})], "missing-key"),
        ([frame({**OPEN, "seed": "1"})], "number"),
        ([frame({**OPEN, "seed": True})], "number"),
        ([frame({**OPEN, "seed": 1 << 63})], "seed"),
        ([frame({**OPEN, "profile": 1})], "text"),
        ([frame({**OPEN, "profile": "x"})], "configuration"),
        ([frame({**OPEN, "node_count": 3})], "configuration"),
        ([frame({**OPEN, "link_rate_bps": 1})], "configuration"),
        ([frame(OPEN), frame(OPEN)], "already-open"),
        ([frame(OPEN), frame(inject(2, 1))], "sequence"),
        ([frame(OPEN), frame(inject(1, 0))], "payload"),
        ([frame(OPEN), frame(inject(1, 1, tag=1 << 32))], "tag"),
        ([frame(OPEN), frame(inject(1, 1, source=3))], "message"),
        ([frame(OPEN), frame(inject(1, 1, source=4))], "message"),
        ([frame(OPEN), frame(inject(1, 1, 1 << 60))], "message"),
        ([frame(OPEN), first, frame(advance(0, 1))], "sequence"),
        ([frame(OPEN), first, frame(advance(1, 1 << 60))], "time"),
        ([frame(OPEN), frame(advance(0, 5)), frame(advance(0, 4))], "past"),
        ([frame(OPEN), frame(advance(0, 5)), frame(inject(1, 1, 5))], "past"),
        ([frame(OPEN), first, frame(drain(1))], "not-quiescent"),
        ([frame(OPEN), frame(close(0))], "not-drained"),
        ([frame(OPEN), frame(drain(0)), frame(inject(1, 1))], "drained"),
        ([frame(OPEN), frame(drain(0))], "end-of-stream"),
        ([frame(OPEN), frame(advance(0, 5)), frame(timer(5))], "past"),
        ([frame(OPEN), frame(timer(5, tag=1 << 32))], "tag"),
        ([frame(OPEN), frame(timer(5, host=4))], "timer"),
        ([frame(OPEN), frame(timer(1 << 60))], "timer"),
        ([frame(OPEN), frame(timer(5)), frame(drain(0))], "not-quiescent"),
        ([frame(OPEN), frame(drain(0)), frame(timer(5))], "drained"),
    ]
    for requests, code in wrong:
        fine, answers = talk(*requests, out=tmp_path / "out")
        last = answers[-1]
        assert (fine, last["status"], last["code"], last["terminal"]) == (
            False,
            "error",
            code,
            True,
        )
        assert last["message"]
        assert list(tmp_path.iterdir()) == []


def test_code_that_the_scenario_brings_runs_only_if_asked(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "a.py").write_text(f"open({str(ran)!r}, 'w').close()\n", encoding="utf-8")
    scenario = tmp_path / "star.toml"
    scenario.write_text(f'controls = ["a.py"]\n{FABRIC}', encoding="utf-8")
    command = [sys.executable, "-m", "linkpool", "serve", str(scenario)]
    request = frame(OPEN) + frame(close(0))
    done = subprocess.run(command, input=request, capture_output=True, check=False)
    assert done.returncode == 1
    assert "a.py is code in Python" in frames(done.stdout)[-1]["message"]
    assert not ran.exists()
    subprocess.run([*command, "--run-code"], input=request, capture_output=True, check=False)
    assert ran.exists()


def test_the_command_serves_another_process(tmp_path: Path) -> None:
    scenario = tmp_path / "star.toml"
    scenario.write_text(FABRIC, encoding="utf-8")
    command = [sys.executable, "-m", "linkpool", "serve", str(scenario)]
    requests = map(frame, [OPEN, inject(1, 4096), advance(1, 3_000_000), drain(1), close(1)])
    done = subprocess.run(command, input=b"".join(requests), capture_output=True, check=True)
    assert done.stderr == b""
    assert frames(done.stdout)[-2]["completions"][0]["completion_time_ps"] == 2_166_400
    failed = subprocess.run(command, input=b"\0", capture_output=True, check=False)
    assert failed.returncode == 1
    assert frames(failed.stdout)[0]["code"] == "truncated-frame"


def test_the_example_of_the_page_prints_what_the_page_has() -> None:
    example = ROOT / "docs/cookbook/frames.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    page = (ROOT / "docs/serve.md").read_text(encoding="utf-8")
    assert f"```text\n{done.stdout}```" in page
