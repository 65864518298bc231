"""Cached runs are not made again; damaged runs are set aside and made again."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.identity import run_key
from linkpool.locks import locked
from linkpool.manifest import DamagedError, Manifest, verify
from linkpool.publish import BusyError
from linkpool.result import Result
from linkpool.study.point import Point

CACHE = "runs"
"""The folder of the runs of all studies and experiments, beside their results."""

NAME_LENGTH = 32
"""How much of the key of a run names its directory."""

DAMAGED = "damaged"
"""The folder, in that of the cache, to which damaged results are moved."""

POLL_S = 0.1
"""Between two looks at a run that another process makes."""

Notice = Callable[[str], None]
"""Called with a line for the user."""


def is_cached(result: Result) -> bool:
    """Tell whether a result is kept under its key: what differs from it has another place."""
    try:
        key = Manifest.read(result.dir).key
    except DamagedError:
        return False
    return result.dir.name == key[:NAME_LENGTH]


@dataclass(frozen=True)
class Entry:
    """A run and its place in the cache.

    Attributes:
        point: the run.
        key: what determines its result.
        place: the directory of its result, which need not exist.
        scenario: its scenario, read and checked.
        cost: the work that it means; see `Point`.
        active_s: simulated seconds in which the work is done.

    """

    point: Point
    key: str
    place: Path
    scenario: _core.Scenario
    cost: float
    active_s: float

    def share(self, now: float, hops: int) -> float:
        """Return how much of its work a run has done at a time, after so many packet-hops.

        A point that says how much work it is says when that is done, too. Of others the work is
        the packet-hops that are expected; who loses much has more, and counts as done before.
        """
        if self.point.cost is None:
            return hops / self.cost if hops < self.cost else 1.0
        return min(now / self.active_s, 1.0)


Make: TypeAlias = Callable[[Entry, "Progress | None", int], Result]
"""Makes a run on so many threads and publishes its result at its place."""


def make_here(entry: Entry, progress: Progress | None, threads: int) -> Result:
    """Make a run in this process; see `Make`.

    To wait for the disk takes ten times as long as a short run. `made` waits once for all runs; of
    those that a power cut damages before, the cache finds out.
    """
    result = simulate_loaded(
        entry.scenario, entry.place, progress, threads, key=entry.key, durable=False
    )
    return result.trust()  # it is measured now


class Cache:
    """Results by their keys: the scenario with every default, its seed, the simulator.

    A result is used only if its files are those of its manifest, by size and SHA-256, and its
    manifest is that of this run.
    """

    def __init__(
        self,
        directory: Path,
        notice: Notice | None = None,
        make: Make | None = None,
        run_code: bool = True,
    ) -> None:
        """Keep the results in `directory`, which need not exist.

        Args:
            directory: where the results are.
            notice: is told of damage.
            make: makes the runs, as `make_here` does; None: that.
            run_code: run the code in Python that scenarios bring (`controls`).

        """
        self.directory = directory
        self._notice = notice or (lambda _: None)
        self._make = make or make_here
        self._run_code = run_code

    def entry(self, point: Point) -> Entry:
        """Return the place of a run; raises `ScenarioError`."""
        scenario = point.load(self._run_code)
        key = run_key(scenario)
        return Entry(
            point,
            key,
            self.directory / key[:NAME_LENGTH],
            scenario,
            scenario.expected_hops() if point.cost is None else point.cost,
            scenario.duration_s if point.active_s is None else point.active_s,
        )

    def has(self, entry: Entry) -> bool:
        """Tell at little cost whether there seems to be a result; `find` checks it."""
        return entry.place.is_dir()

    def find(self, entry: Entry) -> Result | None:
        """Return the result of an earlier run, if there is one and all of it is as written.

        A damaged one is moved to the folder `damaged`, and the notice names it and the file.
        """
        if not os.path.lexists(entry.place):  # a link that leads nowhere is damage
            return None
        try:
            verify(entry.place, entry.key)
        except DamagedError as error:
            self._set_aside(entry, error)
            return None
        return Result(entry.place, run_code=self._run_code)

    def run(self, entry: Entry, progress: Progress | None = None, cores: int = 1) -> Result:
        """Make the run, on as many of so many cores as it is worth, and keep its result.

        If another process makes it already, wait for that one's result; `progress` is called
        meanwhile.
        """
        threads = entry.scenario.worthwhile_threads(cores)
        while True:
            try:
                return self._make(entry, progress, threads)
            except BusyError:
                time.sleep(POLL_S)
                if progress is not None:
                    progress(0.0, entry.active_s, 0)
                found = self.find(entry)
                if found is not None:
                    return found

    def _set_aside(self, entry: Entry, error: DamagedError) -> None:
        folder = self.directory / DAMAGED
        folder.mkdir(exist_ok=True)
        with locked(folder):
            number = 1
            while (folder / f"{entry.place.name}.{number}").exists():
                number += 1
            aside = folder / f"{entry.place.name}.{number}"
            try:
                entry.place.rename(aside)
            except FileNotFoundError:
                return  # another process was first
        point = entry.point
        self._notice(
            f"the cached run of {point.name}, seed {point.seed}, is damaged and is made again: "
            f"{error.reason}; moved to {aside}"
        )
