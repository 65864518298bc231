"""Goodputs of flows over time."""

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import Recipe, Request
from linkpool.figures.kinds.over_time import lines, of_flows


def data(request: Request) -> pl.DataFrame:
    """Return the goodputs of the subflows; each is that of the interval before its time."""
    rows = of_flows(request, "rates", "rate", "goodput_bps")
    return rows.select("flow", "subflow", "time_s", "goodput_bps")


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a panel for each flow."""
    scale, unit = look.rate_unit(float(rows["goodput_bps"].max()))  # type: ignore[arg-type]
    lines(figure, rows, "goodput_bps", f"goodput, {unit}", scale)


RECIPE = Recipe(data, draw)
