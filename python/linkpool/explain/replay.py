"""Make a run again, and keep all that happens to some of its flows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from linkpool import api
from linkpool.replay import difference, remedy
from linkpool.result import Result
from linkpool.units import show_seconds

PS = 1_000_000_000_000
"""Picoseconds in a second."""


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
    rows = {
        row["flow"]: row
        for row in result.scan("flows")
        .filter(pl.col("flow").is_in(list(flows)))
        .collect()
        .iter_rows(named=True)
    }
    shared = _shared(result)
    for flow in flows:
        if flow not in rows:
            raise ExplainError(f"{result.dir} has no flow {flow}; flows.parquet lists them")
        if flow in shared:
            raise ExplainError(
                f"flow {flow} is a message on a connection that stays open, which cannot be "
                "explained; with persistent = false in its workload, each has a connection of "
                "its own"
            )
    file = result.dir / "scenario.toml"
    scenario = api.load(file, overrides=[])
    try:
        note = difference(result, scenario.toml)
    except ValueError as error:
        raise ExplainError(str(error)) from None
    trace = json.loads(scenario.trace(list(flows)))
    lives = []
    for flow in flows:
        events = [Event(e.pop("at"), e.pop("what"), e) for e in trace if e["flow"] == flow]
        _require_same(result, rows[flow], events, note)
        lives.append(Life(flow, events, rows[flow], _paths(result, flow), result, note))
    return lives


def _shared(result: Result) -> set[int]:
    """Return the flows that are messages on a connection with others."""
    flows = result.scan("flows")
    if "connection" not in flows.collect_schema():
        return set()
    return set(flows.filter(pl.len().over("connection") > 1).select("flow").collect()["flow"])


def _require_same(result: Result, row: dict[str, Any], events: list[Event], note: str) -> None:
    """Raise unless the flow began and ended in the replay as its row says, to the picosecond."""
    why = f"; {note}" if note else ""
    repeat = remedy(result)
    if not events:
        raise ExplainError(f"flow {row['flow']} does not start in the replay{why}; {repeat}")
    ends = [e.at for e in events if e.what == "ends"]
    recorded = None if row["end_s"] is None else round(row["end_s"] * PS)
    finished = [at for at, e in zip(ends, _ends(events), strict=True) if e["finished"]]
    same = round(row["start_s"] * PS) == events[0].at and (
        recorded is None if not finished else finished[0] == recorded
    )
    if not same:
        when = show_seconds(finished[0] / PS) if finished else "never"
        raise ExplainError(
            f"in the replay flow {row['flow']} ends at {when}, and in the result at "
            f"{show_seconds(row['end_s'])}{why}; {repeat}"
        )


def _ends(events: list[Event]) -> list[Event]:
    return [e for e in events if e.what == "ends"]


def _paths(result: Result, flow: int) -> dict[int, list[str]]:
    rows = result.scan("subflows").filter(pl.col("flow") == flow).select("subflow", "path")
    return {
        subflow: path.split() for subflow, path in rows.collect().iter_rows() if path is not None
    }
