"""The runs of docs/reports/2026-11-30-what-repeats.md: transports, jobs, and their results."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import linkpool
from linkpool.result import Result
from linkpool.study.toml import Value, dumps

Table = dict[str, Value]

BYTES = {"limit": "2MB"}
MARKS = {"limit": "2MB", "mark": "200KB"}
TRIMMING: Table = {
    "headers": "250KB",
    "return_to_sender": False,
    "mark_min": "25KB",
    "mark_max": "100KB",
}
RED: Table = {
    "min": "400KB",
    "max": "1600KB",
    "max_probability": 0.2,
    "weight": 1,
    "gentle": False,
}
PFC: Table = {"buffer": "32MB"}
TCP: Table = {"mss": "4096B", "min_rto": "1ms", "ack_every": 1}

TRANSPORTS: dict[str, tuple[Table, Table]] = {
    "dctcp": ({**MARKS}, {**TCP, "control": "dctcp"}),
    "lia-8": ({**BYTES}, {**TCP, "control": "lia", "subflows": 8}),
    "amp-8": ({**MARKS}, {**TCP, "control": "amp", "subflows": 8}),
    "swift": ({**BYTES}, {**TCP, "control": "swift"}),
    "ndp": (
        {"discipline": "trimming", "limit": 8},
        {"control": "ndp", "mss": "4096B", "min_rto": "1ms"},
    ),
    "nscc-reps": (
        {"discipline": "trimming", "limit": "125KB", "trimming": TRIMMING},
        {"control": "uet", "mss": "4096B", "balancer": "reps"},
    ),
    "dcqcn": ({"pfc": PFC, "red": RED}, {"control": "dcqcn", "mss": "4096B"}),
    "hpcc": ({"pfc": PFC}, {"control": "hpcc", "mss": "4096B"}),
}
"""Queue and transport, as docs/cookbook/gpus.toml has them for links of 100 Gbit/s."""


class Job(NamedTuple):
    """A fat-tree and what runs on it."""

    ports: int
    """Of a switch."""
    duration: str
    kind: str
    """Of the workloads."""
    workloads: list[Table]


def _collective(algorithm: str, ranks: int, message: int, **keys: Value) -> Table:
    size = f"{ranks * message}B"
    return {"algorithm": algorithm, "ranks": ranks, "size": size, **keys}


def _training(**keys: Value) -> Table:
    return {
        "tp": 4,
        "pp": 4,
        "dp": 8,
        "micro_batches": 8,
        "layers": 2,
        "forward": "100us",
        "backward": "200us",
        "update": "50us",
        "tensor": "1MB",
        "activations": "1MB",
        "gradients": "8MB",
        "iterations": 4,
        **keys,
    }


RING = "ring-all-reduce"
ACROSS: Table = {"groups": 4, "stride": 4, "group_stride": 1}
"""Each rack has a rank of four rings."""
SPREAD: Table = {"dp": 4, "placement": "spread"}

JOBS: dict[str, Job] = {
    "ring-128": Job(8, "50ms", "collective", [_collective(RING, 128, 65536, iterations=4)]),
    "ring-1024": Job(16, "100ms", "collective", [_collective(RING, 1024, 16384)]),
    "rings-4x32": Job(8, "100ms", "collective", [_collective(RING, 32, 262144, **ACROSS)]),
    "rings-4x32-long": Job(
        8,
        "150ms",
        "collective",
        [_collective("ring-reduce-scatter", 32, 8 << 20, **ACROSS)],
    ),
    "all-to-all-64": Job(
        8, "50ms", "collective", [_collective("all-to-all", 64, 262144, stride=2, iterations=4)]
    ),
    "training-128": Job(8, "1s", "training", [_training()]),
    "training-2x64": Job(
        8,
        "1s",
        "training",
        [_training(**SPREAD), _training(**SPREAD, first_host=64, forward="130us")],
    ),
    # As many messages, of a byte: what a run costs when all packets are skipped.
    "ring-128-empty": Job(8, "50ms", "collective", [_collective(RING, 128, 1, iterations=4)]),
    "ring-1024-empty": Job(16, "100ms", "collective", [_collective(RING, 1024, 1)]),
    "training-128-empty": Job(
        8, "1s", "training", [_training(tensor="4B", activations="1B", gradients="8B")]
    ),
    "training-128-12": Job(8, "1s", "training", [_training(micro_batches=2, iterations=12)]),
    **{
        f"permutation-{size}": Job(8, duration, "permutation", [{"size": size, "jitter": "50us"}])
        for size, duration in (("1MB", "5ms"), ("10MB", "20ms"), ("100MB", "100ms"))
    },
}


def scenario(transport: str, job: str, record: Table | None = None) -> Table:
    """Return the scenario of a job with a transport."""
    queue, keys = TRANSPORTS[transport]
    ports, duration, kind, workloads = JOBS[job]
    return {
        "duration": duration,
        "drain": "10ms",
        "topology": {"fat-tree": {"k": ports, "rate": "100Gbps", "delay": "1us"}},
        "queue": queue,
        "transport": {"t": keys},
        "workload": {
            kind: [{**w, "transport": "t", "label": f"job {i}"} for i, w in enumerate(workloads)]
        },
        **({} if record is None else {"record": record}),
    }


def write(
    transport: str,
    job: str,
    path: Path,
    record: Table | None = None,
) -> Path:
    """Write the scenario of a job with a transport."""
    path.write_text(dumps(scenario(transport, job, record)), encoding="utf-8")
    return path


def write_one(job: str, place: int, path: Path) -> Path:
    """Write a scenario with one workload of a job, whose programs do not depend on transports."""
    keys = scenario("dctcp", job)
    kind, workloads = JOBS[job].kind, JOBS[job].workloads
    keys["workload"] = {kind: [{**workloads[place], "transport": "t"}]}
    path.write_text(dumps(keys), encoding="utf-8")
    return path


def simulate(transport: str, job: str, out: Path, record: Table | None = None) -> Result:
    """Return the result in a directory; run the scenario unless it is there already."""
    if (out / "manifest.json").exists():
        return Result(out)
    with tempfile.TemporaryDirectory() as directory:
        path = write(transport, job, Path(directory) / "scenario.toml", record)
        return linkpool.run(path, out=out, threads=1)
