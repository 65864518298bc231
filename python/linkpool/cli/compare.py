"""`linkpool compare`: the summaries of several results side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import stdout
from linkpool.cli.show import print_groups, print_workloads, require_result
from linkpool.result import Result


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results of linkpool run.")
    ],
) -> None:
    """Print the statistics of several results side by side, all flows of each together."""
    for directory in directories:
        require_result(directory)
    summaries = {directory.name: Result(directory).summary for directory in directories}
    columns = [replace(summary.overall, transport=name) for name, summary in summaries.items()]
    print_groups(columns, stdout())
    for name, summary in summaries.items():
        print_workloads(summary, stdout(), f" of {name}")
