"""The progress of many runs: a bar with the work done, runs, and the time that is left."""

from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from linkpool.cli.console import stderr
from linkpool.study.pool import Watch


def bar_of_runs() -> Progress:
    """Return the bar, to be used in a `with`."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f}%"),
        TextColumn("{task.fields[runs]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        console=stderr(),
        speed_estimate_period=60.0,
    )


def watch_runs(bar: Progress, name: str) -> Watch:
    """Add a task to the bar, and return what moves it on."""
    task = bar.add_task(name, total=None, runs="")

    def watch(done: float, total: float, runs: int, of: int, how: str) -> None:
        bar.update(task, completed=done, total=total, runs=f"{runs} of {of} runs, {how}")

    return watch
