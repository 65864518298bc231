"""Run scale models of a scenario, and put what they say together."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.estimate.cost import Cost, took
from linkpool.estimate.domain import OutsideError, require_inside
from linkpool.estimate.flows import Source
from linkpool.estimate.shape import Shape
from linkpool.intervals import geometric_interval
from linkpool.percentiles import needed
from linkpool.publish import scratch
from linkpool.result import Result
from linkpool.study.measuring import SAMPLES, Part, together
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HOSTS = 24
"""A model has at least so many, unless the user says otherwise."""

PERCENTS = (50, 95, 99)

WORTH = 2
"""A fabric has at least so many times the hosts of its model."""

Watch: TypeAlias = Callable[[int, _core.Scenario], "Progress | None"]
"""Called with the place of a model among the seeds and its scenario; what it returns is told of its
progress."""


Slowdowns: TypeAlias = Mapping[str, Sequence[Part]]
"""Of all flows and of those of each class of sizes, the values of each run."""


class Statistic(NamedTuple):
    """A statistic with an interval of 95%, if there is one; it may be a lower bound."""

    value: float
    low: float | None
    high: float | None
    at_least: bool


@dataclass(frozen=True)
class Estimate:
    """What the scale models of a scenario say.

    Attributes:
        fabric: the shape of its fabric.
        model: that of the models.
        seeds: of the models.
        slowdown: FCT over ideal FCT.
        cost: of all models together.

    """

    fabric: Shape
    model: Shape
    seeds: Sequence[int]
    slowdown: Slowdowns
    cost: Cost


def percentile_of(runs: Sequence[Part], percent: int) -> Statistic | None:
    """Return a percentile of the values of runs together; None: of fewer than it needs.

    Its interval is from the percentiles of the single runs, as flows of one run depend on each
    other: Student's t interval of their logarithms, laid around the percentile of all.
    """
    (part,) = together(runs)
    sample = part.censored()
    enough = needed(Fraction(percent))
    if sample.count < enough:
        return None
    value, at_least = sample.percentile(percent)
    if any(run.values.size < enough for run in runs):
        return Statistic(value, None, None, at_least)
    mean, low, high = geometric_interval([run.censored().percentile(percent).value for run in runs])
    if mean is None or low is None or high is None:
        return Statistic(value, None, None, at_least)
    return Statistic(value, value * low / mean, value * high / mean, at_least)


def slowdowns(results: Sequence[Result]) -> Slowdowns:
    """Return the slowdowns of the measured flows of runs, all of them and by size."""
    found: dict[str, list[Part]] = {}
    for run in results:
        for part in SAMPLES["slowdown"](run):
            found.setdefault(part.name, []).append(part)
    return {name: parts for name, parts in found.items() if any(p.values.size for p in parts)}


def estimate(
    scenario: _core.Scenario,
    file: str,
    seeds: Sequence[int],
    hosts: int = HOSTS,
    watch: Watch = lambda *_: None,
    run_code: bool = False,
) -> Estimate:
    """Estimate the slowdowns of a scenario's flows by runs of scale models.

    Args:
        scenario: as it was read.
        file: its file, in messages and for the files that it names.
        seeds: of the models.
        hosts: the least number of hosts of a model.
        watch: gives what is told of the progress of a model, by its place among the seeds and
            its scenario.
        run_code: run the code in Python that the scenario brings.

    Raises:
        OutsideError: a model says nothing about this scenario.

    """
    document = tomllib.loads(scenario.toml)
    require_inside(document)
    fabric = Shape.of(document["topology"])
    model = fabric.model(hosts)
    if fabric.size < WORTH * model.size:
        what = f"has {fabric.size} hosts, and its model with {hosts} or more has {model.size}"
        raise OutsideError("topology", what, f"fabrics of {WORTH} times the hosts of their models")
    source = Source(document, file, fabric, run_code)
    results = []
    directory, remove = scratch()
    try:
        for i, seed in enumerate(seeds):
            workload = source.write(model, seed, directory)
            small = {**document, "topology": model.topology(), "workload": workload}
            small.pop("record", None)
            loaded = _core.load(dumps(small), file, seed, [], run_code)
            results.append(simulate_loaded(loaded, None, watch(i, loaded), threads=1))
    finally:
        remove()
    return Estimate(fabric, model, seeds, slowdowns(results), took(results))
