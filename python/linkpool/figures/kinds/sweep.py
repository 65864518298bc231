"""A setting that a study varies, against a measure, with confidence."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Recipe, Request
from linkpool.figures.swept import USUAL, asked_for, varied_of
from linkpool.study.measures import ALL, wanted
from linkpool.study.measuring import measure
from linkpool.study.model import ARM, CALLED
from linkpool.study.statistics import over_seeds
from linkpool.units import read_quantity


def data(request: Request) -> pl.DataFrame:
    """Return the measure over the seeds, with its 95% interval, by arm and value.

    `at_least` says which means are lower bounds, as `unfinished` of their `flows` had not finished;
    `why`, why there is no mean.
    """
    name = request.measures[0] if request.measures else USUAL
    asked = asked_for(name)
    key = varied_of([arm.keys for arm in request.arms])
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
    table = table.filter(statistic=asked.statistics[0])
    values = table.filter(pl.col("mean").is_not_null())
    parts = values["part"].unique(maintain_order=True).to_list()
    part = asked.part or (ALL if len(parts) != 1 else parts[0])
    chosen = values.filter(part=part)
    if chosen.is_empty():
        few = table.filter(pl.col("why").is_not_null(), part=part)["why"].to_list()
        proposed = f"; {few[0]}" if few else ""
        proposed += f"; name a part, as in {name}@{parts[0]}" if parts else ""
        raise FigureError(f"sweep: no run of this study has a value of {name}{proposed}")
    named = table.filter(part=part).with_columns(key=pl.lit(key), name=pl.lit(name))
    columns = ["series", "key", "setting", "name", "unit", "seeds", "mean", "low", "high"]
    return named.select(*columns, "at_least", "unfinished", "why", flows="count")


WORDS = {
    "queue.mark": "marking threshold K",
    "queue.limit": "queue limit",
    "duration": "duration",
    "load": "offered load",
    "subflows": "subflows",
    "senders": "senders of an incast",
    "size": "size of a flow",
    "mss": "payload of a segment",
    "min_rto": "least RTO",
    "delay": "delay of a link",
    "rate": "rate of a link",
    "k": "k of the fat-tree",
    "initial_window": "initial window",
    "ranks": "ranks",
    "beta": "\N{GREEK SMALL LETTER BETA}",
}
"""What settings are, by their dotted keys, or by the last parts of these."""

PACKETS = ("queue.mark", "queue.limit", "initial_window")
"""Settings whose plain numbers are packets."""


def setting_name(key: str) -> tuple[str, str]:
    """Return what a setting is in words, and the unit of its plain numbers.

    >>> setting_name("queue.mark"), setting_name("transport.t.alpha")
    (('marking threshold K', 'packets'), ('transport.t.alpha', ''))

    """
    known = next((one for one in (key, key.rpartition(".")[2]) if one in WORDS), None)
    if known is None:
        return key, ""
    return WORDS[known], "packets" if known in PACKETS else ""


STATISTICS = {
    "mean": "mean",
    "max": "largest",
    "min": "least",
    "p50": "median",
    "total": "total",
    "share": "share of",
}
NAMES = {
    "fct": "FCT",
    "slowdown": "FCT slowdown",
    "goodput": "goodput",
    "jct": "completion time of jobs",
    "ttft": "time to first token",
    "tpot": "time per output token",
    "timeouts": "timeouts",
    "jain": "Jain's index of goodputs",
    "loss": "share of packets lost",
    "utilisation": "utilisation of links",
    "queue": "length of a queue",
    "queue_max": "longest queue of a port",
    "retransmissions": "segments sent again",
    "delivered": "rate delivered",
    "silence": "longest silence of a flow",
    "goodput_kept": "goodput kept after a failure",
}
"""What axes call the usual measures; others have the name that users type."""
WHOLE_NAMES = {
    ("failure", "lost"): "share of goodput lost by a failure",
    ("failure", "hit"): "share of flows hit by a failure",
}
"""What axes call measures of which each statistic is another thing."""


def measure_name(name: str) -> str:
    """Return a measure in words.

    >>> measure_name("fct.p99@all"), measure_name("fct.mean@up to 10 KB")
    ('99th percentile of FCT', 'mean FCT, flows up to 10 KB')
    >>> measure_name("failure.lost"), measure_name("retransmissions.share")
    ('share of goodput lost by a failure', 'share of segments sent again')

    """
    asked = wanted(name)
    if (asked.measure.name, asked.statistics[0]) in WHOLE_NAMES:
        return WHOLE_NAMES[asked.measure.name, asked.statistics[0]]
    of = NAMES.get(asked.measure.name, asked.measure.name)
    statistic = asked.statistics[0]
    if statistic.startswith("p") and statistic not in STATISTICS:
        number = statistic[1:]
        end = {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")
        end = "th" if number[-2:] in ("11", "12", "13") else end
        said = f"{number}{end} percentile of {of}"
    elif len(asked.measure.statistics) == 1 and not asked.measure.is_sample:
        said = of
    else:
        said = f"{STATISTICS.get(statistic, statistic)} {of}"
    if asked.part in (None, ALL):
        return said
    flows = "flows " if str(asked.part).startswith(("up to", "above")) else ""
    return f"{said}, {flows}{asked.part}"


def _numbers(settings: pl.Series) -> tuple[dict[Any, float], str] | None:
    """Return settings as numbers, and in which unit; None: they are names."""
    values = settings.unique(maintain_order=True).to_list()
    if settings.dtype.is_numeric():
        return {value: float(value) for value in values}, ""
    read = [read_quantity(str(value)) for value in values]
    units = {quantity[1] if quantity else None for quantity in read}
    if None in units or len(units) > 1:
        return None
    numbers = {v: quantity[0] for v, quantity in zip(values, read, strict=True) if quantity}
    return numbers, str(units.pop())


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw means as lines, and intervals as bars; values that only have names are not joined."""
    every, rows = rows, rows.filter(pl.col("mean").is_not_null())
    scale, shown = look.scale(rows["unit"][0], float(rows["mean"].drop_nulls().to_numpy().max()))
    label = measure_name(rows["name"][0]) + (f", {shown}" if shown else "")
    named = rows["key"][0] == CALLED
    known = None if named else _numbers(rows["setting"])
    what, plain_unit = setting_name(rows["key"][0])
    places: dict[Any, float]
    if known is None:
        places = {v: float(i) for i, v in enumerate(rows["setting"].unique(maintain_order=True))}
        unit = ""
    else:
        factor, unit = look.scale(known[1] or plain_unit, max(known[0].values()))
        places = {value: number * factor for value, number in known[0].items()}
    axes = look.panel(figure, "" if named else what + (f", {unit}" if unit else ""), label)
    looks = look.looks(rows["series"])
    marked = None
    for number, (series, style) in enumerate(looks.items()):
        of = rows.filter(series=series)
        x = [places[value] for value in of["setting"]]
        if named:
            x = [place + 0.6 * ((number + 0.5) / len(looks) - 0.5) for place in x]
        y = of["mean"].to_numpy() * scale
        ends = [y - of["low"].to_numpy() * scale, of["high"].to_numpy() * scale - y]
        move = look.beside(axes, number, len(looks), 0.0 if named else look.APART)
        axes.errorbar(
            x,
            y,
            ends if of["low"].is_not_null().any() else None,
            transform=axes.transData + move,
            color=style.colour,
            linestyle="none" if named else style.dash,
            marker=style.marker,
            markersize=3.5,
            elinewidth=0.8,
            capsize=2,
            label=series,
        )
        corners = [of[name].fill_null(of["mean"]).to_numpy() for name in ("low", "high")]
        axes.update_datalim([*zip(x * 2, np.concatenate(corners) * scale, strict=True)])
        bounds = of["at_least"].to_numpy()
        if bounds.any():
            marked = look.at_least(axes, np.array(x)[bounds], y[bounds], style.colour, move)
    if known is None:
        axes.set_xticks(list(places.values()), [str(value) for value in places])
    elif look.spans(places.values()):
        look.log(axes, "x", unit if unit == "B" else "")
    if look.spans(rows["mean"].to_list()):
        look.log(axes, "y")
    else:
        axes.set_ylim(bottom=0)
    counts = rows.group_by("series", maintain_order=True).agg(pl.col("flows", "unfinished").sum())
    extra = [*([marked] if marked is not None else []), *look.unfinished(counts)]
    look.legend(figure, [axes], [*extra, *map(look.note, _without(every, what))])


def _without(rows: pl.DataFrame, what: str) -> Iterator[str]:
    """Say at which settings arms have no value, and why."""
    arms = rows["series"].n_unique()
    for setting, of in rows.filter(pl.col("mean").is_null()).group_by(
        "setting", maintain_order=True
    ):
        who = "" if of.height == arms else f", {', '.join(of['series'])}"
        yield f"none at {what} {setting[0]}{who}: {of['why'][0] or 'no seed has a value'}"


RECIPE = Recipe(data, draw)
