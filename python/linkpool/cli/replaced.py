"""Say of which run a result is that a new one will replace."""

import sys
from pathlib import Path

from linkpool.cli.console import warn
from linkpool.publish import is_result
from linkpool.result import Result, ResultError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def say_replaced(out: Path) -> None:
    """Say that a result will be replaced, and of which run it is; nothing where there is none."""
    if is_result(out):
        warn(f"{out} will be replaced when the run is done: it holds {_described(out)}")


def _described(out: Path) -> str:
    """Say of which run a result is."""
    result = Result(out)
    try:
        text = result.scenario.partition("\n[")[0]
        name = tomllib.loads(text)["name"]
        return f"the result of {name!r}, seed {result.seed}"
    except (ResultError, ValueError, KeyError, RecursionError):
        return "a result that cannot be read"
