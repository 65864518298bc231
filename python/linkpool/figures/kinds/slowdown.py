"""FCT slowdown by size of the flow: median, the band of nine flows in ten, and the tail."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Kind, Request
from linkpool.figures.source import measured_flows

CLASSES = 10
"""Classes of equal counts; where there are no more sizes than these, each is a class."""
ENOUGH = 100
"""With fewer flows there is no 99th percentile."""
MOST_BANDS = 3
"""More bands hide each other."""
PERCENTILES = (5, 50, 95, 99)


def data(request: Request) -> pl.DataFrame:
    """Return percentiles of the slowdown by series and class of sizes."""
    flows = measured_flows(request.arms, request.by, ["size_bytes", "slowdown"])
    finished = flows.drop_nulls(["size_bytes", "slowdown"])
    if finished.is_empty():
        raise FigureError("slowdown needs flows that finished, and none did in the measured period")
    sizes = finished["size_bytes"]
    if sizes.n_unique() <= CLASSES:
        edges = sizes.unique().sort().to_numpy()
    else:
        shares = np.linspace(0, 1, CLASSES + 1)[1:]
        edges = np.unique(np.quantile(sizes.to_numpy(), shares, method="higher"))
    of_class = pl.col("size_bytes").map_batches(
        lambda s: pl.Series(np.searchsorted(edges, s.to_numpy())), return_dtype=pl.Int64
    )
    upto = pl.col("class").replace_strict(dict(enumerate(edges.tolist())), return_dtype=pl.Int64)
    percentiles = [
        pl.col("slowdown").quantile(p / 100, "linear").alias(f"p{p}") for p in PERCENTILES
    ]
    return (
        finished.with_columns(of_class.alias("class"))
        .group_by("series", "class", maintain_order=True)
        .agg(
            pl.col("size_bytes").median().alias("size_median_bytes"),
            pl.len().alias("flows"),
            *percentiles,
        )
        .with_columns(upto_bytes=upto, p99=pl.when(pl.col("flows") >= ENOUGH).then("p99"))
        .select(
            "series",
            "upto_bytes",
            "size_median_bytes",
            "flows",
            *(f"p{p}" for p in PERCENTILES),
        )
        .sort(pl.col("series").rle_id(), "upto_bytes")
    )


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw medians as lines, nine flows in ten as bands, 99th percentiles as dots."""
    axes = look.panel(figure, "size of the flow (median of its class)", "FCT slowdown")
    styles = look.looks(rows["series"])
    classes = rows["upto_bytes"].n_unique()
    many = classes > 1 and len(styles) <= MOST_BANDS
    for i, (series, style) in enumerate(styles.items()):
        of = rows.filter(series=series)
        x = of["size_median_bytes"].to_numpy()
        if classes == 1:
            x = x * 1.2 ** (i - (len(styles) - 1) / 2)
        low, middle, high = (of[f"p{p}"].to_numpy() for p in (5, 50, 95))
        if many:
            axes.fill_between(x, low, high, color=style.colour, alpha=0.15, linewidth=0)
        else:
            axes.vlines(x, low, high, color=style.colour, linewidth=0.8, alpha=0.6)
        axes.plot(
            x,
            middle,
            color=style.colour,
            linestyle=style.dash,
            marker=style.marker,
            markersize=3.5,
            label=series,
        )
        axes.plot(x, of["p99"].to_numpy(), color=style.colour, linestyle=(0, (1, 1.6)), lw=1)
    look.log(axes, "x", "B")
    axes.margins(x=0.05)
    axes.set_yscale("log")
    look.log(axes, "y")
    extra = [
        Line2D([], [], color="#777777", lw=5 if many else 0.8, alpha=0.35, label="5% to 95%"),
        Line2D([], [], color="#777777", linestyle=(0, (1, 1.6)), lw=1, label="99%"),
    ]
    if rows["p99"].is_null().all():
        extra.pop()
    if len(styles) == 1:
        axes.lines[0].set_label("median")
    look.legend(figure, [axes], extra)


KIND = Kind("slowdown", data, draw)
