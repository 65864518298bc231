"""Measure the figures of the reports on performance, on this machine. It should be idle.

    ./x figures               about an hour; writes benchmarks/figures/*.json and prints tables

The tables are printed in Markdown as they stand in the document, from the JSON files.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "benchmarks" / "figures"
BENCH = [str(Path(sys.executable).with_name("linkpool")), "bench", "--json", "--runs", "3"]
M = 1e6
MIB = 2**20

Row = dict[str, Any]


def main() -> None:
    """Measure, write, print."""
    FIGURES.mkdir(exist_ok=True)
    threads = ["--threads", "1", "--threads", "2"] if (os.cpu_count() or 1) > 1 else []
    tasks = measure("tasks", [*BENCH, *threads])
    series = measure("series", [*BENCH, "--series", "--threads", "1"])
    billion = measure("billion", [sys.executable, str(ROOT / "benchmarks" / "billion.py")])
    cache = measure("cache", [sys.executable, str(ROOT / "benchmarks" / "cache.py")])
    print(tasks_table([row for row in tasks if row["threads"] == 1]))
    print(threads_table(tasks))
    print(tasks_table(series))
    print(cache_table(cache))
    print(json.dumps(billion, indent=1))


def measure(name: str, command: list[str]) -> Any:
    """Run a command that prints JSON, keep what it printed, and return it."""
    print(f"{name} ...", file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    (FIGURES / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    return json.loads(done.stdout)


def tasks_table(rows: list[Row]) -> str:
    """Return a row per task: speed, work, memory; nanoseconds a hop and CPU a simulated ms."""
    return table(
        (
            "task",
            "M hops/s",
            "ns a hop",
            "M hops",
            "set-up s",
            "simulation MiB",
            "goodput / line rate",
            "CPU s per simulated ms",
        ),
        [
            (
                row["task"],
                f"{row['hops_per_second'] / M:.1f}",
                f"{1e9 / row['hops_per_second']:.0f}",
                f"{row['hops'] / M:.1f}",
                f"{row['setup_s']:.3f}",
                f"{row['simulation_bytes'] / MIB:.1f}",
                f"{row['goodput_over_line_rate']:.3f}",
                f"{row['user_s'] / row['simulated_s'] / 1e3:.4f}",
            )
            for row in rows
        ],
    )


def cache_table(rows: list[Row]) -> str:
    """Return a row per task and size of the last-level cache: what a hop costs."""
    headings = ("task", "last level", "instructions", "accesses", "misses, 48 KiB", "last level")
    counts = ("instructions", "accesses", "first_level_misses", "last_level_misses")
    return table(
        headings,
        [(row["task"], row["last_level"], *(f"{row[c]:.2f}" for c in counts)) for row in rows],
    )


def threads_table(rows: list[Row]) -> str:
    """Return a row per task: one thread beside two."""
    one = {row["task"]: row for row in rows if row["threads"] == 1}
    return table(
        ("task", "one thread, M hops/s", "two threads", "ratio of wall-clock times"),
        [
            (
                row["task"],
                f"{row['hops'] / one[row['task']]['wall_s'] / M:.1f}",
                f"{row['hops'] / row['wall_s'] / M:.1f}",
                f"{one[row['task']]['wall_s'] / row['wall_s']:.2f}",
            )
            for row in rows
            if row["threads"] == 2
        ],
    )


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, tuple("---" for _ in headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    main()
