"""Count cache lines moved per packet-hop, in a simulated cache: repeatable on any machine.

    .venv/bin/python benchmarks/cache.py [TASK...]     some minutes a task; prints JSON

Each figure is a difference of two runs of different length under cachegrind, so set-up cancels
out. The first level is 48 KiB, the last as large as `LAST` says; nothing is fetched ahead there, so
a miss is a line that moves, whether the engine waited for it or not.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import example

from linkpool.bench.tasks import tasks

FIRST = "49152,12,64"
LAST = {"1 MiB": "1048576,16,64", "32 MiB": "33554432,16,64"}
DURATIONS = {
    "k8-dctcp-9000": ("4ms", "8ms"),
    "k8-mptcp8-9000": ("4ms", "8ms"),
    "k16-mptcp8-9000": ("2ms", "3ms"),
    "k32-dctcp-9000": ("2ms", "3ms"),
    "k32-mptcp4-9000": ("2ms", "3ms"),
}
EVENTS = ("Ir", "Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw")


def main() -> None:
    """Measure the tasks named, or all."""
    program = example.build("count_hops")
    rows = [measure(program, name, size) for name in sys.argv[1:] or DURATIONS for size in LAST]
    print(json.dumps(rows, indent=1))


def measure(program: Path, name: str, size: str) -> dict[str, Any]:
    """Return what a hop of a task costs with a last-level cache of a size."""
    short, long = (run(program, name, duration, LAST[size]) for duration in DURATIONS[name])
    hops = long["hops"] - short["hops"]
    each = {event: (long[event] - short[event]) / hops for event in EVENTS}
    return {
        "task": name,
        "last_level": size,
        "hops": hops,
        "instructions": each["Ir"],
        "accesses": each["Dr"] + each["Dw"],
        "first_level_misses": each["D1mr"] + each["D1mw"],
        "last_level_misses": each["DLmr"] + each["DLmw"],
    }


def run(program: Path, name: str, duration: str, last: str) -> dict[str, int]:
    """Return the hops of a run, and cachegrind's counts."""
    text, found = re.subn(r'duration = "\w+"', f'duration = "{duration}"', tasks()[name].scenario)
    if found != 1:
        raise ValueError(f"{name} has {found} durations")
    with tempfile.TemporaryDirectory() as scratch:
        file, out = Path(scratch) / "task.toml", Path(scratch) / "cachegrind.out"
        file.write_text(text, encoding="utf-8")
        tool = ["valgrind", "--quiet", "--tool=cachegrind", "--cache-sim=yes"]
        sizes = [f"--D1={FIRST}", f"--LL={last}", f"--cachegrind-out-file={out}"]
        command = [*tool, *sizes, str(program), str(file)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        lines = out.read_text(encoding="utf-8").splitlines()
    names = next(line for line in lines if line.startswith("events:")).split()[1:]
    counts = next(line for line in lines if line.startswith("summary:")).split()[1:]
    return {"hops": int(done.stdout), **dict(zip(names, map(int, counts), strict=True))}


if __name__ == "__main__":
    main()
