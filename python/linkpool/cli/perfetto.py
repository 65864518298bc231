"""`linkpool perfetto`: a trace of flows for ui.perfetto.dev."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import RunCode, fail, say, stderr
from linkpool.cli.show import require_result
from linkpool.cli.slowest_run import OfArm, run_of
from linkpool.perfetto import perfetto as write
from linkpool.replay import ReplayError


def perfetto(
    directory: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result of linkpool run, or of a study.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The trace, for ui.perfetto.dev.")
    ],
    flows: Annotated[
        list[int] | None,
        typer.Option("--flow", metavar="N", min=0, help="A flow (repeatable). Default: all."),
    ] = None,
    queues: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", metavar="FROM->TO", help="A link whose queue is traced (repeatable)."
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option("--every", metavar="TIME", help="Sampling interval of queues. Default: 10us."),
    ] = None,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="What ranks of jobs do; no flow unless it is named.")
    ] = False,
    requests: Annotated[
        bool,
        typer.Option("--requests", help="What requests to models do; no flow unless it is named."),
    ] = False,
    arm: OfArm = None,
    run_code: RunCode = False,
) -> None:
    """Make the run of a result again, and write what happens to flows as a Perfetto trace.

    A flow is a process, a subflow a track; open the file in ui.perfetto.dev. Of a study it is the
    run with the slowest flow. The run is made again
    on one core, up to the end of the flows; with --ranks to its end; for --requests alone not at
    all.
    """
    if every is not None and not queues:
        fail("--every is how often queues are sampled: name one with --queue FROM->TO")
    result = require_result(run_of(directory, arm), run_code)
    try:
        note = write(
            result,
            out,
            flows=flows or None,
            queues=queues or (),
            every=every or "10us",
            ranks=ranks,
            requests=requests,
        )
    except (ReplayError, _core.ScenarioError) as error:
        fail(str(error))
    if note:
        stderr().print(f"{note}; the flows begin and end as recorded")
    say(out)
