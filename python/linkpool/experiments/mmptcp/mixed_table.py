"""Tables of the MMPTCP paper: how their numbers are judged and drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from linkpool.experiments.mmptcp.mixed import NOTHING, Cell
from linkpool.study import style
from linkpool.study.claims import Judged, Ledger, about, above, below
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
    name, fct, goodput = NAMES[scheme], cell.fct, cell.goodput
    ledger.add(
        f"fct-{scheme}",
        f"the mean FCT of short flows, {name}",
        f"{paper.fct:g} ± {paper.fct_sd:g} ms",
        str(cell),
        about(fct.mean, paper.fct),
    )
    ledger.add(
        f"sd-{scheme}",
        f"the standard deviation of the FCT of short flows, {name}",
        f"{paper.fct_sd:g} ms",
        number(fct.sd, "ms"),
        about(fct.sd, paper.fct_sd),
    )
    spread = "" if goodput.sd is None else f" ± {goodput.sd:.3g}"
    ledger.add(
        f"goodput-{scheme}",
        f"the mean goodput of long flows, {name}",
        f"{paper.goodput:g} ± {paper.goodput_sd:g} Mbps",
        "no data" if goodput.mean is None else f"{goodput.mean:.3g}{spread} Mbps",
        about(goodput.mean, paper.goodput, 0.15),
    )
    ledger.add(
        f"core-{scheme}",
        f"the mean utilisation of the core, {name}",
        f"{paper.utilisation:g}%",
        percent(cell.utilisation),
        about(cell.utilisation, paper.utilisation, 0.15),
    )
    ledger.add(
        f"loss-{scheme}",
        f"the mean loss rate in the core, {name}",
        f"{paper.loss:g}%",
        f"{percent(cell.loss)}; of all packets {percent(cell.dropped)}",
        about(cell.loss, paper.loss),
    )


def draw_bars(axes: "np.ndarray", found: Mapping[str, Cell], schemes: tuple[str, ...]) -> None:
    """Draw the columns of a table, one in each of four panels."""
    of = [found.get(scheme, NOTHING) for scheme in schemes]
    columns: list[tuple[str, list[float | None], list[float | None] | None]] = [
        ("FCT of short flows (ms), mean ± sd", [c.fct.mean for c in of], [c.fct.sd for c in of]),
        (
            "goodput of long flows (Mbps), mean ± sd",
            [c.goodput.mean for c in of],
            [c.goodput.sd for c in of],
        ),
        ("mean core utilisation (%)", [c.utilisation for c in of], None),
        ("mean core loss (%)", [c.loss for c in of], None),
    ]
    for at, (label, values, deviations) in zip(axes, columns, strict=True):
        heights = {s: [v] for s, v in zip(schemes, values, strict=True)}
        whiskers = (
            None
            if deviations is None
            else {s: [v] for s, v in zip(schemes, deviations, strict=True)}
        )
        style.bars(at, [""], heights, whiskers)
        at.set_title(label)
        style.from_zero(at)


def draw_tail(axes: Axes, values: "np.ndarray", scheme: str) -> None:
    """Draw the share of values that are at least so large, on a logarithmic axis."""
    x = np.sort(values)
    if x.size:
        look = LOOKS[scheme]
        share = 1.0 - np.arange(x.size) / x.size
        axes.step(x, share, look.dash, color=look.colour, label=NAMES[scheme], where="pre")
    axes.set_yscale("log")


def least(cells: Mapping[str, Cell], of: Of, scheme: str, others: Sequence[str]) -> Judged:
    """Judge "the lowest", over the seeds."""
    return below(*(cells[s].by_seed(of) for s in (scheme, *others)))


def greatest(cells: Mapping[str, Cell], of: Of, scheme: str, others: Sequence[str]) -> Judged:
    """Judge "the highest", over the seeds."""
    return above(*(cells[s].by_seed(of) for s in (scheme, *others)))


def listed(of: Mapping[str, "float | None"], unit: str) -> str:
    """Write a value of each scheme."""
    shown = [f"{NAMES[s]} {number(v, unit)}" for s, v in of.items() if v is not None]
    return ", ".join(shown) or "no data"
