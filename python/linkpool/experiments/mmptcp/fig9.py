"""MMPTCP, Figure 9: the network load."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import quantities, sweeps
from linkpool.experiments.mmptcp.mixed import Mix
from linkpool.experiments.mmptcp.mixed_table import listed, number
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import NOTHING, Summarised
from linkpool.study.claims import Ledger, above, below, cases, grade, together
from linkpool.study.frame import Frame
from linkpool.study.point import Point

TREE = Tree(2)
ARRIVALS = 256.0
LOADS = (10, 20, 30, 40, 50, 60, 70)
PAIRS = {
    "ps": ("ps", "ps"),
    "ps-tcp": ("ps", "tcp"),
    "tcp": ("tcp", "tcp"),
    "mmptcp": ("mmptcp", "mmptcp"),
    "mptcp-tcp": ("mptcp", "tcp"),
}
"""By scheme: the transport of long flows, and of short flows."""
SPREAD = ("ps", "ps-tcp", "mmptcp", "mptcp-tcp")


@dataclass(frozen=True)
class Fig9(Summarised):
    """10% to 70% of the servers send long flows; the number of short flows stays."""

    id: str = "M-fig9"
    loads: tuple[int, ...] = LOADS
    columns: ClassVar = declared.columns("mmptcp", "M-fig9")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every load, scheme and seed."""
        return [
            Mix(long, short, ARRIVALS, self.duration_s, TREE, long_share=load / 100).point(
                {"load": load, "scheme": scheme}, seed
            )
            for load in self.loads
            for scheme, (long, short) in PAIRS.items()
            for seed in seeds
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the text's claims about each of the four panels."""
        cells = sweeps.cells(data, "load")
        low, high = min(self.loads), max(self.loads)

        def told(name: str, hits: list[bool]) -> None:
            ledger.judge(name, cases(hits) if hits else "no data", hits)

        def least(of: sweeps.Of, *schemes: str) -> list[bool]:
            return sweeps.at_end(cells, self.loads, PAIRS, of, True, schemes)

        told("ps-stable", least(quantities.deviation, "ps"))
        _rises(ledger, cells, (low, high))
        told("tcp-goodput", least(quantities.goodput, "tcp"))
        best = ("mmptcp", "mptcp-tcp")
        told("high-goodput", sweeps.at_end(cells, (high,), PAIRS, quantities.goodput, False, best))
        told("ps-loss", least(quantities.loss, "ps", "ps-tcp"))
        told("low-goodput", _alike(cells, self.loads[:1], quantities.goodput))
        told("core-alike", _alike(cells, self.loads, quantities.core))
        fct = [{s: quantities.fct(cells.get((x, s), NOTHING)) for s in PAIRS} for x in (low, high)]
        mine, other = (
            {x: cells.get((x, scheme), NOTHING).by_seed(quantities.fct) for x in (low, high)}
            for scheme in ("mmptcp", "mptcp-tcp")
        )
        ledger.judge(
            "mmptcp-crosses",
            f"at {low}% {listed(fct[0], 'ms')}; at {high}% {listed(fct[1], 'ms')}",
            together(
                below(mine[low], other[low]),
                above(mine[high], other[high]),
            ),
        )

    def frame(self) -> Frame:
        """Return the four panels."""
        x, names = "servers with long flows (%)", ("fct", "goodput", "loss", "core")
        panels = [sweeps.panel(name, "load", self.loads, PAIRS, x) for name in names]
        title = f"{self.title}, 256 hosts, 2:1, 256 short flows/s"
        return Frame(panels, title, (4.4, 2.7), sharey=False, columns=2)


def _alike(cells: sweeps.Cells, loads: Sequence[int], of: sweeps.Of) -> list[bool]:
    """Say at each load with data whether the schemes that spread long flows are alike."""
    found = [[of(cells.get((load, s), NOTHING)) for s in SPREAD] for load in loads]
    known = [[v for v in values if v is not None] for values in found]
    return [max(v) <= 1.05 * min(v) for v in known if len(v) == len(SPREAD)]


def _rises(ledger: Ledger, cells: sweeps.Cells, ends: tuple[int, int]) -> None:
    first, last = (quantities.deviation(cells.get((load, "tcp"), NOTHING)) for load in ends)
    known = first is not None and last is not None
    ledger.judge(
        "tcp-sensitive",
        f"{number(first, 'ms')} at {ends[0]}%, {number(last, 'ms')} at {ends[1]}%",
        grade(
            known and (last or 0.0) >= 1.5 * (first or 0.0) > 0.0,
            known and (last or 0.0) > (first or 0.0),
            "at least 1.5 times as much at the highest load; partly: more",
        ),
    )


EXPERIMENT = Fig9()
