"""`linkpool explain`: where the time of one flow went."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import fail
from linkpool.cli.show import require_result
from linkpool.explain.replay import ExplainError


def explain(
    directory: Annotated[Path, typer.Argument(metavar="RESULT", help="A result of linkpool run.")],
    flow: Annotated[
        int, typer.Option("--flow", metavar="N", min=0, help="Number of the flow, as in flows.")
    ],
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT", help="Draw it: .svg, .png or .pdf.")
    ] = None,
) -> None:
    """Make the run again with a trace of one flow, and tell where its time went.

    The times add up to its completion time. The run is made again up to the end of the flow, on one
    core; it is refused if the flow does not begin and end as recorded.
    """
    # Here, as matplotlib takes a second to load.
    from linkpool.figures.kind import FigureError
    from linkpool.figures.plot import require_format

    try:
        if plot is not None:
            require_format(plot)
        explanation = require_result(directory).explain(flow)
    except (ExplainError, FigureError, _core.ScenarioError) as error:
        fail(str(error))
    print(explanation)
    if plot is not None:
        explanation.plot(plot)
        print(f"\n{plot}")
