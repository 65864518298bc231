"""`linkpool reproduce`: run published experiments and judge their claims."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from linkpool.book import FOLDER
from linkpool.cli.cluster import On
from linkpool.cli.console import fail, stdout
from linkpool.experiments import EXPERIMENTS, registry
from linkpool.limits import MOST_SEEDS
from linkpool.study.registry import RegistryError


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
        int | None, typer.Option("--seeds", min=1, max=MOST_SEEDS, help="Run with seeds 1 to N.")
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
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Cut each experiment to minutes, in DIR/quick; all say that they were."
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Say first how long it will take; leave out what is there; go on after a failure.",
        ),
    ] = False,
    from_data: Annotated[
        bool,
        typer.Option(
            "--from-data",
            help="Draw and judge the data of the book of results, in DIR/from-data; run nothing.",
        ),
    ] = False,
    book: Annotated[
        Path, typer.Option("--book", metavar="DIR", help="The book of results.")
    ] = FOLDER,
    on: On = None,
) -> None:
    """Reproduce published experiments: data, figure, and a verdict on each claim.

    Runs already in DIR/runs are not computed again. `all` names every experiment.
    """
    if list_them:
        try:
            stdout().print(_listing(folder))
        except RegistryError as error:
            fail(str(error))
        return
    # Here: what makes runs and judges them takes seconds to load.
    from linkpool.cli.reproducing import reproduce_all

    reproduce_all(
        ids or [],
        folder,
        out,
        seeds=seeds,
        jobs=jobs,
        scale=scale,
        quick=quick,
        full=full,
        from_data=from_data,
        book=book,
        on=on,
    )


def _listing(folder: Path | None) -> Table:
    table = Table(title="experiments", title_justify="left")
    for heading in ("id", "what", "paper"):
        table.add_column(heading, overflow="fold")
    table.add_column("runs", justify="right")
    for name, declared in EXPERIMENTS.items():
        table.add_row(name, declared.title, declared.paper, str(declared.runs))
    known = registry(folder)
    for one in (known.load(name) for name in known if name not in EXPERIMENTS):
        table.add_row(one.id, one.title, one.paper, str(one.runs()))
    return table
