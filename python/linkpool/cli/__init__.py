"""The `linkpool` command."""

import sys

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
app.command("run")(run.run)
app.command("show")(show.show)
app.command("compare")(compare.compare)
app.command("optimum")(optimum.optimum)
app.command("topology")(topology.topology)
app.command("reproduce")(reproduce.reproduce)
app.command("bench")(bench.bench)
app.command("columns")(tables.columns)
app.command("schema")(tables.schema)


def main() -> None:
    """Run the command line; exit codes: 1 a failed run, 2 a usage or scenario error."""
    try:
        app()
    except NotAResultError as error:
        fail(str(error))
    except RunError as error:
        fail(str(error), code=1)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
