"""Long XMP flows and the rates of their subflows: what the XMP paper's Figures 4, 6 and 7 share.

Packets are of 1,500 B. A queue marks what finds it longer than K, as the paper's text has it; after
a cut ssthresh is one below the window, as its pseudocode has it.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.declared import Published
from linkpool.result import Result
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Panel
from linkpool.study.point import Point
from linkpool.study.toml import Table, Value

PACKET_BITS = 8 * 1500
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
DASHES = ("-", "--", ":")


def transport(beta: int, subflows: int, **keys: Value) -> Table:
    """Return XMP with so many subflows."""
    return {
        "preset": "paper-2013",
        "control": "xmp",
        "beta": beta,
        "ssthresh_after_cut": "w-1",
        "subflows": subflows,
        "mss": "1448B",
        "header": "52B",
        "ack_size": "52B",
        **keys,
    }


KEY_BETA = Column("beta", "i32", "", "a mark cuts the window by 1/beta")


def columns(
    *keys: Column, label: str, subflow: str, interval: str = "interval"
) -> tuple[Column, ...]:
    """Return the columns of rates: the keys of a run and its seed, what is said of whom, when."""
    return (
        *keys,
        KEY_SEED,
        Column("label", "string", "", label),
        Column("subflow", "u32", "", subflow),
        Column("time_s", "f64", "s", f"end of the {interval}"),
        Column("goodput_bps", "f64", "bit/s", "payload acknowledged in the interval"),
    )


class Rates(Published):
    """An experiment about the rates of subflows over time."""

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the payload rate of each subflow in each interval, with its flow's label."""
        flows = result.flows.select("flow", "label")
        table = result.rate.join(flows, on="flow", how="left")
        return table.select("label", "subflow", "time_s", "goodput_bps").sort(
            "label", "subflow", "time_s"
        )


def mean(
    rows: pl.DataFrame,
    label: str,
    subflow: int,
    span: tuple[float, float],
    column: str = "goodput_bps",
) -> float | None:
    """Return a subflow's mean rate, or mean of another column, over the intervals of a span.

    These are the intervals that end in the span; None: none has a value.
    """
    start, end = span
    mine = rows.filter(
        pl.col("label") == label,
        pl.col("subflow") == subflow,
        pl.col("time_s") > start + 1e-9,
        pl.col("time_s") <= end + 1e-9,
    )
    found = mine[column].mean()
    return float(found) if isinstance(found, float) else None


def panel(
    labels: Sequence[str],
    title: str | Callable[[pl.DataFrame], str],
    y: str = "",
    at: Sequence[float] = (),
    **keys: object,
) -> Panel:
    """Return a panel of the rates of flows over time, in the runs with these keys.

    Args:
        labels: of the flows.
        title: of the panel, or what makes it of the rows.
        y: the label of the axis, at every panel.
        at: times that are marked.
        keys: the runs' columns and values.

    """

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        rows = data.filter(**keys)
        if rows.height:
            _draw(axes, rows, labels)
        for time in at:
            axes.axvline(time, color="#999999", lw=0.6, ls=":")
        axes.set_title(title if isinstance(title, str) else title(rows))
        axes.set_ylabel(y)

    first = y or "rate of a subflow (Mbit/s)"
    return Panel(paint, "", "time (s)", first, from_zero=True)


def _draw(axes: Axes, rows: pl.DataFrame, labels: Sequence[str]) -> None:
    """Draw the rate of each subflow of some flows over time, in the first seed."""
    first = rows.filter(pl.col("seed") == rows["seed"].min())
    for label, colour in zip(labels, COLOURS, strict=False):
        for subflow, dash in enumerate(DASHES):
            part = first.filter(pl.col("label") == label, pl.col("subflow") == subflow)
            if part.is_empty():
                continue
            x, y = part["time_s"].to_numpy(), part["goodput_bps"].to_numpy() / 1e6
            step = float(np.diff(x).min()) if len(x) > 1 else 0.0
            name = f"{label}-{subflow + 1}"
            axes.plot(x - step / 2, y, dash, color=colour, lw=1.0, label=name)
