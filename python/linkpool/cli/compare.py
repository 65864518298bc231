"""`linkpool compare`: the summaries of several results side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import stdout
from linkpool.cli.show import period, print_groups, print_workloads, require_result


def compare(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Results of linkpool run.")
    ],
) -> None:
    """Print the statistics of several results side by side, all flows of each together."""
    summaries = [require_result(directory).summary for directory in directories]
    names = short_names(directories)
    columns = [
        replace(summary.overall, transport=name, control="", label="")
        for name, summary in zip(names, summaries, strict=True)
    ]
    for name, summary in zip(names, summaries, strict=True):
        stdout().print(f"measured period of {name}: {period(summary)}")
    print_groups(columns, stdout(), heading="result")
    for name, summary in zip(names, summaries, strict=True):
        print_workloads(summary, stdout(), f" of {name}")


def short_names(directories: list[Path]) -> list[str]:
    """Return as many trailing components of each path as are needed to distinguish all paths."""
    paths = [directory.resolve() for directory in directories]
    deepest = max(len(path.parts) for path in paths)
    for count in range(1, deepest + 1):
        names = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            return names
    return [str(path) for path in paths]
