"""`linkpool serve`: a session for a program in another process."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import RunCode, fail
from linkpool.publish import require_replaceable
from linkpool.scenario import Scenario
from linkpool.serve import Server


def serve(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO.toml", help="It has a [[workload.session]].")
    ],
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="NAME", help="What the client asks for (default: the file's name)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Directory of the result.")
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Let a program in another process drive a run: frames of JSON on stdin and stdout.

    docs/serve.md has the protocol. The exit code is 1 after an error, which the last frame tells.
    """
    if out is not None:
        require_replaceable(out)
    try:
        loaded = Scenario.load(scenario)
    except OSError as error:
        fail(str(error))
    if sys.stdin.isatty():
        fail("linkpool serve reads frames of a program, not what is typed: see docs/serve.md")
    server = Server(loaded, profile or scenario.stem, out, run_code)
    if not server.serve(sys.stdin.buffer, sys.stdout.buffer):
        raise SystemExit(1)
