"""Measure a task in a process of its own, so that peaks of memory are its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from linkpool import _core
from linkpool.bench.tasks import all_tasks

KIB = 1024


def measure(name: str, threads: int) -> dict[str, Any]:
    """Run task `name` on `threads` threads in a fresh process; return its row of the table."""
    command = [sys.executable, "-m", "linkpool.bench.measure", name, str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def _memory(entry: str) -> int:
    """Return an entry of /proc/self/status, such as VmRSS (now) or VmHWM (peak), in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(entry + ":"):
            return int(line.split()[1]) * KIB
    raise OSError(f"/proc/self/status has no {entry}")


def _main(name: str, threads: int) -> None:
    # From here on the peak is that of the simulation, not of what Python imported (man 5 proc).
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    idle = _memory("VmRSS")
    cost = _core.measure(all_tasks()[name].scenario, name, threads)
    peak = _memory("VmHWM")
    # One thread: CPU time, which a busy neighbour disturbs less. Several: only the clock counts.
    seconds = cost["user_s"] if threads == 1 else cost["wall_s"]
    row = {
        "task": name,
        "threads": threads,
        "hops": cost["hops"],
        "data_packets": cost["data_packets"],
        "hops_per_second": round(cost["hops"] / seconds),
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
