"""The completion time of a job of many iterations from its first ones.

No message of an iteration need repeat for its time to repeat: see
`docs/reports/2026-11-30-what-repeats.md`. The first iterations are simulated as they are; those
that are left are taken to last as long as these on average. Nothing is made up but the time.
"""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.estimate.cost import Cost, took
from linkpool.estimate.domain import OutsideError
from linkpool.intervals import CONFIDENCE
from linkpool.job_plan import ENDLESS
from linkpool.result import Result
from linkpool.study.toml import dumps
from linkpool.units import counted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = ("training", "program", "collective")
"""Workloads whose jobs have iterations."""

BATCHES = 3
"""Of neighbouring iterations, whose means are compared: iterations depend on those before."""

FIRST = 4 * BATCHES + 1
"""So many iterations are simulated at first, and then twice as many as before."""

WORTH = 2
"""A job has at least so many times the iterations that are simulated at first."""

DRIFT = 0.0075
"""An interval is at least this share, to each side, of the time that is extrapolated: jobs whose
iterations hardly vary drift by about as much (`docs/estimate.md`)."""

TREND = 0.001
"""A slope that chance makes with a smaller probability is a trend: then more are simulated."""


@dataclass(frozen=True)
class Iterations:
    """How long a job takes.

    Attributes:
        total: iterations that it has.
        simulated: of these; with all of them `jct_s` is exact.
        each_s: the mean time from the end of an iteration to the end of the next, of the second
            half of those that were simulated.
        jct_s: from the start of its first iteration to the end of its last.
        low_s: lower end of the interval of 95% of `jct_s`.
        high_s: its upper end.
        cost: of all runs, those with fewer iterations, too.

    """

    total: int
    simulated: int
    each_s: float
    jct_s: float
    low_s: float
    high_s: float
    cost: Cost


def has_iterations(document: Mapping[str, Any]) -> bool:
    """Tell whether a scenario, with every default written out, is a job of several iterations."""
    workload = document["workload"]
    return any(job.get("iterations", 1) > 1 for kind in KINDS for job in workload.get(kind, []))


def estimate_iterations(
    scenario: _core.Scenario,
    file: str,
    within: float,
    watch: Callable[[int, _core.Scenario], "Progress | None"] = lambda *_: None,
    run_code: bool = False,
) -> Iterations:
    """Simulate as many iterations of a job as its completion time needs.

    Args:
        scenario: as it was read.
        file: its file, in messages and for the files that it names.
        within: half of the interval of the completion time is at most this share of it.
        watch: gives what is told of the progress of a run, by its number of iterations and its
            scenario.
        run_code: run the code in Python that the scenario brings.

    Raises:
        OutsideError: the iterations of this scenario are not alike.

    """
    document = tomllib.loads(scenario.toml)
    kind, job = job_of(document)
    total = int(job["iterations"])
    number, cost = FIRST, Cost(0, 0.0)
    while True:
        number = min(number, total)
        document["workload"] = {kind: [{**job, "iterations": number}]}
        text = dumps(document)
        loaded = _core.load(text, file, document["seed"], [], run_code)
        result = simulate_loaded(loaded, None, watch(number, loaded), None)
        more = took([result])
        cost = Cost(cost.packet_hops + more.packet_hops, cost.cpu_s + more.cpu_s)
        start, ends = ends_of(result, number, groups_of(job))
        if ends.size < number:
            raise OutsideError(
                "duration",
                f"is over after {ends.size} of {counted(number, 'iteration')}",
                "jobs whose first iterations end; write a longer duration",
            )
        found = extrapolated(start, ends, total, cost)
        close = found.high_s - found.jct_s <= within * found.jct_s
        if number == total or (close and not has_trend(np.diff(ends)[number // 2 :])):
            return found
        number *= 2


def groups_of(job: Mapping[str, Any]) -> int:
    """Return how many groups of ranks do each iteration of a job beside each other."""
    return int(job.get("groups", 1))


def job_of(document: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the kind and the keys of the only job; raises `OutsideError`."""
    jobs = [(kind, job) for kind, jobs in document["workload"].items() for job in jobs]
    if len(jobs) > 1:
        right = "one job alone: what else there is may end before it does"
        raise OutsideError("workload", f"has {len(jobs)} workloads", right)
    ((kind, job),) = jobs
    key = f"workload.{kind}.0"
    if job["iterations"] < WORTH * FIRST:
        right = f"{WORTH * FIRST} or more: {FIRST} are simulated at first"
        raise OutsideError(f"{key}.iterations", f"is {job['iterations']}", right)
    for name in ("change", "until"):
        if name in document:
            raise OutsideError(name, "is in the scenario", "iterations that are alike")
    if job.get("failures"):
        raise OutsideError(f"{key}.failures", "is in the scenario", "iterations that are alike")
    slow = job.get("stragglers") or {"from_iteration": 0, "until_iteration": ENDLESS}
    if slow["from_iteration"] or slow["until_iteration"] != ENDLESS:
        what = "are slow in some iterations"
        raise OutsideError(f"{key}.stragglers", what, "ranks that are slow in all or by chance")
    return kind, job


def ends_of(result: Result, number: int, groups: int) -> tuple[float, npt.NDArray[np.float64]]:
    """Return when the first of so many iterations begins, and when each ends until one does not.

    Args:
        result: the run of a job.
        number: iterations.
        groups: of an operation, how many groups do each iteration; 1: another job.

    """
    job, start, end = result.numbers("jobs", "job", "start_s", "end_s")
    each = np.full(number * groups, np.nan)
    each[job.astype(int)] = end
    last = each.reshape(number, groups).max(axis=1)  # NaN where a group has not ended
    open_ = np.flatnonzero(np.isnan(last))
    return float(start.min()), last[: open_[0]] if open_.size else last


def extrapolated(start: float, ends: npt.NDArray[np.float64], total: int, cost: Cost) -> Iterations:
    """Return how long a job takes whose first iterations end at these times, in seconds.

    The mean is that of the second half: flows may share links in one way for some iterations, and
    then in another. The interval is that of a sum of future values by Student's t: the uncertainty
    of the mean, and the spread of the iterations that are left. Their variance is that of the means
    of batches (Law, Simulation Modeling and Analysis, section 9.5.3), or that of single iterations
    if this is larger.
    """
    from scipy import stats  # here, as it takes a third of a second to load

    each = np.diff(ends)[ends.size // 2 :]
    left, mean = total - ends.size, float(each.mean())
    size = each.size // BATCHES
    batches = each[each.size - BATCHES * size :].reshape(BATCHES, size).mean(axis=1)
    variance = max(size * float(batches.var(ddof=1)), float(each.var(ddof=1)))
    t = float(stats.t.ppf(0.5 + CONFIDENCE / 2, BATCHES - 1))
    half = max(t * math.sqrt(variance * (left**2 / each.size + left)), DRIFT * left * mean)
    jct = float(ends[-1]) - start + left * mean
    return Iterations(total, int(ends.size), mean, jct, jct - half, jct + half, cost)


def has_trend(each: npt.NDArray[np.float64]) -> bool:
    """Tell whether iterations become longer or shorter by more than chance makes them."""
    from scipy import stats  # here, as it takes a third of a second to load

    if np.ptp(each) == 0.0:
        return False
    return bool(stats.linregress(np.arange(each.size), each).pvalue < TREND)
