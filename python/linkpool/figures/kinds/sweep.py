"""A setting that a study varies, against a measure, with confidence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Kind, Request
from linkpool.study.measures import ALL, Wanted, measure, wanted
from linkpool.study.model import ARM, CALLED
from linkpool.study.statistics import over_seeds

USUAL = "fct.p99@all"


def data(request: Request) -> pl.DataFrame:
    """Return the measure over the seeds, with its 95% interval, by arm and value.

    `at_least` says which means are lower bounds, as `unfinished` of their `flows` had not finished.
    """
    name = request.measure or USUAL
    asked = _asked(name)
    key = _varied([arm.keys for arm in request.arms])
    rows = [
        measure(result, [name]).select(
            pl.lit(str(arm.keys[ARM])).alias("series"),
            pl.lit(arm.keys[key]).alias("setting"),
            pl.lit(seed).alias("seed"),
            pl.all(),
        )
        for arm in request.arms
        for seed, result in enumerate(arm.results)
    ]
    table = over_seeds(pl.concat(rows, how="vertical_relaxed"), ["series", "setting"], {})
    values = table.filter(pl.col("mean").is_not_null(), statistic=asked.statistics[0])
    parts = values["part"].unique(maintain_order=True).to_list()
    part = asked.part or (ALL if len(parts) != 1 else parts[0])
    chosen = values.filter(part=part)
    if chosen.is_empty():
        few = table.filter(pl.col("why").is_not_null(), part=part)["why"].to_list()
        proposed = f"; {few[0]}" if few else ""
        proposed += f"; name a part, as in {name}@{parts[0]}" if parts else ""
        raise FigureError(f"sweep: no run of this study has a value of {name}{proposed}")
    named = chosen.with_columns(key=pl.lit(key), name=pl.lit(name))
    columns = ["series", "key", "setting", "name", "unit", "seeds", "mean", "low", "high"]
    return named.select(*columns, "at_least", "unfinished", flows="count")


def require(keys: Sequence[Mapping[str, Any]], measure: str | None) -> None:
    """Raise `FigureError` if it cannot be drawn of arms with these keys, and of this measure."""
    name = measure or USUAL
    asked = _asked(name)
    _varied(keys)
    if asked.measure.by_layer and asked.part is None:
        raise FigureError(f"sweep: {name} has a part for each layer; name one: {name}@edge, core")


def _asked(name: str) -> Wanted:
    try:
        return wanted(name)
    except ValueError as error:
        raise FigureError(f"sweep: {error}") from None


def _varied(keys: Sequence[Mapping[str, Any]]) -> str:
    """Return the key of the setting that arms with these keys vary."""
    varied = [key for key in (keys[0] if keys else {}) if key != ARM]
    if not varied or any(list(of) != [ARM, *varied] for of in keys):
        raise FigureError("sweep needs the directory of one study that varies a setting")
    settings = {tuple(map(str, (of[key] for key in varied))) for of in keys}
    if CALLED in varied and len(settings) == len({of[CALLED] for of in keys}):
        varied = [CALLED]
    if len(varied) > 1:
        raise FigureError(f"sweep draws one varied setting, and this study has {', '.join(varied)}")
    return varied[0]


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


KIND = Kind("sweep", data, draw, require=require)
