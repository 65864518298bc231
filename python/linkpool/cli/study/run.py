"""`linkpool study run`: make the runs of a study, and say what came of it."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.cluster import On, connected
from linkpool.cli.compare import leave_with
from linkpool.cli.console import fail, say, warn
from linkpool.cli.progress import watching_runs
from linkpool.cli.study.common import RESULTS, File, Out, before, load, plan_of
from linkpool.cli.study.show import print_study
from linkpool.cores import cpus
from linkpool.publish import publish_file
from linkpool.study.model import Study
from linkpool.study.perform import DrawingError, run_study
from linkpool.study.result import FIGURE, REPORT
from linkpool.study.threshold import shown
from linkpool.study.verdicts import Holds, junit
from linkpool.units import counted


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
    has claims and one does not hold, or no run has a value of a measure, the exit code is 1.
    """
    study = load(file)
    if junit_file is not None and not study.claims:
        fail(f"--junit: {file} has no claim; write [[claim]] (docs/study.md)")
    if study.search is not None:
        _search(study, out, jobs, on)
        return
    with connected(on) as remote:
        plan = plan_of(study, out, None if remote is None else remote.make)
        jobs = jobs or (cpus() if remote is None else min(remote.threads, len(plan.entries)))
        for line in before(plan, jobs):
            say(line)
        if remote is not None:
            say(f"on {counted(remote.threads, 'thread')} of the workers of {on}")
        failed = None
        with watching_runs(study.name) as (watch, note):
            try:
                result = run_study(plan, jobs, watch, note)
            except DrawingError as error:
                result, failed = error.result, error
    lacking = print_study(result, "table", None)
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
    not_held = [f"claims that do not hold: {len(wrong)} of {len(verdicts)}"] if wrong else []
    leave_with([*lacking, *not_held])


def _search(study: Study, out: Path, jobs: int | None, on: str | None) -> None:
    """Make the trials of a study that searches, and print those that none is better than."""
    from linkpool.study.found import FRONT
    from linkpool.study.search import Trial, search, table_of

    assert study.search is not None, "the caller looks"
    objectives = [name for name, _ in study.search.objectives]
    seeds = len(study.seed_list)

    def told(trial: Trial) -> None:
        values = ", ".join(
            f"{name} {'≥ ' if name in trial.open else ''}{shown(name, trial.values[name])}"
            for name in trial.values
        )
        at = ", ".join(f"{key} {value}" for key, value in trial.settings.items())
        lacks = "".join(f"; {why}" for why in trial.lacks.values())
        if not (trial.is_feasible() or trial.why):
            lacks += "; does not meet what is required"
        if trial.stopped:
            lacks += f"; stopped after {trial.seeds} of {seeds} seeds: {trial.stopped}"
        warn(f"{trial.name}: {at}: {values or trial.reason}{lacks}")

    with connected(on) as remote:
        make = None if remote is None else remote.make
        trials, best, result = search(study, out, jobs, make=make, notice=warn, told=told)
    table = table_of(study.search, trials, best).filter("front").sort(objectives[0])
    say(f"on the Pareto front: {len(best)} of {counted(len(trials), 'trial')}")
    if stopped := [trial for trial in trials if trial.stopped]:
        saved = sum(seeds - trial.seeds for trial in stopped)
        say(f"stopped before their last seed: {len(stopped)}, which saved {counted(saved, 'run')}")
    names = ["trial", *study.search.space, *study.search.measures]
    cells = [names]
    for row in table.iter_rows(named=True):
        values = [shown(name, row[name]) for name in study.search.measures]
        cells.append([str(row["trial"]), *(row[key] for key in study.search.space), *values])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        say("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    say(f"\n{result.dir}\n{result.dir / FRONT}.svg\n{result.dir / FRONT}.csv, all trials")
