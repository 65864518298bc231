"""The progress of runs: on a terminal a bar with the time that is left, in a log lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from linkpool import api
from linkpool.cli.console import stderr, warn
from linkpool.units import show_duration, show_seconds

if TYPE_CHECKING:
    from rich.progress import Progress

    from linkpool.study.pool import Watch

EVERY_S = 10.0
"""Between two lines of a log; what takes less writes none."""


@contextmanager
def watching(name: str, active: float) -> Iterator[api.Progress]:
    """Show how far a run is, and yield what moves it on.

    Args:
        name: of the run.
        active: seconds in which flows start. After them the network is mostly idle, and takes no
            time.

    """
    if not sys.stderr.isatty():
        log = _Log(name)

        def write(now: float, end: float, hops: int) -> None:
            log.at(now / active if active else 1.0, lambda: _done(now, end, hops))

        yield write
        return
    with _bar("{task.description}", "{task.fields[done]}", "left") as bar:
        task = bar.add_task(name, total=active, done=_done(0.0, active, 0))

        def watch(now: float, end: float, hops: int) -> None:
            bar.update(task, completed=min(now, active), done=_done(now, end, hops))

        yield watch
        bar.update(task, completed=active)


def _done(now: float, end: float, hops: int) -> str:
    simulated = f"{show_seconds(now)} of {show_seconds(end)} simulated"
    return f"{simulated}, {hops / 1e6:.1f} M packet-hops"


@contextmanager
def watching_runs(name: str) -> Iterator[tuple["Watch", Callable[[str], None]]]:
    """Show how far many runs are; yield what moves it on, and what writes a line beside it."""
    if not sys.stderr.isatty():
        log = _Log(name)

        def write(done: float, total: float, runs: int, of: int, how: str) -> None:
            log.at(done / total if total else 1.0, lambda: f"{runs} of {of} runs, {how}")

        yield write, warn
        return
    with _bar("{task.description}", "{task.fields[runs]}", "gone,", percent=True) as bar:
        task = bar.add_task(name, total=None, runs="")

        def watch(done: float, total: float, runs: int, of: int, how: str) -> None:
            bar.update(task, completed=done, total=total, runs=f"{runs} of {of} runs, {how}")

        yield watch, lambda line: bar.console.print(line, soft_wrap=True)


def _bar(name: str, done: str, between: str, percent: bool = False) -> "Progress":
    from rich.progress import (  # here, as a log needs none of it
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    share = [TextColumn("{task.percentage:3.0f}%")] if percent else []
    times = [TimeElapsedColumn(), TextColumn(between), TimeRemainingColumn()]
    last = [TextColumn("left")] if percent else []
    columns = [TextColumn(name), BarColumn(), *share, TextColumn(done), *times, *last]
    return Progress(*columns, console=stderr(), speed_estimate_period=60.0 if percent else 30.0)


class _Log:
    """Lines of a log, at most one in `EVERY_S`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = self._last = time.monotonic()

    def at(self, share: float, what: Callable[[], str]) -> None:
        """Say how much is done, if the last line is long ago."""
        now = time.monotonic()
        if now - self._last < EVERY_S:
            return
        self._last = now
        gone, share = now - self._began, min(share, 1.0)
        left = f", about {show_duration(gone * (1.0 - share) / share)} left" if share > 0.0 else ""
        warn(f"{self._name}: {100 * share:.0f}%, {what()}; {show_duration(gone)} gone{left}")
