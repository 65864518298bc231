"""How figures look: legible in a column of paper, in colours that the colour-blind tell apart.

Their colours are about equally dark, so dashes, markers and hatches tell them apart in print.
"""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import cycle, islice, pairwise
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, LogLocator, NullFormatter
from matplotlib.transforms import IdentityTransform, ScaledTranslation, Transform

from linkpool.units import show_bytes

COLUMN = 3.3
"""The width of a paper's column, inches."""

_RC: Any = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#444444",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.2,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "linkpool",
    # Names are shown as they are: users do not mean formulas by their dollars.
    "text.parse_math": False,
    "pdf.fonttype": 42,
}


USUAL_ROWS = 3
"""Lines of a legend for which a figure has room; it grows by `LINE` with each further one."""
LINE = 0.16
"""The height of a line of a legend, inches."""


class Look(NamedTuple):
    """How a series is drawn."""

    colour: str
    dash: Any
    marker: str
    dot: str
    hatch: str


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito, Color Universal Design (2008), the darker ones first."""
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (4, 1.2, 1, 1.2)), "-", (0, (4, 1.5)), (0, (1, 1)))
_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_DOTS = (".", "x", "+", "1", "2", "3", "4")
"""Markers of a thousand samples, which leave room for each other."""
_HATCHES = ("", "////", "....", "xxxx", "----", "++++", "oo")


def context() -> AbstractContextManager[None]:
    """Return the context in which figures are drawn and saved."""
    return mpl.rc_context(_RC)


def looks(names: pl.Series) -> dict[Any, Look]:
    """Return a look for each name, in order of first appearance.

    A name of several parts, as `amp, queue.mark 20`, begins with its arm. All names of an arm have
    the colour of that arm, from dark to light, and a marker of their own, where there are more
    arms than one.
    """
    found = names.unique(maintain_order=True).to_list()
    arms: dict[str, list[Any]] = {}
    for name in found:
        arms.setdefault(str(name).partition(", ")[0], []).append(name)
    if len(arms) in (1, len(found)):
        return dict(zip(found, islice(_cycle(), len(found)), strict=True))
    looks: dict[Any, Look] = {}
    for of_arm, of in zip(_cycle(), arms.values(), strict=False):
        for i, (name, marker) in enumerate(zip(of, cycle(_MARKERS), strict=False)):
            share = 1.0 - (1.0 - LIGHTEST) * i / max(len(of) - 1, 1)
            looks[name] = of_arm._replace(colour=shade(of_arm.colour, share), marker=marker)
    return {name: looks[name] for name in found}


MOST_PANELS = 4
"""More panels below each other do not fit a page."""


def facets(names: pl.Series) -> dict[str, dict[Any, tuple[str, Look]]]:
    """Return what to draw in which panel: of each name the label and the look.

    Arms that all have the same few settings get a panel for each setting, which has its title, so
    that no panel has more lines than there are arms. Otherwise there is one panel, without a title.
    """
    found = names.unique(maintain_order=True).to_list()
    parts = [str(name).partition(", ") for name in found]
    arms = list(dict.fromkeys(arm for arm, _, _ in parts))
    settings = list(dict.fromkeys(setting for _, _, setting in parts))
    if len(arms) == 1 or not 1 < len(settings) <= MOST_PANELS or "" in settings:
        return {"": {name: (str(name), one) for name, one in looks(names).items()}}
    of_arm = dict(zip(arms, islice(_cycle(), len(arms)), strict=True))
    panels: dict[str, dict[Any, tuple[str, Look]]] = {setting: {} for setting in settings}
    for name, (arm, _, setting) in zip(found, parts, strict=True):
        panels[setting][name] = (arm, of_arm[arm])
    return panels


LIGHTEST = 0.4
"""The share of an arm's colour that the lightest of its shades has."""


def _cycle() -> Any:
    parts = zip(COLOURS, _DASHES, _MARKERS, _DOTS, _HATCHES, strict=True)
    return cycle(Look(*look) for look in parts)


def panel(figure: Figure, x: str, y: str) -> Axes:
    """Return the axes of a figure that has one panel."""
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(_broken(y, figure.get_figheight()))
    return axes


