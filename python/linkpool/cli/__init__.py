"""The `linkpool` command."""

import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import typer

from linkpool import _core
from linkpool.cli import (
    bench,
    book,
    compare,
    convert,
    explain,
    export,
    linux,
    optimum,
    perfetto,
    plot,
    replay,
    report,
    reproduce,
    run,
    show,
    study,
    tables,
    topology,
)
from linkpool.cli.console import fail
from linkpool.limits import TooLargeError
from linkpool.publish import NotAResultError
from linkpool.result import NotRecordedError, ResultError
from linkpool.study.model import StudyError
from linkpool.study.pool import RunError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A packet-level simulator workbench for multipath transport in data centres.",
    epilog="Exit codes: 0 done, 1 a run failed, 2 something is wrong with your input, "
    "130 interrupted.",
)
app.callback()(tables.common)


PROGRAM = "linkpool"

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Of a wrong command line. Typer exports only this class, which is derived from it."""

_INPUT = (
    *(NotAResultError, NotRecordedError, ResultError, StudyError, TooLargeError),
    _core.ScenarioError,
)
"""Errors that say what is wrong with the input, and what would be right."""

GOES_ON = "interrupted; the same command goes on where this one stopped"


def _command(
    name: str,
    function: Callable[..., None],
    on_interrupt: str = "interrupted",
    to: typer.Typer = app,
) -> None:
    """Add a command that Ctrl-C ends by a line."""

    @wraps(function)
    def interruptible(*values: object, **named: object) -> None:
        try:
            function(*values, **named)
        except KeyboardInterrupt:
            fail(on_interrupt, code=130)

    to.command(name)(interruptible)


_command("run", run.run)
_command("show", show.show)
_command("compare", compare.compare)
_command("plot", plot.plot)
_command("report", report.report)
_command("explain", explain.explain)
_command("replay", replay.replay)
_command("perfetto", perfetto.perfetto)
_command("export", export.export)
_command("convert", convert.convert)
_command("optimum", optimum.optimum)
_command("topology", topology.topology)
_command("reproduce", reproduce.reproduce, GOES_ON)
_command("book", book.book)
_command("run", study.run, GOES_ON, to=study.app)
_command("status", study.status, to=study.app)
_command("show", study.show, to=study.app)
app.add_typer(study.app, name="study")
_command("bench", bench.bench)
# It becomes another program, whose Ctrl-C and exit codes are its own.
app.command(
    "linux",
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    },
)(linux.linux)
_command("columns", tables.columns)
_command("schema", tables.schema)


def main() -> None:
    """Run the command line; each error is a line, and an exit code says whose it is.

    1: a run failed; 2: something is wrong with the input; 130: interrupted.
    """
    try:
        raise SystemExit(app(prog_name=PROGRAM, standalone_mode=False))
    except _UsageError as error:
        _usage(error)
    except _INPUT as error:
        fail(str(error))
    except (RunError, _core.SimulationError, _core.InternalError) as error:
        fail(str(error), code=1)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
    except MemoryError:
        fail("there is not enough memory; make the scenario smaller", code=1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        fail(f"{where}{error.strerror or error}", code=1)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        if what := _unverified(error):
            fail(what)
        fail(_bug(error), code=1)


def _usage(error: Any) -> NoReturn:
    """Say in a line what is wrong with the command line, and leave."""
    said = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    if not said:  # no command was named, and the help has been printed
        raise SystemExit(2)
    command = error.ctx.command_path if error.ctx else PROGRAM
    fail(f"{command}: {said[0].lower()}{said[1:]}; see {command} --help")


def _unverified(error: BaseException) -> str:
    """Say of a result that no manifest vouches for that its files may not fit each other."""
    from linkpool.result import unverified  # here: it takes long to load

    if not unverified:
        return ""
    names = ", ".join(sorted(map(str, unverified)))
    return (
        f"{names}: the tables are not as linkpool writes them ({type(error).__name__}: {error}). "
        "Without manifest.json nobody can tell which file was damaged or changed; repeat the run"
    )


def _bug(error: BaseException) -> str:
    """Write the traceback of a bug to a file, and ask the user to report it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="linkpool-bug-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"{sys.argv}\n")
        traceback.print_exception(error, file=file)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"this is a bug in linkpool {_core.__version__}: {what}; "
        f"please report it at {_core.ISSUES} with {file.name}"
    )
