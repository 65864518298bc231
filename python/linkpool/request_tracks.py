"""Requests to models as tracks for Perfetto."""

import heapq
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import polars as pl

from linkpool import perfetto_packets as packets
from linkpool.request_spans import request_spans
from linkpool.result import Result
from linkpool.units import PS

FIRST = 3 << 62
"""The first number of a track; the simulator's own have lower ones
(`crates/sim/src/perfetto/tracks.rs`)."""

Events = list[tuple[int, bytes]]
"""When, ns, and the packet."""


def request_tracks(result: Result) -> Iterator[bytes]:
    """Yield the packets: descriptions of tracks, then what happens on them in order of time.

    Each job has a group: its requests, of which those that overlap are on several lanes, with what
    they do as slices; a track for each prefill instance, with a slice for each prompt; and counters
    of the requests that each decode instance has. Steps of decode instances have tracks where the
    result has them.
    """
    spans = request_spans(result)
    until = spans.group_by("workload", "request").agg(until_s=pl.col("end_s").max())
    rows = result.requests.join(until, on=["workload", "request"])
    steps = result.decode_steps if result.has("decode_steps") else None
    until_ns = _ns(float(result.run["simulated_s"]))
    numbers = count(FIRST)
    events: Events = []
    for _, of in rows.group_by("workload", maintain_order=True):
        group = next(numbers)
        yield packets.track(group, f"requests of {of['label'][0]}")
        of = of.sort("arrival_s", "request")
        own = spans.filter(workload=of["workload"][0])
        yield from _lanes(of, own, group, numbers, events)
        yield from _prefill(of, group, numbers, events)
        yield from _decode(of, group, numbers, events)
        if steps is not None:
            own_steps = steps.filter(workload=of["workload"][0])
            yield from _steps(own_steps, until_ns, group, numbers, events)
    # What happens at one time on a track stays in order.
    yield from (packet for _, packet in sorted(events, key=lambda event: event[0]))


def _lanes(
    rows: pl.DataFrame, spans: pl.DataFrame, group: int, numbers: Iterator[int], events: Events
) -> Iterator[bytes]:
    """Put each request on the first lane that is free."""
    did: dict[Any, list[tuple[str, float, float]]] = {}
    for request, *span in spans.select("request", "doing", "start_s", "end_s").iter_rows():
        did.setdefault(request, []).append(tuple(span))
    lanes: list[int] = []
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    for row in rows.iter_rows(named=True):
        start, until = _ns(row["arrival_s"]), _ns(row["until_s"])
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            lanes.append(next(numbers))
            name = "requests" if len(lanes) == 1 else f"requests, lane {len(lanes)}"
            yield packets.track(lanes[-1], name, group)
            free.append(len(lanes) - 1)
        lane = heapq.heappop(free)
        heapq.heappush(busy, (until, lane))
        track = lanes[lane]
        tokens = {"prompt tokens": row["prompt_tokens"], "output tokens": row["output_tokens"]}
        events.append((start, packets.begin(start, track, f"request {row['request']}", tokens)))
        for doing, begin_s, end_s in did[row["request"]]:
            begin, end = _ns(begin_s), _ns(end_s)
            events.append((begin, packets.begin(begin, track, _named(doing, row))))
            events.append((end, packets.end(end, track)))
        events.append((until, packets.end(until, track)))
        if row["first_token_s"] is not None:
            first = _ns(row["first_token_s"])
            events.append((first, packets.instant(first, track, "first token")))


def _prefill(
    rows: pl.DataFrame, group: int, numbers: Iterator[int], events: Events
) -> Iterator[bytes]:
    for (host,), of in rows.sort("prefill_start_s").group_by("prefill_host", maintain_order=True):
        track = next(numbers)
        yield packets.track(track, f"prefill on {host}", group)
        for row in of.drop_nulls("prefill_start_s").iter_rows(named=True):
            begin, end = _ns(row["prefill_start_s"]), _ns(row["until_s"])
            if row["prefill_end_s"] is not None:
                end = _ns(row["prefill_end_s"])
            events.append((begin, packets.begin(begin, track, f"request {row['request']}")))
            events.append((end, packets.end(end, track)))


def _decode(
    rows: pl.DataFrame, group: int, numbers: Iterator[int], events: Events
) -> Iterator[bytes]:
    """Count the requests whose keys and values are at an instance, until their last token."""
    there = rows.drop_nulls("kv_arrived_s")
    for (host,), of in there.group_by("decode_host", maintain_order=True):
        track = next(numbers)
        yield packets.track(track, f"requests at {host}", group, "requests")
        changes: dict[int, int] = {0: 0}
        for arrived, end in of.select("kv_arrived_s", "end_s").iter_rows():
            changes[_ns(arrived)] = changes.get(_ns(arrived), 0) + 1
            if end is not None:
                changes[_ns(end)] = changes.get(_ns(end), 0) - 1
        level = 0
        for at in sorted(changes):
            level += changes[at]
            events.append((at, packets.count(at, track, level)))


def _steps(
    steps: pl.DataFrame, until: int, group: int, numbers: Iterator[int], events: Events
) -> Iterator[bytes]:
    for (host,), of in steps.group_by("host", maintain_order=True):
        track = next(numbers)
        yield packets.track(track, f"steps on {host}", group)
        for row in of.iter_rows(named=True):
            begin = _ns(row["start_s"])
            end = until if row["end_s"] is None else _ns(row["end_s"])
            said = {"sequences": row["sequences"], "joined": row["joined"]}
            events.append((begin, packets.begin(begin, track, f"step {row['step']}", said)))
            events.append((end, packets.end(end, track)))


def _named(doing: str, row: Mapping[str, Any]) -> str:
    """Name what a request does, and where."""
    if doing == "wait":
        return "wait for prefill"
    if doing == "prefill":
        return f"prefill on {row['prefill_host']}"
    what, at = {
        "transfer": ("transfer of keys and values", "to"),
        "step": ("wait for a step, first step", "on"),
        "decode": ("decode", "on"),
    }[doing]
    return what if row["decode_host"] is None else f"{what} {at} {row['decode_host']}"


def _ns(seconds: float) -> int:
    """Return whole nanoseconds of a time in whole picoseconds."""
    return round(seconds * PS) // 1000
