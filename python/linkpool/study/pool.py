"""Make many runs at once, on all cores."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from linkpool.cores import describe, share
from linkpool.errors import FailedError
from linkpool.result import Result
from linkpool.study.cache import Cache, Entry
from linkpool.study.pace import Pace
from linkpool.study.point import Point

Left: TypeAlias = Callable[[], "float | None"]
"""Gives the seconds that are left by the runs that ended; None: none has."""

Watch: TypeAlias = Callable[[float, float, int, int, str, Left], None]
"""Called with the work done and in all (in `Point.cost`), the runs done and in all, how they use
the cores, and what gives the time that is left."""

Measure: TypeAlias = Callable[[Point, Result], pl.DataFrame]

POLL_S = 0.1
"""Between two looks of the main thread for a signal."""

GRACE_S = 0.5
"""After an interrupt, the time in which runs must stop and remove their files."""


class RunError(FailedError, RuntimeError):
    """A run of an experiment failed."""


class _CancelledError(Exception):
    """Another run failed or the user interrupted; stop this one."""


@dataclass
class Rows:
    """The results of the runs.

    Attributes:
        frames: the rows of each point, in the order of the points.
        cached: how many runs were there already.

    """

    frames: list[pl.DataFrame]
    cached: int

    @property
    def data(self) -> pl.DataFrame:
        """The rows of all points: numbers of a column that is not of whole ones are decimal."""
        return pl.concat(self.frames, how="vertical_relaxed")


class _Meter:
    """Add up the progress of runs that go on at the same time."""

    def __init__(self, work: float, runs: int, how: str, pace: Pace, watch: Watch | None) -> None:
        self._lock = threading.Lock()
        self._done: dict[int, float] = {}
        self._finished = 0
        self._work, self._runs, self._how, self._watch = work, runs, how, watch
        self._pace = pace

    def begin(self, index: int) -> None:
        with self._lock:
            self._pace.begin(index, time.monotonic())

    def report(self, index: int, work: float, finished: bool = False) -> None:
        with self._lock:
            self._done[index] = work
            self._finished += finished
            if finished:
                self._pace.end(index, time.monotonic())
            if self._watch is not None:
                done = sum(self._done.values()) if self._work else self._finished / self._runs
                self._watch(
                    done,
                    self._work or 1.0,
                    self._finished,
                    self._runs,
                    self._how,
                    lambda: self._pace.left(time.monotonic()),
                )


class _Work:
    """The runs of one call of `run_points`, shared by the threads."""

    def __init__(
        self,
        entries: Sequence[Entry],
        measure: Measure,
        cache: Cache,
        jobs: int,
        watch: Watch | None,
    ) -> None:
        self.entries, self.measure, self.cache = entries, measure, cache
        self.stop = threading.Event()
        self.made = 0
        self.missing = {i for i, entry in enumerate(entries) if not cache.has(entry)}
        self.cores = share(len(self.missing), jobs)
        work = sum(entries[i].cost for i in self.missing)
        pace = Pace(
            {i: (tuple(entries[i].point.keys.items()), entries[i].cost) for i in self.missing}, jobs
        )
        self.meter = _Meter(work, len(entries), describe(len(self.missing), jobs), pace, watch)
        self._lock = threading.Lock()

    def order(self) -> list[int]:
        """Return the numbers of the runs: cached ones first, then the largest first."""
        costs = [entry.cost for entry in self.entries]
        return sorted(range(len(costs)), key=lambda i: (i in self.missing, -costs[i]))

    def do(self, index: int) -> pl.DataFrame:
        """Find or make a run, and return its rows of the data."""
        entry = self.entries[index]
        point = entry.point
        cost = entry.cost if index in self.missing else 0.0

        def progress(now: float, end: float, hops: int) -> None:
            self.check()
            self.meter.report(index, cost * entry.share(now, hops))

        self.check()
        result = self.cache.find(entry)
        if result is None:
            self.meter.begin(index)
            result = self.cache.run(entry, progress, self.cores)
            with self._lock:
                self.made += 1
        self.check()
        rows = labelled(point, self.measure(point, result))
        self.meter.report(index, cost, finished=True)
        return rows

    def check(self) -> None:
        """End the run of this thread if all are to stop."""
        if self.stop.is_set():
            raise _CancelledError


def labelled(point: Point, rows: pl.DataFrame) -> pl.DataFrame:
    """Put the keys of a run, and its seed, before the columns of its rows."""
    keys = [pl.lit(value).alias(key) for key, value in point.keys.items()]
    return rows.select(*keys, pl.lit(point.seed).alias("seed"), pl.all())


def run_points(
    points: Sequence[Point], measure: Measure, cache: Cache, jobs: int, watch: Watch | None = None
) -> Rows:
    """Make every run that the cache lacks, largest first, and measure each; see `run_entries`."""
    return run_entries([cache.entry(point) for point in points], measure, cache, jobs, watch)


def run_entries(
    entries: Sequence[Entry], measure: Measure, cache: Cache, jobs: int, watch: Watch | None = None
) -> Rows:
    """Make every run that the cache lacks, largest first, and measure each.

    Many runs use the cores side by side; a few share them out among their threads. The simulator
    releases the interpreter lock, so threads use all cores. If a run fails, those under way are
    stopped and `RunError` names it. On an interrupt (Ctrl-C in the main thread) they are stopped
    within `GRACE_S`; a later call goes on where this one stopped.
    """
    work = _Work(entries, measure, cache, jobs, watch)
    futures: dict[int, Future[pl.DataFrame]] = {}
    executor = ThreadPoolExecutor(max_workers=jobs)
    try:
        for index in work.order():
            futures[index] = executor.submit(work.do, index)
        # A wait without end would see no signal on some platforms.
        while wait(futures.values(), POLL_S, FIRST_EXCEPTION).not_done and not _failed(futures):
            pass
        work.stop.set()
        executor.shutdown(wait=True, cancel_futures=True)
    except BaseException:
        work.stop.set()
        executor.shutdown(wait=False, cancel_futures=True)
        _give_grace(futures)
        raise
    _raise_first(entries, futures)
    frames = [futures[i].result() for i in range(len(entries))]
    return Rows(frames, len(entries) - work.made)


def _failed(futures: dict[int, "Future[pl.DataFrame]"]) -> bool:
    return any(future.done() and future.exception() is not None for future in futures.values())


def _give_grace(futures: dict[int, "Future[pl.DataFrame]"]) -> None:
    """Wait a little until the runs under way have stopped."""
    end = time.monotonic() + GRACE_S
    while time.monotonic() < end and not all(future.done() for future in futures.values()):
        time.sleep(0.02)


def _raise_first(entries: Sequence[Entry], futures: dict[int, "Future[pl.DataFrame]"]) -> None:
    for i, future in futures.items():
        if future.cancelled():
            continue
        error = future.exception()
        if error is not None and not isinstance(error, _CancelledError):
            point = entries[i].point
            raise RunError(f"the run of {point.name}, seed {point.seed}: {error}") from error
