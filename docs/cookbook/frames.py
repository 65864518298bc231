"""A program that drives `linkpool serve`: two messages to one host, and when they had arrived."""

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

SCENARIO = Path(__file__).parents[1] / "workloads" / "session.toml"
HARDWARE = {"effective_hardware_sha256": "0" * 64, "wqe_authority": "none"}  # not read by linkpool


def ask(serve: subprocess.Popen[bytes], verb: str, **fields: Any) -> dict[str, Any]:
    """Send a request, and return the answer."""
    request = {"schema": "simllm-htsim-flow-session-v1", "verb": verb, **fields}
    body = json.dumps(request, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    to, back = serve.stdin, serve.stdout
    assert to
    assert back
    to.write(struct.pack(">I", len(body)) + body)
    to.flush()
    answer: dict[str, Any] = json.loads(read(back, *struct.unpack(">I", read(back, 4))))
    if answer["status"] == "error":
        sys.exit(answer["message"])
    return answer


def read(stream: IO[bytes], size: int) -> bytes:
    """Read so many bytes."""
    found = stream.read(size)
    if len(found) < size:
        sys.exit("linkpool serve ended")
    return found


command = [sys.executable, "-m", "linkpool", "serve", str(SCENARIO), "--profile", "tree"]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as serve:
    ask(
        serve,
        "open",
        session_id="s",
        profile="tree",
        topology_identity="tree:nodes=16",
        node_count=16,
        link_rate_bps=100_000_000_000,
        seed=1,
        **HARDWARE,
    )
    for sequence, source in enumerate((0, 8), start=1):
        ask(
            serve,
            "inject",
            sequence=sequence,
            execution_id="e",
            operation_id="o",
            flow_id=f"from {source}",
            source=source,
            destination=5,
            tag=0,
            payload_bytes=1_000_000,
            eligible_at_ps=1,
            policy_context_token="",
        )
    ask(serve, "advance", through_sequence=2, through_ps=1_000_000_000)  # 1 ms
    for one in ask(serve, "drain", through_sequence=2)["completions"]:
        print(f"{one['flow_id']}: {one['fct_ps'] / 1e6:.2f} us")
    ask(serve, "close", through_sequence=2)
