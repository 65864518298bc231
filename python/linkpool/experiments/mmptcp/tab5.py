"""MMPTCP, Table 5 and Figure 5: limited transmit in phase 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table, quantities
from linkpool.experiments.mmptcp.mixed import NOTHING, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row, least
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.study.claims import Ledger, by_factor
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES

TREE = Tree(2)
ARRIVALS = 256.0
LONG_SHARE = 0.53
"""135 of 256 hosts."""
SCHEMES = ("mmptcp", "mmptcp-lt")
PAPER = {
    "mmptcp": Row(98.9, 74.8, 72.9, 17.3, 72, 0.0053),
    "mmptcp-lt": Row(89.1, 67.2, 72.9, 18.0, 72, 0.0051),
}


@dataclass(frozen=True)
class Tab5(Mixed):
    """All flows of one run are MMPTCP's, with or without limited transmit."""

    id: str = "M-tab5"
    columns: ClassVar = declared.columns("mmptcp", "M-tab5")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both schemes and every seed."""
        return [
            Mix(scheme, scheme, ARRIVALS, self.duration_s, TREE, long_share=LONG_SHARE).point(
                {"scheme": scheme}, seed
            )
            for scheme in SCHEMES
            for seed in seeds
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's claims about what limited transmit changes."""
        found = mixed.cells(data, "scheme")
        cells = {scheme: found.get(scheme, NOTHING) for scheme in SCHEMES}
        for scheme, cell in cells.items():
            mixed_table.judge_row(ledger, scheme, cell, PAPER[scheme])
        without, with_lt = cells["mmptcp"], cells["mmptcp-lt"]
        before, after = without.fct.mean, with_lt.fct.mean
        ratio = None if not before or after is None else after / before
        ledger.judge(
            "shorter", f"{with_lt} against {without}", by_factor(ratio, 89.1 / 98.9, tolerance=0.15)
        )
        ledger.judge(
            "narrower",
            mixed_table.listed({s: c.fct.sd for s, c in cells.items()}, "ms"),
            least(cells, quantities.deviation, "mmptcp-lt", ("mmptcp",)),
        )
        ledger.judge(
            "goodput-same",
            mixed_table.listed({s: c.goodput.mean for s, c in cells.items()}, "Mbps"),
            with_lt.goodput.mean,
            without.goodput.mean,
        )
        ledger.judge(
            "core-same",
            mixed_table.listed({s: c.utilisation for s, c in cells.items()}, "%"),
            with_lt.utilisation,
            without.utilisation,
        )
        _counts(ledger, without, with_lt)

    def frame(self) -> Frame:
        """Return the table, and how many flows met how many timeouts and fast retransmissions."""
        events = [
            Panel(partial(_draw_events, column="timeouts"), "", "timeouts of a short flow"),
            Panel(
                partial(_draw_events, column="recoveries"),
                "",
                "fast retransmissions of a short flow",
            ),
        ]
        title = f"{self.title}, 256 hosts, 2:1"
        return Frame([*mixed_table.panels(SCHEMES), *events], title, (2.8, 2.8), sharey=False)


def _counts(ledger: Ledger, without: Cell, with_lt: Cell) -> None:
    """Judge Figure 5: means per short flow."""
    for column in ("timeouts", "recoveries"):
        before, after = (_mean(cell, column) for cell in (without, with_lt))
        known = before is not None and after is not None
        shown = f"{after:.3g} a flow against {before:.3g}" if known else "no data"
        seeds = [cell.by_seed(partial(_mean, column=column)) for cell in (with_lt, without)]
        ledger.judge(column, shown, *seeds)


def _mean(cell: Cell, column: str) -> float | None:
    found = cell.short[column].mean()
    return float(found) if isinstance(found, (int, float)) else None


def _draw_events(axes: Axes, data: pl.DataFrame, column: str) -> None:
    cells = mixed.cells(data, "scheme")
    for scheme in SCHEMES:
        counts = cells.get(scheme, NOTHING).short[column].to_numpy()
        if not counts.size:
            continue
        x = np.arange(int(counts.max()) + 1)
        share = [float((counts == n).mean()) for n in x]
        look = LOOKS[scheme]
        axes.plot(x, share, look.dash, color=look.colour, marker=look.marker, label=NAMES[scheme])
    axes.set_yscale("log")
    axes.set_ylabel("share of short flows")


EXPERIMENT = Tab5()
