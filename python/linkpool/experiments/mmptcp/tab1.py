"""MMPTCP, Table 1 and Figure 2: MMPTCP beside MPTCP, at 100 Mbps and 1 Gbps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments.mmptcp import mixed, mixed_table
from linkpool.experiments.mmptcp.mixed import NOTHING, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.mixed_table import Row
from linkpool.study import style
from linkpool.study.claims import Claim, Ledger, about, by_factor, grade, same, under
from linkpool.study.experiment import KEY_SCHEME, KEY_SEED, Point
from linkpool.study.schemes import NAMES

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
    title: str = "MMPTCP beside MPTCP with eight subflows"
    paper: str = "MMPTCP, section 3.2, Table 1 and Figure 2"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("rate_mbps", "i32", "Mbit/s", "of all links"),
        Column("long_percent", "i32", "%", "hosts that send long flows, of all hosts"),
        KEY_SCHEME,
        KEY_SEED,
        *mixed.COLUMNS,
    )

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

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the table in each reading, and the text's claims about the tail of short flows."""
        found: list[Claim] = []
        for reading, (rate, _) in LOADS.items():
            ledger = Ledger(self.id, reading)
            cells = _cells(data, reading)
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
            found += ledger.claims
        return found

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the table, and the tails of completion times and timeouts."""
        title = f"{self.id}: {self.title}, 512 hosts, 4:1"
        figure, axes = style.panels(len(LOADS), 6, title, (3.0, 2.8), sharey=False)
        for row, (reading, (rate, percent)) in zip(axes, LOADS.items(), strict=True):
            cells = _cells(data, reading)
            mixed_table.draw_bars(row[:4], cells, SCHEMES)
            for scheme in SCHEMES:
                short = cells.get(scheme, NOTHING).short
                times = 1e3 * short["fct_established_s"].drop_nulls().to_numpy()
                mixed_table.draw_tail(row[4], times, scheme)
                mixed_table.draw_tail(row[5], short["timeouts"].to_numpy(), scheme)
            row[0].set_ylabel(f"{rate} Mbps, {percent}% of hosts long")
            row[4].set_title("share of short flows")
            row[4].set_xlabel("whose FCT is at least (ms)")
            row[5].set_title("share of short flows")
            row[5].set_xlabel("whose timeouts are at least")
        style.legend(figure, axes[0, 0])
        return figure


def _cells(data: pl.DataFrame, reading: str) -> dict[str, Cell]:
    rate, percent = LOADS[reading]
    rows = data.filter(pl.col("rate_mbps") == rate, pl.col("long_percent") == percent)
    return mixed.cells(rows, "scheme")


def _id(claim: str, scheme: str) -> str:
    return claim if scheme == "mptcp" else f"{claim}-faults"


def _means(ledger: Ledger, scheme: str, cells: tuple[Cell, Cell], paper: float) -> None:
    mptcp, mmptcp = cells
    ours = None
    if mptcp.fct.mean and mmptcp.fct.mean is not None:
        ours = mmptcp.fct.mean / mptcp.fct.mean
    ledger.add(
        _id("shorter", scheme),
        f"MMPTCP's mean FCT of short flows is shorter than that of {NAMES[scheme]}",
        f"{paper:.2f} of it",
        "no data" if ours is None else f"{ours:.3g} of it",
        by_factor(ours, paper, tolerance=0.15),
    )


def _alike(ledger: Ledger, mptcp: Cell, mmptcp: Cell) -> None:
    one, other = mptcp.goodput.mean, mmptcp.goodput.mean
    values = {"mptcp": one, "mmptcp": other}
    ledger.add(
        "goodput-alike",
        "long flows get as much by MMPTCP as by MPTCP",
        "alike",
        mixed_table.listed(values, "Mbps"),
        same(one, other),
    )


def _most_timeouts(ledger: Ledger, scheme: str, cell: Cell, paper: int) -> None:
    worst = cell.short["timeouts"].max() if cell.short.height else None
    value = float(worst) if isinstance(worst, int) else None
    ledger.add(
        f"timeouts-{scheme}",
        f"the most timeouts of a short flow, {NAMES[scheme]}",
        f"{paper}",
        mixed_table.number(value, "timeouts"),
        under(value, paper) if scheme == "mmptcp" else about(value, paper),
    )


def _tail(ledger: Ledger, scheme: str, cells: tuple[Cell, Cell]) -> None:
    mptcp, mmptcp = cells
    _most_timeouts(ledger, scheme, mptcp, 25)
    many = mptcp.share(pl.col("timeouts") > 2)
    ledger.add(
        _id("many", scheme),
        f"short flows with more than two timeouts, {NAMES[scheme]}",
        f"{4_000 / FLOWS['mptcp']:.1%}",
        mixed_table.percent(None if many is None else 100 * many),
        about(many, 4_000 / FLOWS["mptcp"]),
    )
    one, other = mptcp.fct.sd, mmptcp.fct.sd
    known = one is not None and other is not None
    ledger.add(
        _id("no-tail", scheme),
        f"MMPTCP has no heavy tail of short flows' FCTs as has {NAMES[scheme]}",
        "standard deviations of 425 and 101 ms",
        mixed_table.listed({scheme: one, "mmptcp": other}, "ms"),
        grade(
            known and (one or 0.0) >= 2 * (other or 0.0),
            known and (one or 0.0) > (other or 0.0),
            "MPTCP's deviation at least twice MMPTCP's; partly: larger",
        ),
    )


def _few(ledger: Ledger, mmptcp: Cell) -> None:
    _most_timeouts(ledger, "mmptcp", mmptcp, 4)
    few = mmptcp.share(pl.col("timeouts") < 2)
    ledger.add(
        "few",
        "most short flows of MMPTCP meet fewer than two timeouts",
        f"{100_000 / FLOWS['mmptcp']:.1%}",
        mixed_table.percent(None if few is None else 100 * few),
        grade(
            few is not None and few >= 0.99,
            few is not None and few >= 0.95,
            "at least 99%; partly: 95%",
        ),
    )


EXPERIMENT = Tab1()
