"""Congestion windows of flows over time."""

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures.kind import Recipe, Request
from linkpool.figures.kinds.over_time import lines, of_flows


def data(request: Request) -> pl.DataFrame:
    """Return the windows of the subflows, and whether AMP keeps the flow on one path."""
    rows = of_flows(request, "windows", "cwnd", "cwnd_pkts")
    return rows.select("flow", "subflow", "time_s", "cwnd_pkts", "suppressed")


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a panel for each flow."""
    lines(figure, rows, "cwnd_pkts", "window, packets", 1.0)


RECIPE = Recipe(data, draw)
