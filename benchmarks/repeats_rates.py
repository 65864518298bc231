"""Steady rates: where flows that share ports keep them, and what extrapolation would make of it.

An episode is a time in which no message of a group starts or ends; a group is what shared ports
join at that time. A connection is steady over a window if the means of four parts of the window
differ by no more than a bound, relative to the mean of the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from repeats_messages import Floats, Ints, Messages

PARTS = 4


@dataclass
class Episode:
    """A group of messages between two events, picoseconds."""

    members: list[int]
    begin: int
    end: int


def neighbours(count: int, pairs: tuple[Ints, Ints]) -> list[set[int]]:
    """Return for each message those with which it shares a port at a time."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b in zip(*(side.tolist() for side in pairs), strict=True):
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    return beside


def episodes(start: Ints, end: Ints, beside: list[set[int]]) -> Iterator[Episode]:
    """Yield each group, from an event of it to the next."""
    events = [(int(t), 1, m) for m, t in enumerate(start)]
    events += [(int(t), 0, m) for m, t in enumerate(end)]
    of: dict[int, Episode] = {}
    for now, starts, message in sorted(events):
        if starts:
            old = {id(of[m]): of[m] for m in beside[message] if m in of}
            members = [message] + [m for episode in old.values() for m in episode.members]
            closing = list(old.values())
        else:
            closing = [of.pop(message)]
            members = [m for m in closing[0].members if m != message]
        for episode in closing:
            episode.end = now
            if episode.begin < now:
                yield episode
        for part in _parts(members, beside):
            new = Episode(part, now, now)
            of.update(dict.fromkeys(part, new))


def _parts(members: list[int], beside: list[set[int]]) -> Iterator[list[int]]:
    """Yield the sets of messages that are joined, directly or by others."""
    left = set(members)
    while left:
        part, front = [], [left.pop()]
        while front:
            part.append(front.pop())
            found = beside[part[-1]] & left
            left -= found
            front += found
        yield part


@dataclass
class Series:
    """Bytes that each connection had acknowledged in each interval."""

    every: int
    """Picoseconds."""
    row: dict[int, int]
    """Of a connection."""
    sums: Floats
    """By row: bytes until each multiple of `every`, from 0 on."""


def read_series(directory: Path, every: int) -> Series:
    """Read the series of rates of a run."""
    table = (
        pl.scan_parquet(directory / "rate.parquet")
        .with_columns((pl.col("time_s") * 1e12 / every).round().cast(pl.Int64).alias("bin"))
        .group_by("flow", "bin")
        .agg(pl.col("goodput_bps").sum() * (every / 8e12))
        .collect()
    )
    flows = table["flow"].unique().sort().to_list()
    row = {flow: i for i, flow in enumerate(flows)}
    last = table.select(pl.col("bin").max()).item()
    grid = np.zeros((len(flows), int(last) + 1))
    index = np.searchsorted(np.array(flows), table["flow"].to_numpy())
    np.add.at(grid, (index, table["bin"].to_numpy()), table["goodput_bps"].to_numpy())
    return Series(every, row, np.cumsum(grid, axis=1))


def steady_from(sums: Floats, window: int, bound: float) -> NDArray[np.bool_]:
    """Return whether the window that ends at each multiple of the interval is steady.

    Args:
        sums: bytes until each multiple of the interval.
        window: intervals, a multiple of four.
        bound: of the largest less the smallest mean of a part, over the mean of all.

    """
    part = window // PARTS
    steady = np.zeros(sums.shape, bool)
    if sums.shape[-1] <= window:
        return steady
    rates = sums[..., part:] - sums[..., :-part]
    ends = [rates[..., i * part : rates.shape[-1] - (PARTS - 1 - i) * part] for i in range(PARTS)]
    stack = np.stack(ends)
    mean = stack.mean(axis=0)
    steady[..., window:] = (np.ptp(stack, axis=0) <= bound * mean) & (mean > 0)
    return steady


@dataclass
class Skipped:
    """What extrapolation from steady rates would skip."""

    share: float
    """Of all bytes."""
    late: Floats
    """Of each message: how much later it would end than it did, picoseconds."""


def skip(
    messages: Messages,
    connection: Ints,
    series: Series,
    groups: list[Episode],
    window: int,
    bound: float,
    alone: bool = False,
) -> Skipped:
    """Extrapolate in each episode, from when all of its connections are steady to its end.

    With `alone` each connection is extrapolated from when it is steady itself. Packets are
    simulated again from the end of an episode on, as they were: a shift of the events is left out.
    """
    rows = np.array([series.row[int(c)] for c in connection])
    steady = steady_from(series.sums, window, bound)
    late = np.zeros(len(messages))
    skipped = 0.0
    for episode in groups:
        low = -(-episode.begin // series.every) + window
        high = episode.end // series.every
        members = np.array(episode.members)
        held = steady[rows[members], low:high]
        if not alone:
            held = np.broadcast_to(held.all(axis=0), held.shape)
        for message, ready in zip(members, held, strict=True):
            if not ready.any():
                continue
            at = low + int(ready.argmax())
            sums = series.sums[rows[message]]
            carried = sums[high] - sums[at]
            rate = (sums[at] - sums[at - window]) / window
            late[message] += (carried / rate - (high - at)) * series.every
            skipped += carried
    return Skipped(skipped / float(messages.size.sum()), late)
