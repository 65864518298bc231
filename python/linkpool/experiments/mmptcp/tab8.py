"""MMPTCP, Table 8 and Figure 8: the congestion control of phase 2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table, quantities
from linkpool.experiments.mmptcp.mixed import COLUMNS, NOTHING, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row, greatest, least, listed, percent
from linkpool.experiments.mmptcp.setting import ENDS
from linkpool.result import Result
from linkpool.stats import describe
from linkpool.study.claims import Ledger, Verdict, together
from linkpool.study.frame import Frame
from linkpool.study.point import Point

ARRIVALS = 256.0
ACCESS = "access"
PHASE_2 = {"mmptcp-fc": "fully-coupled", "mmptcp-uc": "uncoupled", "mmptcp": "lia"}
"""By scheme: the algorithm of phase 2."""
SCHEMES = tuple(scheme + end for end in ENDS for scheme in PHASE_2)
PAPER = {
    "mmptcp-fc": Row(114, 127, 58.9, 18, 70.8, 0.014),
    "mmptcp-uc": Row(179, 270, 50, 18.5, 63.8, 0.104),
    "mmptcp": Row(116, 101, 61.9, 20, 74.9, 0.007),
}
ACCESS_LOSS = {"mmptcp-fc": 0.007, "mmptcp-uc": 0.041, "mmptcp": 0.007}
"""The paper's mean loss at the links of hosts, in per cent.

Its column has the same "(mean)" as that of the core, which is the mean over ports: in Tables 2
and 3 TCP's and PS's losses tell this from the share of all packets.
"""


@dataclass(frozen=True)
class Tab8(Mixed):
    """All flows are MMPTCP's; the subflows of phase 2 are coupled in three ways."""

    id: str = "M-tab8"
    columns: ClassVar = declared.columns("mmptcp", "M-tab8")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every algorithm and seed."""
        return [
            Mix(
                f"mmptcp{end}", f"mmptcp{end}", ARRIVALS, self.duration_s, keys={"phase_2": phase_2}
            ).point({"scheme": scheme + end}, seed)
            for end in ENDS
            for scheme, phase_2 in PHASE_2.items()
            for seed in seeds
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return what all tables have, and losses of each second between hosts and racks."""
        access = result.links.filter((pl.col("layer") == "host") | (pl.col("to_layer") == "host"))
        ports = result.counters.join(access.select("link"), on="link", how="semi").select(
            pl.lit(ACCESS).alias("kind"),
            pl.lit(None, pl.Float64).alias("utilisation"),
            (pl.col("packets") + pl.col("drops")).alias("offered"),
            "drops",
        )
        rows = pl.concat([mixed.measure(result), ports], how="diagonal")
        return rows.select(column.name for column in COLUMNS)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table and the text's orders, without faults and with them."""
        found = mixed.cells(data, "scheme")
        for end in ENDS:
            cells = {scheme: found.get(scheme + end, NOTHING) for scheme in PHASE_2}
            for scheme, cell in cells.items():
                mixed_table.judge_row(ledger, scheme + end, cell, PAPER[scheme])
                mean, pooled = percent(_access_loss(cell)), percent(_access_dropped(cell))
                ledger.judge(
                    "access-{scheme}{end}",
                    f"{mean}; of all packets {pooled}",
                    _access_loss(cell),
                    scheme=scheme,
                    end=end,
                    paper=ACCESS_LOSS[scheme],
                )
            _orders(ledger, cells, end)

    def frame(self) -> Frame:
        """Return the table, and the tails of completion times."""
        tail = mixed_table.tail(SCHEMES, "whose FCT is at least (ms)")
        title = f"{self.title}, 512 hosts, 4:1"
        return Frame([*mixed_table.panels(SCHEMES), tail], title, (3.0, 2.8), sharey=False)


def _access_loss(cell: Cell) -> float | None:
    ports = cell.rows.filter(pl.col("kind") == ACCESS, pl.col("offered") > 0)
    return describe((100 * ports["drops"] / ports["offered"]).to_numpy()).mean


def _access_dropped(cell: Cell) -> float | None:
    """Return the share of offered packets that ports between hosts and racks drop, in per cent."""
    ports = cell.rows.filter(pl.col("kind") == ACCESS)
    offered, drops = int(ports["offered"].sum()), int(ports["drops"].sum())
    return 100 * drops / offered if offered else None


def _orders(ledger: Ledger, cells: Mapping[str, Cell], end: str) -> None:
    fct = {s: c.fct.mean for s, c in cells.items()}
    sd = {s: c.fct.sd for s, c in cells.items()}
    goodput = {s: c.goodput.mean for s, c in cells.items()}
    core = {s: c.utilisation for s, c in cells.items()}
    others = ("mmptcp-fc", "mmptcp")
    ledger.judge(
        "uc-worst{end}",
        f"{listed(fct, 'ms')}; deviations {listed(sd, 'ms')}",
        together(
            greatest(cells, quantities.fct, "mmptcp-uc", others),
            greatest(cells, quantities.deviation, "mmptcp-uc", others),
        ),
        end=end,
    )
    ledger.judge(
        "uc-least{end}",
        f"{listed(goodput, 'Mbps')}; {listed(core, '%')}",
        together(
            least(cells, quantities.goodput, "mmptcp-uc", others),
            least(cells, quantities.core, "mmptcp-uc", others),
        ),
        end=end,
    )
    loss = {s: c.loss for s, c in cells.items()}
    coupled, linked = loss["mmptcp-fc"], loss["mmptcp"]
    ratio = coupled / linked if coupled is not None and linked else None
    ledger.judge("fc-loss{end}", listed(loss, "%"), ratio, end=end)
    ledger.judge(
        "fc-core{end}",
        listed(core, "%"),
        least(cells, quantities.core, "mmptcp-fc", ("mmptcp",)),
        end=end,
    )

    def tail(cell: Cell) -> float | None:
        return mixed_table.percentile(cell, 0.99)

    tails = {s: tail(c) for s, c in cells.items()}
    worst = greatest(cells, tail, "mmptcp-uc", others)
    next_to_it = greatest(cells, tail, "mmptcp-fc", ("mmptcp",))
    ledger.judge(
        "tails{end}",
        f"99th percentiles: {listed(tails, 'ms')}",
        worst if worst.verdict is Verdict.NOT else together(worst, next_to_it),
        end=end,
    )


EXPERIMENT = Tab8()
