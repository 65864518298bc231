"""A flow's life as a picture: the chain of causes on an axis of time, and windows below it."""

from itertools import pairwise
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from linkpool.explain.critical import Cause
from linkpool.explain.story import Story
from linkpool.figures import look
from linkpool.figures.plot import content, require_format
from linkpool.publish import publish_file
from linkpool.units import PS, show_seconds

WIDTH = 6.9
"""Inches: both columns of a paper's page."""

COLOURS: dict[Cause, str] = {
    Cause.HANDSHAKE: "#999999",
    Cause.HANDSHAKE_QUEUE: "#c8c8c8",
    Cause.SYN_TIMEOUT: "#7a2e8e",
    Cause.DATA: "#0072b2",
    Cause.HOST_QUEUE: "#f3c677",
    Cause.HOST_PAUSED: "#d3a4e0",
    Cause.QUEUE: "#e69f00",
    Cause.PAUSED: "#a0359b",
    Cause.ANY_QUEUE: "#e69f00",
    Cause.ANY_PAUSED: "#a0359b",
    Cause.ACK: "#56b4e9",
    Cause.ACK_QUEUE: "#f7e3a1",
    Cause.DELAYED_ACK: "#009e73",
    Cause.RATE: "#8fd3b6",
    Cause.RATE_AGAIN: "#c2b280",
    Cause.PORT: "#66a61e",
    Cause.ADAPTER: "#1b4d3e",
    Cause.RTO: "#d55e00",
    Cause.PTO: "#cc79a7",
    Cause.REORDERING: "#e8b8d3",
    Cause.JOIN: "#444444",
    Cause.JOIN_ACK: "#777777",
    Cause.READ: "#a6761d",
    Cause.PROBE: "#e7298a",
    Cause.HEADER: "#b3a5d3",
    Cause.HEADER_QUEUE: "#d8d0ea",
    Cause.RETURNED: "#8c564b",
    Cause.NACK: "#c49c94",
    Cause.REQUEST: "#dbdb8d",
    Cause.TURN: "#009e73",
    Cause.PULL: "#2b8cbe",
    Cause.PULL_QUEUE: "#c6dbef",
    Cause.NEXT_MESSAGE: "#b15928",
    Cause.OTHER_TIMER: "#000000",
}
TICKS = {
    "mark": ("#e69f00", 0.15),
    "loss": ("#d1342f", 0.45),
    "trim": ("#8c6bb1", 0.3),
    "pause": ("#a0359b", 0.7),
    "timeout": ("#7a2e8e", 1.0),
    "probe": ("#cc79a7", 0.6),
    "recovery": ("#009e73", 0.3),
}
"""Of moments: colour, and length as a share of the lane."""


def draw(story: Story, out: Path, width: float = WIDTH) -> None:
    """Write the picture; the suffix of the file says in which format.

    Raises:
        FigureError: there is no such format.

    """
    require_format(out)
    picture = render(story, out.suffix, width)
    with publish_file(out) as file:
        file.write_bytes(picture)


def render(story: Story, suffix: str, width: float = WIDTH) -> bytes:
    """Return the picture as a file of this format."""
    with look.context():
        subflows = story.life.subflows
        rows = 1 + len(subflows)
        figure = Figure(figsize=(width, 1.5 + 0.75 * rows), layout="constrained")
        axes = figure.subplots(
            rows, 1, sharex=True, squeeze=False, height_ratios=[0.55, *[1.0] * (rows - 1)]
        )[:, 0]
        factor, unit = look.time_unit((story.life.end - story.life.start) / PS)
        _chain(axes[0], story, factor)
        for lane, subflow in zip(axes[1:], subflows, strict=True):
            _lane(lane, story, subflow, factor)
        begin = "the first packet" if story.life.message is None else "the message was given"
        axes[-1].set_xlabel(f"{unit} after {begin}")
        axes[-1].set_xlim(0, (story.life.end - story.life.start) / PS * factor)
        row = story.life.row
        took = "did not finish" if row["fct_s"] is None else f"took {show_seconds(row['fct_s'])}"
        axes[0].set_title(
            f"Flow {story.life.flow}, {row['src']} to {row['dst']}: {took}", loc="left"
        )
        handles = [
            Patch(color=COLOURS[cause], label=f"{cause.value}: {show_seconds(length / PS)}")
            for cause, length in story.breakdown.items()
        ]
        kinds = {m.kind for m in story.moments} & TICKS.keys()
        names = {
            **{"mark": "marked ACK", "loss": "packet lost", "trim": "packet trimmed"},
            "pause": "held back by a pause",
            "recovery": "fast recovery",
        }
        handles += [
            Patch(color=TICKS[kind][0], label=f"tick: {names.get(kind, kind)}")
            for kind in TICKS
            if kind in kinds
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=7)
        return content(figure, suffix)


def _chain(axes: Axes, story: Story, factor: float) -> None:
    for span in story.spans:
        left = (span.start - story.life.start) / PS * factor
        length = (span.end - span.start) / PS * factor
        axes.broken_barh([(left, length)], (0, 1), facecolors=COLOURS[span.cause], linewidth=0)
    axes.set_yticks([0.5], ["chain of\ncauses"])
    axes.grid(visible=False)
    axes.set_ylim(0, 1)


def _lane(axes: Axes, story: Story, subflow: int, factor: float) -> None:
    states = [e for e in story.life.events if e.what == "state" and e["subflow"] == subflow]
    times = pl.Series([(e.at - story.life.start) / PS * factor for e in states])
    end = (story.life.end - story.life.start) / PS * factor
    windows = [e["cwnd"] for e in states]
    if states:
        colour = look.COLOURS[subflow % len(look.COLOURS)]
        axes.step([*times, end], [*windows, windows[-1]], where="post", color=colour)
    top = max(windows, default=1.0) * 1.2
    suppressed = [*states, None]
    for now, after in pairwise(suppressed):
        if now is not None and now["suppressed"]:
            until = end if after is None else (after.at - story.life.start) / PS * factor
            begin = (now.at - story.life.start) / PS * factor
            axes.axvspan(begin, until, color="#f2e6c8", linewidth=0, zorder=0)
    for moment in story.moments:
        if moment.subflow == subflow and moment.kind in TICKS:
            tick, share = TICKS[moment.kind]
            at = (moment.at - story.life.start) / PS * factor
            axes.vlines(at, top * (1 - share), top, color=tick, linewidth=0.9)
    axes.set_ylim(0, top)
    what = "packets in flight" if story.life.is_pulled else f"subflow {subflow}\nwindow"
    axes.set_ylabel(what)
