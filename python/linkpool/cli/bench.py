"""`linkpool bench`: the cost of standard tasks on this machine."""

import json
import os
from datetime import datetime, timezone
from typing import Annotated, Any

import typer
from rich.table import Table

from linkpool.bench.beside import BesideError, Pair, mean_ratio, pairs
from linkpool.bench.measure import measure
from linkpool.bench.speed_up import Pair as ThreadPair
from linkpool.bench.speed_up import ThreadsError, cores, counts_up_to, markdown, rows
from linkpool.bench.speed_up import pairs as thread_pairs
from linkpool.bench.tasks import all_tasks, series, speed_up, tasks
from linkpool.cli.console import fail, say, stderr, stdout
from linkpool.limits import MOST_THREADS
from linkpool.units import counted


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TASK...", help="Tasks; all if none is named.")
    ] = None,
    threads: Annotated[
        list[int] | None,
        typer.Option(
            "--threads",
            min=1,
            max=MOST_THREADS,
            help="Thread counts (repeatable); default: 1 and all cores.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead.")] = False,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="Runs of each task; the fastest counts.")
    ] = 1,
    growth: Annotated[
        bool, typer.Option("--series", help="How cost grows with hosts and rates, instead.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the tasks.")] = False,
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside",
            metavar="COMMAND",
            help="Run each task and this command alternately, and print the ratio pair by pair. "
            "The command's last line is a JSON object with hops, user_s and "
            "goodput_over_line_rate; {task} stands for the task's name.",
        ),
    ] = None,
    faster: Annotated[
        bool,
        typer.Option(
            "--speed-up",
            help="Run each task on one thread and on several alternately, and print how many "
            "times as fast it is, as Markdown; by default on 2, 4, 8 ... threads and all cores.",
        ),
    ] = False,
    count: Annotated[
        int,
        typer.Option("--pairs", min=1, help="The number of pairs, with --beside and --speed-up."),
    ] = 5,
) -> None:
    """Run benchmark tasks: packet-hops per second, CPU, memory."""
    known = all_tasks()
    if listing:
        for task in known.values():
            say(f"{task.name:22} {task.about}")
        return
    for name in names or []:
        if name not in known:
            fail(f"no task is called {name}; there are {', '.join(known)}")
    if beside is not None:
        if threads or growth or faster or not names:
            fail("--beside runs tasks that you name, on one thread: bench TASK... --beside COMMAND")
        _run_beside(names, beside, count, as_json)
        return
    if faster:
        if growth or runs > 1:
            fail("--speed-up has pairs of runs and tasks of its own; leave --series and --runs out")
        _run_speed_up(names or list(speed_up()), threads, count, as_json)
        return
    counts = threads or sorted({1, os.cpu_count() or 1})
    measured = []
    for name in names or list(series() if growth else tasks()):
        for number in counts:
            stderr().print(f"{name} on {counted(number, 'thread')} ...")
            attempts = [measure(name, number) for _ in range(runs)]
            measured.append(max(attempts, key=lambda row: float(row["hops_per_second"])))
    if as_json:
        say(json.dumps(measured, indent=1))
    else:
        stdout().print(_table(measured))


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


def _run_speed_up(names: list[str], threads: list[int] | None, count: int, as_json: bool) -> None:
    counts = sorted(set(threads)) if threads else counts_up_to(cores())
    if not counts:
        fail("this machine has one core; say on how many threads with --threads")
    if 1 in counts:
        fail("--speed-up compares several threads with one; leave --threads 1 out")
    found: list[ThreadPair] = []
    failed = None
    try:
        for pair in thread_pairs(names, counts, count):
            found.append(pair)
            stderr().print(f"{pair.task} on {pair.threads} threads: {pair.ratio:.2f}")
    except ThreadsError as error:
        failed = str(error)  # the pairs before it count all the same
    if as_json:
        say(json.dumps(rows(found), indent=1))
    elif found:
        say(markdown(found, datetime.now(timezone.utc)))
    if failed is not None:
        fail(failed)


def _run_beside(names: list[str], command: str, count: int, as_json: bool) -> None:
    found: dict[str, list[Pair]] = {}
    failed = None
    try:
        for name in names:
            for pair in pairs(name, command, count):
                found.setdefault(name, []).append(pair)
                stderr().print(f"{name}, pair {len(found[name])} of {count}: {pair.ratio:.2f}")
    except BesideError as error:
        failed = str(error)  # the pairs before it count all the same
    if as_json:
        rows = [
            {"task": name, "ratio": pair.ratio, "ours": vars(pair.ours), "other": vars(pair.other)}
            for name, all_pairs in found.items()
            for pair in all_pairs
        ]
        say(json.dumps(rows, indent=1))
    elif found:
        stdout().print(_beside_table(found))
    if failed is not None:
        fail(failed)


def _beside_table(found: dict[str, list[Pair]]) -> Table:
    table = Table(title="linkpool beside the other simulator, one thread, user time")
    for heading in ("task", "pair", "M hops/s", "other's", "ratio", "goodput", "other's"):
        table.add_column(heading, justify="left" if heading == "task" else "right")
    for name, all_pairs in found.items():
        for i, pair in enumerate(all_pairs, start=1):
            table.add_row(
                name,
                str(i),
                f"{pair.ours.hops_per_second / 1e6:.2f}",
                f"{pair.other.hops_per_second / 1e6:.2f}",
                f"{pair.ratio:.2f}",
                f"{pair.ours.goodput_over_line_rate:.3f}",
                f"{pair.other.goodput_over_line_rate:.3f}",
            )
        ratios = [pair.ratio for pair in all_pairs]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        table.add_row(name, "mean", "", "", f"{mean_ratio(all_pairs):.2f} ({spread})", "", "")
    return table
