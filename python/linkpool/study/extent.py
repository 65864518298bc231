"""How much work an experiment means, and how to cut it to a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linkpool import _core, cores
from linkpool.identity import digest
from linkpool.manifest import DamagedError, verify
from linkpool.study.cache import CACHE, Cache
from linkpool.study.experiment import Experiment
from linkpool.study.point import Point
from linkpool.study.reproduce import NothingToShortenError, shorten

HOPS = 12
"""Links that a data packet and its ACK cross, where an experiment counts packets: in a fat-tree."""

SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
"""The shares of the work that are tried for a reproduction of minutes."""


@dataclass(frozen=True)
class Work:
    """What a reproduction still means.

    Attributes:
        runs: all its runs.
        missing: those that are not there yet.
        seconds: of one core, about, for the missing ones.
        done: data, figure and claims of just these runs are there.

    """

    runs: int
    missing: int
    seconds: float
    done: bool


def work_of(experiment: Experiment, out: Path) -> Work:
    """Return what a reproduction to `out` still means."""
    cache = Cache(out / CACHE)
    points = experiment.points(range(1, experiment.seeds + 1))
    entries = [cache.entry(point) for point in points]
    missing = [entry for entry in entries if not cache.has(entry)]
    hops = sum(_hops(entry.point, entry.scenario) for entry in missing)
    key = digest(experiment.id, *(entry.key for entry in entries))
    return Work(len(entries), len(missing), hops / cores.HOPS_PER_S, _is(out / experiment.id, key))


def _is(place: Path, key: str) -> bool:
    if not place.exists():
        return False
    try:
        verify(place, key)
    except DamagedError:
        return False
    return True


def _hops(point: Point, scenario: _core.Scenario) -> float:
    """Return about how many packet-hops a run is.

    A scenario expects each flow without end to fill its link, so what the experiment says counts
    if that is less.
    """
    expected = scenario.expected_hops()
    return expected if point.cost is None else min(expected, HOPS * point.cost)


def expected_seconds(experiment: Experiment) -> float:
    """Return the seconds of one core that an experiment means, about; from its first seed."""
    first = experiment.points([1])
    hops = sum(_hops(point, point.load()) for point in first)
    return hops * experiment.runs() / len(first) / cores.HOPS_PER_S


def quick_scale(experiment: Experiment, seconds: float) -> float:
    """Return the largest share of the work that takes about so many seconds of one core, at most.

    Where no share does, the smallest one that still shortens the experiment; 1 if it is short.
    """
    found = 1.0
    if expected_seconds(experiment) <= seconds:
        return found
    before = experiment.extent()
    for share in SHARES:
        try:
            short, _ = shorten(experiment, share)
        except NothingToShortenError:
            continue
        if short.extent() == before:
            continue  # it is as short as it can be
        found, before = share, short.extent()
        if expected_seconds(short) <= seconds:
            break
    return found


QUICK_S = 120.0
"""Seconds of one core, about, of an experiment that is cut to minutes."""


@dataclass(frozen=True)
class Plan:
    """A reproduction to be made.

    Attributes:
        experiment: the experiment, in full.
        scale: the share of its work.
        extent: how much of it, in words.
        work: what it still means.

    """

    experiment: Experiment
    scale: float
    extent: str
    work: Work


def plans(wanted: Sequence[Experiment], out: Path, quick: bool) -> list[Plan]:
    """Return what reproductions to `out` still mean, in full or cut to minutes."""
    found = []
    for experiment in wanted:
        scale = quick_scale(experiment, QUICK_S) if quick else 1.0
        as_run, shortened = shorten(experiment, scale)
        work = work_of(as_run, out)
        found.append(Plan(experiment, scale, shortened or as_run.extent(), work))
    return found
