"""`linkpool report`: a page about results."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import RunCode, fail, say, warn
from linkpool.units import show_bytes


def report(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Results of linkpool run, or of studies."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="The page. Default: RESULT.html, of one result.",
        ),
    ] = None,
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
    run_code: RunCode = False,
) -> None:
    """Write one self-contained page about results, which opens in a browser without a network."""
    if out is None:
        if len(sources) > 1:
            fail("there are several results: name the page, as in --out FILE.html")
        only = sources[0] if sources[0].name not in ("", "..") else sources[0].resolve()
        out = only.with_name(f"{only.name}.html")
        if out.exists():
            if not _is_page(out):
                fail(f"{out} is no page of linkpool: name another, as in --out FILE.html")
            warn(f"{out} is replaced")
    if out.suffix not in (".html", ".htm"):
        fail(f"cannot write {out}: write a name that ends in .html")
    # Here, as matplotlib takes a second to load.
    from linkpool.report.page import write_report
    from linkpool.study.arms import arms_of
    from linkpool.study.result import StudyResult, is_study

    study = found = None
    if len(sources) == 1 and is_study(sources[0]):
        result = StudyResult(sources[0])
        study, found = result.study, result.found
    arms = arms_of(sources, run_code)
    try:
        size = write_report(arms, out, flows or [], trace, study, warn, found)
    except _core.ScenarioError as error:  # it brings code, and nobody has said that it may run
        fail(str(error))
    say(f"{out}, {show_bytes(size)}")


def _is_page(file: Path) -> bool:
    """Tell whether linkpool has written a file."""
    with file.open("rb") as content:
        return b'<meta name="generator" content="linkpool ' in content.read(1024)
