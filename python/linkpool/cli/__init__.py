"""The `linkpool` command."""

import sys
from collections.abc import Callable
from functools import wraps

import typer

from linkpool.cli import bench, compare, optimum, reproduce, run, show, tables, topology
from linkpool.cli.console import fail
from linkpool.publish import NotAResultError
from linkpool.study.pool import RunError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A packet-level simulator workbench for multipath transport in data centres.",
)
app.callback()(tables.common)


def _command(name: str, function: Callable[..., None], on_interrupt: str = "interrupted") -> None:
    """Add a command that Ctrl-C ends by a line."""

    @wraps(function)
    def interruptible(*values: object, **named: object) -> None:
        try:
            function(*values, **named)
        except KeyboardInterrupt:
            fail(on_interrupt, code=130)

    app.command(name)(interruptible)


_command("run", run.run)
_command("show", show.show)
_command("compare", compare.compare)
_command("optimum", optimum.optimum)
_command("topology", topology.topology)
_command(
    "reproduce",
    reproduce.reproduce,
    "interrupted; the same command goes on where this one stopped",
)
_command("bench", bench.bench)
_command("columns", tables.columns)
_command("schema", tables.schema)


def main() -> None:
    """Run the command line; exit codes: 1 a failed run, 2 your input, 130 interrupted."""
    try:
        app()
    except NotAResultError as error:
        fail(str(error))
    except RunError as error:
        fail(str(error), code=1)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
