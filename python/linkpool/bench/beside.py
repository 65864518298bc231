"""Run a task and another simulator's command alternately, and compare the two pair by pair."""

import json
import math
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkpool.bench.measure import measure

NEEDED = ("hops", "user_s", "goodput_over_line_rate")


class BesideError(ValueError):
    """The other simulator's command failed, or did not print the needed JSON object."""


@dataclass(frozen=True)
class Side:
    """The work and time of one run of a simulator.

    Attributes:
        hops: packets, data and ACKs, times the links that they crossed.
        user_s: CPU time in user mode without set-up, seconds.
        goodput_over_line_rate: payload delivered over what the receivers' links could carry.

    """

    hops: float
    user_s: float
    goodput_over_line_rate: float

    @property
    def hops_per_second(self) -> float:
        """Packet-hops per second of user time."""
        return self.hops / self.user_s


@dataclass(frozen=True)
class Pair:
    """One run of the other simulator, and the run of linkpool right after it."""

    other: Side
    ours: Side

    @property
    def ratio(self) -> float:
        """How many times as many packet-hops per second linkpool simulates."""
        return self.ours.hops_per_second / self.other.hops_per_second


def pairs(task: str, command: str, count: int) -> Iterator[Pair]:
    """Run `command` and `task` by turns, `count` times, each on one thread.

    `{task}` in the command is replaced by the task's name.

    Raises:
        BesideError: the command failed, or its last line is not the JSON object that is needed.

    """
    for _ in range(count):
        other = run_other(command.replace("{task}", task))
        row = measure(task, 1)
        yield Pair(other, Side(row["hops"], row["user_s"], row["goodput_over_line_rate"]))


def run_other(command: str) -> Side:
    """Run a command whose last line of output is a JSON object with the fields of `Side`."""
    try:
        done = subprocess.run(shlex.split(command), stdout=subprocess.PIPE, text=True, check=False)
    except (OSError, ValueError) as error:
        raise BesideError(f"cannot run `{command}`: {error}") from error
    if done.returncode:
        raise BesideError(f"`{command}` ended with exit code {done.returncode}")
    lines = done.stdout.strip().splitlines()
    return read_side(lines[-1] if lines else "", command)


def read_side(line: str, command: str) -> Side:
    """Read the JSON object on the last line of `command`'s output; raises `BesideError`."""
    form = '{"hops": 1.2e7, "user_s": 3.4, "goodput_over_line_rate": 0.5}'
    try:
        said: Any = json.loads(line)
        values = {key: float(said[key]) for key in NEEDED}
    except (ValueError, KeyError, TypeError) as error:
        raise BesideError(
            f"the last line that `{command}` prints must be a JSON object such as {form}; "
            f"it is: {line[:200]!r}"
        ) from error
    for key, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise BesideError(f"`{command}` printed {key} = {value:g}; it must be above zero")
    return Side(**values)


def mean_ratio(found: list[Pair]) -> float:
    """Return the geometric mean of the pairs' ratios."""
    return math.exp(sum(math.log(pair.ratio) for pair in found) / len(found))
