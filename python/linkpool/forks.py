"""Tell whether polars works in this process.

Polars answers with the help of threads, which it starts at its first use. A process that is forked
after that has none of these threads, and would wait for them for ever.
"""

import os
import sys
from pathlib import Path

THREADS = Path("/proc/self/task")


class ForkedError(RuntimeError):
    """Tables cannot be read, as this process was forked from one that had read some."""


class _State:
    """The state of this process."""

    parent_had_threads = False
    """When this process forked last: did polars have threads in it?"""
    forked = False
    """Was this process forked from one in which polars had threads?"""


def require_polars() -> None:
    """Raise `ForkedError` if polars would wait for ever in this process."""
    if _State.forked:
        raise ForkedError(
            "this process was forked from one in which polars had started its threads, and would "
            "wait for them for ever: start processes by multiprocessing.get_context('spawn') or "
            "'forkserver', or fork before the first run and the first table"
        )


def _polars_has_threads() -> bool:
    try:
        names = [(thread / "comm").read_text() for thread in THREADS.iterdir()]
    except OSError:  # without /proc, or a thread that has just ended: take no chance
        return "polars" in sys.modules
    return any(name.startswith("polars") for name in names)


def _before() -> None:
    _State.parent_had_threads = _State.forked or _polars_has_threads()


def _in_child() -> None:
    _State.forked = _State.parent_had_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
