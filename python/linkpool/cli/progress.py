"""The progress of runs: a bar with the work done, and the time that is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from linkpool import api
from linkpool.cli.console import stderr
from linkpool.units import show_seconds

if TYPE_CHECKING:
    from linkpool.study.pool import Watch


@contextmanager
def watching(name: str, active: float) -> Iterator[api.Progress]:
    """Show a bar, and yield what moves it on as one run proceeds.

    Args:
        name: of the run.
        active: seconds in which flows start. After them the network is mostly idle, and takes no
            time.

    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=stderr(),
    )
    with bar:
        task = bar.add_task(name, total=active, done=_done(0.0, active, 0))

        def watch(now: float, end: float, hops: int) -> None:
            bar.update(task, completed=min(now, active), done=_done(now, end, hops))

        yield watch
        bar.update(task, completed=active)


def _done(now: float, end: float, hops: int) -> str:
    simulated = f"{show_seconds(now)} of {show_seconds(end)} simulated"
    return f"{simulated}, {hops / 1e6:.1f} M packet-hops"


def bar_of_runs() -> Progress:
    """Return the bar, to be used in a `with`."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TextColumn("{task.fields[runs]}"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=stderr(),
        speed_estimate_period=60.0,
    )


def watch_runs(bar: Progress, name: str) -> "Watch":
    """Add a task to the bar, and return what moves it on."""
    task = bar.add_task(name, total=None, runs="")

    def watch(done: float, total: float, runs: int, of: int, how: str) -> None:
        bar.update(task, completed=done, total=total, runs=f"{runs} of {of} runs, {how}")

    return watch
