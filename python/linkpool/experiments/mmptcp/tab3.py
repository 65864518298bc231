"""MMPTCP, Table 3: ten times as many short flows, and packet scatter beside TCP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table, quantities
from linkpool.experiments.mmptcp.mixed import NOTHING, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row, greatest, least
from linkpool.study.claims import Ledger, together
from linkpool.study.frame import Frame
from linkpool.study.point import Point

ARRIVALS = 2560.0
PAIRS = {
    "ps": ("ps", "ps"),
    "ps-tcp": ("ps", "tcp"),
    "tcp": ("tcp", "tcp"),
    "mmptcp": ("mmptcp", "mmptcp"),
    "mptcp": ("mptcp", "mptcp"),
}
"""By scheme: the transport of long flows, and of short flows."""
ALL = {**PAIRS, "mptcp-faults": ("mptcp-faults", "mptcp-faults")}
"""The orders are judged without the last."""

PAPER = {
    "ps": Row(40.5, 44.3, 52.9, 16.7, 76.8, 0.0001),
    "ps-tcp": Row(29.7, 31.1, 42.5, 11.3, 61.9, 0.0014),
    "tcp": Row(66.5, 150, 34.2, 18.1, 48.8, 0.0576),
    "mmptcp": Row(111, 127, 55.9, 18.7, 76.7, 0.0105),
    "mptcp": Row(148, 502, 55.0, 18.2, 75.9, 0.0100),
}
PAPER |= {"mptcp-faults": PAPER["mptcp"]}


@dataclass(frozen=True)
class Tab3(Mixed):
    """All flows of one run are of one scheme, but for packet scatter whose short flows are TCP."""

    id: str = "M-tab3"
    columns: ClassVar = declared.columns("mmptcp", "M-tab3")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme and seed."""
        return [
            Mix(long, short, ARRIVALS, self.duration_s).point({"scheme": scheme}, seed)
            for scheme, (long, short) in ALL.items()
            for seed in seeds
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the orders that the text speaks of."""
        cells = mixed.cells(data, "scheme")
        of = {scheme: cells.get(scheme, NOTHING) for scheme in ALL}
        for scheme, cell in of.items():
            mixed_table.judge_row(ledger, scheme, cell, PAPER[scheme])
        fct = {s: c.fct.mean for s, c in of.items()}
        loss = {s: of[s].loss for s in PAIRS}
        core = {s: of[s].utilisation for s in PAIRS}
        goodput = {s: of[s].goodput.mean for s in PAIRS}
        ledger.judge(
            "scatter-beside-tcp",
            mixed_table.listed({s: fct[s] for s in PAIRS}, "ms"),
            least(of, quantities.fct, "ps-tcp", _but("ps-tcp")),
        )
        less = _difference(goodput, "mmptcp", "ps-tcp")
        ledger.judge("scatter-suffers", mixed_table.number(less, "Mbps"), less)
        less = _difference(core, "mmptcp", "ps-tcp")
        ledger.judge("scatter-core", mixed_table.percent(less), less)
        ledger.judge(
            "tcp-worst",
            f"{mixed_table.listed(goodput, 'Mbps')}; loss {mixed_table.listed(loss, '%')}",
            together(
                least(of, quantities.goodput, "tcp", _but("tcp")),
                greatest(of, quantities.loss, "tcp", _but("tcp")),
            ),
        )
        for scheme, claim in (("mptcp", "shorter"), ("mptcp-faults", "shorter-faults")):
            ledger.judge(
                "mmptcp-{claim}",
                f"{of['mmptcp']} against {of[scheme]}",
                together(
                    least(of, quantities.fct, "mmptcp", (scheme,)),
                    least(of, quantities.deviation, "mmptcp", (scheme,)),
                ),
                claim=claim,
                scheme=scheme,
            )
        ledger.judge(
            "mmptcp-core",
            mixed_table.listed({s: core[s] for s in ("mmptcp", "mptcp")}, "%"),
            core["mmptcp"],
            core["mptcp"],
        )

    def frame(self) -> Frame:
        """Return the table."""
        title = f"{self.title}, 512 hosts, 4:1, 2,560 short flows/s"
        return Frame(mixed_table.panels(tuple(ALL)), title, (3.2, 2.8), sharey=False)


def _but(scheme: str) -> tuple[str, ...]:
    return tuple(other for other in PAIRS if other != scheme)


def _difference(of: "dict[str, float | None]", one: str, other: str) -> float | None:
    a, b = of[one], of[other]
    return None if a is None or b is None else a - b


EXPERIMENT = Tab3()
