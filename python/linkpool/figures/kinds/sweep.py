"""A setting that a study varies, against a measure, with confidence."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Kind, Request
from linkpool.study.measures import ALL, measure, wanted
from linkpool.study.model import ARM, CALLED
from linkpool.study.statistics import over_seeds

USUAL = "fct.p99@all"


def data(request: Request) -> pl.DataFrame:
    """Return the measure over the seeds, with its 95% interval, by arm and value.

    `at_least` says which means are lower bounds, as `unfinished` of their `flows` had not finished.
    """
    name = request.measure or USUAL
    try:
        asked = wanted(name)
    except ValueError as error:
        raise FigureError(f"sweep: {error}") from None
    varied = [key for key in (request.arms[0].keys if request.arms else {}) if key != ARM]
    if not varied or any(list(arm.keys) != [ARM, *varied] for arm in request.arms):
        raise FigureError("sweep needs the directory of one study that varies a setting")
    settings = {tuple(map(str, (arm.keys[key] for key in varied))) for arm in request.arms}
    if CALLED in varied and len(settings) == len({arm.keys[CALLED] for arm in request.arms}):
        varied = [CALLED]
    if len(varied) > 1:
        raise FigureError(f"sweep draws one varied setting, and this study has {', '.join(varied)}")
    rows = [
        measure(result, [name]).select(
            pl.lit(str(arm.keys[ARM])).alias("series"),
            pl.lit(arm.keys[varied[0]]).alias("setting"),
            pl.lit(seed).alias("seed"),
            pl.all(),
        )
        for arm in request.arms
        for seed, result in enumerate(arm.results)
    ]
    table = over_seeds(pl.concat(rows, how="vertical_relaxed"), ["series", "setting"], {})
    values = table.filter(pl.col("mean").is_not_null(), statistic=asked.statistics[0])
    chosen = values.filter(part=asked.part or ALL)
    if chosen.is_empty():
        parts = values["part"].unique(maintain_order=True).to_list()
        few = table.filter(pl.col("why").is_not_null(), part=asked.part or ALL)["why"].to_list()
        proposed = f"; {few[0]}" if few else ""
        proposed += f"; name a part, as in {name}@{parts[0]}" if parts else ""
        raise FigureError(f"sweep: no run of this study has a value of {name}{proposed}")
    named = chosen.with_columns(key=pl.lit(varied[0]), name=pl.lit(name))
    columns = ["series", "key", "setting", "name", "unit", "seeds", "mean", "low", "high"]
    return named.select(*columns, "at_least", "unfinished", flows="count")


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw means as lines, and intervals as bars; values that only have names are not joined."""
    unit = rows["unit"][0]
    highest = float(rows["mean"].drop_nulls().to_numpy().max())
    scale, shown = 1.0, unit
    if unit == "s":
        scale, shown = look.time_unit(highest)
    elif unit == "bit/s":
        scale, shown = look.rate_unit(highest)
    label = rows["name"][0] + (f", {shown}" if shown else "")
    named = rows["key"][0] == CALLED
    axes = look.panel(figure, "" if named else rows["key"][0], label)
    places = {value: i for i, value in enumerate(rows["setting"].unique(maintain_order=True))}
    numeric = rows["setting"].dtype.is_numeric()
    looks = look.looks(rows["series"])
    marked = None
    for number, (series, style) in enumerate(looks.items()):
        of = rows.filter(series=series)
        x = of["setting"].to_list() if numeric else [places[v] for v in of["setting"]]
        if named:
            x = [place + 0.6 * ((number + 0.5) / len(looks) - 0.5) for place in x]
        y = of["mean"].to_numpy() * scale
        ends = [y - of["low"].to_numpy() * scale, of["high"].to_numpy() * scale - y]
        known = of["low"].is_not_null().any()
        axes.errorbar(
            x,
            y,
            ends if known else None,
            color=style.colour,
            linestyle="none" if named else style.dash,
            marker=style.marker,
            markersize=3.5,
            elinewidth=0.8,
            capsize=2,
            label=series,
        )
        bounds = of["at_least"].to_numpy()
        if bounds.any():
            marked = look.at_least(axes, np.array(x)[bounds], y[bounds], style.colour)
    if not numeric:
        axes.set_xticks(list(places.values()), [str(value) for value in places])
    axes.set_ylim(bottom=0)
    counts = rows.group_by("series", maintain_order=True).agg(pl.col("flows", "unfinished").sum())
    extra = [*([marked] if marked is not None else []), *look.unfinished(counts)]
    look.legend(figure, [axes], extra)


KIND = Kind("sweep", data, draw)
