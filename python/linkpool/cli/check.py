"""`linkpool check`: what a scenario means, before it runs."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import RunCode, load, say
from linkpool.cli.override import override
from linkpool.limits import MOST_SEED
from linkpool.meaning import page


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario.")],
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
    """Check a scenario, and say in a page what it means; nothing runs.

    Its fabric, round-trip times without queues and bandwidth-delay products, the marking threshold
    beside these, timers beside the duration, the flows, and the load that is offered to each tier.
    """
    scenario = load(file, seed, [override(setting) for setting in settings or []], run_code)
    say(scenario.toml if as_toml else page(scenario))
