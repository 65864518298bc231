"""Round-trip times of flows over time."""

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import Recipe, Request
from linkpool.figures.kinds.over_time import lines, of_flows


def data(request: Request) -> pl.DataFrame:
    """Return the round-trip times that the senders of the subflows measured."""
    rows = of_flows(request, "rtts", "rtt", "rtt_s")
    return rows.select("flow", "subflow", "time_s", "rtt_s")


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a panel for each flow, with a dot for each sample."""
    scale, unit = look.time_unit(float(rows["rtt_s"].max()))  # type: ignore[arg-type]
    lines(figure, rows, "rtt_s", f"RTT, {unit}", scale, dots=True)


RECIPE = Recipe(data, draw)
