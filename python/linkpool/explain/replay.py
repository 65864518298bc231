"""Make a run again, and keep all that happens to some of its flows."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from linkpool import api
from linkpool.replay import difference, require_same_times, traceable
from linkpool.result import Result


class ExplainError(ValueError):
    """A flow cannot be explained; the message says why, and what would do."""


@dataclass(frozen=True)
class Event:
    """Something that happened to a flow.

    Attributes:
        at: when, ps.
        what: `opens`, `sent`, `arrived`, `timer`, `turn`, `lost`, `state`, `acked` or `ends`.
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
        events: from its first packet to its end, or that of the run.
        row: its row in `flows`.
        paths: by subflow, the names of the nodes on its way, where it is fixed.
        result: the result that it is of.
        note: what the reader must know of the replay; empty: nothing.

    """

    flow: int
    events: list[Event]
    row: dict[str, Any]
    paths: dict[int, list[str]]
    result: Result
    note: str

    @property
    def start(self) -> int:
        """When the first packet was sent, ps."""
        return self.events[0].at

    @property
    def end(self) -> int:
        """When the sender was done; of an unfinished flow, when something last happened to it."""
        return next((e.at for e in reversed(self.events) if e.what == "ends"), self.events[-1].at)

    @property
    def is_pulled(self) -> bool:
        """Whether its receiver asks for each packet after the first window (NDP)."""
        return bool(self.events[0]["pulled"])

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
    scenario = api.load(result.dir / "scenario.toml", overrides=[])
    with _as_explain_error():
        note = difference(result, scenario.toml)
    trace = json.loads(scenario.trace(list(flows)))
    lives = []
    for flow in flows:
        events = [Event(e.pop("at"), e.pop("what"), e) for e in trace if e["flow"] == flow]
        with _as_explain_error():
            recorded = rows[flow]["start_s"], rows[flow]["end_s"]
            require_same_times(result, flow, recorded, _times(events), note)
        lives.append(Life(flow, events, rows[flow], _paths(result, flow), result, note))
    return lives


@contextmanager
def _as_explain_error() -> Iterator[None]:
    """Say of a run that cannot be repeated that its flows cannot be explained."""
    try:
        yield
    except ValueError as error:
        raise ExplainError(str(error)) from None


def _times(events: list[Event]) -> tuple[int, int | None] | None:
    """Return when a flow began and was complete, ps; None: it did not begin."""
    if not events:
        return None
    complete = (e.at for e in events if e.what == "ends" and e["finished"])
    return events[0].at, next(complete, None)


def _paths(result: Result, flow: int) -> dict[int, list[str]]:
    rows = result.scan("subflows").filter(pl.col("flow") == flow).select("subflow", "path")
    return {
        subflow: path.split() for subflow, path in rows.collect().iter_rows() if path is not None
    }
