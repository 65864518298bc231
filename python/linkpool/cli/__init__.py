"""The `linkpool` command."""

import sys
from typing import Any, NoReturn

import typer

from linkpool import _core
from linkpool.cli.commands import app
from linkpool.cli.console import fail
from linkpool.errors import FailedError, InputError

__all__ = ["PROGRAM", "app", "main"]

PROGRAM = "linkpool"

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Of a wrong command line. Typer exports only this class, which is derived from it."""


def main() -> None:
    """Run the command line; each error is a line, and an exit code says whose it is.

    1: a run failed; 2: something is wrong with the input; 130: interrupted.
    """
    try:
        raise SystemExit(app(prog_name=PROGRAM, standalone_mode=False))
    except _UsageError as error:
        _usage(error)
    except (InputError, _core.ScenarioError) as error:
        fail(str(error))
    except (FailedError, _core.SimulationError, _core.InternalError) as error:
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
    result = sys.modules.get("linkpool.result")  # it may not have been loaded
    unverified = result.unverified if result is not None else ()
    if not unverified:
        return ""
    names = ", ".join(sorted(map(str, unverified)))
    return (
        f"{names}: the tables are not as linkpool writes them ({type(error).__name__}: {error}). "
        "Without manifest.json nobody can tell which file was damaged or changed; repeat the run"
    )


def _bug(error: BaseException) -> str:
    """Write the traceback of a bug to a file, and ask the user to report it."""
    import tempfile
    import traceback

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
