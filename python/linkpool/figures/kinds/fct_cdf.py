"""The distribution of flow completion times."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.source import measured_flows
from linkpool.figures.thin import order_statistics

POINTS = 1000


def data(request: Request) -> pl.DataFrame:
    """Return, by series, at most `POINTS` completion times and the share of flows up to each.

    The share is of all measured flows with a size: those unfinished never come to 1. From the age
    of the youngest of these on, it is the least that the share may be. `flows` and `unfinished` are
    counts of the series.
    """
    flows = measured_flows(request.arms, request.by, ["size_bytes", "fct_s"])
    parts = []
    for (series,), of in flows.filter(pl.col("size_bytes").is_not_null()).group_by(
        "series", maintain_order=True
    ):
        times, ranks = order_statistics(of["fct_s"].drop_nulls().to_numpy(), POINTS)
        parts.append(
            pl.DataFrame({"fct_s": times, "share": ranks / of.height}).select(
                pl.lit(series).alias("series"),
                "fct_s",
                "share",
                pl.lit(of.height).alias("flows"),
                pl.lit(of["fct_s"].null_count()).alias("unfinished"),
            )
        )
    if not any(part.height for part in parts):
        raise FigureError("fct-cdf needs flows that finished, and none did in the measured period")
    return pl.concat(parts)


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a step curve for each series."""
    shortest, longest = rows["fct_s"].to_numpy().min(), rows["fct_s"].to_numpy().max()
    factor, unit = look.time_unit(float(np.sqrt(shortest * longest)))
    facets = look.facets(rows["series"])
    all_axes = look.panels_of(
        figure, list(facets), f"flow completion time, {unit}", "share of flows"
    )
    for axes, styles in zip(all_axes, facets.values(), strict=True):
        for series, (label, style) in styles.items():
            of = rows.filter(series=series)
            x = of["fct_s"].to_numpy() * factor
            axes.step(
                [x[0], *x],
                [0.0, *of["share"]],
                where="post",
                color=style.colour,
                linestyle=style.dash,
                label=label,
            )
        if longest > 10 * shortest:
            look.log(axes, "x")
        axes.set_ylim(0, 1.01)
    counts = rows.group_by("series", maintain_order=True).first()
    look.legend(figure, all_axes, look.unfinished(counts))


RECIPE = Recipe(data, draw)
