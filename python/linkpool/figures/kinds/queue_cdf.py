"""The distribution of queue lengths over time."""

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import MOST_LINES, FigureError, Recipe, Request
from linkpool.figures.source import recorded


def data(request: Request) -> pl.DataFrame:
    """Return, by arm and link, the share of samples in the measured period up to each length."""
    frames = []
    for arm in request.arms:
        for result in arm.results:
            start, end = result.period
            start, end = request.start or start, request.end or end
            samples = recorded(result, "queue", "queue-cdf").filter(
                pl.col("time_s").is_between(start, end)
            )
            if request.links:
                samples = samples.filter(pl.col("link").is_in(list(request.links)))
            counts = samples.group_by("link", "queue_pkts").len("samples").collect()
            frames.append(counts.select(pl.lit(arm.name).alias("arm"), pl.all()))
    rows = pl.concat(frames)
    if rows.is_empty():
        raise FigureError("queue-cdf has no samples: no such link was recorded in this time")
    keys = ["arm", "link"]
    count = pl.col("samples")
    return (
        rows.group_by(*keys, "queue_pkts")
        .agg(count.sum())
        .sort(*keys, "queue_pkts")
        .select(*keys, "queue_pkts", share=count.cum_sum().over(keys) / count.sum().over(keys))
    )


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a step curve for each arm and link."""
    axes = look.panel(figure, "queue, packets", "share of time")
    several = [name for name in ("arm", "link") if rows[name].n_unique() > 1] or ["link"]
    rows = rows.with_columns(series=pl.concat_str(several, separator=", "))
    fullest = rows.group_by("series", maintain_order=True).agg(pl.col("queue_pkts").max())
    drawn = fullest.sort("queue_pkts", descending=True, maintain_order=True).head(MOST_LINES)
    shown = rows.filter(pl.col("series").is_in(drawn["series"].implode()))
    for series, style in look.looks(shown["series"]).items():
        of = rows.filter(series=series)
        lengths, shares = of["queue_pkts"].to_list(), of["share"].to_list()
        axes.step(
            [0, *lengths],
            [0 if lengths[0] else shares[0], *shares],
            where="post",
            color=style.colour,
            linestyle=style.dash,
            label=series,
        )
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.01)
    left = fullest.height - drawn.height
    said = f"{MOST_LINES} of {fullest.height} curves drawn, those with the longest queues"
    look.legend(figure, [axes], [look.note(said)] if left else [])


RECIPE = Recipe(data, draw)
