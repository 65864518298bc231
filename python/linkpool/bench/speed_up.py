"""Run a task on one thread and on several by turns, and compare the two pair by pair."""

import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from linkpool import _core
from linkpool.bench.measure import measure


class ThreadsError(RuntimeError):
    """A task did other work on several threads than on one, which is a bug."""


@dataclass(frozen=True)
class Pair:
    """A run on one thread, and the run of the same task on several right after it.

    Attributes:
        task: the name of the task.
        threads: the number of threads of the second run.
        one_s: wall-clock seconds on one thread, without set-up.
        several_s: the same on several.

    """

    task: str
    threads: int
    one_s: float
    several_s: float

    @property
    def ratio(self) -> float:
        """How many times as fast the task runs on several threads."""
        return self.one_s / self.several_s


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def counts_up_to(most: int) -> list[int]:
    """Return the powers of two from 2 to `most`, and `most`."""
    powers = [2**n for n in range(1, most.bit_length())]
    return sorted({*powers, most} - {1})


def pairs(tasks: Iterable[str], counts: Iterable[int], number: int) -> Iterator[Pair]:
    """Run each task on one thread and on each of `counts` by turns, `number` times.

    A round has a pair of each task and count, so that a machine whose speed changes does so for
    all of them.

    Raises:
        ThreadsError: the packet-hops differ.

    """
    order = [(task, threads) for task in tasks for threads in counts]
    for _ in range(number):
        for task, threads in order:
            one, several = measure(task, 1), measure(task, threads)
            if one["hops"] != several["hops"]:
                raise ThreadsError(
                    f"{task} has {one['hops']} packet-hops on one thread and {several['hops']} "
                    f"on {threads}: this is a bug in linkpool"
                )
            yield Pair(task, threads, one["wall_s"], several["wall_s"])


def rows(found: Iterable[Pair]) -> list[dict[str, Any]]:
    """Return a row for each pair, for JSON."""
    return [{**vars(pair), "ratio": pair.ratio} for pair in found]


def markdown(found: list[Pair], when: datetime) -> str:
    """Return the table in Markdown, with the machine and the day, to be pasted as it is."""
    counts = sorted({pair.threads for pair in found})
    lines = [
        "| task | " + " | ".join(f"{threads} threads" for threads in counts) + " |",
        "|---|" + "---|" * len(counts),
    ]
    for task in dict.fromkeys(pair.task for pair in found):
        cells = [
            _cell([p.ratio for p in found if (p.task, p.threads) == (task, threads)])
            for threads in counts
        ]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    about = (
        "Wall-clock time on one thread over that on several, without set-up: the median of the "
        f"pairs, the least and the most, and how many. linkpool {_core.__version__}, "
        f"{processor()}, {cores()} cores, {when.astimezone(timezone.utc):%d %B %Y}."
    )
    return "\n".join([*lines, "", about])


def _cell(ratios: list[float]) -> str:
    if not ratios:
        return ""
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return f"{median(ratios):.2f} ({spread}; {len(ratios)})"


def processor() -> str:
    """Return the name of this machine's processor."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
