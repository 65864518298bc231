"""Ctrl-C, kills, and full disks: real processes, real signals."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import polars as pl
import pytest

from linkpool import entry

pytestmark = pytest.mark.core

EXPERIMENT = '''
"""An experiment of small runs, each of which takes some tenths of a second."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.columns import Column
from linkpool.experiments.amp.incast import FLOWS_KEPT, Load
from linkpool.experiments.columns import columns
from linkpool.study import style
from linkpool.study.claims import Ledger, over
from linkpool.study.experiment import Experiment


@dataclass(frozen=True)
class Many(Experiment):
    id: str = "Many"
    title: str = "many small runs"
    paper: str = "none"
    seeds: int = 40
    columns: ClassVar[tuple[Column, ...]] = columns("amp", "incast")

    def points(self, seeds):
        return [Load("amp", "512KiB", 30, "2us").point(seed, 20) for seed in seeds]

    def measure(self, point, result):
        return result.flows.select(*FLOWS_KEPT)

    def draw(self, data):
        figure, axes = style.panels(1, 1, self.title)
        axes[0, 0].plot(data["seed"], data["fct_established_s"])
        return figure

    def claims(self, data):
        ledger = Ledger(self.id)
        ledger.add("rows", "there are rows", "over 0", str(data.height), over(data.height, 1))
        return ledger.claims


EXPERIMENT = Many()
'''


def heed() -> None:
    """Undo what a shell does to what it runs in the background: to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the experiment."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "many.py").write_text(EXPERIMENT, encoding="utf-8")
    return folder


def reproduce(folder: Path, out: Path, seeds: int = 40) -> list[str]:
    command = ["reproduce", "Many", "--from", str(folder), "--out", str(out), "--jobs", "2"]
    start = (
        "import sys, pathlib; from linkpool.entry import main; pathlib.Path({!r}).touch(); main()"
    )
    ready = str(out.with_name("ready"))
    return [sys.executable, "-c", start.format(ready), *command, "--seeds", str(seeds)]


def data(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "Many" / "data.parquet")


def leftovers(out: Path) -> list[str]:
    return [str(path) for path in out.rglob(".*linkpool*")]


def made(out: Path) -> int:
    return len(list(out.glob("runs/[0-9a-f]*")))


def interrupt(program: list[str], when: Callable[[], bool]) -> tuple[int, str, str, float]:
    """Start a program, press Ctrl-C when it is time, and return how it ended, and how soon."""
    with subprocess.Popen(program, stdout=PIPE, stderr=PIPE, text=True, preexec_fn=heed) as process:
        try:
            deadline = time.monotonic() + 60
            while not when():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            asked = time.monotonic()
            printed, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, printed, errors, time.monotonic() - asked


def after(seconds: float, ready: Path) -> Callable[[], bool]:
    """Return what tells that `ready` is there for so long: Python itself is starting before."""

    def is_time() -> bool:
        if not ready.exists():
            return False
        time.sleep(seconds)
        return True

    return is_time


@pytest.mark.parametrize(
    "moment",
    [
        0.0,
        *(pytest.param(s, marks=pytest.mark.long) for s in (0.1, 0.5, 1.0, 3.0, "planning")),
        "first runs",
        pytest.param("20 runs", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_stops_a_reproduction_at_any_moment(
    folder: Path, tmp_path: Path, moment: float | str
) -> None:
    """In 0.04 s on an idle machine, and in 0.55 s at the worst (`entry.CLEANUP_S`)."""
    out = tmp_path / "out"
    when = {
        "planning": (out / ".Many.linkpool-partial").exists,
        "first runs": (out / "runs").exists,
        "20 runs": lambda: made(out) >= 20,
    }
    program = reproduce(folder, out)
    ready = tmp_path / "ready"
    chosen = when[moment] if isinstance(moment, str) else after(moment, ready)
    code, printed, errors, took = interrupt(program, chosen)
    print(f"at {moment}: ended in {took:.2f} s, {made(out)} runs made\n{errors}")
    assert code == 130
    assert "Traceback" not in errors
    assert errors.strip().splitlines()[-1].startswith("interrupted")
    assert printed == ""
    assert not (out / "Many").exists()
    assert leftovers(out) == []
    if moment != "20 runs":
        return
    before = made(out)
    finished = subprocess.run(
        reproduce(folder, out, seeds=22), check=True, capture_output=True, text=True
    )
    assert f"22 runs, {min(before, 22)} of them from the cache" in finished.stdout
    assert leftovers(out) == []


def test_where_nothing_heeds_ctrl_c_the_guard_ends_the_process(tmp_path: Path) -> None:
    """A library that swallows `KeyboardInterrupt`, and a main thread in compiled code."""
    deaf = """
import sys, time
from pathlib import Path
from linkpool import cli, entry
def main():
    while True:
        try:
            Path(sys.argv[1]).touch()
            time.sleep(60)
        except KeyboardInterrupt:
            pass
cli.main = main
entry.main()
"""
    ready = tmp_path / "ready"
    program = [sys.executable, "-c", deaf, str(ready)]
    code, _, errors, took = interrupt(program, ready.exists)
    assert code == 130
    assert errors == "interrupted\n"
    assert took >= entry.CLEANUP_S


def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """A command that a shell runs in the background, or nohup, must not end by Ctrl-C."""
    ignore = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    run = "import os, sys; from linkpool import cli, entry; sys.argv = ['linkpool', 'schema']"
    kill = "cli.main = lambda: os.kill(os.getpid(), signal.SIGINT)"
    program = [sys.executable, "-c", f"{ignore}; {run}; {kill}; entry.main()"]
    assert subprocess.run(program, check=False, timeout=60).returncode == 0


@pytest.mark.long
def test_killed_at_random_moments_it_gives_the_same_data(folder: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    subprocess.run(reproduce(folder, whole), check=True, capture_output=True)
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for runs in (0, 0, 1, 5, 12, 20, 30, 39):
        with subprocess.Popen(reproduce(folder, out), stdout=PIPE, stderr=PIPE) as process:
            while made(out) < runs or not out.exists():
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 1.0))
            process.kill()
            process.communicate()
    finished = subprocess.run(reproduce(folder, out), check=True, capture_output=True, text=True)
    print(finished.stdout)
    assert "damaged" not in finished.stderr
    cached = re.search(r"40 runs, (\d+) of them from the cache", finished.stdout)
    assert cached is not None
    assert int(cached[1]) >= 39
    assert leftovers(out) == []
    for name in ("data.parquet", "claims.json", "figure.svg", "figure.png"):
        assert (out / "Many" / name).read_bytes() == (whole / "Many" / name).read_bytes()


def limited(size: int) -> Callable[[], None]:
    """Return what lets a process write files of so many bytes only."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize(
    "size", [20_000, *(pytest.param(size, marks=pytest.mark.long) for size in (0, 1000))]
)
def test_without_room_for_files_it_fails_by_a_line_and_leaves_nothing(
    folder: Path, tmp_path: Path, size: int
) -> None:
    out = tmp_path / "out"
    failed = subprocess.run(
        reproduce(folder, out, seeds=2),
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=limited(size),
        # What measures coverage writes files, too, which would not fit.
        env={k: v for k, v in os.environ.items() if not k.startswith("COVERAGE")},
    )
    print(failed.stderr)
    assert failed.returncode in (1, 2)
    assert "Traceback" not in failed.stderr
    assert "File too large" in failed.stderr
    assert leftovers(out) == []
    assert made(out) == 0
    subprocess.run(reproduce(folder, out, seeds=2), check=True, capture_output=True)
    assert data(out).height == 2 * 20 * 30
