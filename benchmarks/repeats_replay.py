"""A job replayed over its programs with other durations of messages.

`linkpool convert` writes the programs of a job as GOAL. The replay takes the time of each
message from a table, and computes all starts and ends. It leaves out that messages which start
at other times meet other messages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

LINE = re.compile(
    r"l(\d+)(?:: (?:calc (\d+)|(send|recv) \d+b (?:to|from) (\d+) tag (\d+))"
    r"| (i?)requires l(\d+))"
)


@dataclass
class Programs:
    """The programs of all ranks for one iteration, as a graph of starts and ends.

    Node 2 i is the start of operation i, node 2 i + 1 its end. Messages are numbered by sends,
    in the order of the file.
    """

    rank: Ints
    """Of each operation."""
    source: Ints
    """Of each message: the rank that sends."""
    target: Ints
    tail: Ints
    """Of each edge: the node that comes first."""
    head: Ints
    delay: Ints
    """Of each edge, picoseconds; of an edge with a message what is added to its time."""
    message: Ints
    """Of each edge: the message whose delivery it waits for, or, from `len(source)` on, whose
    acknowledgement; -1: none."""


def convert(scenario: Path, goal: Path) -> None:
    """Write the programs of a scenario's job."""
    command = [sys.executable, "-m", "linkpool", "convert", str(scenario), str(goal)]
    subprocess.run(command, check=True, capture_output=True)


def parse(goal: Path, unit: int) -> Programs:
    """Read programs of ranks; `calc` is in units of `unit` picoseconds."""
    ranks: list[int] = []
    sends: list[tuple[int, int, int]] = []
    waiting: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    receives: list[tuple[int, tuple[int, int, int]]] = []
    edges: list[tuple[int, int, int, int]] = []
    rank, base = -1, 0
    with goal.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("rank "):
                rank, base = int(line.split()[1]), len(ranks)
                continue
            found = LINE.match(line)
            if found is None:
                continue
            own, calc, kind, peer, tag, at_start, other = found.groups()
            node = 2 * (base + int(own))
            if other is not None:
                before = 2 * (base + int(other)) + (0 if at_start else 1)
                edges.append((before, node, 0, -1))
                continue
            ranks.append(rank)
            if calc is not None:
                edges.append((node, node + 1, int(calc) * unit, -1))
            elif kind == "send":
                waiting[(rank, int(peer), int(tag))].append(len(sends))
                sends.append((node, rank, int(peer)))
                edges.append((node, node + 1, 0, -2 - (len(sends) - 1)))
            else:
                edges.append((node, node + 1, 0, -1))
                receives.append((node + 1, (int(peer), rank, int(tag))))
    taken: dict[tuple[int, int, int], int] = defaultdict(int)
    for node, key in receives:
        message = waiting[key][taken[key]]
        taken[key] += 1
        edges.append((sends[message][0], node, 0, message))
    tail, head, delay, message = np.array(edges, np.int64).T
    acked = message <= -2
    message[acked] = len(sends) - 2 - message[acked]
    at = np.array(sends, np.int64).reshape(-1, 3)
    return Programs(np.array(ranks), at[:, 1], at[:, 2], tail, head, delay, message)


class Replay:
    """Programs in an order in which each node comes behind those that it waits for."""

    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        nodes = 2 * len(programs.rank)
        level = _levels(nodes, programs.tail, programs.head)
        order = np.lexsort((programs.head, level[programs.head]))
        self._tail, head = programs.tail[order], programs.head[order]
        self._delay, self._message = programs.delay[order], programs.message[order]
        starts = np.flatnonzero(np.r_[True, np.diff(head) != 0])
        self._starts, self._heads = starts, head[starts]
        cuts = np.flatnonzero(np.r_[True, np.diff(level[self._heads]) != 0])
        self._cuts = np.r_[cuts, len(starts)]

    def iteration(self, begin: Ints, delivery: Ints, acknowledgement: Ints) -> tuple[Ints, Ints]:
        """Return when each message starts, and when each rank has ended all its operations.

        Args:
            begin: when each rank begins.
            delivery: of each message, from its start.
            acknowledgement: of each message, from its start.

        """
        rank = self.programs.rank
        time = np.repeat(begin[rank], 2)
        taken = np.concatenate([delivery, acknowledgement, [0]])
        delay = self._delay + taken[self._message]
        bounds = np.r_[self._starts, len(self._tail)]
        for low, high in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            first, last = bounds[low], bounds[high]
            come = time[self._tail[first:last]] + delay[first:last]
            heads = self._heads[low:high]
            latest = np.maximum.reduceat(come, self._starts[low:high] - first)
            time[heads] = np.maximum(time[heads], latest)
        done = begin.copy()
        np.maximum.at(done, rank, time[1::2])
        sends = self.programs.message >= len(self.programs.source)
        started = np.empty(len(self.programs.source), np.int64)
        started[self.programs.message[sends] - len(started)] = time[self.programs.tail[sends]]
        return started, done

    def run(self, delivery: list[Ints], acknowledgement: list[Ints]) -> list[Ints]:
        """Return when each rank has ended each iteration, from 0."""
        ends = []
        done = np.zeros(int(self.programs.rank.max()) + 1, np.int64)
        for delivered, acked in zip(delivery, acknowledgement, strict=True):
            _, done = self.iteration(done, delivered, acked)
            ends.append(done)
        return ends


def _levels(nodes: int, tail: Ints, head: Ints) -> Ints:
    """Return for each node the length of the longest way to it."""
    order = np.argsort(tail, kind="stable")
    heads = head[order]
    bound = np.searchsorted(tail[order], np.arange(nodes + 1))
    missing = np.bincount(head, minlength=nodes)
    level = np.zeros(nodes, np.int64)
    ready = np.flatnonzero(missing == 0)
    depth = seen = 0
    while ready.size:
        seen += len(ready)
        level[ready] = depth
        depth += 1
        counts = bound[ready + 1] - bound[ready]
        skip = np.repeat(np.cumsum(counts) - counts, counts)
        edge = np.repeat(bound[ready], counts) + np.arange(counts.sum()) - skip
        reached, times = np.unique(heads[edge], return_counts=True)
        missing[reached] -= times
        ready = reached[missing[reached] == 0]
    if seen < nodes:
        raise ValueError("the programs wait for each other in a circle")
    return level


def numbered(source: Ints, target: Ints) -> Ints:
    """Return for each message how many come before it with its source and target."""
    pair = source * (1 << 32) + target
    order = np.argsort(pair, kind="stable")
    same = pair[order]
    begin = np.maximum.accumulate(
        np.where(np.r_[True, np.diff(same) != 0], np.arange(len(pair)), 0)
    )
    found = np.empty(len(pair), np.int64)
    found[order] = np.arange(len(pair)) - begin
    return found
