"""`linkpool reproduce`: run published experiments and judge their claims."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from linkpool.cli.console import fail, stdout
from linkpool.cli.progress import bar_of_runs, watch_runs
from linkpool.cores import cpus
from linkpool.experiments import registry
from linkpool.study.claims import Claim, Verdict
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.registry import Registry, RegistryError
from linkpool.study.reproduce import (
    NothingToShortenError,
    Report,
    reproduce_experiment,
    shorten,
)

COLOURS = {Verdict.REPRODUCED: "green", Verdict.PARTLY: "yellow", Verdict.NOT: "red"}


def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Experiments, such as A-fig8.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="A folder of Python files with experiments of your own."
        ),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Directory of the results.")
    ] = Path("results"),
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Run with seeds 1 to N.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Runs at a time; default: all cores.")
    ] = None,
    scale: Annotated[
        float,
        typer.Option(
            "--scale",
            metavar="SHARE",
            help="Simulate only this share of the time or of the seeds, never of the fabric; "
            "the figure and the claims say so.",
        ),
    ] = 1.0,
) -> None:
    """Reproduce published experiments: data, figure, and a verdict on each claim.

    Runs already in DIR/runs are not computed again.
    """
    try:
        known = registry(folder)
        if list_them:
            stdout().print(_listing(known))
            return
        wanted = _wanted(known, ids or [])
    except RegistryError as error:
        fail(str(error))
    if not 0.0 < scale <= 1.0:
        fail(f"--scale {scale:g}: a share of the full length, above 0 and at most 1")
    if seeds is not None:
        wanted = [with_seeds(experiment, seeds) for experiment in wanted]
    try:
        for experiment in wanted:
            shorten(experiment, scale)
    except NothingToShortenError as error:
        fail(str(error))
    for experiment in wanted:
        _reproduce(experiment, out, jobs, scale)


def _wanted(known: Registry, names: list[str]) -> list[Experiment]:
    """Return the experiments named, each once."""
    if not names:
        fail("name an experiment, or see linkpool reproduce --list")
    found = dict.fromkeys((name, known.find(name)) for name in names)
    for name, identity in found:
        if identity is None:
            fail(f"no experiment {name!r}; there are {', '.join(known)}")
    return [known.load(i) for i in dict.fromkeys(i for _, i in found if i is not None)]


def _reproduce(experiment: Experiment, out: Path, jobs: int | None, scale: float) -> None:
    with bar_of_runs() as bar:
        report = reproduce_experiment(
            experiment,
            out,
            jobs=jobs or cpus(),
            watch=watch_runs(bar, experiment.id),
            scale=scale,
            notice=partial(bar.console.print, soft_wrap=True),
        )
    console = stdout()
    console.print(_claims(report))
    remark = f"{report.runs} runs, {report.cached} of them from the cache, {report.seconds:.0f} s"
    console.print(f"{remark}; seeds 1 to {report.seeds}")
    if report.shortened:
        console.print(f"shortened: {report.shortened}")
    console.print("each claim's criterion is in claims.json and docs/experiments\n")
    for path in report.files:
        print(path)


def _claims(report: Report) -> Table:
    """Return a row per claim, with a column for each setting that it was judged at."""
    experiment = report.experiment
    rows: dict[str, dict[str, Claim]] = {}
    for claim in report.claims:
        name, _, setting = claim.id.removeprefix(f"{experiment.id}.").partition("@")
        rows.setdefault(name, {})[setting] = claim
    settings = list(dict.fromkeys(setting for row in rows.values() for setting in row))
    table = Table(
        title=f"{experiment.id}: {experiment.title}",
        title_justify="left",
        show_lines=True,
        expand=True,
    )
    table.add_column("claim", no_wrap=True)
    for heading, ratio in (("text", 5), ("paper", 2)):
        table.add_column(heading, overflow="fold", ratio=ratio)
    for setting in settings:
        is_delay = setting.endswith("us")
        heading = f"at {setting} links" if is_delay else setting or "measured"
        table.add_column(heading, overflow="fold", ratio=4)
    for name, row in rows.items():
        first = next(iter(row.values()))
        table.add_row(name, first.text, first.paper, *(_cell(row.get(s)) for s in settings))
    return table


def _cell(claim: Claim | None) -> Text:
    if claim is None:
        return Text("-")
    verdict = (claim.verdict.value, COLOURS[claim.verdict])
    return Text.assemble(verdict, ": ", claim.measured)


def _listing(known: Registry) -> Table:
    table = Table(title="experiments", title_justify="left")
    for heading in ("id", "what", "paper"):
        table.add_column(heading, overflow="fold")
    table.add_column("runs", justify="right")
    for e in known.load_all():
        table.add_row(e.id, e.title, e.paper, str(len(e.points(range(1, e.seeds + 1)))))
    return table
