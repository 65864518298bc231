"""Tables of the MMPTCP paper: how their numbers are judged and drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.mmptcp import quantities
from linkpool.experiments.mmptcp.mixed import NOTHING, Cell, cells
from linkpool.study import style
from linkpool.study.claims import Judged, Ledger, above, below
from linkpool.study.frame import Panel
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.units import show_number

Of = Callable[[Cell], "float | None"]
"""A quantity of a cell."""


def percentile(cell: Cell, q: float) -> float | None:
    """Return a quantile of the completion times of short flows, ms."""
    value = cell.short["fct_established_s"].drop_nulls().quantile(q, "linear")
    return None if value is None else 1e3 * value


def percent(value: float | None) -> str:
    """Write a share that is given in per cent."""
    return "no data" if value is None else f"{value:.3g}%"


def number(value: float | None, unit: str) -> str:
    """Write a number with its unit."""
    return "no data" if value is None else f"{show_number(value)} {unit}"


@dataclass(frozen=True)
class Row:
    """A row of a table of the paper: means and deviations, ms and Mbit/s; the core in per cent."""

    fct: float
    fct_sd: float
    goodput: float
    goodput_sd: float
    utilisation: float
    loss: float


def judge_row(ledger: Ledger, scheme: str, cell: Cell, paper: Row) -> None:
    """Judge each number of a row."""
    _name, fct, goodput = NAMES[scheme], cell.fct, cell.goodput
    ledger.judge(
        "fct-{scheme}", str(cell), fct.mean, scheme=scheme, fct=paper.fct, fct_sd=paper.fct_sd
    )
    ledger.judge("sd-{scheme}", number(fct.sd, "ms"), fct.sd, scheme=scheme, fct_sd=paper.fct_sd)
    spread = "" if goodput.sd is None else f" ± {goodput.sd:.3g}"
    ledger.judge(
        "goodput-{scheme}",
        "no data" if goodput.mean is None else f"{goodput.mean:.3g}{spread} Mbps",
        goodput.mean,
        scheme=scheme,
        goodput=paper.goodput,
        goodput_sd=paper.goodput_sd,
    )
    ledger.judge(
        "core-{scheme}",
        percent(cell.utilisation),
        cell.utilisation,
        scheme=scheme,
        utilisation=paper.utilisation,
    )
    ledger.judge(
        "loss-{scheme}",
        f"{percent(cell.loss)}; of all packets {percent(cell.dropped)}",
        cell.loss,
        scheme=scheme,
        loss=paper.loss,
    )


def panels(schemes: Sequence[str]) -> list[Panel]:
    """Return a panel for each column of a table."""

    def panel(label: str, of: Of, deviation: Of | None = None) -> Panel:
        def paint(axes: Axes, data: pl.DataFrame) -> None:
            found = cells(data, "scheme")
            here = {s: found.get(s, NOTHING) for s in schemes}
            around = None if deviation is None else {s: [deviation(c)] for s, c in here.items()}
            style.bars(axes, [""], {s: [of(c)] for s, c in here.items()}, around)

        return Panel(paint, label, from_zero=True)

    fct, goodput = "FCT of short flows (ms), mean ± sd", "goodput of long flows (Mbps), mean ± sd"
    return [
        panel(fct, quantities.fct, quantities.deviation),
        panel(goodput, quantities.goodput, quantities.goodput_deviation),
        panel("mean core utilisation (%)", quantities.core),
        panel("mean core loss (%)", quantities.loss),
    ]


def tail(
    schemes: Sequence[str],
    x: str,
    of: Callable[[Cell], "np.ndarray"] = lambda cell: cell.times,
    y: str = "",
    title: str = "share of short flows",
) -> Panel:
    """Return a panel of the tail of what `of` returns of a cell: completion times, in ms."""

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        found = cells(data, "scheme")
        for scheme in schemes:
            draw_tail(axes, of(found.get(scheme, NOTHING)), scheme)
        axes.set_xlabel(x)

    return Panel(paint, title, y=y)


def draw_tail(axes: Axes, values: "np.ndarray", scheme: str) -> None:
    """Draw the share of values that are at least so large, on a logarithmic axis."""
    x = np.sort(values)
    if x.size:
        look = LOOKS[scheme]
        share = 1.0 - np.arange(x.size) / x.size
        axes.step(x, share, look.dash, color=look.colour, label=NAMES[scheme], where="pre")
    axes.set_yscale("log")


def least(of_all: Mapping[str, Cell], of: Of, scheme: str, others: Sequence[str]) -> Judged:
    """Judge "the lowest", over the seeds."""
    return below(*(of_all[s].by_seed(of) for s in (scheme, *others)))


def greatest(of_all: Mapping[str, Cell], of: Of, scheme: str, others: Sequence[str]) -> Judged:
    """Judge "the highest", over the seeds."""
    return above(*(of_all[s].by_seed(of) for s in (scheme, *others)))


def listed(of: Mapping[str, "float | None"], unit: str) -> str:
    """Write a value of each scheme."""
    shown = [f"{NAMES[s]} {number(v, unit)}" for s, v in of.items() if v is not None]
    return ", ".join(shown) or "no data"
