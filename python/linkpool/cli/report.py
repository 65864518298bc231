"""`linkpool report`: a page about results."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import fail
from linkpool.units import show_bytes


def report(
    sources: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Results of linkpool run.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="The page.")],
    flows: Annotated[
        list[int] | None,
        typer.Option("--flow", metavar="N", help="Show this flow over time too (repeatable)."),
    ] = None,
) -> None:
    """Write one self-contained page about results, which opens in a browser without a network."""
    if out.suffix not in (".html", ".htm"):
        fail(f"cannot write {out}: write a name that ends in .html")
    # Here, as matplotlib takes a second to load.
    from linkpool.figures.source import arms_of
    from linkpool.report.page import write_report

    size = write_report(arms_of(sources), out, flows or [])
    print(f"{out}, {show_bytes(size)}")
