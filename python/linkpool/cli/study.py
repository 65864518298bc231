"""`linkpool study`: run, look after and read the studies of a user."""

from functools import partial
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from linkpool import _core
from linkpool.cli.cluster import On, connected
from linkpool.cli.compare import FORMATS, Format, measures_of, print_notes, write
from linkpool.cli.console import RunCode, cannot_read, fail, say, stderr, warn
from linkpool.cli.progress import watching_runs
from linkpool.cores import cpus
from linkpool.publish import publish_file
from linkpool.result import NotRecordedError
from linkpool.study.cache import Make
from linkpool.study.cautions import cautions
from linkpool.study.comparison import Comparison
from linkpool.study.edited import changes
from linkpool.study.expect import expected_seconds
from linkpool.study.measures import MEASURES
from linkpool.study.model import Study, StudyError, name_of
from linkpool.study.perform import DrawingError, Plan, run_study
from linkpool.study.points import documents
from linkpool.study.result import FIGURE, REPORT, StudyResult, is_study
from linkpool.study.seeds import varied
from linkpool.study.statistics import over_seeds
from linkpool.study.statistics import pooled as pooled_samples
from linkpool.study.threshold import shown
from linkpool.study.verdicts import Holds, Verdict, junit

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The study.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory of all results.")]
RESULTS = Path("results")


def run(
    file: File,
    out: Out = RESULTS,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Runs at a time; default: all cores.")
    ] = None,
    on: On = None,
    junit_file: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE.xml", help="Write what became of the claims there."),
    ] = None,
) -> None:
    """Make the runs of a study, and write its data to DIR/NAME.

    Runs already in DIR/runs are not computed again: a study that was stopped goes on. If the file
    has claims and one does not hold, the exit code is 1.
    """
    study = _load(file)
    if junit_file is not None and not study.claims:
        fail(f"--junit: {file} has no claim; write [[claim]] (docs/study.md)")
    if study.search is not None:
        _search(study, out, jobs, on)
        return
    with connected(on) as remote:
        plan = _plan(study, out, None if remote is None else remote.make)
        jobs = jobs or (cpus() if remote is None else min(remote.threads, len(plan.entries)))
        for line in _before(plan, jobs):
            say(line)
        if remote is not None:
            say(f"on {remote.threads} threads of the workers of {on}")
        failed = None
        with watching_runs(study.name) as (watch, note):
            try:
                result = run_study(plan, jobs, watch, note)
            except DrawingError as error:
                result, failed = error.result, error
    _print(result, "table", None)
    say(f"\n{plan.place}")
    files = [f"{FIGURE.format(kind)}.svg" for kind in study.figures]
    for name in [*files, REPORT] if study.report else files:
        if (plan.place / name).exists():
            say(plan.place / name)
    if failed is not None:
        for bug in failed.bugs.values():
            warn(str(failed))
            raise bug
        raise failed
    verdicts = result.verdicts
    if junit_file is not None:
        with publish_file(junit_file) as place:
            place.write_bytes(junit(study.name, verdicts))
        say(junit_file)
    wrong = [verdict for verdict in verdicts if verdict.holds is not Holds.YES]
    if wrong:
        fail(f"{len(wrong)} of {len(verdicts)} claims do not hold", code=1)


def _search(study: Study, out: Path, jobs: int | None, on: str | None) -> None:
    """Make the trials of a study that searches, and print those that none is better than."""
    from linkpool.study.search import PARETO, Trial, search, table_of

    assert study.search is not None, "the caller looks"
    objectives = [name for name, _ in study.search.objectives]

    def told(trial: Trial) -> None:
        values = ", ".join(
            f"{name} {'≥ ' if name in trial.open else ''}{shown(name, trial.values[name])}"
            for name in trial.values
        )
        at = ", ".join(f"{key} {value}" for key, value in trial.settings.items())
        lacks = "" if trial.is_feasible() or trial.why else "; does not meet what is required"
        warn(f"{trial.name}: {at}: {values or trial.why.splitlines()[0]}{lacks}")

    with connected(on) as remote:
        make = None if remote is None else remote.make
        trials, best, result = search(study, out, jobs, make=make, notice=warn, told=told)
    table = table_of(study.search, trials, best).filter("front").sort(objectives[0])
    say(f"{len(best)} of {len(trials)} trials are on the Pareto front")
    names = ["trial", *study.search.space, *study.search.measures]
    cells = [names]
    for row in table.iter_rows(named=True):
        values = [shown(name, row[name]) for name in study.search.measures]
        cells.append([str(row["trial"]), *(row[key] for key in study.search.space), *values])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        say("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    say(f"\n{result.dir}\n{result.dir / PARETO}.svg\n{result.dir / PARETO}.csv, all trials")


def status(file: File, out: Out = RESULTS, run_code: RunCode = False) -> None:
    """Say which runs of a study are made, and which are not."""
    study = _load(file)
    if study.search is not None:
        fail(f"{file} searches: its runs depend on those before; linkpool study run {file} goes on")
    plan = _plan(study, out, run_code=run_code)
    missing = {entry.key for entry in plan.missing}
    for line in _before(plan, cpus()):
        say(line)
    for entry in plan.entries:
        if entry.key in missing:
            say(f"to make: {entry.point.name}, seed {entry.point.seed}")


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
) -> None:
    """Print the statistics of a study that has run."""
    place = source if source.is_dir() else out / _load(source).name
    if not is_study(place):
        fail(f"there is no result of this study in {place}; make it: linkpool study run {source}")
    result = StudyResult(place)
    if not source.is_dir():
        _compare_with_file(source, result)
    if pooled:
        _print_pooled(result, form, measures)
    else:
        _print(result, form, measures)


