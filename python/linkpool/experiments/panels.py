"""Kinds of panels that figures of several experiments have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.formulas import Value, number
from linkpool.experiments.rows import Floats, values
from linkpool.study import style
from linkpool.study.frame import Panel
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.statistics import Spread

Of: TypeAlias = Callable[[pl.DataFrame], Value]
"""What is drawn of rows."""


def of_each(
    of: Callable[[pl.DataFrame], Any],
    data: pl.DataFrame,
    schemes: Iterable[str],
    by: str,
    at: Iterable[Any],
) -> dict[str, list[Any]]:
    """Return something of the rows of each scheme, where column `by` has each of these values."""
    places = [{by: one} if by else {} for one in at]
    parts = {scheme: data.filter(scheme=scheme) for scheme in schemes}
    return {s: [of(rows.filter(**place)) for place in places] for s, rows in parts.items()}


def chosen(data: pl.DataFrame, keys: Mapping[str, Any] | None) -> pl.DataFrame:
    """Return the rows whose columns have these values, or one of a list of values."""
    of = {column: one if isinstance(one, list) else [one] for column, one in (keys or {}).items()}
    return data.filter(*(pl.col(column).is_in(values) for column, values in of.items()))


def bars(
    of: Of,
    schemes: Iterable[str],
    by: str = "",
    at: Sequence[Any] = ("",),
    *,
    around: Of | None = None,
    form: str = "{}",
    log: float | None = None,
    slanted: bool = False,
    **labels: Any,
) -> Panel:
    """Return a panel of bars: a group for each value of a column, in it one for each scheme.

    Args:
        of: the height.
        schemes: the schemes.
        by: the column.
        at: its values.
        around: half of the whisker.
        form: how the values are written below the groups.
        log: the least value of a logarithmic axis; None: a linear one.
        slanted: the values below the groups stand aslant.
        labels: of the panel.

    """

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        whiskers = None if around is None else of_each(around, data, schemes, by, at)
        groups = [form.format(one) for one in at]
        heights = of_each(lambda rows: number(of(rows)), data, schemes, by, at)
        style.bars(axes, groups, heights, whiskers)
        if log is not None:
            style.plain_log(axes, bottom=log)
        if slanted:
            for label in axes.get_xticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")

    return Panel(paint, **labels)


def lines(
    of: Of,
    schemes: Iterable[str],
    by: str,
    at: Sequence[Any],
    *,
    around: Of | None = None,
    ticks: bool = False,
    keys: Mapping[str, Any] | None = None,
    axes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Panel:
    """Return a panel of lines: values with their ranges against those of a column, by scheme.

    Args:
        of: a value, which may have its range; where there is none, nothing is drawn.
        schemes: the schemes.
        by: the column.
        at: its values.
        around: how far the range reaches on each side, if the value has none.
        ticks: the axis has them at these values alone.
        keys: columns and their values in the rows that are drawn.
        axes: what is set of the axes.
        labels: of the panel.

    """

    def ranged(rows: pl.DataFrame) -> Spread:
        found, half = of(rows), (number(around(rows)) if around else None) or 0.0
        if isinstance(found, Spread):
            return found
        middle = number(found)
        if middle is None:
            return Spread(None, None, None)
        return Spread(middle, max(middle - half, 0.0), middle + half)

    def paint(on: Axes, data: pl.DataFrame) -> None:
        for scheme, found in of_each(ranged, chosen(data, keys), schemes, by, at).items():
            drawn = [(x, one) for x, one in zip(at, found, strict=True) if one.value is not None]
            ends = ([one.low for _, one in drawn], [one.high for _, one in drawn])
            y = [one.value or 0.0 for _, one in drawn]
            style.lines(on, scheme, [x for x, _ in drawn], y, *ends)
        if ticks:
            on.set_xticks(at)
        on.set(**(axes or {}))

    return Panel(paint, **labels)


def distribution(
    column: str,
    schemes: Iterable[str],
    factor: float = 1.0,
    *,
    keys: Mapping[str, Any] | None = None,
    log: bool = False,
    axes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Panel:
    """Return a panel of the distribution of a column by scheme.

    Args:
        column: the column.
        schemes: the schemes.
        factor: from the column's unit to that of the axis.
        keys: columns and their values in the rows that are drawn; a list: one of these.
        log: the x axis is logarithmic.
        axes: what is set of the axes.
        labels: of the panel.

    """

    def paint(on: Axes, data: pl.DataFrame) -> None:
        rows = chosen(data, keys)
        for scheme in schemes:
            found = values(rows, column, scheme=scheme)
            style.distribution(on, scheme, factor * found)
        if log:
            style.plain_log_x(on)
        on.set(**(axes or {}))

    return Panel(paint, **labels)


def tail(
    of: Callable[[pl.DataFrame], Any],
    schemes: Iterable[str],
    axes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Panel:
    """Return a panel of the tail of a distribution by scheme, on a logarithmic axis.

    Args:
        of: the values, as an array.
        schemes: the schemes.
        axes: what is set of the axes.
        labels: of the panel.

    """

    def paint(on: Axes, data: pl.DataFrame) -> None:
        for scheme in schemes:
            draw_tail(on, of(data.filter(scheme=scheme)), scheme)
        on.set(**(axes or {}))

    return Panel(paint, **labels)


def draw_tail(axes: Axes, found: Floats, scheme: str) -> None:
    """Draw the share of values that are at least so large, on a logarithmic axis."""
    x = np.sort(found)
    if x.size:
        look = LOOKS[scheme]
        share = 1.0 - np.arange(x.size) / x.size
        axes.step(x, share, look.dash, color=look.colour, label=NAMES[scheme], where="pre")
    axes.set_yscale("log")


KINDS: Mapping[str, Callable[..., Panel]] = {
    "bars": bars,
    "lines": lines,
    "distribution": distribution,
    "tail": tail,
}
"""Kinds of panels that the files of papers declare."""
