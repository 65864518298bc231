"""How figures look: one colour and one marker per scheme in all of them."""

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from linkpool.study.schemes import LOOKS, NAMES
from linkpool.ticks import group_thousands

PLAIN = FuncFormatter(lambda value, _: f"{value:,g}")
"""Writes 0.1, 10 and 1,000 where matplotlib would write powers of ten."""

_RC: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "linkpool",
    "hatch.linewidth": 0.6,
}

Axis = npt.NDArray[Any]
Share: TypeAlias = "bool | Literal['row', 'col']"


def context() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and rendered."""
    return mpl.rc_context(_RC)


def panels(
    rows: int,
    columns: int,
    title: str,
    size: tuple[float, float] = (3.2, 2.6),
    sharey: Share = True,
    sharex: Share = False,
) -> tuple[Figure, Axis]:
    """Return a figure of equal panels, each `size` inches, and their axes as a 2-D array."""
    figure = Figure(
        figsize=(max(columns * size[0], 5.5), rows * size[1] + 0.9), layout="constrained"
    )
    axes = figure.subplots(rows, columns, squeeze=False, sharey=sharey, sharex=sharex)
    figure.suptitle(title, fontsize=10.5, fontweight="bold", x=0.01, ha="left")
    return figure, np.asarray(axes)


def plain_log(axes: Axes, bottom: float | None = None) -> None:
    """Make the y axis logarithmic, with plain numbers, from `bottom` to above all that is drawn."""
    axes.set_yscale("log", nonpositive="clip")
    axes.yaxis.set_major_formatter(PLAIN)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.autoscale(axis="y")
    if bottom is not None:
        axes.set_ylim(bottom, axes.get_ylim()[1])


def plain_log_x(axes: Axes) -> None:
    """Make the x axis logarithmic, with plain numbers 1, 2, 5, 10, ..."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(PLAIN)
    axes.xaxis.set_minor_formatter(NullFormatter())


def from_zero(axes: Axes) -> None:
    """Let the y axis begin at 0 and end above all that is drawn, in panels that share it too."""
    axes.autoscale(axis="y")
    axes.set_ylim(0.0, axes.get_ylim()[1])


def legend(figure: Figure, axes: Axes, columns: int = 6) -> None:
    """Put one legend below all panels, in at most so many columns."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(max(len(labels), 1), columns)
    )


def remark(figure: Figure, text: str) -> None:
    """Put a line below the title, in a colour that does not pass unseen."""
    title = figure.get_suptitle()
    figure.suptitle(f"{title}\n", fontsize=10.5, fontweight="bold", x=0.01, ha="left")
    height = figure.get_figheight()
    figure.text(0.01, 1 - 0.27 / height, text, color="#d55e00", fontsize=9.0, va="top")


def bars(
    axes: Axes,
    groups: Sequence[str],
    heights: Mapping[str, Sequence[float | None]],
    whiskers: Mapping[str, Sequence[float | None]] | None = None,
) -> None:
    """Draw grouped bars, one per scheme in each group; a None is left out.

    Args:
        axes: where to draw.
        groups: the names below the groups.
        heights: for each scheme, the height in each group.
        whiskers: for each scheme, half the length of the whisker in each group.

    """
    places, width = places_of_bars(len(groups), len(heights))
    for x, (scheme, values) in zip(places, heights.items(), strict=True):
        look = LOOKS[scheme]
        y = _floats(values)
        axes.bar(
            x,
            y,
            width * 0.92,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white" if look.hatch else look.colour,
            linewidth=0,
            label=NAMES[scheme],
        )
        if whiskers is not None:
            error = _floats(whiskers[scheme])
            axes.errorbar(x, y, error, fmt="none", ecolor="black", elinewidth=0.8, capsize=2)
    axes.set_xticks(np.arange(len(groups)), groups)
    axes.grid(visible=False, axis="x")


def places_of_bars(groups: int, bars_of_group: int) -> tuple[list[npt.NDArray[np.float64]], float]:
    """Return where the bars of each scheme stand, one in each group, and how wide they are."""
    width = 0.8 / max(bars_of_group, 1)
    middle = (bars_of_group - 1) / 2
    places = np.arange(groups, dtype=np.float64)
    return [places + (i - middle) * width for i in range(bars_of_group)], width


def ranges(axes: Axes, spans: Mapping[str, Sequence[tuple[float | None, float | None]]]) -> None:
    """Draw, on the bars of each scheme in each group, a whisker from one value to another."""
    groups = max(map(len, spans.values()), default=0)
    for x, values in zip(places_of_bars(groups, len(spans))[0], spans.values(), strict=True):
        low, high = (_floats([span[end] for span in values]) for end in (0, 1))
        axes.vlines(x, low, high, color="black", linewidth=0.8)


class Spread(NamedTuple):
    """Percentiles of a sample and its mean; None: there is no value."""

    low: float | None
    median: float | None
    high: float | None
    mean: float | None


def spreads(axes: Axes, groups: Sequence[str], of: Mapping[str, Sequence[Spread]]) -> None:
    """Draw the spread of each scheme in each group: a range, its median, its mean.

    A mean may be far above the range, where few values are very large.
    """
    places, _ = places_of_bars(len(groups), len(of))
    for x, (scheme, values) in zip(places, of.items(), strict=True):
        look = LOOKS[scheme]
        low, median, high, mean = (_floats(column) for column in zip(*values, strict=True))
        axes.vlines(x, low, high, color=look.colour, linewidth=2.0, alpha=0.55)
        dots: Any = {"color": look.colour, "linestyle": "none", "marker": look.marker}
        axes.plot(x, median, **dots, markersize=4, label=NAMES[scheme])
        axes.plot(x, mean, **{**dots, "marker": "_"}, markersize=7, markeredgewidth=1.4)
    axes.set_xticks(np.arange(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(visible=False, axis="x")


def lines(
    axes: Axes, scheme: str, x: Sequence[float], y: Sequence[float], low: Any, high: Any
) -> None:
    """Draw a scheme's values with the range over the seeds as a bar."""
    look = LOOKS[scheme]
    middle = np.asarray(y, dtype=float)
    error = np.array(
        [middle - np.asarray(low, dtype=float), np.asarray(high, dtype=float) - middle]
    )
    axes.errorbar(
        x,
        middle,
        np.clip(error, 0.0, None),
        color=look.colour,
        marker=look.marker,
        markersize=4,
        linewidth=1.3,
        elinewidth=0.8,
        capsize=2,
        label=NAMES[scheme],
    )


def distribution(axes: Axes, scheme: str, values: npt.NDArray[np.float64]) -> None:
    """Draw the share of a scheme's values that are at most so large."""
    look = LOOKS[scheme]
    share = np.arange(1, values.size + 1) / max(values.size, 1)
    axes.plot(np.sort(values), share, look.dash, color=look.colour, label=NAMES[scheme])


def render(figure: Figure, kind: str, dpi: int = 150) -> bytes:
    """Return the figure as "svg" or "png"; the same figure gives the same bytes."""
    group_thousands(figure)
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
    figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def _floats(values: Sequence[float | None]) -> npt.NDArray[np.float64]:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)
