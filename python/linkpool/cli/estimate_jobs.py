"""`linkpool estimate` of jobs: their completion times from their first iterations."""

import json
import sys
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.cli.console import fail, say
from linkpool.cli.estimate_arms import Arm
from linkpool.cli.progress import watching
from linkpool.estimate import Iterations, OutsideError, estimate_iterations
from linkpool.estimate.cost import Cost, took
from linkpool.estimate.iterations import ends_of, groups_of, has_iterations, job_of
from linkpool.units import counted, show_seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class _Whole:
    """A run of all iterations: the completion time, None if it did not end, and what it took."""

    jct_s: float | None
    cost: Cost


def is_job(arm: Arm) -> bool:
    """Tell whether the runs of an arm are jobs of several iterations."""
    return has_iterations(tomllib.loads(next(iter(arm.scenarios.values())).toml))


def estimate_jobs(
    arms: list[Arm],
    within: float,
    chosen: AbstractSet[tuple[str, int]],
    as_json: bool,
    run_code: bool,
) -> None:
    """Estimate the jobs of arms, each with its seeds, and print what was found.

    Args:
        arms: the arms.
        within: half of an interval is at most this share of the completion time.
        chosen: name of the arm and seed of the runs that are made whole beside.
        as_json: print JSON.
        run_code: run the code that scenarios bring.

    """
    rows: list[dict[str, Any]] = []
    for arm in arms:
        for seed, scenario in arm.scenarios.items():
            found = _estimate(arm, seed, scenario, within, run_code)
            whole = _whole(arm, seed, scenario, found.total) if (arm.name, seed) in chosen else None
            if not as_json:
                _print(arm, seed, found, whole)
            of_whole = None if whole is None else asdict(whole) | {"cost": whole.cost._asdict()}
            of_job = asdict(found) | {"cost": found.cost._asdict()}
            rows.append({"arm": arm.name, "seed": seed, **of_job, "whole": of_whole})
    if as_json:
        say(json.dumps(rows, indent=1))


def _estimate(
    arm: Arm, seed: int, scenario: _core.Scenario, within: float, run_code: bool
) -> Iterations:
    with ExitStack() as bars:

        def watch(iterations: int, loaded: _core.Scenario) -> Progress:
            bars.close()
            name = f"{arm.name or arm.file}, seed {seed}, {iterations} iterations"
            return bars.enter_context(watching(name, loaded.expected_hops))

        try:
            return estimate_iterations(scenario, arm.file, within, watch, run_code)
        except OutsideError as error:
            fail(f"{arm.file}: {f'{arm.name}: ' if arm.name else ''}{error}")


def _whole(arm: Arm, seed: int, scenario: _core.Scenario, iterations: int) -> _Whole:
    name = f"{arm.name or arm.file}, seed {seed}, whole"
    with watching(name, scenario.expected_hops) as progress:
        result = simulate_loaded(scenario, None, progress, None)
    _, job = job_of(tomllib.loads(scenario.toml))
    start, ends = ends_of(result, iterations, groups_of(job))
    done = ends.size == iterations
    return _Whole(float(ends[-1]) - start if done else None, took([result]))


def _print(arm: Arm, seed: int, found: Iterations, whole: _Whole | None) -> None:
    name = f"{arm.name}, " if arm.name else ""
    say(f"{name}seed {seed}: {found.simulated:,} of {counted(found.total, 'iteration')} simulated")
    interval = f" ({show_seconds(found.low_s)} to {show_seconds(found.high_s)})"
    exact = found.simulated == found.total
    say(f"  job completion time {show_seconds(found.jct_s)}{'' if exact else interval}")
    say(f"  an iteration takes {show_seconds(found.each_s)}; {found.cost.cpu_s:.2f} s of CPU")
    if whole is None:
        return
    times = f"{whole.cost.cpu_s / found.cost.cpu_s:.1f} times the CPU"
    if whole.jct_s is None:
        say(f"  the whole run did not end all iterations; {times}")
    else:
        error = 100 * (found.jct_s / whole.jct_s - 1)
        say(f"  whole run: {show_seconds(whole.jct_s)} (error {error:+.2f}%), {times}")
