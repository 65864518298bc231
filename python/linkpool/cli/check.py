"""`linkpool check`: what a scenario means, before it runs."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import RunCode, fail, is_study_file, load, say
from linkpool.cli.override import override
from linkpool.cores import cpus
from linkpool.limits import MOST_SEED
from linkpool.meaning import page


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario, or the study.")],
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
    as_toml: Annotated[
        bool, typer.Option("--toml", help="Print the scenario with every default written out.")
    ] = False,
    run_code: RunCode = False,
) -> None:
    """Check a scenario or a study, and say in a page what it means; nothing runs.

    Its fabric, round-trip times without queues and bandwidth-delay products, the marking threshold
    beside these, timers beside the duration, the flows, and the load that is offered to each tier.
    Of a study: its runs, what all arms share, and what differs between them.
    """
    if is_study_file(file):
        if seed is not None or settings or as_toml:
            fail(f"{file} is a study; --seed, --set and --toml are about a scenario")
        _study(file, run_code)
        return
    scenario = load(file, seed, [override(setting) for setting in settings or []], run_code)
    say(scenario.toml if as_toml else page(scenario))


def _study(file: Path, run_code: bool) -> None:
    # Here, as studies take a while to load.
    from linkpool.cli.study.common import RESULTS, before, plan_of
    from linkpool.cli.study.common import load as load_study
    from linkpool.study.meaning import pages

    study = load_study(file)
    plan = plan_of(study, RESULTS, run_code=run_code)
    if study.title:
        say(f"{study.title}\n")
    if study.search is None:
        say("\n".join([*before(plan, cpus()), ""]))
        seeds = study.seed_list
        say(f"what follows is of seed {seeds[0]}\n" * (len(seeds) > 1), end="")
    else:
        say(f"{study.name} searches {', '.join(study.search.space)}; this is its base\n")
    say("\n\n".join(pages(plan.entries)))
