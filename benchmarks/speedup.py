"""Predict the speed-up on more threads than this machine has.

    .venv/bin/python benchmarks/speedup.py [TASK...]     some minutes for all; prints Markdown

A task runs once on one thread, and its hops are counted between two meetings of the partitions,
by the partition that they would belong to. With the time of a hop on one thread and the time of a
barrier of two, both measured here, that gives a prediction.
docs/reports/2026-11-23-speedup.md explains the model.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import example

from linkpool.bench.tasks import tasks

TASKS = [
    "k8-dctcp-9000",
    "k8-mptcp8-1500",
    "k16-dctcp-9000",
    "k16-mptcp8-9000",
    "k32-dctcp-9000",
    "k32-mptcp4-9000",
]
THREADS = [2, 4, 8, 16, 32, 64]
# Runs of which the fastest counts, as other programs only add time: of a task, and of the windows
# of the barrier, which take milliseconds.
REPEATS = 3
SHORT_REPEATS = 200
# What a hop to another partition costs beyond another, in hops: 223 instructions, of the 305 of a
# hop (docs/reports/2026-11-26-speed.md).
CROSSING = 223 / 305
# A flow from a host to its neighbour, so that windows are nearly empty: the first alone, on one
# thread, and with its mirror image in the other partition, on two. With such paths partitions meet
# in each window.
FLOW = '[[workload.flow]]\ntransport = "t"\nfrom = "h{}"\nto = "h{}"\n'
BARRIER = """
duration = "20ms"
[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
mark = 15
[transport.t]
control = "dctcp"
mss = "1438B"
ack_every = 1
paths = "disjoint"
"""


def main() -> None:
    """Count, measure, and print the tables."""
    program = example.build("divided")
    barrier = barrier_seconds(program)
    print(f"The barrier of two threads takes {1e9 * barrier:.0f} ns.\n")
    quality, speedups = [], []
    for name in sys.argv[1:] or TASKS:
        scenario = tasks()[name].scenario
        counted = run(program, "count", scenario, THREADS)
        hop = min(
            one["user_s"] / one["hops"] for one in run(program, "time", scenario, [1] * REPEATS)
        )
        per_window = counted["hops"] / counted["windows"]
        predicted = [predict(counted, division, hop, barrier) for division in counted["divisions"]]
        quality.append([name, f"{per_window:.0f}", f"{1e9 * hop:.0f}"])
        quality[-1] += [cell(counted, division) for division in counted["divisions"]]
        speedups.append([name, *(f"{with_it:.1f} ({free:.1f})" for with_it, free in predicted)])
    threads = [str(n) for n in THREADS]
    print(table(["task", "hops a window", "ns a hop", *threads], quality))
    print(table(["task", *threads], speedups))


def cell(counted: dict[str, Any], division: dict[str, Any]) -> str:
    """Return the hops of a window and partition, the share of crossings, and the balance."""
    hops, parts = counted["hops"], division["parts"]
    mean = hops / counted["windows"] / parts
    return (
        f"{mean:.0f}, {100 * division['crossings'] / hops:.0f}%, {balance(counted, division):.2f}"
    )


def balance(counted: dict[str, Any], division: dict[str, Any]) -> float:
    """Return the mean hops of a partition, over those of the busiest between two meetings."""
    work: float = counted["hops"] / division["parts"] / division["busiest"]
    return work


def predict(
    counted: dict[str, Any], division: dict[str, Any], hop: float, barrier: float
) -> tuple[float, float]:
    """Return the speed-up, with the barrier and if it took no time."""
    crossing = 1 + CROSSING * division["crossings"] / counted["hops"]
    work = hop * division["busiest"] * crossing
    # A thread reads the report of each other thread and a mailbox from it, and fills one for it.
    waits = division["meetings"] * barrier * (division["parts"] - 1)
    alone = hop * counted["hops"]
    return alone / (work + waits), alone / work


def barrier_seconds(program: Path) -> float:
    """Return what a meeting of two threads takes beyond their work, by the clock."""
    alone, mirrored = FLOW.format(0, 1), FLOW.format(0, 1) + FLOW.format(8, 9)
    meetings = run(program, "count", BARRIER + mirrored, [2])["divisions"][0]["meetings"]
    one = run(program, "time", BARRIER + alone, [1] * SHORT_REPEATS)
    two = run(program, "time", BARRIER + mirrored, [2] * SHORT_REPEATS)
    shortest = [min(each["wall_s"] for each in runs) for runs in (one, two)]
    seconds: float = (shortest[1] - shortest[0]) / meetings
    return seconds


def run(program: Path, what: str, scenario: str, numbers: list[int]) -> Any:
    """Return what the program prints: `count` or `time` of a scenario."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "scenario.toml"
        file.write_text(scenario, encoding="utf-8")
        command = [str(program), what, str(file), *map(str, numbers)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    main()
