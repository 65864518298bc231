"""`linkpool estimate`: answers without the whole run; percentiles from runs of scale models."""

import json
import math
import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.cli.console import RunCode, fail, is_study_file, load, say, stdout
from linkpool.cli.estimate_arms import Arm, arm_of, arms_of
from linkpool.cli.estimate_jobs import estimate_jobs, is_job
from linkpool.cli.override import override
from linkpool.cli.progress import watching
from linkpool.estimate import Estimate, OutsideError, estimate
from linkpool.estimate.cost import Cost, took
from linkpool.estimate.perform import HOSTS, PERCENTS, Slowdowns, percentile_of, slowdowns
from linkpool.limits import MOST_SEED
from linkpool.percentiles import needed
from linkpool.study.measures import ALL
from linkpool.study.measuring import Part
from linkpool.units import counted, show_number

MODELS = 5
OF_A_STUDY = 0.05
"""The share of a study's runs that are made whole."""


@dataclass(frozen=True)
class _Whole:
    """A run of a scenario itself."""

    seed: int
    slowdown: Slowdowns
    cost: Cost


@dataclass(frozen=True)
class _Found:
    """What is known of an arm: the estimate, and the whole runs beside it."""

    arm: Arm
    estimate: Estimate
    whole: Sequence[_Whole]


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario, or the study.")],
    models: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1000, help="Models of a scenario (5); a study has its seeds."
        ),
    ] = None,
    hosts: Annotated[
        int, typer.Option(metavar="N", min=8, max=100_000, help="Hosts of a model, at least.")
    ] = HOSTS,
    beside: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of the whole runs to make beside, 0 to 1: 0.05 of a study's, else none.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=0, max=MOST_SEED, help="Replaces the scenario's seed."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a key, as in queue.mark=20 (repeatable)."
        ),
    ] = None,
    within: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0001,
            max=0.5,
            help="Of a job: half of the interval, at most, over its completion time.",
        ),
    ] = 0.01,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    run_code: RunCode = False,
) -> None:
    """Estimate slowdowns in a large fabric by scale models, or a job by its first iterations.

    A model is a small fabric with the same tiers, rates and queues, and the same load on each link.
    Of a job of many iterations as many are simulated as its completion time needs. Whole runs that
    are made beside tell how far the estimate is off.
    """
    if is_study_file(file):
        if seed is not None or settings or models is not None:
            fail(f"{file} is a study; --seed, --set and --models are about a scenario")
        arms = arms_of(file, run_code)
        share = OF_A_STUDY if beside is None else beside
    else:
        overrides = [override(setting) for setting in settings or []]
        arms = [arm_of(file, load(file, seed, overrides, run_code), models or MODELS)]
        share = beside or 0.0
    runs = [(arm.name, one) for arm in arms for one in arm.scenarios]
    chosen = set(random.Random(0).sample(runs, math.ceil(share * len(runs))))
    if any(map(is_job, arms)):
        estimate_jobs(arms, within, chosen, as_json, run_code)
        return
    found = []
    for arm in arms:
        whole = [one for one in arm.scenarios if (arm.name, one) in chosen]
        found.append(_Found(arm, _model(arm, hosts, run_code), [_whole(arm, one) for one in whole]))
    if as_json:
        say(json.dumps([_as_dict(one) for one in found], indent=1))
    else:
        for one in found:
            _print(one)


def _model(arm: Arm, hosts: int, run_code: bool) -> Estimate:
    """Run the models of an arm, and show how far they are."""
    scenario = next(iter(arm.scenarios.values()))
    with ExitStack() as bars:

        def watch(number: int, loaded: _core.Scenario) -> Progress:
            bars.close()
            name = f"{arm.name or arm.file}, model {number + 1} of {len(arm.seeds)}"
            return bars.enter_context(watching(name, loaded.expected_hops))

        try:
            return estimate(scenario, arm.file, arm.seeds, hosts, watch, run_code)
        except OutsideError as error:
            fail(f"{arm.file}: {f'{arm.name}: ' if arm.name else ''}{error}")


