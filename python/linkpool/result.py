"""A finished run, read from its directory.

polars is imported where a data frame is asked for: what a run prints needs none.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from linkpool import _core, forks
from linkpool.columns import TABLES
from linkpool.errors import InputError
from linkpool.loading import Value, load, overrides
from linkpool.manifest import NAME as MANIFEST
from linkpool.manifest import DamagedError, Manifest
from linkpool.offered import TierLoad, remarks
from linkpool.publish import is_text
from linkpool.summary import Summary
from linkpool.units import counted, show_seconds
from linkpool.verbs import verb

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from linkpool.api import Progress
    from linkpool.explain.explanation import Explanation

REQUIRED = ("scenario.toml", "run.json", "flows.parquet")
"""Without these files a directory is no result."""

SUMMARY = "summary.json"
"""What a run writes of its tables; results of earlier versions may lack it."""

SLOWEST = 5
"""Flows that a notebook shows of a result."""

unverified: set[Path] = set()
"""Results without a manifest whose tables this process has read: damage to them may not show."""


class NotRecordedError(InputError, LookupError):
    """The run does not have this table, as its scenario did not ask for it."""


class ResultError(InputError, ValueError):
    """A result cannot be read; the message names the file and the remedy."""


class ReplayWarning(UserWarning):
    """Another build of linkpool made the result that was replayed."""


class Result:
    """The tables of one run; `linkpool columns` explains each column.

    A table is read when it is asked for first; if the directory has a manifest, the file is checked
    against its SHA-256 before. A pickled result is the path of its directory.

    Attributes:
        dir: the result directory.
        run_code: may what makes the run again run code in Python that its scenario brings
            (`controls`)? False: it is refused, as the result may be of somebody else.

    >>> import linkpool
    >>> result = linkpool.run("docs/workloads/incast.toml")
    >>> result.flows.select("src", "fct_s").height == result.summary.overall.flows
    True
    >>> slowest = result.scan("flows").select("flow", "fct_s").top_k(1, by="fct_s")
    >>> slowest.collect().height
    1

    Raises:
        NotRecordedError: a table is asked for that the scenario did not ask for.
        ResultError: a file is missing or damaged, or another version of linkpool wrote it.
        ForkedError: polars cannot work, as this process was forked after its first use.

    """

    def __init__(self, dir: str | Path, *, run_code: bool = False) -> None:  # noqa: A002
        self.dir = Path(dir)
        self.run_code = run_code
        self._checked: set[str] = set()
        self._decoded: set[str] = set()
        self._fit: set[str] = set()
        self._numbers: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
        self._is_own = False

    @classmethod
    def of_run(cls, directory: Path, *, run_code: bool = False) -> Result:
        """Return what a run of this process has just written: its tables are as it writes them."""
        result = cls(directory, run_code=run_code)
        result._is_own = True
        return result

    def trust(self) -> Result:
        """Read files without the manifest, which was written a moment ago. Return this."""
        self._manifest = None
        return self

    def __repr__(self) -> str:
        return f"Result({str(self._shown)!r})"

    def __eq__(self, other: object) -> bool:
        return self.dir == other.dir if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dir)

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        """Pickle the path: another process may have another working directory."""
        return partial(Result, run_code=self.run_code), (self.dir.resolve(),)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow."""
        return self._table("flows")

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per subflow."""
        return self._table("subflows")

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """Measures that only one congestion control algorithm or family of transports has."""
        return self._table("metrics")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per directed link."""
        return self._table("links")

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row per job or collective operation, where a workload has any."""
        return self._table("jobs")

    @cached_property
    def ranks(self) -> pl.DataFrame:
        """One row per iteration of a rank, where a workload has programs of ranks."""
        return self._table("ranks")

    @cached_property
    def requests(self) -> pl.DataFrame:
        """One row per request to a model, where a workload is of the kind `inference`."""
        return self._table("requests")

    @cached_property
    def workloads(self) -> pl.DataFrame:
        """One row per workload: the sizes and load that the scenario asks for."""
        return self._table("workloads")

    @cached_property
    def tiers(self) -> pl.DataFrame:
        """One row per tier of the fabric: what workloads with a rate of arrivals offer to it."""
        return self._table("tiers")

    @property
    def offered(self) -> list[TierLoad]:
        """What is offered to each tier; empty: no workload has a rate of arrivals."""
        if not self.has("tiers"):
            return []
        columns = self.columns("tiers", "layer", "to_layer", "load", "load_busiest")
        return [TierLoad(*row) for row in zip(*columns, strict=True)]

    @cached_property
    def pauses(self) -> pl.DataFrame:
        """One row per directed link: its pauses, where `[queue]` has `pfc`."""
        return self._table("pauses")

    @cached_property
    def changes(self) -> pl.DataFrame:
        """One row per change of a link, where the scenario has any."""
        return self._table("changes")

    @cached_property
    def queue(self) -> pl.DataFrame:
        """Queue length over time, where the scenario's `[record]` asks for it."""
        return self._table("queue")

    @cached_property
    def cwnd(self) -> pl.DataFrame:
        """Window of each subflow over time, where the scenario's `[record]` asks for it."""
        return self._table("cwnd")

    @cached_property
    def rate(self) -> pl.DataFrame:
        """Goodput of each subflow over time, where the scenario's `[record]` asks for it."""
        return self._table("rate")

    @cached_property
    def rtt(self) -> pl.DataFrame:
        """Round-trip times of each subflow, where the scenario's `[record]` asks for them."""
        return self._table("rtt")

    @cached_property
    def counters(self) -> pl.DataFrame:
        """Counters of links per interval, where the scenario's `[record]` asks for them."""
        return self._table("counters")

    @cached_property
    def pause_events(self) -> pl.DataFrame:
        """Pauses of ports with their reasons, where the scenario's `[record]` asks for them."""
        return self._table("pause_events")

    @cached_property
    def rank_spans(self) -> pl.DataFrame:
        """What ranks of jobs do over time, where the scenario's `[record]` asks for it."""
        return self._table("rank_spans")

    @cached_property
    def decode_steps(self) -> pl.DataFrame:
        """Steps of instances that decode, where the scenario's `[record]` asks for them."""
        return self._table("decode_steps")

    def numbers(self, table: str, *names: str) -> list[npt.NDArray[np.float64]]:
        """Return columns of numbers or flags as arrays, without polars: NaN where there is none.

        Each column is read once.
        """
        import numpy as np

        self._require(table)
        file = f"{table}.parquet"
        missing = [name for name in names if (table, name) not in self._numbers]
        try:
            columns = _core.read_numbers(str(self.dir / file), missing) if missing else []
        except ValueError as error:
            self._fail(file, f"is damaged ({_line(error)})")
        for name, column in zip(missing, columns, strict=True):
            self._numbers[table, name] = np.frombuffer(column)
        return [self._numbers[table, name] for name in names]

    @cached_property
    def period(self) -> tuple[float, float]:
        """The measured period, seconds: its start, and its end or that of the run."""
        scenario, run = self.scenario, self.run
        try:
            # The measured period stands before the topology. What follows may be a graph or a table
            # of a million lines, which the parser would take a minute and a gigabyte for.
            measure = tomllib.loads(scenario.partition("\n[topology")[0])["measure"]
            start, end = (_core.seconds(measure[key]) for key in ("warm_up", "cut_off"))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._fail("scenario.toml", f"is not a scenario as run ({_line(error)})")
        try:
            simulated = float(run["simulated_s"])
        except (ValueError, KeyError, TypeError) as error:
            self._fail("run.json", f"does not say how long the run was ({_line(error)})")
        return start, min(end, simulated)

    @cached_property
    def summary(self) -> Summary:
        """Statistics over the measured flows and the links, computed from the tables."""
        return Summary.parse(self.summary_text)

    @cached_property
    def summary_text(self) -> str:
        """The same as JSON, as the simulator computes it."""
        if self._is_own:
            return self._text(SUMMARY)
        period = self.period
        for table in ("flows", "links", "workloads", "jobs", "rtt"):
            if TABLES[table].lacking is None or self.has(table):
                self._require(table)
        try:
            return _core.summarise(str(self.dir), period, float(self.run["simulated_s"]))
        except ValueError as error:
            self._fail("*.parquet", f"are not as linkpool writes them ({_line(error)})")

    @cached_property
    def written_summary(self) -> dict[str, Any]:
        """`summary.json`, the summary as plain values: of a result that lacks it, it is computed.

        To read it takes a hundredth of the time.
        """
        if not self._is_own and (self._manifest is None or not (self.dir / SUMMARY).exists()):
            return self.summary.as_dict()
        content: dict[str, Any] = json.loads(self._text(SUMMARY))
        return content

    @cached_property
    def scenario(self) -> str:
        """The scenario as run, in TOML, with every default written out."""
        return self._text("scenario.toml")

    def load(self, settings: Mapping[str, Value] | None = None) -> _core.Scenario:
        """Read the scenario again, with other values of some keys.

        Raises:
            ScenarioError: it cannot be read again, or brings code that is not to be run.

        """
        file = self.dir / "scenario.toml"
        return load(file, overrides=overrides(settings), run_code=self.run_code)

    @cached_property
    def seed(self) -> int:
        """The seed of the run."""
        try:
            return int(tomllib.loads(self.scenario.partition("\n[")[0])["seed"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._fail("scenario.toml", f"is not a scenario as run ({_line(error)})")

    @cached_property
    def name(self) -> str:
        """The name of the scenario."""
        try:
            return str(tomllib.loads(self.scenario.partition("\n[")[0])["name"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._fail("scenario.toml", f"is not a scenario as run ({_line(error)})")

    @cached_property
    def run(self) -> dict[str, Any]:
        """Version, times and packet-hops of the run."""
        text = self._text("run.json")
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            self._fail("run.json", f"is damaged ({_line(error)})")
        if not isinstance(content, dict):
            self._fail("run.json", "is no JSON object")
        return content

    def has(self, table: str) -> bool:
        """Tell whether the result has a table; tables without a `[record]` key are always there."""
        return (self.dir / f"{table}.parquet").exists()

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table as a lazy frame, for one that is too long to be read whole."""
        import polars as pl

        self._require(table)
        forks.require_polars()
        return pl.scan_parquet(self.dir / f"{table}.parquet")

    def columns(self, table: str, *names: str) -> list[list[Any]]:
        """Return columns of a table that is not long, as lists: without polars."""
        self._require(table)
        file = f"{table}.parquet"
        try:
            return _core.read_columns(str(self.dir / file), list(names))
        except ValueError as error:
            self._fail(file, f"is damaged ({_line(error)})")

    def explain(self, flow: int) -> Explanation:
        """Make the run again with a trace of one flow, and return where its time went.

        Raises:
            ExplainError: there is no such flow, it cannot be traced, or the run is not the same as
                the one recorded.

        >>> import linkpool
        >>> result = linkpool.run("docs/workloads/incast.toml")
        >>> explanation = result.explain(0)
        >>> round(explanation.breakdown["share"].sum(), 9)
        1.0

        """
        explanation: Explanation = verb("Result.explain")(self, flow)
        return explanation

    def perfetto(
        self,
        out: str | Path,
        *,
        flows: Sequence[int] | None = None,
        queues: Sequence[str] = (),
        every: str = "10us",
        ranks: bool = False,
        requests: bool = False,
    ) -> None:
        """Make the run again, and write what happens to flows as a trace for ui.perfetto.dev.

        Args:
            out: the file; one that is there is replaced.
            flows: numbers of flows; None: all, of which there may be 1,000.
            queues: links, as in `S1->W`, whose queue lengths are traced, too.
            every: the sampling interval of queues.
            ranks: what ranks of jobs do, to the end of the run; then no flow unless it is named.
            requests: what requests to models do; then no flow unless it is named, and the run is
                not made again for requests alone.

        Raises:
            ReplayError: there is no such flow, there are no ranks or requests, a flow cannot be
                traced, or the run is not the same.
            ScenarioError: there is no such link.

        Warns:
            ReplayWarning: another build of linkpool made this result.

        """
        note: str = verb("Result.perfetto")(
            self,
            out,
            flows=flows,
            queues=queues,
            every=every,
            ranks=ranks,
            requests=requests,
        )
        if note:
            warnings.warn(
                f"{note}; the flows begin and end as recorded", ReplayWarning, stacklevel=2
            )

    def replay(
        self,
        record: Mapping[str, Value],
        *,
        out: str | Path | None = None,
        progress: Progress | None = None,
        threads: int | None = None,
        ignore_estimate: bool = False,
    ) -> Result:
        """Make the run again with more recording, and return the new result.

        The tables that both results have must be equal, but for the series that `record` names.

        Args:
            record: keys of `[record]`, such as `{"cwnd.every": "1ms"}`, or `{"capture": {}}`.
            out: directory for the new result, as of `linkpool.run`.
            progress: as of `linkpool.run`.
            threads: as of `linkpool.run`.
            ignore_estimate: as of `linkpool.run`.

        Raises:
            ReplayError: a table is not the same in both runs, or the scenario has changed.
            ScenarioError: the keys are wrong.

        Warns:
            ReplayWarning: another build of linkpool made this result.

        >>> import linkpool
        >>> result = linkpool.run("docs/workloads/incast.toml")
        >>> again = result.replay({"cwnd.every": "100us"})
        >>> again.flows.equals(result.flows), again.cwnd.height > 0
        (True, True)

        """
        again: Result
        again, note = verb("Result.replay")(
            self,
            record,
            out=out,
            progress=progress,
            threads=threads,
            ignore_estimate=ignore_estimate,
        )
        if note:
            warnings.warn(f"{note}; the tables are equal", ReplayWarning, stacklevel=2)
        return again

    def _repr_html_(self) -> str:
        """Show the run in a notebook as the report's first screen does."""
        from linkpool.first_screen import first_screen
        from linkpool.unfinished import slowest, so_far

        of = self.summary.overall
        said = []
        if of.unfinished:
            every = counted(of.unfinished + of.finished, "flow")
            said.append(
                f"{of.unfinished:,} of {every} had not finished when the run ended; each counts as "
                "old as it was then (≥)"
            )
        said += remarks(self.offered)
        start, end = (show_seconds(at, given=True) for at in self.period)
        about = f"seed {self.seed}, measured from {start} to {end}"
        flows = self.scan("flows")
        slow = slowest(flows, SLOWEST).select("flow")
        rows = slow.lazy().join(so_far(flows), on="flow", maintain_order="left").collect()
        place = str(self._shown)
        return first_screen(self.name, about, self.summary, rows.to_dicts(), said, place)

    def check(self) -> None:
        """Raise `ResultError` unless every file is there, and of this version of linkpool."""
        self._require_directory()
        missing = [name for name in REQUIRED if not (self.dir / name).is_file()]
        if missing and (self.dir / "study.toml").is_file():
            raise ResultError(
                f"{self.dir} is the result of a study; name one of its runs, which are in "
                f"{self.dir}/runs.parquet; linkpool study show FILE.toml prints its table, and "
                f"linkpool explain {self.dir} --arm NAME finds the slowest flow of an arm"
            )
        if missing:
            raise ResultError(
                f"{self.dir} is not a linkpool result: it has no {missing[0]}; "
                f"make one: linkpool run FILE.toml --out {self.dir}"
            )
        try:
            if self._manifest is not None:
                self._manifest.check(self.dir, contents=False)
        except DamagedError as error:
            self._damaged(error)
        self.period  # noqa: B018 - reads and checks it
        for name, table in TABLES.items():
            if table.lacking is None or self.has(name):
                self._require(name)

    @property
    def _shown(self) -> Path:
        """The directory, as seen from the working directory if it is in there."""
        here = Path.cwd()
        return self.dir.relative_to(here) if self.dir.is_relative_to(here) else self.dir

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        self._require(name)
        forks.require_polars()
        try:
            return pl.read_parquet(self.dir / f"{name}.parquet")
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            self._fail(f"{name}.parquet", f"is damaged ({_line(error)})")

    def _require(self, name: str) -> None:
        """Check that a table is there, and that it has the columns that this version writes."""
        file = f"{name}.parquet"
        if name in self._fit:
            return
        lacking = TABLES[name].lacking
        if lacking is not None and not self.has(name) and self.dir.is_dir():
            raise NotRecordedError(f"{self.dir} has no {name}; {lacking}")
        self._require_file(file)
        if self._is_own:
            return
        self._require_readable(file)
        try:
            found = dict(_core.table_columns(str(self.dir / file)))
        except ValueError as error:
            self._fail(file, f"is damaged ({_line(error)})")
        for column in TABLES[name].columns:
            if column.name not in found:
                self._fail(
                    file, f"has no column {column.name}, as another version of linkpool wrote it"
                )
            if found[column.name] != column.type:
                self._fail(file, f"has another type of column {column.name} than {column.type}")
        self._fit.add(name)

    def _require_readable(self, file: str) -> None:
        """Decode a table that no manifest vouches for: polars would panic where it is damaged."""
        if self._manifest is not None or file in self._decoded:
            return
        unverified.add(self.dir)
        try:
            _core.check_table(str(self.dir / file))
        except ValueError as error:
            self._fail(file, f"is damaged ({_line(error)})")
        self._decoded.add(file)

    def _text(self, name: str) -> str:
        self._require_file(name)
        try:
            return (self.dir / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._fail(name, f"cannot be read ({_line(error)})")

    def _require_directory(self) -> None:
        if not is_text(self.dir):
            raise ResultError(f"{self.dir}: its name is not a text (UTF-8); give it another name")
        if not self.dir.is_dir():
            raise ResultError(
                f"there is no directory {self.dir}; a result of linkpool.run without `out` is "
                "removed with the object that linkpool.run returned"
            )

    def _require_file(self, name: str) -> None:
        self._require_directory()
        if not (self.dir / name).is_file():
            self._fail(name, "is missing")
        if name in self._checked:
            return
        try:
            if self._manifest is not None:
                self._manifest.check_file(self.dir, name)
        except DamagedError as error:
            self._damaged(error)
        self._checked.add(name)

    @cached_property
    def _manifest(self) -> Manifest | None:
        """The manifest, of a directory that has one: not while it is being written."""
        return Manifest.read(self.dir) if (self.dir / MANIFEST).exists() else None

    def _fail(self, name: str, why: str) -> NoReturn:
        raise ResultError(f"{self.dir / name} {why}; {self._remedy(name)}") from None

    def _damaged(self, error: DamagedError) -> NoReturn:
        raise ResultError(f"{error}; {self._remedy(error.reason)}") from None

    def _remedy(self, damaged: str) -> str:
        """Say how to repeat the run; its own scenario is no help if that is damaged."""
        scenario = self.dir / "scenario.toml"
        usable = scenario.is_file() and not damaged.startswith(scenario.name)
        file = scenario if usable else "FILE.toml"
        return f"repeat the run: linkpool run {file} --out {self.dir}"


def _line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).strip().splitlines()[0][:200]
