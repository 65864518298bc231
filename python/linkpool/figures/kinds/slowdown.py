"""FCT slowdown by size of the flow: median, the band of nine flows in ten, and the tail."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator
from matplotlib.transforms import IdentityTransform, Transform

from linkpool.censored import Censored
from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.source import measured_flows
from linkpool.percentiles import needed
from linkpool.unfinished import so_far

CLASSES = 10
"""Classes of equal counts; where there are no more sizes than these, each is a class."""
MOST_BANDS = 3
"""More bands hide each other."""
ONE_CLASS = 12.0
"""Points between two series where all flows are in one class of sizes."""
MEDIAN = 50
PERCENTILES = (5, MEDIAN, 95, 99)


def data(request: Request) -> pl.DataFrame:
    """Return percentiles of the slowdown by series and class of sizes.

    A percentile of fewer flows than it needs is null, but not the median of one flow. A flow that
    had not finished when the run ended counts as the least that its slowdown may be; `p99_at_least`
    and its like say which percentiles are lower bounds therefore, and `unfinished` how many of the
    `flows` had not finished.
    """
    columns = ["size_bytes", "end_s", "fct_s", "slowdown", "active_s", "ideal_fct_s"]
    flows = so_far(measured_flows(request.arms, request.by, columns).lazy()).collect()
    sized = flows.drop_nulls(["size_bytes", "slowdown"])
    if sized.is_empty():
        raise FigureError("slowdown needs flows with a size, and none was measured")
    sizes = sized["size_bytes"]
    if sizes.n_unique() <= CLASSES:
        edges = sizes.unique().sort().to_numpy()
    else:
        shares = np.linspace(0, 1, CLASSES + 1)[1:]
        edges = np.unique(np.quantile(sizes.to_numpy(), shares, method="higher"))
    of_class = np.searchsorted(edges, sizes.to_numpy())
    rows = [
        {
            "series": series,
            "upto_bytes": int(edges[number]),
            "size_median_bytes": of["size_bytes"].median(),
            **_percentiles(of),
        }
        for (series, number), of in sized.with_columns(number=pl.Series(of_class))
        .partition_by("series", "number", as_dict=True, maintain_order=True)
        .items()
    ]
    bounds = {f"p{percent}_at_least": pl.Boolean for percent in PERCENTILES}
    values = {f"p{percent}": pl.Float64 for percent in PERCENTILES}
    counts = {"flows": pl.UInt32, "unfinished": pl.UInt32}
    ordered = pl.DataFrame(rows, schema_overrides={**counts, **values, **bounds})
    return ordered.sort(pl.col("series").rle_id(), "upto_bytes")


def _percentiles(flows: pl.DataFrame) -> dict[str, float | bool | None]:
    """Return the counts of a class, and its percentiles."""
    sample = Censored(flows["slowdown"].to_numpy(), flows["at_least"].to_numpy())
    found: dict[str, float | bool | None] = {
        "flows": sample.count,
        "unfinished": sample.unfinished,
    }
    bounds = {}
    for percent in PERCENTILES:
        value, bound = sample.percentile(percent)
        enough = percent == MEDIAN or sample.count >= needed(Fraction(percent))
        found[f"p{percent}"] = value if enough else None
        bounds[f"p{percent}_at_least"] = bound and enough
    return {**found, **bounds}


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw medians as lines, nine flows in ten as bands, 99th percentiles as lighter lines."""
    facets = look.facets(rows["series"])
    all_axes = look.panels_of(
        figure, list(facets), "size of the flow (median of its class)", "FCT slowdown"
    )
    classes = rows["upto_bytes"].n_unique()
    series = max(map(len, facets.values()))
    many = classes > 1 and series <= MOST_BANDS
    marks = [
        _panel(axes, rows, styles, classes == 1, many)
        for axes, styles in zip(all_axes, facets.values(), strict=True)
    ]
    drawn = [value for p in PERCENTILES for value in rows[f"p{p}"].drop_nulls()]
    for axes in all_axes:
        look.log(axes, "x", "B")
        axes.margins(x=0.05)
        if classes == 1:
            # The arms stand beside each other at the one size that there is.
            sizes = rows["size_median_bytes"].to_numpy()
            axes.set_xlim(0.5 * sizes.min(), 2.0 * sizes.max())
            axes.xaxis.set_major_locator(FixedLocator([float(np.median(sizes))]))
            axes.xaxis.set_minor_locator(NullLocator())
        if look.spans(drawn):
            look.log(axes, "y")
        else:
            axes.set_ylim(bottom=0)
    extra = [
        Line2D([], [], color="#777777", lw=5 if many else 0.8, alpha=0.35, label="5% to 95%"),
        Line2D([], [], color="#bbbbbb", lw=0.9, marker=".", markersize=3, label="99%"),
    ]
    extra = [line for line, p in zip(extra, ("p95", "p99"), strict=True) if rows[p].count()]
    counts = rows.group_by("series", maintain_order=True).agg(pl.col("flows", "unfinished").sum())
    extra += [*[mark for mark in marks if mark is not None][:1], *look.unfinished(counts)]
    if rows["series"].n_unique() == 1:
        all_axes[0].lines[0].set_label("median")
    look.legend(figure, all_axes, extra)


def _panel(
    axes: Axes,
    rows: pl.DataFrame,
    styles: Mapping[Any, tuple[str, look.Look]],
    one_class: bool,
    bands: bool,
) -> Line2D | None:
    """Draw these series; return a line for the legend, if a value is a lower bound."""
    marked = None
    for i, (series, (label, style)) in enumerate(styles.items()):
        of = rows.filter(series=series)
        x = of["size_median_bytes"].to_numpy()
        low, middle, high, tail = (of[f"p{p}"].to_numpy() for p in PERCENTILES)
        move: Transform = IdentityTransform()
        if not bands:
            move = look.beside(axes, i, len(styles), ONE_CLASS if one_class else look.APART)
        to = axes.transData + move
        if bands:
            axes.fill_between(x, low, high, color=style.colour, alpha=0.15, linewidth=0)
        else:
            axes.vlines(x, low, high, transform=to, color=style.colour, linewidth=0.8, alpha=0.6)
        axes.plot(
            x,
            middle,
            transform=to,
            color=style.colour,
            linestyle=style.dash,
            marker=style.marker,
            markersize=3.5,
            label=label,
        )
        pale = look.shade(style.colour)
        axes.plot(x, tail, transform=to, color=pale, lw=0.9, marker=".", markersize=3)
        for values in (low, middle, high, tail):
            axes.update_datalim([*zip(x, values, strict=True)])
        for p, values in zip(PERCENTILES, (low, middle, high, tail), strict=True):
            bounds = of[f"p{p}_at_least"].to_numpy()
            if bounds.any():
                marked = look.at_least(axes, x[bounds], values[bounds], style.colour, move)
    return marked


RECIPE = Recipe(data, draw)