def _broken(label: str, height: float) -> str:
    """Break a label that is longer than an axis of a figure of this height, in inches."""
    room = max(int(10 * height), 12)
    lines = -(-len(label) // room)
    return textwrap.fill(label, -(-len(label) // lines) + 3) if lines > 1 else label


def panels_of(figure: Figure, titles: Sequence[str], x: str, y: str) -> list[Axes]:
    """Return a panel for each title, one below the other, on the same axes."""
    height = figure.get_figheight()
    axes = panels(figure, len(titles), x, alike=True) if len(titles) > 1 else [panel(figure, x, y)]
    for one, title in zip(axes, titles, strict=True):
        one.set_ylabel(_broken(y, height))
        if title:
            one.set_title(title, loc="left")
    return axes


def panels(figure: Figure, rows: int, x: str, alike: bool = False) -> list[Axes]:
    """Return axes one below the other, on one axis of time; the figure grows with them.

    With `alike` they have one scale upwards, too.
    """
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * (0.4 + 0.6 * rows))
    axes = figure.subplots(rows, 1, sharex=True, sharey=alike, squeeze=False)[:, 0]
    axes[-1].set_xlabel(x)
    return list(axes)


def legend(figure: Figure, axes: Iterable[Axes], extra: Sequence[Line2D] = ()) -> None:
    """Put a legend below all, in as many columns as have room, if it tells anything."""
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    width = int(15 * figure.get_figwidth())
    said = [str(line.get_label()) for line in extra if _is_note(line)]
    notes = [part for words in said for part in textwrap.wrap(words, width)]
    handles |= {str(line.get_label()): line for line in extra if not _is_note(line)}
    if len(handles) < 2 and not notes:
        return
    widest = max(map(len, handles), default=0)
    characters = figure.get_figwidth() * 17
    room = max(1, min(len(handles), int(characters // (widest + 6))))
    rows = max(-(-len(handles) // room), 1)
    columns = max(-(-len(handles) // rows), 1)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + LINE * max(rows + len(notes) - USUAL_ROWS, 0))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=columns,
        title="\n".join(notes) or None,
        title_fontsize=mpl.rcParams["legend.fontsize"],
    )


def _is_note(line: Line2D) -> bool:
    """Tell whether a line of the legend only has words, which need no column."""
    return line.get_linestyle() == "None" and line.get_marker() == "None"


MOST_NOTES = 2
"""More notes in a legend leave a small figure no room."""


def note(words: str) -> Line2D:
    """Return a line for the legend that only has words."""
    return Line2D([], [], linestyle="none", label=words)


def unfinished(counts: pl.DataFrame) -> list[Line2D]:
    """Return lines for the legend that say how many flows had not finished.

    Args:
        counts: columns `series`, `unfinished` and `flows`, of which these are; a row per series.

    """
    met = counts.filter(pl.col("unfinished") > 0).select("series", "unfinished", "flows").rows()
    if len(met) > MOST_NOTES:
        said = [f"{counts['unfinished'].sum():,} of {counts['flows'].sum():,} flows unfinished"]
    elif counts.height > 1:
        said = [f"{series}: {some:,} of {flows:,} unfinished" for series, some, flows in met]
    else:
        said = [f"{some:,} of {flows:,} unfinished" for _, some, flows in met]
    return [note(line) for line in said]


AT_LEAST = "at least (unfinished)"
IDENTITY = IdentityTransform()


def at_least(axes: Axes, x: Any, y: Any, colour: str, move: Transform = IDENTITY) -> Line2D:
    """Mark values that are lower bounds; return a line for the legend that explains the mark."""
    style: Any = {"linestyle": "none", "marker": "^", "markersize": 5, "markerfacecolor": "white"}
    axes.plot(x, y, color=colour, zorder=3, transform=axes.transData + move, **style)
    return Line2D([], [], color="#777777", label=AT_LEAST, **style)


APART = 2.5
"""Points between the intervals of two series at one value of an axis."""


def beside(axes: Axes, number: int, of: int, apart: float = APART) -> Transform:
    """Return what moves one of so many series, whose intervals would hide each other.

    matplotlib does not scale axes by what has been moved: the caller gives it the data's corners.
    """
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return ScaledTranslation(apart * (number - (of - 1) / 2) / 72, 0, figure.dpi_scale_trans)


LETTER = 0.07
"""The width of a letter, inches, a bit more than on the average."""


def log(axes: Axes, axis: str, unit: str = "", room: float | None = None) -> None:
    """Make an axis logarithmic, with plain numbers or, of unit `B`, with sizes.

    Of an axis of so many inches of `room` those labels are left out that would touch others.
    """
    which = axes.xaxis if axis == "x" else axes.yaxis
    (axes.set_xscale if axis == "x" else axes.set_yscale)("log")
    low, high = which.get_view_interval()
    few = high / max(low, 1e-300) < 60
    write = show_bytes if unit == "B" else _plain
    locator: Locator = LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=20)
    if room is not None:
        locator = FixedLocator(_apart(low, high, room, write))
    which.set_major_locator(locator)
    which.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    which.set_minor_formatter(NullFormatter())


def _apart(low: float, high: float, room: float, write: Callable[[float], str]) -> list[float]:
    """Return values for a logarithmic axis whose labels have room.

    These are decades, of which each second, third or so, and 5 and 2 of each where they fit.
    """
    inches = room / math.log(high / low)

    def fit(values: list[float]) -> bool:
        return all(
            inches * math.log(after / before)
            > LETTER * (1 + (len(write(before)) + len(write(after))) / 2)
            for before, after in pairwise(sorted(values))
        )

    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    some = ([10.0**n for n in powers if n % apart == 0] for apart in range(1, len(powers) + 1))
    taken = next(filter(fit, some), [])
    if len(taken) == len(powers):
        decades = [10.0**n for n in range(powers.start - 1, powers.stop)]
        for value in (digit * decade for digit in (5, 2) for decade in decades):
            if low <= value <= high and fit([*taken, value]):
                taken.append(value)
    return sorted(taken)


LOG_FROM = 10.0
"""An axis whose largest value is so many times its least is logarithmic."""


def spans(values: Any) -> bool:
    """Tell whether an axis of these values is to be logarithmic: all above 0, and far apart."""
    known = np.asarray([value for value in values if value is not None], dtype=np.float64)
    known = known[np.isfinite(known)]
    return bool(known.size and known.min() > 0 and known.max() >= LOG_FROM * known.min())


def shade(colour: str, share: float = 0.5) -> str:
    """Return a colour mixed with white: so much of it is left."""
    red, green, blue = (1 - share * (1 - part) for part in mpl.colors.to_rgb(colour))
    return str(mpl.colors.to_hex((red, green, blue)))


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def time_unit(longest: float) -> tuple[float, str]:
    """Return the unit that suits times up to so many seconds: how many a second has, its name."""
    if longest >= 1:
        return 1.0, "s"
    return (1e3, "ms") if longest >= 1e-3 else (1e6, "us")


def rate_unit(highest: float) -> tuple[float, str]:
    """Return the unit that suits rates up to so many bit/s: its inverse, its name."""
    return (1e-9, "Gbit/s") if highest >= 1e9 else (1e-6, "Mbit/s")


def scale(unit: str, highest: float) -> tuple[float, str]:
    """Return the factor and the name of the unit that suits values up to the highest."""
    if unit == "s":
        return time_unit(highest)
    return rate_unit(highest) if unit == "bit/s" else (1.0, unit)


class TimeAxis(NamedTuple):
    """The notation of times on an axis: in a short period they count from its begin."""

    begin: float
    factor: float
    label: str

    @classmethod
    def of(cls, times: pl.Series) -> "TimeAxis":
        """Suit the axis to these times, in seconds."""
        first, last = float(times.min()), float(times.max())  # type: ignore[arg-type]
        span = max(last - first, 1e-6)
        if first < 3 * span:
            factor, unit = time_unit(last)
            return cls(0.0, factor, f"time, {unit}")
        step = 10.0 ** np.floor(np.log10(span))
        begin = float(np.floor(first / step) * step)
        factor, unit = time_unit(last - begin)
        return cls(begin, factor, f"{unit} after {begin:.9g} s")

    def at(self, times: pl.Series) -> Any:
        """Return where times stand on the axis."""
        return (times.to_numpy() - self.begin) * self.factor

    def place(self, time: float) -> float:
        """Return where one time stands on the axis."""
        return (time - self.begin) * self.factor
