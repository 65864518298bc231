"""`linkpool compare`: the summaries of several results side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import stdout
from linkpool.cli.show import print_groups, require_result
from linkpool.result import Result
from linkpool.summary import Group


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results of linkpool run.")
    ],
) -> None:
    """Print the statistics of several results side by side, all flows of each together."""
    for directory in directories:
        require_result(directory)
    print_groups([_column(directory) for directory in directories], stdout())


def _column(directory: Path) -> Group:
    return replace(Result(directory).summary.overall, transport=directory.name)
