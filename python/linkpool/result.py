"""A finished run, read from its directory."""

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.columns import TABLES
from linkpool.summarise import summarise
from linkpool.summary import Summary
from linkpool.units import parse_seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


ALWAYS = ("flows", "subflows", "links", "workloads")
"""The tables that every result has."""


class NotRecordedError(LookupError):
    """The run has no such time series, as its scenario did not ask for it."""


@dataclass(frozen=True)
class Result:
    """The tables of one run; `linkpool columns` explains each column.

    Attributes:
        dir: the result directory.

    """

    dir: Path

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self._table("flows")

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per subflow."""
        return self._table("subflows")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per directed link."""
        return self._table("links")

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row per job or collective operation, where a workload has any."""
        if not self._has("jobs"):
            raise NotRecordedError(f"{self.dir} has no jobs: no workload of its scenario has any")
        return self._table("jobs")

    @cached_property
    def workloads(self) -> pl.DataFrame:
        """One row per workload: what it was asked for."""
        return self._table("workloads")

    @cached_property
    def changes(self) -> pl.DataFrame:
        """One row per change of a link, where the scenario has any."""
        if not self._has("changes"):
            raise NotRecordedError(f"{self.dir} has no changes: its scenario has no [[change]]")
        return self._table("changes")

    @cached_property
    def queue(self) -> pl.DataFrame:
        """Queue length over time, where the scenario's `[record]` asks for it."""
        return self._series("queue", 'queue = { links = ["W->R"], every = "10us" }')

    @cached_property
    def cwnd(self) -> pl.DataFrame:
        """Window of each subflow over time, where the scenario's `[record]` asks for it."""
        return self._series("cwnd", 'cwnd = { every = "10us" }')

    @cached_property
    def rate(self) -> pl.DataFrame:
        """Goodput of each subflow over time, where the scenario's `[record]` asks for it."""
        return self._series("rate", 'rate = { every = "1ms" }')

    @cached_property
    def rtt(self) -> pl.DataFrame:
        """Round-trip times of each subflow, where the scenario's `[record]` asks for them."""
        return self._series("rtt", 'rtt = { every = "1ms" }')

    @cached_property
    def counters(self) -> pl.DataFrame:
        """What links carry per interval, where the scenario's `[record]` asks for it."""
        return self._series("counters", 'counters = { every = "1ms" }')

    @cached_property
    def period(self) -> tuple[float, float]:
        """The measured period, seconds: its start, and its end or that of the run."""
        measure = tomllib.loads(self.scenario)["measure"]
        end = min(parse_seconds(measure["cut_off"]), float(self.run["simulated_s"]))
        return parse_seconds(measure["warm_up"]), end

    @cached_property
    def summary(self) -> Summary:
        """Statistics over the measured flows and the links, computed from the tables."""
        return summarise(
            self.flows,
            self.links,
            self.period,
            workloads=self.workloads,
            jobs=self.jobs if self._has("jobs") else None,
            rtts=self.rtt if self._has("rtt") else None,
        )

    @cached_property
    def scenario(self) -> str:
        """The scenario as run, in TOML, with every default written out."""
        return (self.dir / "scenario.toml").read_text(encoding="utf-8")

    @cached_property
    def run(self) -> dict[str, Any]:
        """Version, times and packet-hops of the run: what differs between machines."""
        content = json.loads((self.dir / "run.json").read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"{self.dir / 'run.json'} is not a JSON object")
        return content

    def _has(self, name: str) -> bool:
        return (self.dir / f"{name}.parquet").exists()

    def _table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.dir / f"{name}.parquet")

    def _series(self, name: str, how: str) -> pl.DataFrame:
        if not self._has(name):
            raise NotRecordedError(
                f"{self.dir} has no {name} series; to record it, write `{how}` under [record]"
            )
        return self._table(name)


def lacks(directory: Path) -> str | None:
    """Name a table, or a column of one, that a result of this version would have."""
    for name, columns in TABLES.items():
        file = directory / f"{name}.parquet"
        if not file.is_file():
            if name in ALWAYS:
                return file.name
            continue
        found = pl.read_parquet_schema(file)
        for column in columns:
            if column.name not in found:
                return f"column {column.name} in {file.name}"
    return None
