"""Count what repeats in collectives, training and long flows, and what skipping it would cost.

    python benchmarks/repeats.py DIR [--jobs JOB ...] [--transports NAME ...] [--out FILE]

Runs are kept in DIR and not made again. All numbers are kept in FILE, and printed as tables, of
which docs/reports/2026-11-30-what-repeats.md has some.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
import repeats_rates
from numpy.typing import NDArray
from repeats_messages import (
    Floats,
    Hashes,
    Ints,
    Messages,
    at_instants,
    blocks,
    components,
    first_like,
    joined,
    mix,
    number,
    pictures,
    read,
    rounded,
)
from repeats_replay import Replay, convert, numbered, parse
from repeats_runs import JOBS, TRANSPORTS, Table, simulate, write_one
from repeats_tables import lines

NUMBERS = Path(__file__).parent / "figures" / "repeats.json"
EVERY_PS = 15_000_000
"""The interval of the series of rates: about a round-trip time."""
US = 1_000_000

Row = dict[str, float | int | str]


def later(keys: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return for each row whether its key stood in an earlier row."""
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), bool)
    again[first] = False
    return again


def exact(messages: Messages) -> Row:
    """Count durations and pictures that come again to the picosecond."""
    named, duration = messages.named(), messages.duration
    row: Row = {
        "messages": len(messages),
        "distinct durations": len(np.unique(duration)),
        "duration before": share(messages, later(number(named, duration))),
    }
    for name, acks in (("data", False), ("acks", True)):
        pairs = joined(messages, acks)
        alone = np.ones(len(messages), bool)
        alone[pairs[0]] = alone[pairs[1]] = False
        row[f"alone, {name}"] = share(messages, alone)
        picture = pictures(named, messages.start, pairs)
        row[f"picture before, {name}"] = share(messages, later(picture))
        both = later(picture) & ~later_differs(picture, duration)
        row[f"same duration, {name}"] = share(messages, both)
    return row


def later_differs(keys: Hashes, value: Ints) -> NDArray[np.bool_]:
    """Return whether the value differs from that of the first row with this key."""
    _, first, code = np.unique(keys, return_index=True, return_inverse=True)
    differs: NDArray[np.bool_] = value != value[first[code]]
    return differs


def share(messages: Messages, chosen: NDArray[np.bool_]) -> float:
    """Return the share of packet-hops in messages."""
    return float(messages.work[chosen].sum())


