"""Where the commands print: results to standard output, all else to standard error."""

import sys
from typing import NoReturn

from rich.console import Console

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
