"""Arms, each of one result or of one result per seed: what figures and reports are made of."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.result import Result
from linkpool.study.model import SEED, name_of
from linkpool.study.result import StudyResult, is_study
from linkpool.unfinished import slowest


@dataclass(frozen=True)
class Arm:
    """What is compared with others: one result, or several that differ in their seeds only.

    Attributes:
        name: in legends and tables.
        results: at least one.
        keys: of a study: its arm, and what it varies, by the names of its keys.

    """

    name: str
    results: tuple[Result, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)


def arms_of(paths: Sequence[Path], run_code: bool = False) -> list[Arm]:
    """Return an arm for each result directory, and the arms of each directory of a study.

    An arm has the shortest name that tells it from others.

    Args:
        paths: the directories.
        run_code: may the code that the scenarios bring be run, see `Result`?

    Raises:
        ResultError: a directory is no result, or a damaged one.

    """
    arms: list[Arm] = []
    for name, path in zip(short_names(paths), paths, strict=True):
        if is_study(path):
            before = f"{name}: " if len(paths) > 1 else ""
            of_study = arms_of_runs(StudyResult(path, run_code=run_code).results())
            arms += [replace(arm, name=f"{before}{arm.name}") for arm in of_study]
        else:
            arms.append(Arm(name, (Result(path, run_code=run_code),)))
    for arm in arms:
        for result in arm.results:
            result.check()
    return arms


def arms_of_runs(runs: Iterable[tuple[Mapping[str, Any], Result]]) -> list[Arm]:
    """Return an arm for each combination of keys of a study's runs, whatever their seeds."""
    found: dict[str, Arm] = {}
    for keys, result in runs:
        name = name_of(keys)
        arm = found.get(name)
        if arm is None:
            own = {key: value for key, value in keys.items() if key != SEED}
            found[name] = Arm(name, (result,), own)
        else:
            found[name] = replace(arm, results=(*arm.results, result))
    return list(found.values())


def measures_of(paths: Sequence[Path]) -> list[str]:
    """Return the measures of the study, if the directories are that of one; else none."""
    if len(paths) != 1 or not is_study(paths[0]):
        return []
    return list(StudyResult(paths[0]).study.measures)


def trials_of(paths: Sequence[Path]) -> pl.DataFrame | None:
    """Return the trials of the search, if the directories are that of one; else None."""
    if len(paths) != 1 or not is_study(paths[0]):
        return None
    found = StudyResult(paths[0]).found
    return None if found is None else found.trials


def slowest_run(results: Iterable[Result]) -> Result:
    """Return the result that has the flow of the largest slowdown, finished or so far."""
    return max(results, key=_largest_slowdown)


def _largest_slowdown(result: Result) -> float:
    return max(slowest(result.scan("flows"), 1)["slowdown"], default=0.0)


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return as many of the last parts of each path as tell all of them apart."""
    resolved = [Path(os.path.realpath(path)) for path in paths]
    for count in range(1, max(len(path.parts) for path in resolved) + 1):
        names = ["/".join(path.parts[-count:]) for path in resolved]
        if len(set(names)) == len(set(resolved)):
            return names
    return [str(path) for path in resolved]
