"""`linkpool optimum`: the best possible sharing for the long flows of a scenario."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from linkpool import _core
from linkpool.cli.console import RunCode, fail, load, stdout
from linkpool.cli.override import override
from linkpool.limits import MOST_SEED
from linkpool.optimum.problem import Measured, NoLongFlowsError, Problem, spread
from linkpool.publish import is_result
from linkpool.result import Result
from linkpool.units import show_rate


def optimum(
    what: Annotated[
        Path, typer.Argument(metavar="FILE.toml|DIR", help="A scenario, or the result of a run.")
    ],
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=0, max=MOST_SEED, help="Replaces the scenario's seed."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Replace a key, as in topology.fat-tree.k=4 (repeatable).",
        ),
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Compute the optimal rates of a scenario's unlimited flows, all at once, over any paths.

    The maximum concurrent flow is the rate that all of them can have; max-min fair rates go on
    from there. For a result, also over the paths that its subflows took, and what it reached.
    Rates are of payload, with headers on the way; ACKs are left out.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("payload rate of a flow")
    for heading in ("least", "mean", "largest"):
        table.add_column(heading, justify="right")
    try:
        if is_result(what):
            if seed is not None or settings:
                fail("--seed and --set are for scenarios; the result of a run has its own")
            _measured(table, Measured.of(Result(what, run_code=run_code)))
        else:
            overrides = [override(setting) for setting in settings or []]
            scenario = load(what, seed, overrides, run_code)
            _problem(table, Problem.of(scenario.plan(), str(what)), "any paths")
    except (NoLongFlowsError, _core.ScenarioError) as error:
        fail(str(error))
    stdout().print(table)


def _problem(table: Table, problem: Problem, paths: str) -> float:
    """Add the optima of a problem, and return its maximum concurrent flow."""
    together = problem.concurrent()
    table.add_row(f"maximum concurrent flow, {paths}", "", show_rate(together), "")
    shown = map(show_rate, spread(problem.max_min()))
    table.add_row(f"max-min fair, {paths}", *shown)
    return together


def _measured(table: Table, measured: Measured) -> None:
    best = _problem(table, measured.problem, "any paths")
    _problem(table, measured.restricted, "the run's paths")
    table.add_row("the run", *map(show_rate, spread(measured.goodput)))
    share = f"{100 * measured.share(best):.1f}%"
    table.add_row("of the maximum concurrent flow, any paths", "", share, "")
