"""MMPTCP, Figure 3: hotspots in the core."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed_table, quantities, sweeps
from linkpool.experiments.mmptcp.mixed import Mix
from linkpool.experiments.mmptcp.summary import NOTHING, Summarised
from linkpool.experiments.mmptcp.tab3 import ARRIVALS, PAIRS
from linkpool.study.claims import Ledger, cases, grade, most
from linkpool.study.frame import Frame
from linkpool.study.point import Point

DEGREES = (0, 10, 20, 30, 40, 50, 60)


@dataclass(frozen=True)
class Fig3(Summarised):
    """The queues at all links of some core switches hold 10 packets instead of 100."""

    id: str = "M-fig3"
    degrees: tuple[int, ...] = DEGREES
    columns: ClassVar = declared.columns("mmptcp", "M-fig3")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every degree, scheme and seed."""
        return [
            Mix(long, short, ARRIVALS, self.duration_s, hotspots=degree / 100).point(
                {"degree": degree, "scheme": scheme}, seed
            )
            for degree in self.degrees
            for scheme, (long, short) in PAIRS.items()
            for seed in seeds
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge who is best and worst at every degree, and TCP at the highest."""
        cells = sweeps.cells(data, "degree")
        best = (
            ("loss", "the lowest loss in the core", quantities.loss, True),
            ("core", "the highest utilisation of the core", quantities.core, False),
            ("goodput", "the highest goodput of long flows", quantities.goodput, False),
        )
        for name, what, of, lowest in best:
            hits = sweeps.at_end(cells, self.degrees, PAIRS, of, lowest, ("mmptcp",))
            ledger.judge(
                "mmptcp-{name}",
                cases(hits) if hits else "no data",
                hits,
                name=name,
                what=what,
            )
        hits = sweeps.at_end(
            cells, self.degrees, PAIRS, quantities.goodput, True, ("tcp", "ps-tcp")
        )
        ledger.judge(
            "worst-goodput",
            cases(hits) if hits else "no data",
            most(hits, f"within {sweeps.TIE:.0%} of the two lowest", 1.0, 0.5),
        )
        two, one = (
            sweeps.at_end(cells, self.degrees, PAIRS, quantities.deviation, False, schemes)
            for schemes in (("mptcp", "tcp"), ("mptcp",))
        )
        hits = [both and first for both, first in zip(two, one, strict=True)]
        ledger.judge("unstable", cases(hits) if hits else "no data", hits)
        tcp = cells.get((max(self.degrees), "tcp"), NOTHING)
        ledger.judge("tcp-mean", str(tcp), tcp.fct.mean)
        ledger.judge("tcp-sd", mixed_table.number(tcp.fct.sd, "ms"), tcp.fct.sd)
        for scheme in ("tcp", "ps-tcp"):
            _rises(ledger, cells, scheme, (min(self.degrees), max(self.degrees)))

    def frame(self) -> Frame:
        """Return the four panels."""
        x, names = (
            "hotspots: core switches with short queues (%)",
            ("goodput", "core", "fct", "loss"),
        )
        panels = [sweeps.panel(name, "degree", self.degrees, PAIRS, x) for name in names]
        title = f"{self.title}, 512 hosts, 4:1, 2,560 short flows/s"
        return Frame(panels, title, (4.4, 2.7), sharey=False, columns=2)


def _rises(ledger: Ledger, cells: sweeps.Cells, scheme: str, ends: tuple[int, int]) -> None:
    low, high = (cells.get((degree, scheme), NOTHING).loss for degree in ends)
    known = low is not None and high is not None
    ledger.judge(
        "rises-{scheme}",
        f"{mixed_table.percent(low)} at {ends[0]}%, {mixed_table.percent(high)} at {ends[1]}%",
        grade(
            known and (high or 0.0) >= 1.5 * (low or 0.0) and (high or 0.0) > 0,
            known and (high or 0.0) > (low or 0.0),
            "at least 1.5 times as much at the highest degree; partly: more",
        ),
        scheme=scheme,
    )


EXPERIMENT = Fig3()