def whole(messages: Messages, job: str) -> Row:
    """Count distinct pictures of steps, of tensor operations and of iterations."""
    row: Row = {}
    every = np.arange(len(messages))
    if job.startswith("training-128"):
        tensor = np.flatnonzero(messages.size == 250_000)
        place = numbered(messages.label[tensor], messages.src[tensor])
        row |= _distinct("tensor op", messages, tensor, messages.src[tensor] // 4, place // 6)
    elif JOBS[job].kind == "collective":
        turn = numbered(messages.label, messages.src)
        row |= _distinct("step", messages, every, messages.label, turn)
    if messages.iteration.max() > 0:
        row |= _distinct("iteration", messages, every, messages.label, messages.iteration)
    return row


def _distinct(name: str, messages: Messages, chosen: Ints, who: Ints, which: Ints) -> Row:
    block = number(who, which)
    start, duration = messages.start[chosen], messages.duration[chosen]
    named = messages.named()[chosen]
    # The same in another rack: by the place in the rack instead of the host.
    place = number(messages.src[chosen] % 4, messages.shaped()[chosen])
    row: Row = {f"{name}: number": int(block.max()) + 1}
    for kinds, kind in (("", named), (" but for hosts", place)):
        for grain in (1, US, 10 * US):
            keys = blocks(block, kind, start, rounded(duration, grain), grain=grain)
            row[f"{name}: distinct{kinds}, {_unit(grain)}"] = len(np.unique(keys))
    return row


def _unit(grain: int) -> str:
    return f"{grain} ps" if grain < US else f"{grain // US} us"


def grouped(messages: Messages) -> Row:
    """Say how large groups are, how often the same come again, and how alike their results are."""
    pairs = joined(messages, False)
    block = components(len(messages), pairs)
    sizes = np.bincount(block)
    row: Row = {
        "groups": len(sizes),
        "messages in the median group": float(np.median(sizes)),
        "work in the largest": float(np.bincount(block, messages.work).max()),
        "share of those under way in a group": float(at_instants(messages, pairs).mean()),
    }
    for grain in (1, US, 10 * US):
        key = blocks(block, messages.named(), messages.start, grain=grain)
        model = first_like(block, key, messages.named(), messages.start)
        again = block[model] != block
        name = f"groups, {_unit(grain)}"
        row[f"{name}: again"] = share(messages, again)
        ratio = messages.duration[again] / messages.duration[model[again]] - 1
        if again.any():
            row[f"{name}: mean deviation"] = float(
                np.average(abs(ratio), weights=messages.work[again])
            )
            row[f"{name}: p99"] = float(np.quantile(abs(ratio), 0.99))
    return row


Rule = tuple[str, Ints]
"""Its name, and for each message the one whose times it takes: itself if it is simulated."""


def rules(messages: Messages) -> Iterator[Rule]:
    """Yield the rules by which messages take the times of earlier ones."""
    named, shaped = messages.named(), messages.shaped()
    yield (
        "picture with ACKs, named, 1 ps",
        memo(pictures(named, messages.start, joined(messages, True))),
    )
    pairs = joined(messages, False)
    block = components(len(messages), pairs)
    for grain in (1, US, 10 * US):
        for kinds, kind in (("named", named), ("shaped", shaped)):
            end = f", {kinds}, {_unit(grain)}"
            picture = pictures(kind, messages.start, pairs, grain)
            yield f"picture{end}", memo(picture)
            inner = kind if kinds == "named" else number(kind, picture)
            key = blocks(block, inner, messages.start, grain=grain)
            yield f"group{end}", first_like(block, key, kind, messages.start)
    for first in range(1, int(messages.iteration.max()) + 1):
        yield f"iterations, first {first}", iterations(messages, first)


def drawn(messages: Messages, seed: int) -> Iterator[Rule]:
    """Yield the rules by which messages take times of some earlier ones at random."""
    rng = np.random.default_rng(seed)
    for first in (1, 4, 16):
        yield f"pair, first {first}", memo(mix(messages.named()), first, rng)
    for first in (1, 16, 256):
        yield f"distance, first {first}", memo(mix(messages.shaped()), first, rng)


def memo(keys: Hashes, first: int = 1, rng: np.random.Generator | None = None) -> Ints:
    """Return a model for each message: the first ones with its key are simulated.

    With several, each later message takes the times of one of them at random.
    """
    order = np.argsort(keys, kind="stable")
    rank = numbered(np.zeros(len(keys), np.int64), number(keys))
    place = np.arange(len(keys))
    begin = np.maximum.accumulate(np.where(rank[order] == 0, place, 0))
    chosen = np.zeros(len(keys), np.int64)
    if rng is not None and first > 1:
        chosen = rng.integers(0, first, len(keys))
    model = np.empty(len(keys), np.int64)
    chosen[rank < first] = 0
    model[order] = order[begin + chosen[order]]
    return np.where(rank < first, place, model)


def iterations(messages: Messages, first: int) -> Ints:
    """Take each message of iterations from `first` on from the one before them."""
    turn = numbered(number(messages.label, messages.iteration), number(messages.src, messages.dst))
    which = number(messages.label, messages.src, messages.dst, turn)
    place = np.arange(len(messages))
    model = np.full(int(which.max()) + 1, -1)
    last = messages.iteration == first - 1
    model[which[last]] = place[last]
    return np.where(messages.iteration < first, place, model[which])


def ends(messages: Messages) -> dict[str, list[int]]:
    """Return when each iteration of each job had its last ACK, in order, picoseconds."""
    found = {}
    for label in range(int(messages.label.max()) + 1):
        own = messages.label == label
        last = np.zeros(int(messages.iteration[own].max()) + 1, np.int64)
        np.maximum.at(last, messages.iteration[own], messages.ended[own])
        found[f"job {label}"] = np.maximum.accumulate(last).tolist()
    return found


class Job:
    """A job with its programs, which can be replayed with other times."""

    def __init__(self, messages: Messages, label: int, replay: Replay, hosts: Ints) -> None:
        self.replay, programs = replay, replay.programs
        source, target = hosts[programs.source], hosts[programs.target]
        order = np.lexsort((numbered(source, target), target, source))
        count = len(programs.source)
        own = np.flatnonzero(messages.label == label)
        self.order: list[Ints] = []
        if len(own) % count:
            raise ValueError("some messages have not ended: a longer duration is needed")
        for iteration in range(len(own) // count):
            rows = own
            if len(own) > count:
                rows = own[messages.iteration[own] == iteration]
            # Flows have numbers in the order of the program, whichever starts first.
            ranked = rows[np.lexsort((messages.flow[rows], messages.dst[rows], messages.src[rows]))]
            of = np.empty(count, np.int64)
            of[order] = ranked
            self.order.append(of)

    def ends(self, duration: Ints, acked: Ints) -> Floats:
        """Return when each iteration is over, picoseconds."""
        delivery = [duration[rows] for rows in self.order]
        done = self.replay.run(delivery, [acked[rows] for rows in self.order])
        return np.array([float(end.max()) for end in done])


def jobs_of(messages: Messages, job: str, directory: Path) -> list[Job]:
    """Return the jobs of a run."""
    setting = JOBS[job]
    found = []
    for place, table in enumerate(setting.workloads):
        goal = directory / f"{job}-{place}.goal"
        if not goal.exists():
            convert(write_one(job, place, directory / "one.toml"), goal)
        replay = replay_of(goal, 1 if setting.kind == "training" else 1000)
        ranks = np.arange(int(replay.programs.rank.max()) + 1)
        found.append(Job(messages, place, replay, hosts_of(table, ranks, setting.ports)))
    return found


@lru_cache(maxsize=2)
def replay_of(goal: Path, unit: int) -> Replay:
    """Return the replay of the programs of a file."""
    return Replay(parse(goal, unit))


def hosts_of(table: Table, rank: Ints, k: int) -> Ints:
    """Return the host of each rank of a job, as docs/workloads has it."""
    racks, in_rack = k * k // 2, k // 2
    first, stride = whole_number(table, "first_host", 0), whole_number(table, "stride", 1)
    if table.get("placement") == "spread":
        place = first + rank
        return place % racks * in_rack + place // racks
    in_group = len(rank) // whole_number(table, "groups", 1)
    group_stride = whole_number(table, "group_stride", in_group * stride)
    return first + rank // in_group * group_stride + rank % in_group * stride


def whole_number(table: Table, key: str, default: int) -> int:
    """Return a key of a workload."""
    value = table.get(key, default)
    if not isinstance(value, int):
        raise TypeError(f"{key} is {value!r}")
    return value


def tried(messages: Messages, jobs: list[Job], seeds: int = 3) -> list[Row]:
    """Return for each rule the most that it could gain, and the error of the time of the jobs."""
    acked = messages.ended - messages.start
    true = [job.ends(messages.duration, acked) for job in jobs]
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, model in chain(rules(messages), *(drawn(messages, seed) for seed in range(seeds))):
        work = share(messages, model == np.arange(len(messages)))
        total = each = 0.0
        for job, ends in zip(jobs, true, strict=True):
            made = job.ends(messages.duration[model], acked[model])
            total = max(total, abs(made[-1] / ends[-1] - 1))
            periods = np.diff(made, prepend=0) / np.diff(ends, prepend=0)
            each = max(each, float(abs(periods - 1).max()))
        found.setdefault(name, []).append((1 / work, total, each))
    return [
        {
            "rule": name,
            "speedup": np.mean([row[0] for row in rows]).item(),
            "error": max(row[1] for row in rows),
            "error of an iteration": max(row[2] for row in rows),
        }
        for name, rows in found.items()
    ]


def apart(messages: Messages, job: Job) -> float:
    """Return how far the end of a replay with the times of the run is from that of the run.

    It is 0, with each start at the picosecond of the run, where messages of a pair come in order.
    """
    begin = np.zeros(int(job.replay.programs.rank.max()) + 1, np.int64)
    different = 0
    for rows in job.order:
        acked = messages.ended[rows] - messages.start[rows]
        started, begin = job.replay.iteration(begin, messages.duration[rows], acked)
        different += int((started != messages.start[rows]).sum())
    if not different:
        return 0.0
    last = max(int(messages.ended[rows].max()) for rows in job.order)
    return abs(float(begin.max()) / last - 1)


def rates(messages: Messages, directory: Path, jobs: list[Job]) -> list[Row]:
    """Return what extrapolation of steady rates would skip, by window and bound."""
    acked = messages.ended - messages.start
    series = repeats_rates.read_series(directory, EVERY_PS)
    connection = connections(messages)
    pairs = joined(messages, False)
    beside = repeats_rates.neighbours(len(messages), pairs)
    groups = list(repeats_rates.episodes(messages.start, messages.ended, beside))
    found: list[Row] = []
    for window in (16, 64):
        for bound in (0.01, 0.05, 0.2):
            for alone in (True, False):
                skipped = repeats_rates.skip(
                    messages, connection, series, groups, window, bound, alone
                )
                late = np.rint(skipped.late).astype(np.int64)
                if jobs:
                    made = max(job.ends(messages.duration + late, acked + late)[-1] for job in jobs)
                else:
                    made = float((messages.ended + late).max())
                found.append(
                    {
                        "window": window,
                        "bound": bound,
                        "rule": "each flow" if alone else "whole group",
                        "share": skipped.share,
                        "speedup": 1 / (1 - skipped.share),
                        "mean error of a flow": float(np.mean(abs(late) / acked)),
                        "largest error of a flow": float(np.max(abs(late) / acked)),
                        "error of the last": abs(made / float(messages.ended.max()) - 1),
                    }
                )
    return found


def connections(messages: Messages) -> Ints:
    """Return the number of the first message on the connection of each."""
    pair = number(messages.label, messages.src, messages.dst)
    first = np.full(int(pair.max()) + 1, -1)
    first[pair[messages.cold]] = messages.flow[messages.cold]
    found: Ints = np.where(messages.cold, messages.flow, first[pair])
    return found


def measure(job: str, transport: str, directory: Path) -> dict[str, object]:
    """Run a job with a transport, and return its numbers."""
    kind = JOBS[job].kind
    long = kind == "permutation" or job.endswith("-long")
    record: Table | None = {"rate": {"every": "15us"}} if long else None
    out = directory / job / transport
    result = simulate(transport, job, out, record)
    numbers: dict[str, object] = {
        "job": job,
        "transport": transport,
        "hops": result.run["packet_hops"],
        "cpu_s": result.run["cpu_s"],
    }
    if job.endswith("-empty"):
        return numbers
    groups = whole_number(JOBS[job].workloads[0], "groups", 1)
    messages = read(out, JOBS[job].ports, groups)
    numbers["exact"] = exact(messages)
    numbers["whole"] = whole(messages, job)
    numbers["groups"] = grouped(messages)
    numbers["ends"] = ends(messages)
    jobs = [] if kind == "permutation" else jobs_of(messages, job, directory)
    if long:
        numbers["rates"] = rates(messages, out, jobs)
    if jobs:
        numbers["replay apart"] = max(apart(messages, each) for each in jobs)
        numbers["rules"] = tried(messages, jobs)
    return numbers


def short(value: object) -> object:
    """Return numbers with six digits, which is more than what they are worth."""
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items()}
    if isinstance(value, list):
        return [short(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def keep(numbers: list[dict[str, object]], file: Path) -> None:
    """Write the numbers, a run a line."""
    rows = ",\n".join(json.dumps(short(each)) for each in numbers)
    file.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def main() -> None:
    """Measure all that is asked for, and print the tables of all that is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--jobs", nargs="*", default=list(JOBS))
    parser.add_argument("--transports", nargs="*", default=list(TRANSPORTS))
    parser.add_argument("--out", type=Path, default=NUMBERS)
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.exists() else []
    for job in options.jobs:
        for transport in options.transports:
            numbers = measure(job, transport, options.directory)
            found = [f for f in found if (f["job"], f["transport"]) != (job, transport)]
            found.append(numbers)
            keep(found, options.out)
    print("\n".join(lines(found, list(JOBS), list(TRANSPORTS))))


if __name__ == "__main__":
    main()
