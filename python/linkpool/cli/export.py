"""`linkpool export`: completed flows as other simulators print them."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import fail, say
from linkpool.cli.show import require_result
from linkpool.export import ExportError
from linkpool.export import export as write


def export(
    directory: Annotated[Path, typer.Argument(metavar="RESULT", help="A result of linkpool run.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file.")],
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", metavar="FORMAT", help="hpcc-fct or htsim.")
    ],
) -> None:
    """Write the completed flows of a result for scripts that read HPCC's or htsim's output."""
    try:
        write(require_result(directory), format, out)
    except ExportError as error:
        fail(str(error))
    say(out)
