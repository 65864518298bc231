"""XMP, Figures 1 and 6: rates of subflows over time, and shares of flows on one link.

Packets are of 1,500 B. A queue marks what finds it longer than K, as the paper's text has it; after
a cut ssthresh is one below the window, as its pseudocode has it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Published
from linkpool.experiments.rows import mean, ratio
from linkpool.experiments.scenarios import transport
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study.claims import Ledger
from linkpool.study.frame import Panel
from linkpool.study.point import Keys, Point

PACKET_BITS = 8 * 1500
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
DASHES = ("-", "--", ":")


def mean_rate(
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


def period(spans: Mapping[str, tuple[float, float]]) -> pl.Expr:
    """Return the name of the span in which the interval of a rate ends; null: none."""
    found = pl.lit(None, pl.String)
    for name, (start, end) in spans.items():
        inside = pl.col("time_s").is_between(start + 1e-9, end + 1e-9, closed="right")
        found = pl.when(inside).then(pl.lit(name)).otherwise(found)
    return found.alias("period")


def fairness(run: pl.DataFrame, labels: Sequence[str], span: tuple[float, float]) -> float | None:
    """Return Jain's index of the mean rates of flows in a span of time."""
    inside = pl.col("time_s").is_between(*span, closed="right")
    flows = run.filter(inside).group_by("label").agg(pl.col("goodput_bps").sum())
    got = dict(flows.iter_rows())
    return jain([float(got.get(label, 0.0)) for label in labels])


def panel(
    labels: Sequence[str],
    title: str | Callable[[pl.DataFrame], str],
    y: str = "",
    marks: Sequence[float] = (),
    keys: Mapping[str, Any] | None = None,
) -> Panel:
    """Return a panel of the rates of flows over time, in the runs with these keys.

    Args:
        labels: of the flows.
        title: of the panel, or what makes it of the rows.
        y: the label of the axis, at every panel.
        marks: times that are marked.
        keys: the runs' columns and values.

    """

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        rows = data.filter(**(keys or {}))
        if rows.height:
            _draw(axes, rows, labels)
        for time in marks:
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


class Rates(Published):
    """An experiment about the rates of subflows over time."""

    kinds: ClassVar = {"rates": panel}

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the payload rate of each subflow in each interval, with its flow's label."""
        flows = result.flows.select("flow", "label")
        table = result.rate.join(flows, on="flow", how="left")
        return table.select("label", "subflow", "time_s", "goodput_bps").sort(
            "label", "subflow", "time_s"
        )


STEP_S = 5.0
SETTLE_S = 1.0
FLOWS = 4
END_1_S = (2 * FLOWS - 1) * STEP_S
PAYLOAD_SHARE = 1448 / 1500
RATE_BPS = 1e9
OF_FIG1 = tuple(f"Flow {number}" for number in range(1, FLOWS + 1))


def present(start: float) -> tuple[str, ...]:
    """Return the flows that are there from `start` on: one more, then one fewer, every 5 s."""
    step = round(start / STEP_S)
    return OF_FIG1[max(step - FLOWS + 1, 0) : step + 1]


@dataclass(frozen=True)
class Fig1(Rates):
    """Four flows start 5 s after each other, and stop 5 s after each other in the same order."""

    schemes: ClassVar = ("dctcp", "xmp")
    marks: ClassVar = (10, 20)
    over: ClassVar = ("schemes", "marks")
    terms: ClassVar = {"fairness": lambda run: _worst(run), "use": lambda run: _use(run)}

    def point(self, seed: int, scheme: str, mark: int) -> Point:
        """Return the run of a scheme with a threshold."""
        rng = Random(f"starts {seed}")
        starts = {
            f"start{n + 1}": f"{1e6 * n * STEP_S + rng.randrange(1000):.0f}" for n in range(FLOWS)
        }
        own = transport("xmp", "dctcp")
        if scheme == "xmp":
            own = transport("xmp", "xmp-2", beta=2, subflows=1)
        keys: Keys = {"scheme": scheme, "k": mark}
        packets = END_1_S * RATE_BPS / PACKET_BITS
        return self.run("X-fig1", keys, seed, END_1_S, packets, transport=own, **starts)


def _worst(run: pl.DataFrame) -> float | None:
    """Return the least of Jain's indices between events with several flows."""
    indices = []
    for step in range(round(END_1_S / STEP_S)):
        start = step * STEP_S
        index = fairness(run, present(start), (start + SETTLE_S, start + STEP_S))
        indices += [] if index is None else [index]
    return min(indices, default=None)


def _use(run: pl.DataFrame) -> float | None:
    """Return the mean rate of all flows together over what the link carries."""
    after = run.filter(pl.col("time_s") > SETTLE_S + 1e-9)
    totals = after.group_by("time_s").agg(pl.col("goodput_bps").sum())
    return ratio(mean(totals, "goodput_bps"), RATE_BPS * PAYLOAD_SHARE)


END_S = 30.0
PHASES = {str(i + 1): (5.0 * i + 1.0, 5.0 * i + 5.0) for i in range(6)}
"""From a second after an event to the next one."""
FLOWS_OF = {
    "1": ("Flow 1", "Flow 3"),
    "2": ("Flow 1", "Flow 3"),
    "3": ("Flow 1", "Flow 3", "Flow 4"),
    "4": ("Flow 1", "Flow 3", "Flow 4"),
    "5": ("Flow 1", "Flow 2", "Flow 3", "Flow 4"),
    "6": ("Flow 1", "Flow 2"),
}
"""Which flows there are then."""


@dataclass(frozen=True)
class Fig6(Rates):
    """Four flows with three, two, one and one subflows over one bottleneck."""

    betas: ClassVar = (4, 6)
    over: ClassVar = ("betas",)

    def point(self, seed: int, beta: int) -> Point:
        """Return the run with a beta."""
        return self.run("X-fig6", {"beta": beta}, seed, END_S, END_S * 300e6 / PACKET_BITS)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the fairness with each beta, between each two events."""
        super().judge(ledger, data.with_columns(period(PHASES)))

    def fairness_of_phase(self, rows: pl.DataFrame) -> float | None:
        """Return Jain's index of the flows that there are between two events."""
        name = str(rows["period"].first() or "")
        return fairness(rows, FLOWS_OF[name], PHASES[name]) if name else None
