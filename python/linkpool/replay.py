"""Make the run of a result again, with more recording."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from linkpool import _core, api
from linkpool.columns import TABLES
from linkpool.identity import run_key
from linkpool.loading import Value
from linkpool.manifest import NAME as MANIFEST
from linkpool.manifest import Manifest
from linkpool.result import Result
from linkpool.units import PS, show_seconds


class ReplayError(ValueError):
    """A run cannot be repeated; the message says why, and what would help."""


def replay(
    result: Result,
    record: Mapping[str, Value],
    *,
    out: str | Path | None = None,
    progress: api.Progress | None = None,
    threads: int | None = None,
    ignore_estimate: bool = False,
) -> tuple[Result, str]:
    """Make the run of a result again with other keys of `[record]`.

    Args:
        result: the result.
        record: keys of `[record]`, such as `{"cwnd.every": "1ms"}` or `{"capture": {}}`; what the
            scenario records already is recorded again.
        out: directory for the new result, as of `linkpool.run`.
        progress: as of `linkpool.run`.
        threads: as of `linkpool.run`.
        ignore_estimate: as of `linkpool.run`.

    Returns:
        The new result, and a sentence about the simulator if it is not known to be the one that
        made the first result; empty: it is.

    Raises:
        ReplayError: a table is not the same in both runs, or the scenario has changed.
        ScenarioError: the keys are wrong.

    """
    note = difference(result, result.load())
    scenario = result.load({f"record.{key}": value for key, value in record.items()})
    changed = {key.partition(".")[0] for key in record}

    def compare(directory: Path) -> None:
        _require_same(result, Result.of_run(directory), changed, note)

    again = api.simulate_loaded(scenario, out, progress, threads, ignore_estimate, compare)
    return again, note


def difference(result: Result, scenario: _core.Scenario) -> str:
    """Say what is not as it was when a result was written; empty: nothing.

    Args:
        result: the result.
        scenario: its scenario as this simulator reads it.

    Raises:
        ReplayError: the scenario is another one.

    """
    if scenario.toml != result.scenario:
        raise ReplayError(
            f"{result.dir}/scenario.toml now means another scenario than the one that ran: "
            "a file that it names has changed, or this version of linkpool reads it otherwise; "
            f"{remedy(result)}"
        )
    if not (result.dir / MANIFEST).exists():
        return "the result has no manifest, so it is not known which simulator made it"
    if Manifest.read(result.dir).key == run_key(scenario):
        return ""
    return "another build of linkpool made the result"


def remedy(result: Result) -> str:
    """Say how a result is made anew."""
    return f"repeat the run: linkpool run {result.dir}/scenario.toml --out {result.dir}"


def traceable(result: Result, flows: Sequence[int] | None = None) -> pl.LazyFrame:
    """Return the rows of flows, for a replay to follow; `connection` is a column of them.

    Args:
        result: the result.
        flows: their numbers; None: all.

    Raises:
        ReplayError: there is no such flow.

    """
    rows = result.scan("flows")
    if "connection" not in rows.collect_schema():
        # Results of older versions have a connection for each flow.
        rows = rows.with_columns(connection="flow")
    if flows is None:
        return rows
    rows = rows.filter(pl.col("flow").is_in(list(flows)))
    there = set(rows.select("flow").collect()["flow"])
    for flow in flows:
        if flow not in there:
            raise ReplayError(f"{result.dir} has no flow {flow}; {_closest(result, flow)}")
    return rows


def _closest(result: Result, flow: int) -> str:
    """Say which flows there are: numbers of messages of a program have gaps."""
    numbers = result.scan("flows").select("flow").collect()["flow"]
    if numbers.is_empty():
        return "it has none"
    closest = min(numbers, key=lambda number: (abs(number - flow), number))
    return f"the closest number is {closest}, and flows.parquet lists all"


def require_same_times(
    result: Result,
    flow: int,
    recorded: tuple[float, float | None],
    traced: tuple[int, int | None] | None,
    note: str,
) -> None:
    """Raise unless a flow began and ended in a replay as in the result, to the picosecond.

    Args:
        result: the result.
        flow: the flow's number.
        recorded: when it began and ended in the result, seconds; None: not finished.
        traced: when it did in the replay, ps; None: it did not begin.
        note: of `difference`.

    Raises:
        ReplayError: it did not.

    """
    if traced == tuple(None if at is None else round(at * PS) for at in recorded):
        return
    why = f" ({note})" if note else ""
    if traced is None:
        raise ReplayError(f"flow {flow} does not start in the replay{why}; {remedy(result)}")
    when = "never" if traced[1] is None else show_seconds(traced[1] / PS)
    raise ReplayError(
        f"in the replay flow {flow} ends at {when}, and in the result at "
        f"{show_seconds(recorded[1])}{why}; {remedy(result)}"
    )


def _require_same(first: Result, again: Result, changed: set[str], note: str) -> None:
    """Raise unless the tables of both are equal, but for series that are recorded otherwise."""
    why = f" ({note})" if note else ""
    for table in TABLES:
        if table in changed or not first.has(table):
            continue
        if not again.has(table):
            raise ReplayError(f"the replay has no {table}.parquet{why}; {remedy(first)}")
        if not _equal(first.scan(table), again.scan(table)):
            raise ReplayError(
                f"{table}.parquet of the replay differs from that of {first.dir}{why}; "
                f"{remedy(first)}"
            )


ROWS = 1 << 20
"""Rows that are compared at a time."""


def _equal(first: pl.LazyFrame, again: pl.LazyFrame) -> bool:
    """Tell whether the columns that both tables have are the same, nulls included.

    Another version of linkpool may have written further columns (`docs/stability.md`).
    """
    schemas = first.collect_schema(), again.collect_schema()
    both = [name for name in schemas[0] if name in schemas[1]]
    if any(schemas[0][name] != schemas[1][name] for name in both):
        return False
    first, again = first.select(both), again.select(both)
    lengths = [frame.select(pl.len()).collect().item() for frame in (first, again)]
    return lengths[0] == lengths[1] and all(
        first.slice(start, ROWS).collect().equals(again.slice(start, ROWS).collect())
        for start in range(0, lengths[0], ROWS)
    )
