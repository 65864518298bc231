"""AMP, Figure 9: fairness between multipath and DCTCP flows."""

from dataclasses import dataclass, replace

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.amp.longflows import Mix
from linkpool.experiments.amp.syndrome import Syndrome, Table
from linkpool.stats import jain
from linkpool.study import style
from linkpool.study.claims import Ledger, cases, most, together
from linkpool.study.frame import Frame, Panel
from linkpool.study.schemes import NAMES
from linkpool.study.statistics import Spread

SCHEMES = ("dcm", "xmp", "amp")
MULTIPATH = (1, 2, 4)
DCTCP_FLOWS = (4, 8, 12, 16, 20, 24)
EQUAL = 0.005
"""Two indices that differ by no more are equal, as far as a figure shows."""


def fairness(table: Table, mix: Mix) -> Spread:
    """Return Jain's index over all flows of a mix, by seed."""
    runs = table.rows(mix).partition_by("seed")
    indices = [jain(run["goodput_bps"].to_numpy()) for run in runs]
    return Spread.of([index for index in indices if index is not None])


@dataclass(frozen=True)
class Fig9(Syndrome):
    """1, 2 and 4 multipath flows beside 4 to 24 DCTCP flows."""

    id: str = "A-fig9"
    schemes: tuple[str, ...] = SCHEMES
    multipath: tuple[int, ...] = MULTIPATH
    dctcp: tuple[int, ...] = DCTCP_FLOWS

    def mixes(self) -> list[Mix]:
        """Return every scheme in every mix."""
        return [
            Mix(scheme, multipath=m, dctcp=n)
            for m in self.multipath
            for n in self.dctcp
            for scheme in self.schemes
        ]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the order of the schemes, and where they are alike."""
        table = Table(data)
        ahead, better = [], []
        for m in self.multipath:
            for n in self.dctcp:
                index = self._indices(table, m, n)
                others = [index[s] for s in self.schemes if s != "amp" and s in index]
                if "amp" in index and others:
                    ahead.append(index["amp"] >= max(others) - EQUAL)
                    better.append(index["amp"] > max(others) + EQUAL)
        ledger.judge(
            "best",
            f"not worse in {cases(ahead)}, better in {cases(better)}",
            together(
                most(ahead, f"Jain's index of AMP not below either other's by more than {EQUAL}"),
                most(better, f"above both by more than {EQUAL}", all_of=0.5, some=0.25),
            ),
        )
        for m in (1, 2):
            index = self._indices(table, m, 4)
            gap = max(index.values()) - min(index.values()) if len(index) > 1 else None
            ledger.judge("weak-{m}", _listing(index), gap, m=m, plural="s" if m > 1 else "")
        one, four = self._indices(table, 1, 4), self._indices(table, 4, 4)
        drops = [one[s] - four[s] for s in ("dcm", "xmp") if s in one and s in four]
        ledger.judge(
            "more", f"with 1: {_listing(one)}; with 4: {_listing(four)}", [d >= 0.05 for d in drops]
        )

    def _indices(self, table: Table, multipath: int, dctcp: int) -> dict[str, float]:
        means = {
            scheme: fairness(table, Mix(scheme, multipath=multipath, dctcp=dctcp)).value
            for scheme in self.schemes
        }
        return {scheme: mean for scheme, mean in means.items() if mean is not None}

    def frame(self) -> Frame:
        """Return Jain's index against DCTCP flows, a panel per number of multipath flows."""

        def panel(multipath: int) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                table = Table(data)
                for scheme in self.schemes:
                    mix = Mix(scheme, multipath=multipath, dctcp=0)
                    found = [fairness(table, replace(mix, dctcp=n)) for n in self.dctcp]
                    shown = [(n, x) for n, x in zip(self.dctcp, found, strict=True) if x.value]
                    ends = ([x.low for _, x in shown], [x.high for _, x in shown])
                    y = [x.value or 0.0 for _, x in shown]
                    style.lines(axes, scheme, [n for n, _ in shown], y, *ends)
                axes.set_xticks(self.dctcp)

            return Panel(paint, f"{multipath} multipath, {{}} links", "DCTCP flows", "Jain's index")

        return Frame([panel(m) for m in self.multipath], self.title, (3.0, 2.4))


def _listing(index: dict[str, float]) -> str:
    return ", ".join(f"{NAMES[s]} {x:.3f}" for s, x in index.items()) or "no data"


EXPERIMENT = Fig9()
