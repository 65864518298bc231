"""Tell whether polars works in this process.

Polars answers with the help of threads, which it starts at its first use. A process that is forked
after that has none of these threads, and would wait for them for ever. To import polars starts one
thread, too, but that one only removes files of queries that outgrew the memory: nobody waits for
it, and a process that is forked then starts threads of its own.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

THREADS = Path("/proc/self/task")

WORKERS = ("polars-", "async-executor-", "tokio-rt-worker")
"""The first letters of the names of threads for whose answers polars waits."""
CLEANER = "polars-ooc-clea"
"""The thread that polars 2.1 starts when it is imported; Linux keeps 15 letters of its name."""


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
    if "polars" not in sys.modules:
        return False
    if not THREADS.is_dir():  # not Linux: take no chance
        return True
    return any(name.startswith(WORKERS) and name.strip() != CLEANER for name in _names())


def _names() -> Iterator[str]:
    for thread in THREADS.iterdir():
        with suppress(OSError):  # a thread that has just ended
            yield (thread / "comm").read_text(encoding="utf-8", errors="replace")


def _before() -> None:
    _State.parent_had_threads = _State.forked or _polars_has_threads()


def _in_child() -> None:
    _State.forked = _State.parent_had_threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
