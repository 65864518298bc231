"""Measure a task in a process of its own, so that peaks of memory are its own."""

import json
import resource
import subprocess
import sys
from typing import Any

from linkpool import _core
from linkpool.bench.tasks import tasks

KIB = 1024


def measure(name: str, threads: int) -> dict[str, Any]:
    """Run task `name` on `threads` threads in a fresh process; return its row of the table."""
    command = [sys.executable, "-m", "linkpool.bench.measure", name, str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _peak_rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def _main(name: str, threads: int) -> None:
    idle = _peak_rss()
    cost = _core.measure(tasks()[name].scenario, name, threads)
    peak = _peak_rss()
    row = {
        "task": name,
        "threads": threads,
        "hops": cost["hops"],
        "data_packets": cost["data_packets"],
        "hops_per_second": round(cost["hops"] / cost["wall_s"]),
        "user_s": cost["user_s"],
        "wall_s": cost["wall_s"],
        "setup_s": cost["setup_s"],
        "peak_rss_bytes": peak,
        "simulation_bytes": peak - idle,
        "goodput_over_line_rate": cost["goodput_over_line_rate"],
        "simulated_s": cost["simulated_s"],
        "version": _core.__version__,
    }
    print(json.dumps(row))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
