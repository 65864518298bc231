"""MMPTCP, Figure 1: MPTCP against its number of subflows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments.mmptcp import quantities, summary
from linkpool.experiments.mmptcp.mixed import Mix
from linkpool.experiments.mmptcp.mixed_table import number, percent
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import NOTHING, Cell, Summarised
from linkpool.study import style
from linkpool.study.claims import Claim, Judged, Ledger, by_factor, grade, no_data
from linkpool.study.experiment import KEY_SCHEME, KEY_SEED, Keys, Point

TREES = (Tree(1), Tree(4))
SUBFLOWS = (1, 2, 3, 4, 5, 6, 7, 8)
ARRIVALS = 256.0
SCHEMES = ("mptcp", "mptcp-faults")

Of = Callable[[Cell], "float | None"]


@dataclass(frozen=True)
class Fig1(Summarised):
    """All flows are MPTCP's; with one subflow that is TCP."""

    id: str = "M-fig1"
    title: str = "MPTCP against its number of subflows"
    paper: str = "MMPTCP, section 1, Figure 1"
    trees: tuple[Tree, ...] = TREES
    subflows: tuple[int, ...] = SUBFLOWS
    columns: ClassVar[tuple[Column, ...]] = (
        Column("tree", "string", "", "oversubscription: 1:1 has 128 hosts, 4:1 has 512"),
        KEY_SCHEME,
        Column("subflows", "i32", "", "subflows of each flow"),
        KEY_SEED,
        *summary.COLUMNS,
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every tree, scheme, number of subflows and seed."""
        return [
            self._point(tree, scheme, subflows, seed)
            for tree in self.trees
            for scheme in SCHEMES
            for subflows in self.subflows
            if subflows > 1 or scheme == "mptcp"  # the faults are of further subflows
            for seed in seeds
        ]

    def _point(self, tree: Tree, scheme: str, subflows: int, seed: int) -> Point:
        keys: Keys = {"tree": tree.name, "scheme": scheme, "subflows": subflows}
        if subflows == 1:
            return Mix("tcp", "tcp", ARRIVALS, self.duration_s, tree).point(keys, seed)
        transport = {"subflows": subflows}
        mix = Mix(scheme, scheme, ARRIVALS, self.duration_s, tree, keys=transport)
        return mix.point(keys, seed)

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge what more subflows do to long and to short flows, on each tree."""
        found: list[Claim] = []
        one, most = min(self.subflows), max(self.subflows)
        for tree in self.trees:
            ledger = Ledger(self.id, tree.name)
            cells = _cells(data, tree)
            for scheme in SCHEMES:
                first = cells.get(("mptcp", one), NOTHING)
                last = cells.get((scheme, most), NOTHING)
                suffix = "" if scheme == "mptcp" else "-faults"
                goodputs = [c.goodput.mean for c in (first, last)]
                ledger.add(
                    f"doubles{suffix}",
                    "eight subflows almost double the goodput of long flows",
                    "twice",
                    _change(goodputs, "Mbps"),
                    by_factor(_ratio(goodputs), 2.0),
                )
                for name, text, of in (
                    ("mean", "the mean FCT of short flows increases with subflows", quantities.fct),
                    ("sd", "and so does its standard deviation", quantities.deviation),
                ):
                    values = [of(c) for c in (first, last)]
                    ledger.add(
                        f"{name}{suffix}",
                        text,
                        "increases",
                        _change(values, "ms"),
                        _increases(_ratio(values), 1.25),
                    )
                shares = [c.with_timeout for c in (first, last)]
                percents = [None if s is None else 100 * s for s in shares]
                ledger.add(
                    f"timeouts{suffix}",
                    "the number of flows with a timeout increases significantly",
                    "significantly",
                    " to ".join(percent(value) for value in percents),
                    _increases(_ratio(shares), 1.5),
                )
            found += ledger.claims
        return found

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw goodputs of long flows and completion times of short ones."""
        figure, axes = style.panels(
            len(self.trees), 2, f"{self.id}: {self.title}", (4.4, 2.7), sharey=False
        )
        for row, tree in zip(axes, self.trees, strict=True):
            cells = _cells(data, tree)
            _lines(row[0], cells, self.subflows, quantities.goodput, quantities.goodput_deviation)
            _lines(row[1], cells, self.subflows, quantities.fct, quantities.deviation)
            row[0].set_title(f"{tree.name}: goodput of long flows (Mbps), mean ± sd")
            row[1].set_title(f"{tree.name}: FCT of short flows (ms), mean ± sd")
            for at in row:
                at.set_xlabel("subflows")
                style.from_zero(at)
        style.legend(figure, axes[0, 0])
        return figure


def _cells(data: pl.DataFrame, tree: Tree) -> dict[tuple[str, int], Cell]:
    mine = data.filter(pl.col("tree") == tree.name)
    parts = mine.partition_by("scheme", "subflows", as_dict=True)
    return {(str(scheme), int(count)): Cell(rows) for (scheme, count), rows in parts.items()}


def _ratio(values: Sequence[float | None]) -> float | None:
    before, after = values
    return after / before if before and after is not None else None


def _change(values: Sequence[float | None], unit: str) -> str:
    if None in values:
        return "no data"
    return " to ".join(number(value, unit) for value in values)


def _increases(ratio: float | None, much: float) -> Judged:
    note = f"at least {much:g} times as much with 8 subflows as with 1; partly: more"
    if ratio is None:
        return no_data(note)
    return grade(ratio >= much, ratio > 1, note)


def _lines(
    axes: Axes,
    cells: Mapping[tuple[str, int], Cell],
    subflows: Sequence[int],
    of: Of,
    deviation: Of,
) -> None:
    for scheme in SCHEMES:
        found = [(n, cells.get((scheme, n), NOTHING)) for n in subflows]
        drawn = [(n, v, c) for n, c in found if (v := of(c)) is not None]
        x, y = [float(n) for n, _, _ in drawn], [v for _, v, _ in drawn]
        around = [deviation(c) or 0.0 for _, _, c in drawn]
        low = [max(v - sd, 0.0) for v, sd in zip(y, around, strict=True)]
        style.lines(axes, scheme, x, y, low, [v + sd for v, sd in zip(y, around, strict=True)])


EXPERIMENT = Fig1()
