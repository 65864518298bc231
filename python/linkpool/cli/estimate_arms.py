"""What `linkpool estimate` estimates: a scenario, or the arms of a study."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linkpool import _core
from linkpool.cli.console import fail
from linkpool.limits import MOST_SEED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Arm:
    """Runs that differ in their seeds.

    Attributes:
        name: of the arm, with the values that a study varies; empty: a scenario.
        file: where it comes from.
        scenarios: by seed, those that may be run whole.
        seeds: of the models.

    """

    name: str
    file: str
    scenarios: Mapping[int, _core.Scenario]
    seeds: Sequence[int]


def arm_of(file: Path, scenario: _core.Scenario, models: int) -> Arm:
    """Return a scenario as the only arm, with seeds for so many models."""
    first = int(tomllib.loads(scenario.toml.partition("\n[")[0])["seed"])
    if first + models - 1 > MOST_SEED:
        fail(f"{file}: the seeds of {models} models from {first} on exceed {MOST_SEED}")
    return Arm("", str(file), {first: scenario}, range(first, first + models))


def arms_of(file: Path, run_code: bool) -> list[Arm]:
    """Return the arms of a study, each with the values that it varies."""
    # Here, as studies take a while to load.
    from linkpool.cli.study.common import RESULTS, plan_of
    from linkpool.cli.study.common import load as load_study

    study = load_study(file)
    if study.search is not None:
        fail(f"{file} searches: its runs depend on those before, and are not estimated")
    arms: dict[str, dict[int, _core.Scenario]] = {}
    files: dict[str, str] = {}
    for entry in plan_of(study, RESULTS, run_code=run_code).entries:
        point = entry.point
        arms.setdefault(point.name, {})[point.seed] = entry.scenario
        files[point.name] = point.file or point.name
    return [Arm(name, files[name], runs, list(runs)) for name, runs in arms.items()]
