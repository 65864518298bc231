"""Small commands that print version, schema and columns."""

from typing import Annotated

import typer
from rich.table import Table

import linkpool
from linkpool.cli.console import fail, say, stdout
from linkpool.columns import TABLES
from linkpool.experiments import registry


def schema() -> None:
    """Print the JSON Schema of scenario files."""
    say(linkpool.schema())


def columns(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE|EXPERIMENT]...", help="Default: all tables of a run."),
    ] = None,
) -> None:
    """Explain the columns of a run's tables, or of an experiment's data."""
    known = registry()
    for name in names or list(TABLES):
        experiment = known.find(name)
        if name not in TABLES and experiment is None:
            fail(f"no table {name!r}; there are {', '.join([*TABLES, *known])}")
        table = Table(title=name, title_justify="left")
        for heading in ("column", "type", "unit", "meaning"):
            table.add_column(heading, no_wrap=heading != "meaning")
        shown = TABLES[name].columns if experiment is None else known.load(experiment).columns
        for column in shown:
            # Backticks are for the page that is made of the same texts.
            unit, meaning = (text.replace("`", "") for text in (column.unit, column.meaning))
            table.add_row(column.name, column.type, unit, meaning)
        stdout().print(table)
