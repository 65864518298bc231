"""The progress of runs: on a terminal a bar with the time that is left, in a log lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from linkpool import api
from linkpool.cli.console import stderr, warn
from linkpool.units import counted, show_duration, show_seconds

if TYPE_CHECKING:
    from rich.progress import Progress

    from linkpool.study.pool import Left, Watch

MOST = 0.99
"""What a bar shows of a run that has had more packets than it let expect."""

BEYOND = "more packets than expected, which counts none that are sent again or trimmed"
"""What is said of such a run in place of its share: nobody knows how many more there will be."""

EVERY_S = 10.0
"""Between two lines of a log; what takes less writes none."""


@contextmanager
def watching(name: str, expected: Callable[[], float]) -> Iterator[api.Progress]:
    """Show how far a run is, and yield what moves it on.

    What is left is judged by packet-hops: a run takes as long as its packets, whether they all
    start at once and end before `duration`, or wait in the drain for queues and timeouts.

    Args:
        name: of the run.
        expected: gives the packet-hops that the run lets expect. It is asked when there is
            something to show, as it takes seconds in a fabric of 30,000 hosts.

    """
    counted = _Expected(expected)
    if not sys.stderr.isatty():
        log = _Log(name)

        def write(now: float, end: float, hops: int) -> None:
            log.at(lambda: counted.share(hops), lambda: _done(now, end, hops))

        yield write
        return
    began = time.monotonic()
    with _bar("{task.description}", "{task.fields[done]}", "{task.fields[gone]}") as bar:
        task = bar.add_task(name, total=1.0, done="", gone="")

        def watch(now: float, end: float, hops: int) -> None:
            share = counted.share(hops)
            gone = _times(time.monotonic() - began, share)
            seen = MOST if share is None else share
            gone += ", more packets than expected" if share is None else ""
            bar.update(task, completed=seen, done=_done(now, end, hops), gone=gone)

        yield watch
        bar.update(task, completed=1.0, gone=_times(time.monotonic() - began, None))


class _Expected:
    """The packet-hops that a run lets expect, which are counted once."""

    def __init__(self, count: Callable[[], float]) -> None:
        self._count = count
        self._hops: float | None = None

    def share(self, hops: int) -> float | None:
        """Return which share of them there has been; None: there have been more."""
        if self._hops is None:
            self._hops = self._count()
        return hops / self._hops if hops < self._hops else None


def _times(gone: float, share: float | None, left: float | None = None) -> str:
    """Say how much time is gone, and how much is left.

    Where that is not known, it follows from the share of the work that is done.
    """
    if left is None and share:
        left = gone * (1.0 - share) / share
    return f"{show_duration(gone)} gone" + (
        f", about {show_duration(left)} left" if left is not None else ""
    )


def _done(now: float, end: float, hops: int) -> str:
    simulated = f"{show_seconds(now)} of {show_seconds(end)} simulated"
    return f"{simulated}, {hops / 1e6:.1f} M packet-hops"


@contextmanager
def watching_runs(name: str) -> Iterator[tuple["Watch", Callable[[str], None]]]:
    """Show how far many runs are; yield what moves it on, and what writes a line beside it."""
    if not sys.stderr.isatty():
        log = _Log(name)

        def write(done: float, total: float, runs: int, of: int, how: str, left: "Left") -> None:
            log.at(lambda: done / total, lambda: f"{runs} of {counted(of, 'run')}, {how}", left)

        yield write, warn
        return
    began = time.monotonic()
    with _bar("{task.description}", "{task.fields[runs]}", "{task.fields[gone]}") as bar:
        task = bar.add_task(name, total=None, runs="", gone="")

        def watch(done: float, total: float, runs: int, of: int, how: str, left: "Left") -> None:
            said = f"{runs} of {counted(of, 'run')}, {how}"
            gone = _times(time.monotonic() - began, done / total, left())
            bar.update(task, completed=done, total=total, runs=said, gone=gone)

        yield watch, lambda line: bar.console.print(line, soft_wrap=True)


def _bar(name: str, done: str, times: str) -> "Progress":
    """Return a bar that says what is done, and the times that are gone and left."""
    from rich.progress import BarColumn, Progress, TextColumn  # here, as a log needs none of it

    columns = [TextColumn(name), BarColumn(), TextColumn("{task.percentage:3.0f}%")]
    return Progress(*columns, TextColumn(done), TextColumn(times), console=stderr())


class _Log:
    """Lines of a log, at most one in `EVERY_S`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = self._last = time.monotonic()

    def at(
        self,
        share: Callable[[], float | None],
        what: Callable[[], str],
        left: "Left" = lambda: None,
    ) -> None:
        """Say how much is done, if the last line is long ago.

        Args:
            share: gives the share of the work that is done; None: more is than was expected.
            what: says what is done.
            left: gives the seconds that are left; None: they follow from the share.

        """
        now = time.monotonic()
        if now - self._last < EVERY_S:
            return
        self._last = now
        gone, done = now - self._began, share()
        how_far = BEYOND if done is None else f"{100 * done:.0f}%"
        warn(f"{self._name}: {how_far}, {what()}; {_times(gone, done, left())}")
