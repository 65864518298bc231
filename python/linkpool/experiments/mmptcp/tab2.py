"""MMPTCP, Table 2: beside TCP and packet scatter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table, quantities
from linkpool.experiments.mmptcp.mixed import NOTHING, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row, greatest, least
from linkpool.experiments.mmptcp.tab1 import ARRIVALS
from linkpool.experiments.mmptcp.tab1 import PAPER as TABLE_1
from linkpool.study.claims import Ledger, together
from linkpool.study.frame import Frame
from linkpool.study.point import Point

SCHEMES = ("ps", "tcp", "mmptcp", "mptcp")
"""The orders are judged among these."""
ALL = (*SCHEMES, "mptcp-faults")
PAPER = {
    "ps": Row(36.9, 38, 58.6, 18.2, 75.1, 0.0001),
    "tcp": Row(64.3, 118, 38.5, 19.8, 44.7, 0.0259),
    "mmptcp": TABLE_1[100, "mmptcp"],
    "mptcp": TABLE_1[100, "mptcp"],
    "mptcp-faults": TABLE_1[100, "mptcp-faults"],
}


@dataclass(frozen=True)
class Tab2(Mixed):
    """All flows of one run are of one scheme."""

    id: str = "M-tab2"
    columns: ClassVar = declared.columns("mmptcp", "M-tab2")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme and seed."""
        return [
            Mix(scheme, scheme, ARRIVALS, self.duration_s).point({"scheme": scheme}, seed)
            for scheme in ALL
            for seed in seeds
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the orders that the text speaks of."""
        cells = mixed.cells(data, "scheme")
        for scheme in ALL:
            mixed_table.judge_row(ledger, scheme, cells.get(scheme, NOTHING), PAPER[scheme])
        of = {scheme: cells.get(scheme, NOTHING) for scheme in SCHEMES}
        fct = {s: c.fct.mean for s, c in of.items()}
        loss = {s: c.loss for s, c in of.items()}
        core = {s: c.utilisation for s, c in of.items()}
        goodput = {s: c.goodput.mean for s, c in of.items()}
        others = tuple(s for s in SCHEMES if s != "tcp")
        ledger.judge(
            "tcp-worst",
            f"{mixed_table.listed(core, '%')}; loss {mixed_table.listed(loss, '%')}",
            together(
                least(of, quantities.core, "tcp", others),
                greatest(of, quantities.loss, "tcp", others),
            ),
        )
        ledger.judge(
            "tcp-shorter",
            mixed_table.listed(fct, "ms"),
            least(of, quantities.fct, "tcp", ("mmptcp", "mptcp")),
        )
        others = tuple(s for s in SCHEMES if s != "ps")
        ledger.judge(
            "ps-best",
            f"{mixed_table.listed(fct, 'ms')}; loss {mixed_table.listed(loss, '%')}",
            together(
                least(of, quantities.fct, "ps", others), least(of, quantities.loss, "ps", others)
            ),
        )
        ledger.judge(
            "ps-goodput",
            mixed_table.listed(goodput, "Mbps"),
            least(of, quantities.goodput, "ps", ("mmptcp", "mptcp")),
        )

    def frame(self) -> Frame:
        """Return the table."""
        title = f"{self.title}, 512 hosts, 4:1, 256 short flows/s"
        return Frame(mixed_table.panels(ALL), title, (3.0, 2.8), sharey=False)


EXPERIMENT = Tab2()