def _whole(arm: Arm, seed: int) -> _Whole:
    scenario = arm.scenarios[seed]
    name = f"{arm.name or arm.file}, seed {seed}, whole"
    with watching(name, scenario.expected_hops) as progress:
        result = simulate_loaded(scenario, None, progress, threads=1)
    return _Whole(seed, slowdowns([result]), took([result]))


def _print(found: _Found) -> None:
    fabric, model = found.estimate.fabric, found.estimate.model
    if found.arm.name:
        say(found.arm.name)
    seeds = found.arm.seeds
    hops, cpu = found.estimate.cost
    say(
        f"{counted(len(seeds), 'model')} of {model.size:,} hosts for {fabric.size:,}: "
        f"{hops / 1e6:.1f} M packet-hops, {cpu:.2f} s of CPU"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("slowdown (FCT / ideal)", "flows", *(f"p{p}" for p in PERCENTS)):
        table.add_column(heading, justify="left" if not table.columns else "right")
    for name, runs in found.estimate.slowdown.items():
        cells = [_cell(runs, percent) for percent in PERCENTS]
        table.add_row(name, str(_flows(runs)), *cells)
        for whole in found.whole:
            if name in whole.slowdown:
                other = whole.slowdown[name]
                cells = [_beside(runs, other, percent) for percent in PERCENTS]
                table.add_row(f"  whole run, seed {whole.seed}", str(_flows(other)), *cells)
    stdout().print(table)
    if unfinished := sum(part.censored().unfinished for part in found.estimate.slowdown[ALL]):
        say(f"{counted(unfinished, 'flow')} did not finish: percentiles marked ≥ are lower bounds")
    for whole in found.whole:
        times = whole.cost.cpu_s / found.estimate.cost.cpu_s
        say(
            f"the whole run of seed {whole.seed} took {whole.cost.cpu_s:.2f} s of CPU, "
            f"{times:.1f} times the {'models' if len(seeds) > 1 else 'model'}, "
            f"{times * len(seeds):.1f} times one"
        )
    say()


def _flows(runs: Sequence[Part]) -> int:
    return sum(part.values.size for part in runs)


def _cell(runs: Sequence[Part], percent: int) -> str:
    found = percentile_of(runs, percent)
    if found is None:
        return _too_few(percent)
    ends = "" if found.low is None else f" ({show_number(found.low)} to {show_number(found.high)})"
    return f"{'≥ ' * found.at_least}{show_number(found.value)}{ends}"


def _too_few(percent: int) -> str:
    return f"needs {needed(Fraction(percent))} flows"


def _beside(runs: Sequence[Part], whole: Sequence[Part], percent: int) -> str:
    """Write the percentile of a whole run, and the estimate's error."""
    estimated, found = percentile_of(runs, percent), percentile_of(whole, percent)
    if found is None:
        return _too_few(percent)
    shown = f"{'≥ ' * found.at_least}{show_number(found.value)}"
    if estimated is None or found.at_least or estimated.at_least:
        return shown
    return f"{shown} (error {100 * (estimated.value / found.value - 1):+.1f}%)"


def _as_dict(found: _Found) -> dict[str, Any]:
    return {
        "arm": found.arm.name,
        "hosts": found.estimate.fabric.size,
        "model_hosts": found.estimate.model.size,
        "seeds": list(found.arm.seeds),
        "cost": found.estimate.cost._asdict(),
        "slowdown": _rows(found.estimate.slowdown),
        "whole": [
            {
                "seed": whole.seed,
                "cost": whole.cost._asdict(),
                "slowdown": _rows(whole.slowdown),
            }
            for whole in found.whole
        ],
    }


def _rows(slowdown: Slowdowns) -> list[dict[str, Any]]:
    rows = []
    for name, runs in slowdown.items():
        row: dict[str, Any] = {"part": name, "flows": _flows(runs)}
        for percent in PERCENTS:
            found = percentile_of(runs, percent)
            row[f"p{percent}"] = None if found is None else found._asdict()
        rows.append(row)
    return rows
