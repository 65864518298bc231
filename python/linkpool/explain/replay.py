"""Make a run again, and keep all that happens to some of its flows."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from linkpool.columns import nodes_of
from linkpool.explain.packets import GOES_ON, key_of, other_end
from linkpool.replay import difference, require_same_times, traceable
from linkpool.result import Result
from linkpool.units import PS


class ExplainError(ValueError):
    """A flow cannot be explained; the message says why, and what would do."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a flow.

    Attributes:
        at: when, ps.
        what: `opens`, `given`, `sent`, `arrived`, `timer`, `turn`, `lost`, `held`, `state`,
            `acked`, `offered`, `waits`, `done` or `ends`.
        more: the rest, by name; `crates/sim/src/trace/row.rs` explains it.

    """

    at: int
    what: str
    more: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.more[name]


@dataclass(frozen=True)
class Life:
    """All that happened to one flow, in order of time.

    Attributes:
        flow: its number.
        events: from its first packet to its end, or that of the run. Those of a message are of its
            connection, from when the message was given to it; before them stand the packets that
            were on the way then.
        opens: the event that tells of its connection.
        row: its row in `flows`.
        paths: by subflow, the names of the nodes on its way, where it is fixed.
        result: the result that it is of.
        note: what the reader must know of the replay; empty: nothing.

    """

    flow: int
    events: list[Event]
    opens: Event
    row: dict[str, Any]
    paths: dict[int, list[str]]
    result: Result
    note: str

    @cached_property
    def first(self) -> int:
        """The index of the event with which it begins."""
        return next(i for i, e in enumerate(self.events) if _begins(e, self.flow))

    @property
    def message(self) -> Event | None:
        """How it was given to its connection, if that stays open for other messages, too."""
        begin = self.events[self.first]
        return begin if begin.what == "given" else None

    @property
    def size(self) -> int | None:
        """Where its data ends in the stream of its connection, bytes; None: nowhere."""
        size: int | None = self.opens["size"] if self.message is None else self.message["end"]
        return size

    @property
    def start(self) -> int:
        """When the first packet was sent, or the message was given to its connection, ps."""
        return self.events[self.first].at

    @cached_property
    def end(self) -> int:
        """When the sender was done, or gave up; of other unfinished flows, when the run ended."""
        ends = (e.at for e in reversed(self.events) if is_end(e, self.flow))
        run_end = round(self.result.run["simulated_s"] * PS)
        return next(ends, max(run_end, self.events[-1].at))

    @property
    def is_pulled(self) -> bool:
        """Whether its receiver asks for each packet after the first window."""
        return bool(self.opens["pulled"])

    @cached_property
    def tells_waits(self) -> bool:
        """Whether the sender tells what it waits for: its rate, its window, its turn, ACKs."""
        return any(e.what == "waits" for e in self.events)

    @property
    def subflows(self) -> list[int]:
        """The subflows of which something was heard."""
        return sorted({e["subflow"] for e in self.events if e.what in ("sent", "arrived", "state")})


def replay(result: Result, flows: Sequence[int]) -> list[Life]:
    """Make the run of a result again, and return the lives of some of its flows.

    Raises:
        ExplainError: there is no such flow, or the run is not the same as the one recorded.
        ScenarioError: the scenario cannot be read again.

    """
    with _as_explain_error():
        found = traceable(result, flows).collect()
    rows = {row["flow"]: row for row in found.iter_rows(named=True)}
    scenario = result.load()
    with _as_explain_error():
        note = difference(result, scenario)
    trace: dict[int, list[Event]] = defaultdict(list)
    for e in json.loads(scenario.trace([(flow, rows[flow]["connection"]) for flow in flows])):
        trace[e["flow"]].append(Event(e.pop("at"), e.pop("what"), e))
    lives = []
    for flow in flows:
        events = trace[rows[flow]["connection"]]
        opens = next((e for e in events if e.what == "opens"), None)
        events = _of_flow(events, flow)
        with _as_explain_error():
            recorded = rows[flow]["start_s"], rows[flow]["end_s"]
            require_same_times(result, flow, recorded, _times(events, flow), note)
        assert opens is not None, "a flow begins on a connection"
        lives.append(Life(flow, events, opens, rows[flow], _paths(result, flow), result, note))
    return lives


@contextmanager
def _as_explain_error() -> Iterator[None]:
    """Say of a run that cannot be repeated that its flows cannot be explained."""
    try:
        yield
    except ValueError as error:
        raise ExplainError(str(error)) from None


def _begins(e: Event, flow: int) -> bool:
    """Tell whether a flow begins: alone on a connection, or as a message."""
    if e.what == "given":
        return bool(e["message"] == flow)
    return e.what == "opens" and not e["stays_open"]


def is_end(e: Event, flow: int) -> bool:
    """Tell whether a flow, or a message, ends."""
    return bool(e["message"] == flow) if e.what == "done" else e.what == "ends"


def _of_flow(events: list[Event], flow: int) -> list[Event]:
    """Return the events of a connection while a flow lives, after the packets on the way."""
    first = next((i for i, e in enumerate(events) if _begins(e, flow)), len(events))
    end = next((i for i, e in enumerate(events) if is_end(e, flow)), len(events))
    on_the_way: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    for e in events[:first]:
        if e.what == "sent":
            on_the_way[key_of(e.more, other_end(e["by"]))].append(e)
        elif e.what == "arrived" or (e.what == "lost" and e["cause"] not in GOES_ON):
            sent = on_the_way[key_of(e.more, e["at_end"] if e.what == "arrived" else e["to"])]
            del sent[:1]
    before = sorted((e for sent in on_the_way.values() for e in sent), key=_at)
    return [*before, *events[first : end + 1]]


def _at(e: Event) -> int:
    return e.at


def _times(events: list[Event], flow: int) -> tuple[int, int | None] | None:
    """Return when a flow began and was complete, ps; None: it did not begin."""
    begin = next((e.at for e in events if _begins(e, flow)), None)
    if begin is None:
        return None
    return begin, next((e.at for e in events if is_end(e, flow) and e["finished"]), None)


def _paths(result: Result, flow: int) -> dict[int, list[str]]:
    rows = result.scan("subflows").filter(pl.col("flow") == flow).select("subflow", "path")
    return {
        subflow: nodes_of(path) for subflow, path in rows.collect().iter_rows() if path is not None
    }
