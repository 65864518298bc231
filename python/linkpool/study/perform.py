"""Run a study: make the runs that are not there yet, measure all, and keep what came of it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from linkpool.cores import cpus
from linkpool.identity import digest
from linkpool.publish import publish
from linkpool.result import NotRecordedError, Result
from linkpool.study.cache import Cache, Entry, Make, Notice
from linkpool.study.experiment import Keys, Point
from linkpool.study.measures import measure
from linkpool.study.model import SEED, Study, StudyError
from linkpool.study.points import entries_of, where
from linkpool.study.pool import Watch, run_entries
from linkpool.study.remarks import counts_of
from linkpool.study.remote import Remote
from linkpool.study.result import DATA, FIGURE, REPORT, RUNS, SET, STUDY, StudyResult

CACHE = "runs"
"""The folder of the runs of all studies and experiments, beside their results."""


@dataclass(frozen=True)
class Plan:
    """A study that was read and checked, and what of it is there already.

    Attributes:
        study: the study.
        out: the directory in which its own is.
        cache: where its runs are.
        entries: its runs, in order of their keys.

    """

    study: Study
    out: Path
    cache: Cache
    entries: list[Entry]

    @classmethod
    def of(
        cls, study: Study, out: Path, notice: Notice | None = None, make: Make | None = None
    ) -> "Plan":
        """Read and check the scenario of every run.

        Args:
            study: the study.
            out: the directory in which its own is, and the folder of all runs.
            notice: is told which runs are damaged.
            make: makes the runs; None: this process does.

        Raises:
            StudyError: a scenario cannot run.

        """
        cache = Cache(out / CACHE, notice, make)
        return cls(study, out, cache, entries_of(study, cache))

    @property
    def place(self) -> Path:
        """The directory of what comes of it."""
        return self.out / self.study.name

    @property
    def missing(self) -> list[Entry]:
        """The runs that are still to be made."""
        return [entry for entry in self.entries if not self.cache.has(entry)]


def run_study(plan: Plan, jobs: int | None = None, watch: Watch | None = None) -> StudyResult:
    """Make every run of a study that is not there yet, and write its data to `OUT/NAME`.

    Raises:
        NotAResultError: `OUT/NAME` holds something that is no study.
        BusyError: another process is running the same study to the same place.
        RunError: a run failed; those that were made are kept.

    """
    study = plan.study
    keys = [entry.key for entry in plan.entries]
    content = study.as_toml()
    with publish(plan.place, lambda _: digest("study", content, *keys), SET) as partial_place:
        rows = run_entries(
            plan.entries, partial(_measure, study), plan.cache, jobs or cpus(), watch
        )
        _typed(pl.concat(rows.frames, how="vertical_relaxed"), study).write_parquet(
            partial_place / DATA
        )
        _runs(plan).write_parquet(partial_place / RUNS)
        _draw(plan, partial_place)
        if study.report:
            _report(plan, partial_place)
        (partial_place / STUDY).write_text(content, encoding="utf-8")
    return StudyResult(plan.place)


def perform(study: Study, out: Path, jobs: int | None, on: str | None) -> StudyResult:
    """Plan a study and run it, here or on a Dask scheduler; see `Study.run`."""
    if on is None:
        return run_study(Plan.of(study, out), jobs)
    remote = Remote(on)
    try:
        plan = Plan.of(study, out, make=remote.make)
        return run_study(plan, jobs or min(remote.threads, len(plan.entries)))
    finally:
        remote.close()


def _measure(study: Study, point: Point, result: Result) -> pl.DataFrame:
    return measure(result, study.measures)


def _draw(plan: Plan, folder: Path) -> None:
    """Draw the figures that the study asks for, with their data beside them."""
    if not plan.study.figures:
        return
    from linkpool.figures.kind import FigureError, Request  # here: matplotlib takes long to load
    from linkpool.figures.kinds import KINDS
    from linkpool.figures.plot import plot
    from linkpool.figures.source import arms_of_runs

    request = Request(arms_of_runs(_results(plan)), measure=plan.study.measures[0])
    for kind in plan.study.figures:
        try:
            plot(KINDS[kind], request, folder / f"{FIGURE.format(kind)}.svg")
        except (FigureError, NotRecordedError) as error:
            raise StudyError(f"{where(plan.study)}: figures: {kind}: {error}") from None


def _report(plan: Plan, folder: Path) -> None:
    """Write the page about all arms, with traces of the slowest flows."""
    from linkpool.figures.source import arms_of_runs  # here: matplotlib takes long to load
    from linkpool.report.page import write_report

    write_report(arms_of_runs(_results(plan)), folder / REPORT, trace=None, study=plan.study)


def _results(plan: Plan) -> Iterator[tuple[Keys, Result]]:
    """Give the keys and the result of each run."""
    return ((entry.point.keys, Result(entry.place)) for entry in plan.entries)


def _runs(plan: Plan) -> pl.DataFrame:
    here = plan.place.resolve()
    rows = [
        {
            **entry.point.keys,
            SEED: entry.point.seed,
            "key": entry.key,
            "dir": os.path.relpath(entry.place.resolve(), here),
            **counts_of(Result(entry.place)),
        }
        for entry in plan.entries
    ]
    return _typed(pl.DataFrame(rows, infer_schema_length=None), plan.study)


def _typed(frame: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Give keys the same types in every table, however small their values are."""
    small = [name for name in (*study.keys, SEED) if frame.schema[name].is_integer()]
    return frame.with_columns(pl.col(small).cast(pl.Int64))
