"""`linkpool report`: a page about results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkpool.cli.console import fail
from linkpool.units import show_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from linkpool.figures.source import Arm


def report(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Results of linkpool run, or of studies."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="The page.")],
    flows: Annotated[
        list[int] | None,
        typer.Option("--flow", metavar="N", help="Trace this flow too (repeatable)."),
    ] = None,
    trace: Annotated[
        int | None,
        typer.Option(
            "--trace",
            metavar="COUNT",
            min=0,
            help="Make each run again, and trace so many of its slowest flows. "
            "Default: 4, of runs that took at most 10 s.",
        ),
    ] = None,
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Run the algorithms in Python that a result has (controls), which the page needs.",
        ),
    ] = False,
) -> None:
    """Write one self-contained page about results, which opens in a browser without a network."""
    if out.suffix not in (".html", ".htm"):
        fail(f"cannot write {out}: write a name that ends in .html")
    # Here, as matplotlib takes a second to load.
    from linkpool.figures.source import arms_of
    from linkpool.report.page import write_report
    from linkpool.study.result import StudyResult, is_study

    study = None
    if len(sources) == 1 and is_study(sources[0]):
        study = StudyResult(sources[0]).study
    arms = arms_of(sources)
    if not run_code:
        _require_no_code(arms)
    size = write_report(arms, out, flows or [], trace, study)
    print(f"{out}, {show_bytes(size)}")


def _require_no_code(arms: Sequence[Arm]) -> None:
    """Leave if a result has code in Python: who only shows a result may not want to run it."""
    for result in (result for arm in arms for result in arm.results):
        if "controls" in tomllib.loads(result.scenario):
            fail(
                f"{result.dir}/scenario.toml has algorithms in Python (controls), which run when "
                "the page is made; if you know what they do, add --run-code"
            )
