"""The parts of measures that scenarios have: labels of workloads, and pairs of layers of links."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from linkpool import _core
from linkpool.study.absent import without
from linkpool.study.cache import Entry
from linkpool.study.measures import ALL, Measure, wanted
from linkpool.study.model import Study, StudyError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def require_parts(study: Study, entries: Sequence[Entry], where: str) -> None:
    """Raise `StudyError` if a measure is of a label or of layers that no scenario has.

    Args:
        study: the study.
        entries: its runs; seeds do not change their parts.
        where: the file of the study, for the error.

    """
    known: dict[Measure, dict[str, None]] = {}
    for key, name in study.named:
        asked = wanted(name)
        if asked.part is None or asked.measure.parts is not None:
            continue
        if asked.measure not in known:
            of = partial(_labels if asked.measure.by == "label" else _layers, asked.measure)
            scenarios = {entry.point.name: entry.scenario for entry in entries}
            known[asked.measure] = dict.fromkeys(
                part for scenario in scenarios.values() for part in of(scenario)
            )
        # Workloads of one label have parts of their own, too, by their numbers.
        parts = known[asked.measure]
        whole, _, number = asked.part.rpartition(", workload ")
        if asked.part not in parts and not (whole in parts and number.isdecimal()):
            raise StudyError(f"{where}: {key}: {without(name, parts)}")


def _labels(measure: Measure, scenario: _core.Scenario) -> Iterator[str]:
    workloads = tomllib.loads(scenario.toml)["workload"]
    for kind in measure.needs:
        yield from (of["label"] for of in workloads.get(kind.removeprefix("workload."), []))


def _layers(measure: Measure, scenario: _core.Scenario) -> Iterable[str]:
    if measure.whole:
        yield ALL
    plan = scenario.plan()
    layers = [layer for _, layer in plan["nodes"]]
    yield from dict.fromkeys(f"{layers[one]}, {layers[to]}" for one, to, _, _ in plan["links"])
