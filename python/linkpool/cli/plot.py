"""`linkpool plot`: a figure of one or several results."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from linkpool import _core
from linkpool.cli.console import fail, say
from linkpool.figures.kind import FigureError, Request
from linkpool.figures.kinds import KINDS
from linkpool.result import NotRecordedError


def plot(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Results of linkpool run, or of studies."),
    ],
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="What to draw: one of the kinds above."),
    ],
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The file: .svg, .png, .pdf (repeatable). KIND.svg"
        ),
    ] = None,
    flows: Annotated[
        list[int] | None,
        typer.Option("--flow", metavar="N", help="Of this flow (repeatable). The slowest"),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="A->B", help="Of this link (repeatable). The seven fullest"),
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Show times from here on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Show times up to here.")
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", metavar="NAME", help="Of sweep and arms. The study's"),
    ] = None,
    by: Annotated[
        Literal["transport", "label"],
        typer.Option("--by", help="What tells the flows of a result apart."),
    ] = "transport",
    width: Annotated[
        float | None,
        typer.Option("--width", min=2.0, max=20.0, help="Inches; default: a paper's column."),
    ] = None,
) -> None:
    """Draw a figure of results or studies, with its data beside it as CSV.

    KIND is one of

    - `fct-cdf`: distribution of flow completion times, by transport or arm
    - `slowdown`: FCT slowdown by size of the flow: median, band of 5% to 95%, 99th percentile
    - `goodput`: goodputs of flows in order, by transport or arm
    - `queue-cdf`: distribution of queue lengths of recorded links
    - `utilisation`: utilisation of links by layer, upwards and downwards apart
    - `windows`: congestion windows of flows over time
    - `rates`: goodputs of flows over time
    - `queues`: queue lengths of recorded links over time
    - `rtts`: round-trip times of flows over time
    - `sweep`: a setting that a study varies, against a measure, with confidence
    - `arms`: the measures of a study, a panel for each, arms beside each other, with confidence
    - `pareto`: the trials of a search, and those that no other is better than
    """
    # Here, as matplotlib takes a second to load, which no other command should wait for.
    from linkpool.figures.look import COLUMN
    from linkpool.figures.plot import plot as draw
    from linkpool.study.arms import arms_of, measures_of, trials_of

    if kind not in KINDS:
        fail(f"no kind of figure is named {kind!r}; there are {', '.join(KINDS)}")
    try:
        request = Request(
            arms_of(sources),
            by,
            flows or [],
            links or [],
            _seconds("--from", start),
            _seconds("--until", until),
            [measure] if measure else measures_of(sources),
            trials_of(sources),
        )
        for file in out or [Path(f"{kind}.svg")]:
            table = draw(KINDS[kind], request, file, width or COLUMN)
            say(f"{file}, data: {table}")
    except (FigureError, NotRecordedError) as error:
        fail(str(error))


def _seconds(option: str, text: str | None) -> float | None:
    try:
        return None if text is None else _core.seconds(text)
    except ValueError as error:
        fail(f"{option}: {error}")
