"""`linkpool topology`: the structure of a fabric, and a picture of it."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from linkpool import _core
from linkpool.cli.console import RunCode, cannot_read, fail, stdout
from linkpool.publish import publish_file
from linkpool.topology.bisection import bisection
from linkpool.topology.fabric import Fabric
from linkpool.units import show_rate, show_seconds

PICTURES = (".png", ".svg", ".pdf")


def topology(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A scenario, or a graph: .json (node-link), .graphml, .topo (htsim).",
        ),
    ],
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT", help="Draw it: .png, .svg or .pdf.")
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Print the structure of the fabric of a scenario or of a graph file, and draw it.

    Paths are the shortest ones by hops. The bisection is the maximum flow from the first half of
    the hosts to the second.
    """
    if plot is not None and plot.suffix not in PICTURES:
        fail(f"cannot draw {plot}: write a name that ends in {', '.join(PICTURES)}")
    if plot is not None and not plot.absolute().parent.is_dir():
        fail(f"cannot draw {plot}: there is no folder {plot.parent}; make it, or name another")
    try:
        fabric = Fabric.of(file, run_code)
    except _core.ScenarioError as error:
        fail(str(error))
    except (OSError, UnicodeDecodeError) as error:
        fail(cannot_read(file, error))
    for table in (_nodes(fabric), _cables(fabric), _paths(fabric)):
        stdout().print(table)
    across, access = bisection(fabric)
    share = f", {100 * across / access:.3g}% of their links' rate" if access else ""
    rate = show_rate(across)
    stdout().print(f"bisection (first half of the hosts to the second): {rate}{share}")
    if plot is not None:
        from linkpool.topology.drawing import draw

        with publish_file(plot) as file:
            draw(fabric).savefig(file, dpi=130)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i == 0 else "right")
    return table


def _nodes(fabric: Fabric) -> Table:
    table = _table("layer", "nodes", "ports of a node")
    for layer, number in fabric.nodes_by_layer().items():
        ports = {len(fabric.neighbours[n]) for n, of in enumerate(fabric.layers) if of == layer}
        span = str(min(ports)) if len(ports) == 1 else f"{min(ports)} to {max(ports)}"
        table.add_row(layer, str(number), span)
    return table


def _cables(fabric: Fabric) -> Table:
    table = _table("cables between", "number", "rate", "delay", "together")
    for c in fabric.cables():
        together = show_rate(float(c.number * c.rate_bps), given=True)
        ends = " and ".join(c.ends)
        rate = show_rate(float(c.rate_bps), given=True)
        delay = show_seconds(c.delay_s, given=True)
        table.add_row(ends, str(c.number), rate, delay, together)
    return table


def _paths(fabric: Fabric) -> Table:
    classes, all_of_them = fabric.path_classes()
    table = _table("pairs such as", "hops", "equal-cost paths")
    for c in classes:
        table.add_row(" and ".join(c.example), str(c.hops), str(c.paths))
    if not all_of_them:
        table.caption = "looked for from some racks, evenly spread"
    return table
