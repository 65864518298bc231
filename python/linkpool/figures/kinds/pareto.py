"""The trials of a search, and the front of those that none is better than."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.kinds.sweep import measure_name
from linkpool.figures.swept import NO_SEARCH
from linkpool.study.measures import wanted

SIDES = (" above", " below")
"""What the columns of bounds end with, after the name of a measure."""


def data(request: Request) -> pl.DataFrame:
    """Return the table of the trials, as `study.search.table_of` writes it."""
    if request.trials is None:
        raise FigureError(NO_SEARCH)
    return request.trials


def draw(figure: Figure, table: pl.DataFrame) -> None:
    """Draw trials by the first two measures; with one, by their number.

    Settings are texts in the table, so the columns of decimal numbers are measures and bounds.
    """
    numbers = [name for name, of in table.schema.items() if of == pl.Float64]
    bounds = [name for name in numbers if name.endswith(SIDES)]
    measures = [name for name in numbers if not name.endswith(SIDES)][:2]
    y = measures[0]
    x = measures[1] if len(measures) > 1 else "trial"
    ran = table.drop_nulls([x, y])
    scales = {name: _unit(name, ran[name]) for name in measures}
    x_scale, x_label = scales.get(x, (1.0, "trial"))
    y_scale, y_label = scales[y]
    axes = look.panel(figure, x_label, y_label)
    stopped = pl.col("stopped") != ""
    groups = (
        ("stopped", stopped, ".", "#888888"),
        ("infeasible", ~stopped & ~pl.col("feasible"), "x", "#aaaaaa"),
        (
            "feasible",
            ~stopped & pl.col("feasible") & ~pl.col("front"),
            "o",
            look.shade(look.COLOURS[0], 0.5),
        ),
        ("Pareto front", pl.col("front"), "D", look.COLOURS[1]),
    )
    for label, which, marker, colour in groups:
        of = ran.filter(which).sort(x)
        if of.is_empty():
            continue
        line = "-" if label == "Pareto front" and len(measures) > 1 else "none"
        axes.plot(
            of[x].to_numpy() * x_scale,
            of[y].to_numpy() * y_scale,
            linestyle=line,
            marker=marker,
            markersize=4,
            color=colour,
            label=label,
        )
    for bound in bounds:
        name, place = bound.rpartition(" ")[0], {y: axes.axhline, x: axes.axvline}
        if name in place:
            at = table[bound][0] * scales[name][0]
            place[name](at, color="#777777", lw=0.8, linestyle=(0, (4, 2)))
    _log(axes, ran, x, y)
    look.legend(figure, [axes])


def _log(axes: Axes, ran: pl.DataFrame, x: str, y: str) -> None:
    if x != "trial" and look.spans(ran[x].to_list()):
        look.log(axes, "x")
    if look.spans(ran[y].to_list()):
        look.log(axes, "y")


def _unit(name: str, values: pl.Series) -> tuple[float, str]:
    """Return the factor of a measure on an axis, and the axis's label."""
    unit = wanted(name).measure.unit
    highest = max((abs(value) for value in values.to_list()), default=1.0)
    factor, shown = look.scale(unit, highest)
    return factor, measure_name(name) + (f", {shown}" if shown else "")


RECIPE = Recipe(data, draw)
