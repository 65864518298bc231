"""Kinds of panels that figures of several experiments have."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.rows import values
from linkpool.study import style
from linkpool.study.frame import Panel
from linkpool.study.statistics import Spread

Of: TypeAlias = Callable[[pl.DataFrame], "float | None"]
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


def bars(
    of: Of,
    schemes: Iterable[str],
    by: str = "",
    at: Sequence[Any] = ("",),
    *,
    around: Of | None = None,
    form: str = "{}",
    log: float | None = None,
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
        labels: of the panel.

    """

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        whiskers = None if around is None else of_each(around, data, schemes, by, at)
        groups = [form.format(one) for one in at]
        style.bars(axes, groups, of_each(of, data, schemes, by, at), whiskers)
        if log is not None:
            style.plain_log(axes, bottom=log)

    return Panel(paint, **labels)


def lines(
    of: Callable[[pl.DataFrame], Spread],
    schemes: Iterable[str],
    by: str,
    at: Sequence[Any],
    *,
    keys: Mapping[str, Any] | None = None,
    axes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Panel:
    """Return a panel of lines: values with their ranges against those of a column, by scheme.

    Args:
        of: a value with its range; where there is none, nothing is drawn.
        schemes: the schemes.
        by: the column.
        at: its values.
        keys: columns and their values in the rows that are drawn.
        axes: what is set of the axes.
        labels: of the panel.

    """

    def paint(on: Axes, data: pl.DataFrame) -> None:
        rows = data.filter(**(keys or {}))
        for scheme, found in of_each(of, rows, schemes, by, at).items():
            drawn = [(x, one) for x, one in zip(at, found, strict=True) if one.value is not None]
            ends = ([one.low for _, one in drawn], [one.high for _, one in drawn])
            y = [one.value or 0.0 for _, one in drawn]
            style.lines(on, scheme, [x for x, _ in drawn], y, *ends)
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
        keys: columns and their values in the rows that are drawn.
        log: the x axis is logarithmic.
        axes: what is set of the axes.
        labels: of the panel.

    """

    def paint(on: Axes, data: pl.DataFrame) -> None:
        for scheme in schemes:
            found = values(data, column, scheme=scheme, **(keys or {}))
            style.distribution(on, scheme, factor * found)
        if log:
            style.plain_log_x(on)
        on.set(**(axes or {}))

    return Panel(paint, **labels)
