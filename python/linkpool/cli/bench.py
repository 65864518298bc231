"""`linkpool bench`: what the standard tasks cost on this machine."""

import json
import os
from typing import Annotated, Any

import typer
from rich.table import Table

from linkpool.bench.measure import measure
from linkpool.bench.tasks import all_tasks, series, tasks
from linkpool.cli.console import fail, stderr, stdout


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TASK...", help="Tasks; all if none is named.")
    ] = None,
    threads: Annotated[
        list[int] | None,
        typer.Option(
            "--threads", min=1, help="Thread counts (repeatable); default: 1 and all cores."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead.")] = False,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="Keep the fastest of so many runs of each.")
    ] = 1,
    growth: Annotated[
        bool, typer.Option("--series", help="How cost grows with hosts and rates, instead.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tasks.")] = False,
) -> None:
    """Run benchmark tasks: packet-hops per second, CPU, memory."""
    known = all_tasks()
    if listing:
        for task in known.values():
            print(f"{task.name:22} {task.about}")
        return
    for name in names or []:
        if name not in known:
            fail(f"no task is called {name}; there are {', '.join(known)}")
    counts = threads or sorted({1, os.cpu_count() or 1})
    rows = []
    for name in names or list(series() if growth else tasks()):
        for count in counts:
            stderr().print(f"{name} on {count} thread{'s' if count > 1 else ''} ...")
            attempts = [measure(name, count) for _ in range(runs)]
            rows.append(max(attempts, key=lambda row: float(row["hops_per_second"])))
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        stdout().print(_table(rows))


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="benchmarks")
    for heading in (
        "task",
        "threads",
        "M hops/s",
        "M hops",
        "user s",
        "wall s",
        "set-up s",
        "simulation MiB",
        "goodput / line rate",
    ):
        table.add_column(heading, justify="left" if heading == "task" else "right")
    for row in rows:
        table.add_row(
            row["task"],
            str(row["threads"]),
            f"{row['hops_per_second'] / 1e6:.2f}",
            f"{row['hops'] / 1e6:.1f}",
            f"{row['user_s']:.2f}",
            f"{row['wall_s']:.2f}",
            f"{row['setup_s']:.2f}",
            f"{row['simulation_bytes'] / 2**20:.1f}",
            f"{row['goodput_over_line_rate']:.3f}",
        )
    return table
