"""The trials of a search, and the front of those that none is better than."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kinds.sweep import measure_name
from linkpool.figures.plot import HEIGHT, content
from linkpool.study.measures import wanted


def draw(
    table: pl.DataFrame, measures: Sequence[str], bounds: Mapping[str, float], out: Path
) -> None:
    """Draw trials by one or two measures; with one, by their number.

    Args:
        table: as `study.search.table_of` returns it.
        measures: the second is on the x axis.
        bounds: what is required of a measure, a line.
        out: the file.

    """
    with look.context():
        figure = Figure(figsize=(look.COLUMN, look.COLUMN * HEIGHT), layout="constrained")
        _draw(figure, table, measures, bounds)
        out.write_bytes(content(figure, out.suffix))


def _draw(
    figure: Figure, table: pl.DataFrame, measures: Sequence[str], bounds: Mapping[str, float]
) -> None:
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
    for name, place in ((y, axes.axhline), (x, axes.axvline)):
        if name in bounds:
            place(bounds[name] * scales[name][0], color="#777777", lw=0.8, linestyle=(0, (4, 2)))
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
