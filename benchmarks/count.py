"""Count instructions per packet-hop and per ACK, repeatably, and compare two commits.

    ./x count                 this working tree
    ./x count REVISION        this working tree beside REVISION
    ./x count REVISION --at-most 2
                              and fail if anything takes over 2% more than there
    ./x count --record        this working tree, and a line for it in benchmarks/history.csv

Each figure is a difference of two runs of different length under valgrind, so set-up cancels out.
Counts of the same sources by the same compiler are the same on any machine, however busy.
"""

import argparse
import csv
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ROOT / "benchmarks" / "history.csv"

SCENARIO = """
duration = "{duration}"
[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
mark = 15
[transport.t]
control = "{control}"
{recovery}
{subflows}
ack_every = 1
min_rto = "10ms"
[[workload.permutation]]
transport = "t"
jitter = "50us"
"""
# As in the standard tasks.
SUBFLOWS = 'subflows = {}\nscheduler = "round-robin"\nsend_buffer = "unlimited"'
# Standard tasks of `linkpool bench`, with other durations.
TASKS = ROOT / "python" / "linkpool" / "bench" / "tasks.py"
BENCHED = [
    "k8-dctcp-9000",
    "k8-mptcp8-9000",
    "k8-dctcp-9000-linux",
    "k8-mptcp8-9000-linux",
    "k8-dctcp-9000-dequeue",
    "k8-dctcp-9000-priority",
    "k8-dctcp-9000-trimming",
    "k8-ndp-9000",
    "k8-dctcp-9000-spray",
    "k8-dctcp-9000-flowlets",
    "k8-dctcp-9000-adaptive",
]
HOPS = {
    "dctcp": ("dctcp", 1, "newreno"),
    "lia8": ("lia", 8, "newreno"),
    "amp4": ("amp", 4, "newreno"),
    "dctcp, rack": ("dctcp", 1, "rack"),
}
ACKS = ["dctcp", "lia8", "amp4"]


def main() -> None:
    """Count, print, and perhaps record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", nargs="?", help="a commit to compare with")
    parser.add_argument(
        "--at-most", type=float, metavar="PERCENT", help="fail if a count rises by more than this"
    )
    parser.add_argument("--record", action="store_true", help="add to benchmarks/history.csv")
    arguments = parser.parse_args()
    if arguments.at_most is not None and not arguments.revision:
        parser.error("--at-most needs a commit to compare with, such as HEAD~1")
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is needed: on Debian, apt-get install valgrind")
    now = count(ROOT)
    before = count_revision(arguments.revision) if arguments.revision else {}
    for name, value in now.items():
        old = before.get(name)
        change = f"{old:10.1f} {100 * (value / old - 1):+6.1f}%" if old else ""
        print(f"{name:24} {value:10.1f} {change}")
    if arguments.record:
        record(now)
    if arguments.at_most is not None and (dearer := dearer_by(now, before, arguments.at_most)):
        sys.exit(
            f"over {arguments.at_most:g}% dearer than {arguments.revision}: {'; '.join(dearer)}"
        )


def dearer_by(now: dict[str, float], before: dict[str, float], percent: float) -> list[str]:
    """Return the names of what takes over `percent` more than before; what is new is not judged."""
    return [
        name
        for name, value in now.items()
        if name in before and value > before[name] * (1 + percent / 100)
    ]


def count_revision(revision: str) -> dict[str, float]:
    """Count at a commit, in a work tree of its own."""
    with tempfile.TemporaryDirectory() as place:
        git("worktree", "add", "--detach", "--quiet", place, revision)
        try:
            return count(Path(place))
        finally:
            git("worktree", "remove", "--force", place)


def count(tree: Path) -> dict[str, float]:
    """Return instructions per hop and per ACK of the sources in `tree`."""
    build = ["cargo", "build", "--release", "--quiet", "-p"]
    subprocess.run([*build, "linkpool-sim", "--example", "count_hops"], cwd=tree, check=True)
    subprocess.run([*build, "linkpool-transport", "--example", "count_acks"], cwd=tree, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", tree / "target")
    programs = Path(target) / "release" / "examples"
    figures = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, scenario in scenarios().items():
            runs = []
            for duration in ("1ms", "3ms"):
                file = Path(scratch) / f"{name}-{duration}.toml"
                file.write_text(scenario.replace("{duration}", duration), encoding="utf-8")
                runs.append(instructions([str(programs / "count_hops"), str(file)], scratch))
            figures[f"per hop, {name}"] = slope(runs)
    with tempfile.TemporaryDirectory() as scratch:
        for control in ACKS:
            program = str(programs / "count_acks")
            runs = [instructions([program, control, str(n)], scratch) for n in (2000, 6000)]
            figures[f"per ACK, {control}"] = slope(runs)
    return figures


def scenarios() -> dict[str, str]:
    """Return the scenarios whose hops are counted, in which the duration is left open."""
    here = {
        name: SCENARIO.format(
            duration="{duration}",
            control=control,
            recovery=f'recovery = "{recovery}"',
            subflows=SUBFLOWS.format(subflows) if subflows > 1 else "",
        )
        for name, (control, subflows, recovery) in HOPS.items()
    }
    tasks = runpy.run_path(str(TASKS))["tasks"]()
    benched = {
        name: re.sub(r'^duration = ".*"', 'duration = "{duration}"', tasks[name].scenario)
        for name in BENCHED
    }
    return {**benched, **here}


def instructions(command: list[str], scratch: str) -> tuple[int, int]:
    """Return (events that the program printed, instructions that it took)."""
    out = Path(scratch) / "callgrind.out"
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}"]
    done = subprocess.run([*valgrind, *command], stdout=subprocess.PIPE, text=True, check=True)
    summary = next(
        line for line in out.read_text(encoding="utf-8").splitlines() if line.startswith("summary:")
    )
    return int(done.stdout), int(summary.split()[1])


def slope(runs: list[tuple[int, int]]) -> float:
    """Return instructions per event between a short and a long run."""
    (events, cost), (more_events, more_cost) = runs
    return (more_cost - cost) / (more_events - events)


def record(figures: dict[str, float]) -> None:
    """Add a line to the history: the commit that the working tree stands on, and its figures."""
    with HISTORY.open(encoding="utf-8", newline="") as file:
        before = list(csv.DictReader(file))
    line = {name: f"{value:.1f}" for name, value in figures.items()}
    line["commit"] = git("rev-parse", "--short", "HEAD")
    with HISTORY.open("w", encoding="utf-8", newline="") as file:
        # What was not counted then, or is not any more, stays empty.
        names = dict.fromkeys(["commit", *figures, *(before[0] if before else [])])
        writer = csv.DictWriter(file, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows([*before, line])


def git(*arguments: str) -> str:
    """Run git in the repository; return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
