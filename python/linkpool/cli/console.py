"""Where the commands print: results to standard output, all else to standard error."""

import sys
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from linkpool import _core, api

WIDTH_WITHOUT_TERMINAL = 120


def stdout() -> Console:
    """Return the console for results; tables keep their columns when piped."""
    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(width=width, highlight=False, markup=False)


def stderr() -> Console:
    """Return the console for progress bars and remarks."""
    return Console(stderr=True, highlight=False, markup=False)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print a message to standard error and leave; code 2 is a usage error."""
    print(message, file=sys.stderr)
    raise SystemExit(code)


def load(file: Path, seed: int | None, overrides: list[tuple[str, str]]) -> _core.Scenario:
    """Read and check a scenario, or print its errors and exit."""
    try:
        return api.load(file, seed=seed, overrides=overrides)
    except _core.ScenarioError as error:
        fail(str(error))
    except (OSError, UnicodeDecodeError) as error:
        fail(cannot_read(file, error))


def cannot_read(file: Path, error: OSError | UnicodeDecodeError) -> str:
    """Say why a file cannot be read."""
    why = error.strerror if isinstance(error, OSError) else "it is not a text file (UTF-8)"
    return f"cannot read {file}: {why or error}"
