"""Goodputs of flows, by rank."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.source import measured_flows
from linkpool.figures.thin import order_statistics

POINTS = 1000


def data(request: Request) -> pl.DataFrame:
    """Return, by series, at most `POINTS` goodputs in ascending order, and the rank of each.

    The goodput of a flow without a size is that in the measured period; of one that had not
    finished when the run ended, that up to then. `unfinished` counts the latter.
    """
    own = pl.when(pl.col("size_bytes").is_null()).then(
        8.0 * pl.col("measured_bytes") / pl.col("measured_s")
    )
    columns = ["size_bytes", "end_s", "goodput_bps", "measured_bytes", "measured_s"]
    cut_off = pl.col("size_bytes").is_not_null() & pl.col("end_s").is_null()
    flows = measured_flows(request.arms, request.by, columns).select(
        "series", goodput=own.otherwise("goodput_bps"), unfinished=cut_off
    )
    parts = []
    for (series,), of in flows.group_by("series", maintain_order=True):
        values, ranks = order_statistics(of["goodput"].drop_nulls().drop_nans().to_numpy(), POINTS)
        parts.append(
            pl.DataFrame(
                {
                    "series": np.full(values.size, str(series)),
                    "rank": ranks,
                    "flows": np.full(values.size, of.height),
                    "goodput_bps": values,
                    "unfinished": np.full(values.size, of["unfinished"].sum()),
                }
            )
        )
    if not any(part.height for part in parts):
        raise FigureError("goodput needs flows, and none was measured")
    return pl.concat(parts)


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw the goodputs over the rank as a share of all flows."""
    factor, unit = look.rate_unit(float(rows["goodput_bps"].max() or 0))  # type: ignore[arg-type]
    axes = look.panel(figure, "flows in order of their goodput, %", f"goodput, {unit}")
    for series, style in look.looks(rows["series"]).items():
        of = rows.filter(series=series)
        axes.plot(
            100 * of["rank"].to_numpy() / of["flows"].to_numpy(),
            of["goodput_bps"].to_numpy() * factor,
            color=style.colour,
            linestyle=style.dash,
            label=series,
        )
    axes.set_xlim(0, 100)
    axes.set_ylim(bottom=0)
    counts = rows.group_by("series", maintain_order=True).first()
    look.legend(figure, [axes], look.unfinished(counts))


RECIPE = Recipe(data, draw)
