"""`linkpool explain`: where the time of one flow went."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import RunCode, fail, say
from linkpool.cli.show import require_result
from linkpool.explain.replay import ExplainError
from linkpool.result import Result
from linkpool.unfinished import slowest
from linkpool.units import show_number


def explain(
    directory: Annotated[Path, typer.Argument(metavar="RESULT", help="A result of linkpool run.")],
    flow: Annotated[
        int | None,
        typer.Option(
            "--flow", metavar="N", min=0, help="Number of the flow, as in flows. The slowest"
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT", help="Draw it: .svg, .png or .pdf.")
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Make the run again with a trace of one flow, and tell where its time went.

    Without --flow it is the measured flow of the largest slowdown, which may be one that had not
    finished when the run ended. The times add up to its completion time. The run is made again up
    to the end of the flow, on one core; it is refused if the flow does not begin and end as
    recorded.
    """
    # Here, as matplotlib takes a second to load.
    from linkpool.figures.kind import FigureError
    from linkpool.figures.plot import require_format

    try:
        if plot is not None:
            require_format(plot)
        result = require_result(directory, run_code)
        explanation = result.explain(_slowest(result) if flow is None else flow)
    except (ExplainError, FigureError, _core.ScenarioError) as error:
        fail(str(error))
    say(explanation)
    if plot is not None:
        explanation.plot(plot)
        say(f"\n{plot}")


def _slowest(result: Result) -> int:
    """Return the number of the slowest flow, and say which it is."""
    found = slowest(result.scan("flows"), 1)
    if found.is_empty():
        fail(f"no flow with a size was measured in {result.dir}; name one by --flow N")
    flow, slowdown, at_least = found.row(0)
    unfinished = ", and had not finished when the run ended" if at_least else ""
    say(f"the slowest flow is {flow}: slowdown {show_number(slowdown)}{unfinished}\n")
    return int(flow)
