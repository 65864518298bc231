"""Queue lengths of links over time."""

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import MOST_LINES, FigureError, Recipe, Request, one_arm
from linkpool.figures.kinds.over_time import SAMPLES, within
from linkpool.figures.source import recorded
from linkpool.figures.thin import extremes


def data(request: Request) -> pl.DataFrame:
    """Return the queue lengths of the links, or of the recorded links with the longest queues."""
    result = one_arm(request, "queues").results[0]
    samples = within(recorded(result, "queue", "queues"), request)
    of_links = samples.group_by("link").agg(pl.col("queue_pkts").max()).collect()
    known = of_links.sort("queue_pkts", "link", descending=[True, False])["link"].to_list()
    missing = [link for link in request.links if link not in known]
    if missing or not known:
        raise FigureError(
            f"queues: {result.dir} has no samples of {missing[0] if missing else 'any link'} in "
            f"this time; record.queue has {', '.join(known[:8]) or 'none'}"
        )
    wanted = list(request.links) or known[:MOST_LINES]
    rows = samples.filter(pl.col("link").is_in(wanted)).collect().sort("link", "time_s")
    rows = extremes(rows, "link", "time_s", "queue_pkts", SAMPLES)
    return rows.select("link", "time_s", "queue_pkts", "queue_bytes")


def draw(figure: Figure, rows: pl.DataFrame) -> None:
    """Draw a line for each link."""
    time = look.TimeAxis.of(rows["time_s"])
    axes = look.panel(figure, time.label, "queue, packets")
    for link, style in look.looks(rows["link"]).items():
        of = rows.filter(link=link)
        axes.plot(
            time.at(of["time_s"]),
            of["queue_pkts"].to_numpy(),
            color=style.colour,
            linestyle=style.dash,
            linewidth=0.9,
            label=link,
        )
    axes.set_ylim(bottom=0)
    if rows["link"].n_unique() == 1:
        axes.set_title(rows["link"][0], loc="left")
    look.legend(figure, [axes])


RECIPE = Recipe(data, draw)
