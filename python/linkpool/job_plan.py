"""What a scenario has in store for its jobs: stragglers, failures, checkpoints, in words."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from linkpool import _core
from linkpool.units import counted, show_number

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENDLESS = (1 << 32) - 1
"""`until_iteration` of stragglers that are slow to the end."""


def job_plan(scenario: str) -> list[str]:
    """Return a sentence for each job with stragglers, and for each that fails.

    Args:
        scenario: the text of a scenario as run, with all defaults.

    """
    document = tomllib.loads(scenario)
    return [
        line
        for several in document.get("workload", {}).values()
        for job in several
        for line in (*_stragglers(job), *_failures(job, _core.seconds(document["duration"])))
    ]


def _stragglers(job: Mapping[str, Any]) -> Iterator[str]:
    of = job.get("stragglers")
    if not of:
        return
    if "ranks" in of:
        several = len(of["ranks"]) > 1
        who = f"rank{'s' if several else ''} {', '.join(map(str, of['ranks']))}"
    elif "number" in of:
        several = of["number"] > 1
        who = f"{counted(of['number'], 'rank')}, drawn once,"
    else:
        several = False
        who = f"each rank, in an iteration with probability {of['probability']:g},"
    first, until = of["from_iteration"], of["until_iteration"]
    when = f" from iteration {first} on" if first else ""
    if until != ENDLESS:
        when = f" in iterations {first} to {until - 1}" if until - first > 1 else ""
        when = when or f" in iteration {first}"
    computes = "compute" if several else "computes"
    yield f"{job['label']}: {who} {computes} {of['slowdown']:g} times as long{when}"


def _failures(job: Mapping[str, Any], duration: float) -> Iterator[str]:
    of = job.get("failures")
    if not of:
        return
    if "at" in of:
        when = f"fails {', '.join(of['at'])} after its start"
    else:
        times = (duration - _core.seconds(job["start"])) / _core.seconds(of["mtbf"])
        when = f"fails once in {of['mtbf']} on average, some {show_number(times)} times in duration"
    every = of["checkpoint_every"]
    which = "each iteration" if every == 1 else f"every {every} iterations"
    yield (
        f"{job['label']}: {when}, and goes on {of['recovery']} later from a checkpoint, which each "
        f"rank writes after {which} in {of['checkpoint_time']}"
    )
