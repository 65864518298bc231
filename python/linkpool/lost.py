"""The time that jobs lost to failures: what they did again, and how long they stood still."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from linkpool.result import Result


class Lost(NamedTuple):
    """What a job lost.

    Attributes:
        label: of its workload.
        failures: after so many it went on.
        lost_s: from the start of the first iteration that was made again, or cut off, until the
            job went on; where a failure cut none off, from the end of the last one. The sum.
        of_s: the time of the job, to the end of its last iteration.

    """

    label: str
    failures: int
    lost_s: float
    of_s: float


class _Iteration(NamedTuple):
    number: int
    start: float
    end: float | None


def lost(result: Result) -> list[Lost]:
    """Return what jobs lost that failed and went on."""
    if not result.has("jobs") or "restart" not in result.jobs.columns:
        return []
    jobs: dict[tuple[int, str], dict[int, list[_Iteration]]] = defaultdict(
        lambda: defaultdict(list)
    )
    names = ("workload", "label", "restart", "job", "start_s", "end_s")
    for workload, label, restart, *of in zip(*result.columns("jobs", *names), strict=True):
        jobs[workload, label][restart].append(_Iteration(*of))
    found = []
    for (_, label), by_restart in jobs.items():
        if len(by_restart) > 1:
            ends = [one.end for several in by_restart.values() for one in several if one.end]
            starts = [one.start for several in by_restart.values() for one in several]
            total = max([*ends, *starts]) - min(starts)
            found.append(Lost(label, max(by_restart), sum(_each(by_restart)), total))
    return found


def _each(by_restart: dict[int, list[_Iteration]]) -> Iterator[float]:
    """Return what was lost before each restart."""
    for before, after in pairwise(sorted(by_restart)):
        again = min(one.number for one in by_restart[after])
        goes_on = min(one.start for one in by_restart[after])
        made = [one.start for one in by_restart[before] if one.number >= again]
        kept = [one.end for one in by_restart[before] if one.end is not None]
        yield goes_on - min(made or [max(kept)])
