"""Utilisation of links, by the layers that they join."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request


def data(request: Request) -> pl.DataFrame:
    """Return, by arm and pair of layers, mean, 10th, 90th percentile and largest over the links."""
    frames = [
        result.scan("links")
        .select(pl.lit(arm.name).alias("arm"), "layer", "to_layer", "utilisation", "drops")
        .collect()
        for arm in request.arms
        for result in arm.results
    ]
    use = pl.col("utilisation")
    rows = (
        pl.concat(frames)
        .group_by("arm", "layer", "to_layer", maintain_order=True)
        .agg(
            use.count().alias("links"),
            use.mean().alias("mean"),
            use.quantile(0.1, "linear").alias("p10"),
            use.quantile(0.9, "linear").alias("p90"),
            use.max().alias("max"),
        )
    )
    if rows["mean"].is_null().all():
        raise FigureError("utilisation has no values: the measured period is empty")
    return rows


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw the mean, a whisker from 10% to 90% of the links, a mark at the busiest.

    The mean is the end of a bar. Where a few busy links take one out of its whisker, all are
    points: a whisker that starts beside a bar looks like an error.
    """
    axes = look.panel(figure, "utilisation, %", "")
    rows = rows.with_columns(layers=pl.format("{} → {}", "layer", "to_layer"))
    layers = rows["layers"].unique(maintain_order=True).to_list()
    styles = look.looks(rows["arm"])
    height = 0.8 / len(styles)
    width, _ = figure.get_size_inches()
    figure.set_size_inches(width, 0.9 + max(0.2 * len(layers) * (1 + len(styles)) / 1.4, 0.8))
    inside = rows.select(pl.col("mean").is_between("p10", "p90").fill_null(value=True))
    is_inside = bool(inside.to_series().all())
    for i, (arm, style) in enumerate(styles.items()):
        of = rows.filter(arm=arm)
        y = np.array([layers.index(name) for name in of["layers"]])
        y = y + (i - (len(styles) - 1) / 2) * height
        mean, low, high, most = (
            100 * of[name].to_numpy() for name in ("mean", "p10", "p90", "max")
        )
        if is_inside:
            bar: Any = {"color": style.colour, "hatch": style.hatch, "edgecolor": "white"}
            axes.barh(y, mean, height * 0.9, linewidth=0, label=arm, **bar)
        else:
            point: Any = {"color": style.colour, "marker": style.marker, "markersize": 4}
            axes.plot(mean, y, linestyle="", label=arm, **point)
            axes.set_ylim(-0.5, len(layers) - 0.5)
        axes.hlines(y, low, high, color="black", linewidth=0.9)
        axes.plot(most, y, linestyle="", marker="|", color="black", markersize=5)
    axes.set_yticks(range(len(layers)), layers)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, max(100 * rows["max"].max(), 10) * 1.05)  # type: ignore[operator]
    extra = [
        Line2D([], [], color="black", linewidth=0.9, label="10% to 90% of links"),
        Line2D([], [], color="black", linestyle="", marker="|", label="busiest link"),
    ]
    if len(styles) == 1:
        (axes.containers or axes.lines)[0].set_label("mean")
    look.legend(figure, [axes], extra)


RECIPE = Recipe(data, draw)