def _compare_with_file(file: Path, result: StudyResult) -> None:
    """Say what has changed since the study ran, and what to run."""
    study = _load(file)
    if study.search is not None:
        return  # the study that ran has the best trials as arms
    try:
        found = changes(study, result)
    except (StudyError, _core.ScenarioError) as error:
        found = [f"it cannot run as it is now: {error}"]
    if found:
        said = "; ".join(found)
        stderr().print(
            f"{file} has changed since this study ran: {said}. The table is of the study as it "
            f"ran; to run it as it is now: linkpool study run {file}",
            soft_wrap=True,
        )


def _print(result: StudyResult, form: Format, names: str | None) -> None:
    study = result.study
    table = result.statistics
    if names is not None:
        try:
            data = result.measure(measures_of(names))
        except NotRecordedError as error:
            fail(f"--measures: {error}")
        table = over_seeds(data, study.keys, study.reference)
    if form == "table" and study.title:
        say(f"\n{study.title}")
    comparison = Comparison(table, tuple(study.keys), study.reference)
    write(comparison, form)
    if form == "table":
        print_notes(*_legend(study, table), *comparison.notes(), *result.remarks())
        _print_claims(result.verdicts)


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
    if form == "table":
        said = "percentiles of all seeds together (their 95% bootstrap intervals)"
        print_notes(said, *comparison.notes(), *result.remarks())


def _legend(study: Study, table: pl.DataFrame) -> list[str]:
    """Say what the numbers of the table are."""
    count = len(study.seed_list)
    to = f"× is the ratio to {name_of(study.reference)}" if study.reference else ""
    if len(study.reference) < len(study.keys):
        to += " at the same settings" if to else ""
    if count == 1:
        return [f"one seed: there is no interval{'; ' if to else ''}{to}"]
    of_table = table["measure"].unique(maintain_order=True)
    by_ratio = [name for name in of_table if MEASURES[name].by_ratio]
    others = len(by_ratio) < len(of_table)
    said = []
    if by_ratio:
        one = f"{' and '.join(by_ratio)}: geometric mean" if others else "geometric mean"
        said.append(f"{one} over {count} seeds (its 95% interval: Student's t of logarithms)")
    if others:
        one = "others: mean" if by_ratio else "mean"
        said.append(f"{one} over {count} seeds ± its 95% interval (Student's t)")
    if to:
        kinds = (["t of logarithms"] if by_ratio else []) + (["Fieller"] if others else [])
        said.append(f"{to}, paired by seed (its 95% interval: {' or '.join(kinds)})")
    return said


def _before(plan: Plan, jobs: int) -> list[str]:
    """Say how many runs there are, about how long they take, and what seeds vary."""
    study, missing = plan.study, plan.missing
    counts = [f"{len(study.arms)} arm{'s' if len(study.arms) > 1 else ''}"]
    variations = sum(1 for _ in study.variations())
    counts += [f"{variations} settings"] if variations > 1 else []
    counts += [f"{len(study.seed_list)} seed{'s' if len(study.seed_list) > 1 else ''}"]
    total = len(plan.entries)
    made = total - len(missing)
    lines = [f"{study.name}: {total} runs ({' × '.join(counts)}); {made} are made"]
    if missing:
        seconds = expected_seconds(plan, jobs)
        lines[0] += f", {len(missing)} are to be made, about {_long(seconds)} on {jobs} cores"
    said = [varied(document) for document in documents(study)]
    for what, i in (("a seed varies", 0), ("a seed does not vary", 1)):
        lines.append(f"{what}: {'; '.join(dict.fromkeys(one for s in said for one in s[i]))}")
    return [*lines, *cautions(plan.entries)]


def _long(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _plan(study: Study, out: Path, make: Make | None = None, run_code: bool = True) -> Plan:
    return Plan.of(study, out, partial(stderr().print, soft_wrap=True), make, run_code)


def _load(file: Path) -> Study:
    try:
        return Study.load(file)
    except OSError as error:
        fail(cannot_read(file, error))
