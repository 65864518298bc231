"""Figures 3 and 9 of the MMPTCP paper: schemes over something that varies, in four panels."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.mmptcp import quantities
from linkpool.experiments.mmptcp.summary import NOTHING, Cell
from linkpool.study import style
from linkpool.study.frame import Panel

TIE = 0.02
"""Values so near to each other, relatively, count as the same."""

Cells = Mapping[tuple[int, str], Cell]
"""What was measured, by the value that varies and the scheme."""

Of = Callable[[Cell], "float | None"]


def cells(data: pl.DataFrame, key: str) -> dict[tuple[int, str], Cell]:
    """Return what was measured, where column `key` has the value that varies."""
    parts = data.partition_by(key, "scheme", as_dict=True)
    return {(int(value), str(scheme)): Cell(rows) for (value, scheme), rows in parts.items()}


def at_end(
    of_all: Cells,
    values: Sequence[int],
    among: Iterable[str],
    of: Of,
    lowest: bool,
    schemes: tuple[str, ...],
) -> list[bool]:
    """Say at each value with data whether `schemes` are, in any order, at that end of all."""
    hits, every = [], list(among)
    for value in values:
        found = {s: v for s in every if (v := of(of_all.get((value, s), NOTHING))) is not None}
        if len(found) < len(every):
            continue
        mine = [found[s] for s in schemes]
        rest = [v for s, v in found.items() if s not in schemes]
        if lowest:
            hits.append(max(mine) <= (1 + TIE) * min(rest))
        else:
            hits.append(min(mine) >= (1 - TIE) * max(rest))
    return hits


PANELS: Mapping[str, tuple[str, Of, Of | None]] = {
    "fct": ("FCT of short flows (ms), mean ± sd", quantities.fct, quantities.deviation),
    "goodput": (
        "goodput of long flows (Mbps), mean ± sd",
        quantities.goodput,
        quantities.goodput_deviation,
    ),
    "core": ("mean core utilisation (%)", quantities.core, None),
    "loss": ("mean core loss (%)", quantities.loss, None),
}
"""What is drawn against what varies: its label, the quantity, and its deviation."""


def panel(
    name: str, key: str, values: Sequence[int], among: Iterable[str], x: str, title: str = "{label}"
) -> Panel:
    """Return a panel of one of `PANELS`, whose label the title has, against column `key`."""
    label, of, around = PANELS[name]

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        lines(axes, cells(data, key), values, among, of, around)
        axes.set_xlabel(x)

    return Panel(paint, title.replace("{label}", label), from_zero=True)


def lines(
    axes: Axes,
    of_all: Cells,
    values: Sequence[int],
    among: Iterable[str],
    of: Of,
    around: Of | None,
) -> None:
    """Draw a line for each scheme, with what is `around` it above and below."""
    for scheme in among:
        found = [(value, of_all.get((value, scheme), NOTHING)) for value in values]
        drawn = [(value, mid, cell) for value, cell in found if (mid := of(cell)) is not None]
        x, y = [float(value) for value, _, _ in drawn], [mid for _, mid, _ in drawn]
        sds = [0.0 if around is None else around(cell) or 0.0 for _, _, cell in drawn]
        low = [max(mid - sd, 0.0) for mid, sd in zip(y, sds, strict=True)]
        style.lines(axes, scheme, x, y, low, [mid + sd for mid, sd in zip(y, sds, strict=True)])
