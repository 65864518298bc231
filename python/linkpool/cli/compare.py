"""`linkpool compare`: several results side by side."""

import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import polars as pl
import typer

from linkpool.cli.console import fail, say
from linkpool.cli.show import period, require_result
from linkpool.notices import unmet_changes
from linkpool.result import Result
from linkpool.study.absent import absent
from linkpool.study.arms import short_names
from linkpool.study.comparison import COMPARED, Comparison, in_markdown
from linkpool.study.measures import wanted
from linkpool.study.measuring import measure
from linkpool.study.remarks import counts_of, remarks

Format: TypeAlias = Literal["table", "csv", "json", "latex", "markdown"]
WIDTH = 80
"""Columns of tables, and of what is said of them."""

FORMATS: TypeAlias = Annotated[
    Format,
    typer.Option("--format", help="How it is written.", metavar="table|csv|json|latex|markdown"),
]


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results of linkpool run.")
    ],
    measures: Annotated[
        str | None,
        typer.Option(
            "--measures",
            metavar="NAMES",
            help="Which, in which order, as in fct.p99,slowdown,loss@all (docs/study.md).",
        ),
    ] = None,
    form: FORMATS = "table",
) -> None:
    """Print measures of several results side by side, with the ratio (×) to the first."""
    names = short_names(directories)
    results = [require_result(directory) for directory in directories]
    if form == "table":
        for name, result in zip(names, results, strict=True):
            say(f"measured period of {name}: {period(result.summary)}")
            for notice in unmet_changes(result):
                say(f"note on {name}: {notice}")
        say()
    chosen = COMPARED if measures is None else measures_of(measures)
    pairs = list(zip(names, results, strict=True))
    comparison = Comparison.of_results(pairs, chosen)
    lacking = [] if measures is None else absent(chosen, comparison.table, _measured(results))
    write(comparison, form)
    print_notes(
        form,
        *lacking,
        f"× is the ratio to {names[0]}",
        *comparison.notes(),
        *remarks((name, counts_of(result)) for name, result in pairs),
    )
    leave_with(lacking)


def _measured(results: Sequence[Result]) -> Callable[[Sequence[str]], pl.DataFrame]:
    return lambda names: pl.concat([measure(result, names) for result in results])


def leave_with(wrong: Sequence[str]) -> None:
    """Leave with exit code 1 if something that was asked for is not there, or does not hold."""
    if wrong:
        fail("\n".join(wrong), code=1)


def measures_of(text: str) -> list[str]:
    """Read names of measures with commas between them, or leave with what is wrong."""
    names = [name.strip() for name in re.split(r",(?! )", text)]
    try:
        for name in names:
            wanted(name)
    except ValueError as error:
        fail(f"--measures: {error}")
    return names


def print_notes(form: Format, *notes: str) -> None:
    """Print what a reader of a table must know, below it; of data for programs nothing."""
    if form == "latex":
        say("\n".join(f"% {line}" for line in (r"needs \usepackage{booktabs}", *notes)))
    elif form == "markdown":
        say("\n" + "\n".join(f"- {in_markdown(note)}." for note in notes))
    elif form == "table":
        for note in notes:
            say(textwrap.fill(f"{note}.", WIDTH, subsequent_indent="  "))


def write(comparison: Comparison, form: Format) -> None:
    """Print a comparison."""
    if form == "csv":
        say(comparison.table.write_csv(), end="")
    elif form == "json":
        say(comparison.table.write_json())
    elif form == "latex":
        say(comparison.latex())
    else:
        say(comparison.markdown() if form == "markdown" else comparison.text())
