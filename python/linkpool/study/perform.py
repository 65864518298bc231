"""Run a study: make the runs that are not there yet, measure all, and keep what came of it."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import polars as pl

from linkpool import _core
from linkpool.figures.kind import FigureError, Request
from linkpool.figures.kinds import KINDS
from linkpool.result import NotRecordedError, Result, ResultError
from linkpool.study.cache import Notice
from linkpool.study.found import Found
from linkpool.study.measuring import measure
from linkpool.study.model import SEED, Study, StudyError
from linkpool.study.pipeline import made
from linkpool.study.plan import Plan
from linkpool.study.point import Keys, Point
from linkpool.study.points import where
from linkpool.study.pool import Watch
from linkpool.study.remarks import counts_of
from linkpool.study.remote import Remote
from linkpool.study.result import DATA, FIGURE, REPORT, RUNS, SET, STUDY, StudyResult


class DrawingError(StudyError):
    """Figures or the page of a study could not be made; its table and its data are there.

    Attributes:
        result: what there is.
        bugs: the errors that are no words to the user, by file.

    """

    def __init__(self, plan: Plan, failed: Mapping[str, Exception]) -> None:
        """Say of each file why it is not there."""
        expected = (FigureError, NotRecordedError, ResultError, OSError, _core.ScenarioError)
        lines = [f"{where(plan.study)}: {file} is not there: {e}" for file, e in failed.items()]
        super().__init__("\n".join([*lines, f"the table and the data are in {plan.place}"]))
        self.result = StudyResult(plan.place, run_code=True)
        self.bugs = {file: e for file, e in failed.items() if not isinstance(e, expected)}


def run_study(
    plan: Plan,
    jobs: int | None = None,
    watch: Watch | None = None,
    stage: Notice = lambda _: None,
    also: Callable[[Path], None] = lambda _: None,
) -> StudyResult:
    """Make every run of a study that is not there yet, and write its data to `OUT/NAME`.

    Args:
        plan: the study, read and checked.
        jobs: runs at a time; None: as many as there are cores.
        watch: is told how far the runs are.
        stage: is told, in a line, what is done after the runs, which takes a while.
        also: writes more to the directory of the study before it is published.

    Raises:
        NotAResultError: `OUT/NAME` holds something that is no study.
        BusyError: another process is running the same study to the same place.
        RunError: a run failed; those that were made are kept.
        DrawingError: a figure or the page could not be made; the rest is written.

    """
    study = plan.study
    failed: dict[str, Exception] = {}
    content = study.as_toml()
    measuring = _Measuring(study)
    with made(
        plan.place,
        SET,
        ("study", content),
        plan.entries,
        measuring,
        plan.cache,
        jobs,
        watch,
    ) as runs:
        partial_place = runs.folder
        _typed(runs.data, study).write_parquet(partial_place / DATA)
        _runs(plan, measuring.counts).write_parquet(partial_place / RUNS)
        (partial_place / STUDY).write_text(content, encoding="utf-8")
        also(partial_place)
        for name, make in _pictures(plan, partial_place, stage):
            stage(f"drawing {name}")
            try:
                make()
            except Exception as error:
                failed[name] = error
    if failed:
        raise DrawingError(plan, failed)
    return StudyResult(plan.place, run_code=True)


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


class _Measuring:
    """Measures the runs of a study, and counts in each what remarks are about.

    Attributes:
        counts: what was counted, by the name of the run's directory.

    """

    def __init__(self, study: Study) -> None:
        self._measures = study.measures
        self.counts: dict[str, dict[str, int]] = {}

    def __call__(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the rows of a run."""
        self.counts[result.dir.name] = counts_of(result)
        return measure(result, self._measures)


def _pictures(
    plan: Plan, folder: Path, stage: Notice
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Give the figures and the page that the study asks for: the file, and what makes it."""
    study = plan.study
    if not study.figures and not study.report:
        return
    from linkpool.figures.plot import plot  # here: matplotlib takes long to load
    from linkpool.report.page import write_report
    from linkpool.study.arms import arms_of_runs

    arms = arms_of_runs(_results(plan))
    request = Request(arms, measures=study.measures)
    for kind in study.figures:
        file = f"{FIGURE.format(kind)}.svg"
        yield file, partial(plot, KINDS[kind], request, folder / file)
    if study.report:
        found = Found.read(folder, len(study.seed_list))
        page = partial(write_report, arms, folder / REPORT, found=found)
        yield REPORT, partial(page, trace=None, study=study, stage=stage)


def _results(plan: Plan) -> Iterator[tuple[Keys, Result]]:
    """Give the keys and the result of each run."""
    return ((entry.point.keys, Result(entry.place, run_code=True)) for entry in plan.entries)


def _runs(plan: Plan, counts: Mapping[str, Mapping[str, int]]) -> pl.DataFrame:
    here = plan.place.resolve()
    rows = [
        {
            **entry.point.keys,
            SEED: entry.point.seed,
            "key": entry.key,
            "dir": os.path.relpath(entry.place.resolve(), here),
            **counts[entry.place.name],
        }
        for entry in plan.entries
    ]
    return _typed(pl.DataFrame(rows, infer_schema_length=None), plan.study)


def _typed(frame: pl.DataFrame, study: Study) -> pl.DataFrame:
    """Give keys the same types in every table, however small their values are."""
    small = [name for name in (*study.keys, SEED) if frame.schema[name].is_integer()]
    return frame.with_columns(pl.col(small).cast(pl.Int64))
