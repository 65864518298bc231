"""Make many runs at once, on all cores."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from linkpool.cores import describe, share
from linkpool.result import Result
from linkpool.study.cache import Cache
from linkpool.study.experiment import Point

Watch: TypeAlias = Callable[[float, float, int, int, str], None]
"""Called with the work done and in all (in `Point.cost`), the runs done and in all, and how they
use the cores."""

Measure: TypeAlias = Callable[[Point, Result], pl.DataFrame]


class RunError(RuntimeError):
    """A run of an experiment failed."""


class _CancelledError(Exception):
    """Another run failed or the user interrupted; stop this one."""


@dataclass
class Rows:
    """What the runs gave.

    Attributes:
        frames: the rows of each point, in the order of the points.
        cached: how many runs were there already.

    """

    frames: list[pl.DataFrame]
    cached: int


class _Meter:
    """Add up the progress of runs that go on at the same time."""

    def __init__(self, work: float, runs: int, how: str, watch: Watch | None) -> None:
        self._lock = threading.Lock()
        self._done: dict[int, float] = {}
        self._finished = 0
        self._work, self._runs, self._how, self._watch = work, runs, how, watch

    def report(self, index: int, work: float, finished: bool = False) -> None:
        with self._lock:
            self._done[index] = work
            self._finished += finished
            if self._watch is not None:
                done = sum(self._done.values()) if self._work else self._finished / self._runs
                self._watch(done, self._work or 1.0, self._finished, self._runs, self._how)


def run_points(
    points: Sequence[Point], measure: Measure, cache: Cache, jobs: int, watch: Watch | None = None
) -> Rows:
    """Make every run that the cache lacks, largest first, and measure each.

    Many runs use the cores side by side; a few share them out among their threads. The simulator
    releases the interpreter lock, so threads use all cores. If a run fails, those under way are
    stopped and `RunError` names it.
    """
    missing = [i for i, point in enumerate(points) if cache.find(point) is None]
    cores = share(len(missing), jobs)
    work = sum(points[i].cost for i in missing)
    meter = _Meter(work, len(points), describe(len(missing), jobs), watch)
    stop = threading.Event()

    def make(index: int) -> pl.DataFrame:
        point = points[index]

        def progress(now: float, end: float, hops: int) -> None:
            if stop.is_set():
                raise _CancelledError
            meter.report(index, point.cost * min(now / point.active_s, 1.0))

        if stop.is_set():
            raise _CancelledError
        is_new = index in new
        result = cache.run(point, progress, cores) if is_new else Result(cache.place(point))
        rows = point.label(measure(point, result))
        meter.report(index, point.cost if is_new else 0.0, finished=True)
        return rows

    new = set(missing)
    order = sorted(range(len(points)), key=lambda i: (i in new, -points[i].cost))
    with ThreadPoolExecutor(max_workers=jobs) as executor:
        futures: dict[int, Future[pl.DataFrame]] = {i: executor.submit(make, i) for i in order}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
            executor.shutdown(wait=True, cancel_futures=True)
    _raise_first(points, futures)
    return Rows([futures[i].result() for i in range(len(points))], len(points) - len(missing))


def _raise_first(points: Sequence[Point], futures: dict[int, "Future[pl.DataFrame]"]) -> None:
    for i, future in futures.items():
        if future.cancelled():
            continue
        error = future.exception()
        if error is not None and not isinstance(error, _CancelledError):
            raise RunError(
                f"the run of {points[i].name}, seed {points[i].seed}: {error}"
            ) from error
