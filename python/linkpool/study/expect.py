"""How long the runs of a study will take, about."""

from linkpool.cores import HOPS_PER_S
from linkpool.result import Result, ResultError
from linkpool.study.plan import Plan

RUN_S = 0.01
"""The time of a run of a small fabric beside its simulation: checks, tables, files."""


def expected_seconds(plan: Plan, jobs: int) -> float:
    """Return about how long the runs that are missing will take on so many cores.

    Runs that are made already say how the time of a run goes with the work expected of it; without
    any, `HOPS_PER_S` does.
    """
    missing = plan.missing
    absent = {entry.key for entry in missing}
    wall = work = 0.0
    for entry in plan.entries:
        if entry.key in absent:
            continue
        try:
            wall += float(Result(entry.place).run["wall_s"])
        except (ResultError, KeyError, TypeError, ValueError):
            continue  # a damaged run is found, and made again, when it is needed
        work += entry.cost
    per_hop = wall / work if work > 0.0 else 1 / HOPS_PER_S
    each = [entry.cost * per_hop + RUN_S for entry in missing]
    return max(sum(each) / jobs, max(each, default=0.0))
