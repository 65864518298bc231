"""`linkpool run`: simulate one scenario."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from linkpool import api
from linkpool.cli.console import fail, load, say, stdout, warn
from linkpool.cli.override import override
from linkpool.cli.progress import watching
from linkpool.cli.replaced import say_replaced
from linkpool.cli.show import print_result
from linkpool.cores import cpus, explain
from linkpool.doubts import doubts
from linkpool.limits import MOST_SEED, MOST_THREADS
from linkpool.offered import TierLoad, remarks
from linkpool.pausing import headrooms, risks
from linkpool.publish import require_replaceable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Directory of the result. Default: results/NAME, of a scenario NAME.toml.",
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
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads",
            min=1,
            max=MOST_THREADS,
            help="Default: one per 64 hosts that send or receive, up to all cores.",
        ),
    ] = None,
    ignore_estimate: Annotated[
        bool,
        typer.Option(
            "--ignore-estimate",
            help="Run it even if it is estimated to need more memory or disk than there is.",
        ),
    ] = False,
) -> None:
    """Simulate a scenario and write its tables; they are the same on any number of threads."""
    overrides = [override(setting) for setting in settings or []]
    out = out or Path("results") / file.stem
    require_replaceable(out)
    scenario = load(file, seed, overrides, run_code=True)
    for i, one in enumerate(tomllib.loads(scenario.toml)["workload"].get("session", [])):
        if "file" not in one:
            fail(
                f"{file}: workload.session.{i}: a program sends its messages while the run goes "
                f"on, and there is none; see docs/workloads/session.md, or name the `file` of "
                "messages that another session has written"
            )
    say_replaced(out)
    said = remarks([TierLoad(*tier) for tier in scenario.offered_loads()])
    warnings = [*doubts(scenario.toml), *risks(headrooms(scenario))]
    if threads is not None and scenario.threads(threads) < threads:
        warnings.append(f"the run has one thread, not {threads}: it records pauses ([record])")
        threads = scenario.threads(threads)
    for line in [*said, *(f"warning: {line}" for line in warnings)]:
        warn(line)
    # To ask what is worthwhile plans the run, which takes a while in a large fabric.
    count = threads or scenario.worthwhile_threads(cpus())
    name = f"{file.name} {explain(scenario.hosts, count, cpus(), threads)}"
    with watching(name, scenario.expected_hops) as watch:
        result = api.simulate_loaded(scenario, out, watch, count, ignore_estimate)
    print_result(result, stdout())
    say(f"\n{out}")
