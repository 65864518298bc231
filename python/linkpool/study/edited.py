"""What has changed since a study ran: in its file, and in the scenarios that it names."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkpool.result import Result, ResultError
from linkpool.study.cache import Cache
from linkpool.study.model import SEED, Study, flatten
from linkpool.study.points import points_of
from linkpool.study.result import StudyResult

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST = 8
"""So many changes are named."""


def changes(study: Study, result: StudyResult, *, run_code: bool = False) -> list[str]:
    """Say in what a study differs from the one that a result is of; nothing: it does not.

    Keys of the file are compared first. If they are the same, each run's scenario is compared with
    that of the run that was made, by the first seed: for that, code that scenarios bring is run, or
    refused.
    """
    found = _differences(_keys(result.study), _keys(study))
    return found or _of_scenarios(study, result, run_code)


def _keys(study: Study) -> dict[str, Any]:
    """Return what a file says by dotted keys, with the arms by their names."""
    content = tomllib.loads(study.as_toml())
    arms = content.pop("arm", [])
    named = {f"arm {arm['name']}": arm for arm in arms}
    return flatten(content) | {
        f"{name}: {key}": value
        for name, arm in named.items()
        for key, value in flatten(arm).items()
    }


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    found = []
    for key in dict.fromkeys([*before, *now]):
        if key not in now:
            found.append(f"{key} was {before[key]}, and is not there")
        elif key not in before:
            found.append(f"{key} is {now[key]}, and was not there")
        elif before[key] != now[key]:
            found.append(f"{key} is {now[key]}, was {before[key]}")
    if len(found) > MOST:
        return [*found[:MOST], f"and {len(found) - MOST} more"]
    return found


def _of_scenarios(study: Study, result: StudyResult, run_code: bool) -> list[str]:
    """Say how the scenarios of the runs differ from those that were made."""
    cache = Cache(Path(), run_code=run_code)
    made = {
        tuple(row[key] for key in (*study.keys, SEED)): row
        for row in result.runs.iter_rows(named=True)
    }
    for point in points_of(study):
        if point.seed != study.seed_list[0]:
            continue
        row = made.get((*(point.keys[key] for key in study.keys), point.seed))
        entry = cache.entry(point)
        if row is not None and row["key"] != entry.key:
            return _between(row["dir"], entry.scenario.toml, point.name)
    return []


def _between(directory: str, now: str, name: str) -> list[str]:
    """Say what makes a run another one: its scenario, or the simulator."""
    try:
        before = Result(directory).scenario
    except ResultError:
        return [f"the run of {name} is another one"]
    found = _differences(flatten(tomllib.loads(before)), flatten(tomllib.loads(now)))
    return [f"{name}: {line}" for line in found] or ["another build of linkpool made its runs"]
