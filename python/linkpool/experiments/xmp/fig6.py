"""XMP, Figure 6: fairness of flows, whatever their numbers of subflows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.xmp import rates
from linkpool.stats import jain
from linkpool.study.claims import Ledger, grade
from linkpool.study.frame import Frame
from linkpool.study.point import Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import dumps

BETAS = (4, 6)
END_S = 30.0
SETTLE_S = 1.0
PHASES: dict[tuple[float, float], tuple[str, ...]] = {
    (0.0, 5.0): ("Flow 1", "Flow 3"),
    (5.0, 10.0): ("Flow 1", "Flow 3"),
    (10.0, 15.0): ("Flow 1", "Flow 3", "Flow 4"),
    (15.0, 20.0): ("Flow 1", "Flow 3", "Flow 4"),
    (20.0, 25.0): ("Flow 1", "Flow 2", "Flow 3", "Flow 4"),
    (25.0, 30.0): ("Flow 1", "Flow 2"),
}
"""Between two events, which flows there are."""
NAMES = ("Flow 1", "Flow 2", "Flow 3", "Flow 4")


@dataclass(frozen=True)
class Fig6(rates.Rates):
    """Four flows with three, two, one and one subflows over one bottleneck."""

    id: str = "X-fig6"
    columns: ClassVar = declared.columns("xmp", "X-fig6")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both betas and every seed."""
        return [_point(beta, seed) for beta in BETAS for seed in seeds]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the fairness with each beta."""
        index = {beta: _by_phase(data.filter(pl.col("beta") == beta)) for beta in BETAS}
        four = [s.value for s in index[4] if s.value is not None]
        six = [s.value for s in index[6] if s.value is not None]
        ledger.judge(
            "fair",
            f"Jain's index of the flows from event to event: {_listing(index[4])}",
            grade(
                bool(four) and min(four) >= 0.95,
                bool(four) and min(four) >= 0.9,
                "Jain's index at least 0.95 between any two events, without the first second; "
                "partly: 0.9",
            ),
        )
        loss = sum(four) / len(four) - sum(six) / len(six) if four and six else None
        ledger.judge(
            "less-fair",
            "no data" if loss is None else f"with beta = 6 {_listing(index[6])}: {-loss:+.3f}",
            loss,
        )

    def frame(self) -> Frame:
        """Return the rate of every subflow over time, a panel per beta."""
        panels = [rates.panel(NAMES, f"beta = {beta}", beta=beta) for beta in BETAS]
        return Frame(panels, self.title, (4.6, 3.0), legend=7)


def _by_phase(rows: pl.DataFrame) -> list[Spread]:
    """Return Jain's index of the flows between each two events, by seed."""
    parts = rows.partition_by("seed") if rows.height else []
    spreads = []
    for (start, end), names in PHASES.items():
        inside = pl.col("time_s").is_between(start + SETTLE_S, end, closed="right")
        found = []
        for part in parts:
            flows = part.filter(inside).group_by("label").agg(pl.col("goodput_bps").sum())
            got = dict(flows.iter_rows())
            index = jain([float(got.get(name, 0.0)) for name in names])
            found += [] if index is None else [index]
        spreads.append(Spread.of(found))
    return spreads


def _listing(index: Sequence[Spread]) -> str:
    return ", ".join("none" if s.value is None else f"{s.value:.3f}" for s in index)


def _point(beta: int, seed: int) -> Point:
    one, two = rates.transport(beta, 1), rates.transport(beta, 2)
    three = rates.transport(beta, 3, join_at=["5s", "15s"])
    text = dumps(scenario("xmp", "X-fig6", beta=beta, one=one, two=two, three=three))
    return Point({"beta": beta}, text, seed, END_S, END_S * 300e6 / rates.PACKET_BITS)


EXPERIMENT = Fig6()
