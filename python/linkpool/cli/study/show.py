"""`linkpool study show`: the statistics of a study that has run."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.compare import (
    FORMATS,
    Format,
    leave_with,
    measures_of,
    print_notes,
    write,
)
from linkpool.cli.console import RunCode, fail, say, stderr
from linkpool.cli.study.common import RESULTS, Out, load
from linkpool.result import NotRecordedError
from linkpool.study.absent import absent
from linkpool.study.comparison import Comparison
from linkpool.study.edited import changes
from linkpool.study.found import FRONT
from linkpool.study.model import StudyError
from linkpool.study.result import StudyResult, is_study
from linkpool.study.statistics import over_seeds
from linkpool.study.statistics import pooled as pooled_samples
from linkpool.study.verdicts import Verdict


def show(
    source: Annotated[
        Path, typer.Argument(metavar="FILE.toml|DIR", help="The study, or its directory.")
    ],
    out: Out = RESULTS,
    measures: Annotated[
        str | None,
        typer.Option("--measures", metavar="NAMES", help="Which, in which order: fct.p99,jain"),
    ] = None,
    form: FORMATS = "table",
    pooled: Annotated[
        bool,
        typer.Option(
            "--pooled", help="Percentiles of the flows of all seeds together, with intervals."
        ),
    ] = False,
    run_code: RunCode = False,
) -> None:
    """Print the statistics of a study that has run."""
    place = source if source.is_dir() else out / load(source).name
    if not is_study(place):
        fail(f"there is no result of this study in {place}; make it: linkpool study run {source}")
    result = StudyResult(place)
    if not source.is_dir():
        _compare_with_file(source, result, run_code)
    if pooled:
        _print_pooled(result, form, measures)
    else:
        lacking = print_study(result, form, measures)
        if measures is not None:
            leave_with(lacking)


def _compare_with_file(file: Path, result: StudyResult, run_code: bool) -> None:
    """Say what has changed since the study ran, and what to run."""
    study = load(file)
    if study.search is not None:
        return  # the study that ran has the best trials as arms
    try:
        found = changes(study, result, run_code=run_code)
    except (StudyError, _core.ScenarioError) as error:
        if not run_code and "add --run-code" in str(error):
            fail(str(error))
        found = [f"it cannot run as it is now: {error}"]
    if found:
        said = "; ".join(found)
        stderr().print(
            f"{file} has changed since this study ran: {said}. The table is of the study as it "
            f"ran; to run it as it is now: linkpool study run {file}",
            soft_wrap=True,
        )


def print_study(result: StudyResult, form: Format, names: str | None) -> list[str]:
    """Print the statistics of a study over its seeds, and below the table what to know of it.

    Return what is said of measures of which no run has a value.
    """
    study = result.study
    table = result.statistics
    lacking = result.absent
    if names is not None:
        chosen = measures_of(names)
        try:
            data = result.measure(chosen)
            lacking = absent(chosen, data, result.measure)
        except NotRecordedError as error:
            fail(f"--measures: {error}")
        table = over_seeds(data, study.keys, study.reference)
    if form == "table" and study.title:
        say(f"\n{study.title}")
    if form == "table" and result.found is not None:
        say(result.found.asked())
        for line in result.found.answer():
            say(line)
        say()
    comparison = Comparison(table, tuple(study.keys), study.reference)
    write(comparison, form)
    legend = comparison.legend(len(study.seed_list))
    print_notes(form, *lacking, *legend, *comparison.notes(), *result.remarks())
    if form == "table":
        _print_claims(result.verdicts)
        if result.found is not None:
            say(f"\nthe Pareto front as a figure: {result.dir / FRONT}.svg")
    return lacking


def _print_claims(verdicts: list[Verdict]) -> None:
    """Print what became of claims, a line for each arm and setting."""
    if verdicts:
        say("\nclaims")
    for verdict in verdicts:
        line = f"  {verdict.holds.value}: {verdict.claim}: {verdict.of} {verdict.measured}"
        say(line)


def _print_pooled(result: StudyResult, form: Format, names: str | None) -> None:
    study = result.study
    if names is not None:
        study = study.model_copy(update={"measures": measures_of(names)})
    try:
        table = pooled_samples(study, result.results())
    except NotRecordedError as error:
        fail(f"--measures: {error}")
    if table.is_empty():
        fail("--pooled is of percentiles, as in --measures slowdown.p99,fct.p50")
    if form == "table" and study.title:
        say(f"\n{study.title}")
    comparison = Comparison.of_pooled(table, tuple(study.keys), study.reference)
    write(comparison, form)
    said = "percentiles of all seeds together (their 95% bootstrap intervals)"
    print_notes(form, said, *comparison.notes(), *result.remarks())
