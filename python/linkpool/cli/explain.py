"""`linkpool explain`: where the time of a flow went."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import RunCode, fail, say
from linkpool.cli.show import require_result
from linkpool.cli.slowest_run import OfArm, run_of
from linkpool.explain.explanation import Explanation
from linkpool.explain.replay import ExplainError
from linkpool.result import Result
from linkpool.unfinished import slowest
from linkpool.units import show_number


def explain(
    directory: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result of linkpool run, or of a study.")
    ],
    flows: Annotated[
        list[int] | None,
        typer.Option(
            "--flow",
            metavar="N",
            min=0,
            help="Number of a flow, as in flows (repeatable). Default: the slowest.",
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option("--worst", metavar="COUNT", min=1, help="So many of the slowest flows."),
    ] = None,
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished", help="The slowest of those that had not finished when the run ended."
        ),
    ] = False,
    arm: OfArm = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="OUT", help="Draw it: .svg, .png or .pdf; of one flow."),
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Make the run again with a trace of some flows, and tell where their time went.

    Without --flow it is the measured flow of the largest slowdown, which may be one that had not
    finished when the run ended. Of a study it is the run with the slowest flow. The times of a flow
    add up to its completion time. The run is made again once, up to the end of the last of the
    flows, on one core; it is refused if a flow does not begin and end as recorded.
    """
    if flows and (worst is not None or unfinished):
        fail("--flow names flows; leave out --worst and --unfinished")
    # Here, as matplotlib takes a second to load.
    from linkpool.figures.kind import FigureError
    from linkpool.figures.plot import require_format

    try:
        if plot is not None:
            require_format(plot)
        result = require_result(run_of(directory, arm), run_code)
        chosen = list(dict.fromkeys(flows)) if flows else _slowest(result, worst or 1, unfinished)
        if plot is not None and len(chosen) > 1:
            fail(f"--plot draws one flow, and {len(chosen)} are asked for")
        found = Explanation.all_of(result, chosen)
    except (ExplainError, FigureError, _core.ScenarioError) as error:
        fail(str(error))
    say("\n\n".join(map(str, found)))
    if plot is not None:
        found[0].plot(plot)
        say(f"\n{plot}")


def _slowest(result: Result, count: int, unfinished: bool) -> list[int]:
    """Return the numbers of the slowest flows, and say which they are."""
    found = slowest(result.scan("flows"), count, unfinished)
    if found.is_empty() and unfinished:
        fail(f"every measured flow of {result.dir} with a size had finished when the run ended")
    if found.is_empty():
        fail(f"no flow with a size was measured in {result.dir}; name one by --flow N")
    said = []
    for flow, slowdown, at_least in found.rows():
        so_far = ", and had not finished when the run ended" if at_least else ""
        said.append(f"{flow}: slowdown {show_number(slowdown)}{so_far}")
    which = "slowest unfinished flow" if unfinished else "slowest flow"
    if len(said) == 1:
        say(f"the {which} is {said[0]}\n")
    else:
        say("\n  ".join([f"the {len(said)} {which}s are", *said]) + "\n")
    return [int(flow) for flow in found["flow"]]
