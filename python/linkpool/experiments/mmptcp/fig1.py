"""MMPTCP, Figure 1: MPTCP against its number of subflows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import quantities, sweeps
from linkpool.experiments.mmptcp.mixed import Mix
from linkpool.experiments.mmptcp.mixed_table import number, percent
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import NOTHING, Cell, Summarised
from linkpool.study.claims import Ledger
from linkpool.study.experiment import each
from linkpool.study.frame import Frame
from linkpool.study.point import Keys, Point

TREES = (Tree(1), Tree(4))
SUBFLOWS = (1, 2, 3, 4, 5, 6, 7, 8)
ARRIVALS = 256.0
SCHEMES = ("mptcp", "mptcp-faults")

Of = Callable[[Cell], "float | None"]


@dataclass(frozen=True)
class Fig1(Summarised):
    """All flows are MPTCP's; with one subflow that is TCP."""

    id: str = "M-fig1"
    trees: tuple[Tree, ...] = TREES
    subflows: tuple[int, ...] = SUBFLOWS
    columns: ClassVar = declared.columns("mmptcp", "M-fig1")

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

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the trees."""
        return each("tree", [tree.name for tree in self.trees])

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what more subflows do to long and to short flows."""
        one, most = min(self.subflows), max(self.subflows)
        cells = sweeps.cells(data, "subflows")
        for scheme in SCHEMES:
            first = cells.get((one, "mptcp"), NOTHING)
            last = cells.get((most, scheme), NOTHING)
            suffix = "" if scheme == "mptcp" else "-faults"
            goodputs = [c.goodput.mean for c in (first, last)]
            ledger.judge(
                "doubles{suffix}", _change(goodputs, "Mbps"), _ratio(goodputs), suffix=suffix
            )
            for name, of in (
                ("mean{suffix}", quantities.fct),
                ("sd{suffix}", quantities.deviation),
            ):
                values = [of(c) for c in (first, last)]
                ledger.judge(name, _change(values, "ms"), _ratio(values), suffix=suffix)
            shares = [c.with_timeout for c in (first, last)]
            percents = [None if s is None else 100 * s for s in shares]
            ledger.judge(
                "timeouts{suffix}",
                " to ".join(percent(value) for value in percents),
                _ratio(shares),
                suffix=suffix,
            )

    def frame(self) -> Frame:
        """Return goodputs of long flows and completion times of short ones."""
        panels = [
            sweeps.panel(name, "subflows", self.subflows, SCHEMES, "subflows", "{}: {label}")
            for name in ("goodput", "fct")
        ]
        return Frame(panels, self.title, (4.4, 2.7), sharey=False)


def _ratio(values: Sequence[float | None]) -> float | None:
    before, after = values
    return after / before if before and after is not None else None


def _change(values: Sequence[float | None], unit: str) -> str:
    if None in values:
        return "no data"
    return " to ".join(number(value, unit) for value in values)


EXPERIMENT = Fig1()
