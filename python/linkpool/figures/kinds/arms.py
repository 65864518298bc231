"""The measures of arms beside each other, a panel for each, with confidence."""

import textwrap
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.kinds.sweep import measure_name
from linkpool.study.measures import ALL, wanted
from linkpool.study.measuring import measure
from linkpool.study.statistics import over_seeds

USUAL = ("fct.mean@all", "fct.p99@all")
"""The measures, if none is named."""
MOST_PANELS = 12
"""More panels do not fit a page."""


def data(request: Request) -> pl.DataFrame:
    """Return each measure over the seeds, with its 95% interval, by arm.

    `at_least` says which means are lower bounds, as `unfinished` of their `flows` had not finished;
    `why`, why there is no mean. Measures that no arm has are left out.
    """
    names = list(request.measures or USUAL)
    try:
        for name in names:
            wanted(name)
    except ValueError as error:
        raise FigureError(f"arms: {error}") from None
    rows = [
        measure(result, names).select(
            pl.lit(arm.name).alias("series"), pl.lit(seed).alias("seed"), pl.all()
        )
        for arm in request.arms
        for seed, result in enumerate(arm.results)
    ]
    table = over_seeds(pl.concat(rows, how="vertical_relaxed"), ["series"], {})
    part = pl.when(pl.col("part") != ALL).then("@" + pl.col("part")).otherwise(pl.lit(""))
    statistic = pl.when(pl.col("statistic") != "").then("." + pl.col("statistic"))
    named = pl.col("measure") + statistic.otherwise(pl.lit("")) + part
    columns = ["series", "name", "unit", "seeds", "mean", "low", "high"]
    table = table.with_columns(name=named).select(
        *columns, "at_least", "unfinished", "why", flows="count"
    )
    table = table.filter(pl.col("mean").is_not_null().any().over("name"))
    panels = table["name"].n_unique()
    if not panels:
        raise FigureError(f"arms: no run has a value of {', '.join(names)}")
    if panels > MOST_PANELS:
        raise FigureError(
            f"arms: {', '.join(names)} have {panels} statistics and parts, and a figure has room "
            f"for {MOST_PANELS}; name fewer, as in --measure fct.p99@all"
        )
    return table


LINE = 0.17
"""The height of an arm in a panel, inches."""
MARGIN = 0.05
"""The share of an axis that is left free at its ends, so that points stand whole."""


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a point for each arm, and its interval: arms one below the other, panels in two columns.

    Panels have scales of their own: from 0 on, or logarithmic where means are far apart.
    """
    names = rows["name"].unique(maintain_order=True).to_list()
    arms = rows["series"].unique(maintain_order=True).to_list()
    across = min(len(names), 2)
    down = -(-len(names) // across)
    width = figure.get_figwidth()
    room = (width - look.LETTER * max(map(len, arms))) / across - 0.1
    letters = max(int(room / look.LETTER), 12)
    titles = [_title(rows.filter(name=name), letters) for name in names]
    lines = max(title.count("\n") + 1 for title in titles)
    figure.set_size_inches(width, down * (LINE * (len(arms) + lines) + 0.5) + 0.1)
    panels = figure.subplots(down, across, sharey=True, squeeze=False)
    marked = None
    for name, title, axes in zip(names, titles, panels.flat, strict=False):
        axes.set_title(title, loc="left")
        marked = _panel(axes, rows.filter(name=name), arms, room) or marked
    for axes in list(panels.flat)[len(names) :]:
        axes.remove()
    # Measures share their flows, so an arm has the most that one of them says.
    counts = rows.sort("unfinished").group_by("series", maintain_order=True).last()
    look.legend(figure, [], [*([marked] if marked is not None else []), *look.unfinished(counts)])


def _scale(rows: pl.DataFrame) -> tuple[float, str]:
    return look.scale(rows["unit"][0], rows.select(pl.max_horizontal("mean", "high").max()).item())


def _title(rows: pl.DataFrame, letters: int) -> str:
    """Return a measure in words, with its unit, in lines of so many letters."""
    _, unit = _scale(rows)
    said = measure_name(rows["name"][0]) + (f", {unit}" if unit else "")
    return textwrap.fill(said, letters)


def _panel(axes: Axes, rows: pl.DataFrame, arms: list[str], room: float) -> Any:
    """Draw one measure in a panel of so many inches.

    Return the line for the legend if a mean is a lower bound.
    """
    factor, _ = _scale(rows)
    known = rows.filter(pl.col("mean").is_not_null())
    marked = None
    for series, style in look.looks(pl.Series(arms)).items():
        place = arms.index(series)
        of = known.filter(series=series)
        if of.is_empty():
            axes.annotate("none", (0.02, place), xycoords=("axes fraction", "data"), va="center")
            continue
        mean, low, high = (of[key].fill_null(of["mean"])[0] for key in ("mean", "low", "high"))
        axes.errorbar(
            [mean * factor],
            [place],
            xerr=[[(mean - low) * factor], [(high - mean) * factor]],
            color=style.colour,
            linestyle="none",
            marker=style.marker,
            markersize=4,
            elinewidth=0.8,
            capsize=2,
        )
        if of["at_least"][0]:
            marked = look.at_least(axes, [mean * factor], [place], style.colour)
    if look.spans(known["mean"].to_list()):
        look.log(axes, "x", room=room)
    else:
        top = factor * known.select(pl.max_horizontal("mean", "high").max()).item() or 1.0
        axes.set_xlim(-MARGIN * top, (1 + MARGIN) * top)
    axes.set_yticks(range(len(arms)), arms)
    axes.set_ylim(len(arms) - 0.5, -0.5)
    return marked


RECIPE = Recipe(data, draw)
