"""MMPTCP, Table 1 and Figure 2: MMPTCP beside MPTCP, at 100 Mbps and 1 Gbps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table
from linkpool.experiments.mmptcp.mixed import NOTHING, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row
from linkpool.study.claims import Ledger, about, under
from linkpool.study.frame import Frame
from linkpool.study.point import Point

SCHEMES = ("mptcp", "mptcp-faults", "mmptcp")
ARRIVALS = 256.0
LOADS = {
    "100Mbps": (100, 33),
    "1000Mbps": (1000, 33),
    "1000Mbps-quarter": (1000, 25),
}
"""By reading: the rate of all links, Mbit/s, and the hosts with long flows, in per cent. At 1 Gbps
the goodput and the utilisation that are printed fit a quarter of the hosts, not a third."""

PAPER = {
    (100, "mptcp"): Row(126, 425, 62.1, 19.7, 75.5, 0.0077),
    (100, "mmptcp"): Row(116, 101, 61.9, 20.0, 74.9, 0.0076),
    (1000, "mptcp"): Row(38.5, 288.5, 718.1, 172.6, 70.5, 0.0025),
    (1000, "mmptcp"): Row(16.1, 54.7, 719.7, 168.5, 70.5, 0.0025),
}
PAPER |= {(rate, "mptcp-faults"): PAPER[rate, "mptcp"] for rate in (100, 1000)}
FLOWS = {"mptcp": 99_103, "mmptcp": 100_980}
"""Short flows of the paper that completed, at 100 Mbps."""


@dataclass(frozen=True)
class Tab1(Mixed):
    """All flows of one run are of one scheme."""

    id: str = "M-tab1"
    columns: ClassVar = declared.columns("mmptcp", "M-tab1")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every reading, scheme and seed."""
        return [
            Mix(
                scheme, scheme, ARRIVALS, self.duration_s, rate_mbps=rate, long_share=percent / 100
            ).point({"rate_mbps": rate, "long_percent": percent, "scheme": scheme}, seed)
            for rate, percent in LOADS.values()
            for scheme in SCHEMES
            for seed in seeds
        ]

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the readings."""
        return {
            reading: pl.col("rate_mbps").eq(rate) & pl.col("long_percent").eq(percent)
            for reading, (rate, percent) in LOADS.items()
        }

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's claims about the tail of short flows."""
        rate, _ = LOADS[str(ledger.setting)]
        cells = mixed.cells(data, "scheme")
        for scheme in SCHEMES:
            row = PAPER[rate, scheme]
            mixed_table.judge_row(ledger, scheme, cells.get(scheme, NOTHING), row)
        mmptcp = cells.get("mmptcp", NOTHING)
        for scheme in ("mptcp", "mptcp-faults"):
            mptcp = cells.get(scheme, NOTHING)
            _means(ledger, scheme, (mptcp, mmptcp), 116 / 126 if rate == 100 else 16.1 / 38.5)
            if rate == 100:
                _tail(ledger, scheme, (mptcp, mmptcp))
        _alike(ledger, cells.get("mptcp", NOTHING), mmptcp)
        if rate == 100:
            _few(ledger, mmptcp)

    def frame(self) -> Frame:
        """Return the table, and the tails of completion times and timeouts."""
        first, *others = mixed_table.panels(SCHEMES)

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            first.paint(axes, data)
            rate, percent = (data[key].first() for key in ("rate_mbps", "long_percent"))
            axes.set_ylabel(f"{rate!s} Mbps, {percent!s}% of hosts long")

        tails = [
            mixed_table.tail(SCHEMES, "whose FCT is at least (ms)"),
            mixed_table.tail(SCHEMES, "whose timeouts are at least", _timeouts),
        ]
        title = f"{self.title}, 512 hosts, 4:1"
        panels = [replace(first, paint=paint), *others, *tails]
        return Frame(panels, title, (3.0, 2.8), sharey=False)


def _timeouts(cell: Cell) -> "np.ndarray":
    return cell.short["timeouts"].to_numpy()


def _end(scheme: str) -> str:
    return "" if scheme == "mptcp" else "-faults"


def _means(ledger: Ledger, scheme: str, cells: tuple[Cell, Cell], paper: float) -> None:
    mptcp, mmptcp = cells
    ours = None
    if mptcp.fct.mean and mmptcp.fct.mean is not None:
        ours = mmptcp.fct.mean / mptcp.fct.mean
    ledger.judge(
        "shorter{end}",
        "no data" if ours is None else f"{ours:.3g} of it",
        ours,
        end=_end(scheme),
        scheme=scheme,
        paper=paper,
    )


def _alike(ledger: Ledger, mptcp: Cell, mmptcp: Cell) -> None:
    one, other = mptcp.goodput.mean, mmptcp.goodput.mean
    values = {"mptcp": one, "mmptcp": other}
    ledger.judge("goodput-alike", mixed_table.listed(values, "Mbps"), one, other)


def _most_timeouts(ledger: Ledger, scheme: str, cell: Cell, paper: int) -> None:
    worst = cell.short["timeouts"].max() if cell.short.height else None
    value = float(worst) if isinstance(worst, int) else None
    ledger.judge(
        "timeouts-{scheme}",
        mixed_table.number(value, "timeouts"),
        under(value, paper) if scheme == "mmptcp" else about(value, paper),
        scheme=scheme,
        paper=paper,
    )


def _tail(ledger: Ledger, scheme: str, cells: tuple[Cell, Cell]) -> None:
    mptcp, mmptcp = cells
    _most_timeouts(ledger, scheme, mptcp, 25)
    many = mptcp.share(pl.col("timeouts") > 2)
    ledger.judge(
        "many{end}",
        mixed_table.percent(None if many is None else 100 * many),
        many,
        end=_end(scheme),
        scheme=scheme,
        paper=4_000 / FLOWS["mptcp"],
    )
    one, other = mptcp.fct.sd, mmptcp.fct.sd
    ledger.judge(
        "no-tail{end}",
        mixed_table.listed({scheme: one, "mmptcp": other}, "ms"),
        one / other if one is not None and other else None,
        end=_end(scheme),
        scheme=scheme,
    )


def _few(ledger: Ledger, mmptcp: Cell) -> None:
    _most_timeouts(ledger, "mmptcp", mmptcp, 4)
    few = mmptcp.share(pl.col("timeouts") < 2)
    ledger.judge("few", mixed_table.percent(None if few is None else 100 * few), few)


EXPERIMENT = Tab1()
