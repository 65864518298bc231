"""Where the commands print: results to standard output, all else to standard error.

All text of the commands passes here, and names in it are those of files that others may have
written. What a terminal would take for a command is shown as an escape: see `plain`.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeAlias

import typer

from linkpool import _core
from linkpool.plain import plain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 120

RunCode: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--run-code",
        help="Run the algorithms in Python that the scenario brings (controls): they are code.",
    ),
]
"""The option of every command that reads a scenario and is not for running it."""


def stdout() -> "Console":
    """Return the console for results; tables keep their columns when piped."""
    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL
    from linkpool.cli.terminal import PlainConsole

    return PlainConsole(width=width, highlight=False, markup=False)


def stderr() -> "Console":
    """Return the console for progress bars and remarks."""
    from linkpool.cli.terminal import PlainConsole

    return PlainConsole(stderr=True, highlight=False, markup=False)


def say(what: object = "", end: str = "\n") -> None:
    """Print a line of a result to standard output."""
    print(plain(str(what)), end=end)


def warn(message: str) -> None:
    """Print a remark to standard error."""
    print(plain(message), file=sys.stderr)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a message to standard error and leave; code 2 is a usage error."""
    warn(message)
    raise SystemExit(code)


def load(
    file: Path, seed: int | None, overrides: list[tuple[str, str]], run_code: bool
) -> _core.Scenario:
    """Read and check a scenario, or print its errors and exit."""
    from linkpool import loading

    try:
        return loading.load(file, seed=seed, overrides=overrides, run_code=run_code)
    except _core.ScenarioError as error:
        if any(key == "base" for _, _, key, _ in error.errors):
            fail(f"{file} is a study, not a scenario; run it: linkpool study run {file}")
        fail(str(error))
    except (OSError, UnicodeDecodeError) as error:
        fail(cannot_read(file, error))


def is_study_file(file: Path) -> bool:
    """Tell whether a file is a study: these have a `base`, and no scenario has."""
    try:
        return "base" in tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return False


def cannot_read(file: Path, error: OSError | UnicodeDecodeError) -> str:
    """Say why a file cannot be read."""
    why = error.strerror if isinstance(error, OSError) else "it is not a text file (UTF-8)"
    return f"cannot read {file}: {why or error}"
