"""MMPTCP, Figures 1, 3 and 9: schemes over subflows, hotspots in the core, and load."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp.mixed import (
    DEVIATION,
    FCT,
    GOODPUT,
    GOODPUT_DEVIATION,
    LOSS,
    UTILISATION,
    Mix,
    Of,
    listed,
    number,
    percent,
)
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import NOTHING, Cell, Summarised
from linkpool.experiments.mmptcp.tables import ARRIVALS, MANY_ARRIVALS
from linkpool.experiments.mmptcp.tables import PAIRS as PAIRS_OF_TABLE_3
from linkpool.experiments.rows import ratio
from linkpool.study import style
from linkpool.study.claims import Judged, Ledger, above, below, cases, grade, most, together
from linkpool.study.experiment import each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point

TIE = 0.02
"""Values so near to each other, relatively, count as the same."""

Cells = Mapping[tuple[int, str], Cell]
"""What was measured, by the value that varies and the scheme."""


def cells(data: pl.DataFrame, key: str) -> dict[tuple[int, str], Cell]:
    """Return what was measured, where column `key` has the value that varies."""
    parts = data.partition_by(key, "scheme", as_dict=True)
    return {(int(value), str(scheme)): Cell(rows) for (value, scheme), rows in parts.items()}


def at_end(
    of_all: Cells,
    values: Sequence[int],
    among: Iterable[str],
    of: Of,
    lowest: bool,
    schemes: tuple[str, ...],
) -> list[bool]:
    """Say at each value with data whether `schemes` are, in any order, at that end of all."""
    hits, every = [], list(among)
    for value in values:
        found = {s: v for s in every if (v := of(of_all.get((value, s), NOTHING))) is not None}
        if len(found) < len(every):
            continue
        mine = [found[s] for s in schemes]
        rest = [v for s, v in found.items() if s not in schemes]
        if lowest:
            hits.append(max(mine) <= (1 + TIE) * min(rest))
        else:
            hits.append(min(mine) >= (1 - TIE) * max(rest))
    return hits


PANELS: Mapping[str, tuple[str, Of, Of | None]] = {
    "fct": ("FCT of short flows (ms), mean ± sd", FCT, DEVIATION),
    "goodput": ("goodput of long flows (Mbps), mean ± sd", GOODPUT, GOODPUT_DEVIATION),
    "core": ("mean core utilisation (%)", UTILISATION, None),
    "loss": ("mean core loss (%)", LOSS, None),
}
"""What is drawn against what varies: its label, the quantity, and its deviation."""


def panel(
    name: str, key: str, values: Sequence[int], among: Iterable[str], x: str, title: str = "{label}"
) -> Panel:
    """Return a panel of one of `PANELS`, whose label the title has, against column `key`."""
    label, of, around = PANELS[name]

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        """Draw a line for each scheme, with what is `around` it above and below."""
        of_all = cells(data, key)
        for scheme in among:
            found = [(value, of_all.get((value, scheme), NOTHING)) for value in values]
            drawn = [(value, mid, cell) for value, cell in found if (mid := of(cell)) is not None]
            xs, y = [float(value) for value, _, _ in drawn], [mid for _, mid, _ in drawn]
            sds = [0.0 if around is None else around(cell) or 0.0 for _, _, cell in drawn]
            low = [max(mid - sd, 0.0) for mid, sd in zip(y, sds, strict=True)]
            high = [mid + sd for mid, sd in zip(y, sds, strict=True)]
            style.lines(axes, scheme, xs, y, low, high)
        axes.set_xlabel(x)

    return Panel(paint, title.replace("{label}", label), from_zero=True)


def told(ledger: Ledger, claim: str, hits: Sequence[bool], **words: object) -> None:
    """Judge a claim of cases."""
    ledger.judge(claim, cases(hits) if hits else "no data", hits, **words)


def rises(before: float | None, after: float | None, note: str) -> Judged:
    """Judge "rises": by half; partly: at all."""
    low, high = before or 0.0, after or 0.0
    known = before is not None and after is not None
    return grade(known and high >= 1.5 * low and high > 0, known and high > low, note)


def _timeouts(cell: Cell) -> float | None:
    """Return the short flows with a timeout, per cent."""
    return None if cell.with_timeout is None else 100 * cell.with_timeout


@dataclass(frozen=True)
class Fig1(Summarised):
    """MPTCP against its number of subflows; with one subflow that is TCP."""

    id: str = "M-fig1"
    trees: tuple[Tree, ...] = (Tree(1), Tree(4))
    subflows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    schemes: ClassVar = ("mptcp", "mptcp-faults")
    columns: ClassVar = declared.columns("mmptcp", "M-fig1")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every tree, scheme, number of subflows and seed."""
        return [
            self.point(seed, tree, scheme, subflows)
            for tree in self.trees
            for scheme in self.schemes
            for subflows in self.subflows
            if subflows > 1 or scheme == "mptcp"  # the faults are of further subflows
            for seed in seeds
        ]

    def point(self, seed: int, tree: Tree, scheme: str, subflows: int) -> Point:
        """Return the run with so many subflows."""
        keys: Keys = {"tree": tree.name, "scheme": scheme, "subflows": subflows}
        one = subflows == 1
        of = "tcp" if one else scheme
        several = {} if one else {"subflows": subflows}
        return Mix(of, of, ARRIVALS, self.duration_s, tree, keys=several).point(keys, seed)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the trees."""
        return each("tree", [tree.name for tree in self.trees])

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what more subflows do to long and to short flows."""
        one, most = min(self.subflows), max(self.subflows)
        of_all = cells(data, "subflows")
        for scheme in self.schemes:
            first = of_all.get((one, "mptcp"), NOTHING)
            last = of_all.get((most, scheme), NOTHING)

            changed: tuple[tuple[str, Of, Callable[[float | None], str]], ...] = (
                ("doubles", GOODPUT, partial(number, unit="Mbps")),
                ("mean", FCT, partial(number, unit="ms")),
                ("sd", DEVIATION, partial(number, unit="ms")),
                ("timeouts", _timeouts, percent),
            )
            for name, of, write in changed:
                ends = [of(first), of(last)]
                shown = " to ".join(map(write, ends))
                if None in ends and name != "timeouts":
                    shown = "no data"
                suffix = scheme.removeprefix("mptcp")
                ledger.judge(f"{name}{{suffix}}", shown, ratio(ends[1], ends[0]), suffix=suffix)

    def frame(self) -> Frame:
        """Return goodputs of long flows and completion times of short ones."""
        panels = [
            panel(name, "subflows", self.subflows, self.schemes, "subflows", "{}: {label}")
            for name in ("goodput", "fct")
        ]
        return Frame(panels, self.title, (4.4, 2.7), sharey=False)


@dataclass(frozen=True)
class Fig3(Summarised):
    """Hotspots: the queues at all links of some core switches hold 10 packets instead of 100."""

    id: str = "M-fig3"
    degrees: tuple[int, ...] = (0, 10, 20, 30, 40, 50, 60)
    pairs: ClassVar = PAIRS_OF_TABLE_3
    over: ClassVar = ("degrees", "pairs")
    columns: ClassVar = declared.columns("mmptcp", "M-fig3")

    def point(self, seed: int, degree: int, scheme: str) -> Point:
        """Return the run of a scheme with so many per cent of hotspots."""
        keys: Keys = {"degree": degree, "scheme": scheme}
        mix = Mix(*self.pairs[scheme], MANY_ARRIVALS, self.duration_s, hotspots=degree / 100)
        return mix.point(keys, seed)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge who is best and worst at every degree, and TCP at the highest."""
        of_all = cells(data, "degree")

        def ends(of: Of, lowest: bool, *schemes: str) -> list[bool]:
            return at_end(of_all, self.degrees, self.pairs, of, lowest, schemes)

        best = (
            ("loss", "the lowest loss in the core", LOSS, True),
            ("core", "the highest utilisation of the core", UTILISATION, False),
            ("goodput", "the highest goodput of long flows", GOODPUT, False),
        )
        for name, what, of, lowest in best:
            told(ledger, "mmptcp-{name}", ends(of, lowest, "mmptcp"), name=name, what=what)
        hits = ends(GOODPUT, True, "tcp", "ps-tcp")
        judged = most(hits, f"within {TIE:.0%} of the two lowest", 1.0, 0.5)
        ledger.judge("worst-goodput", cases(hits) if hits else "no data", judged)
        two, one = ends(DEVIATION, False, "mptcp", "tcp"), ends(DEVIATION, False, "mptcp")
        told(ledger, "unstable", [a and b for a, b in zip(two, one, strict=True)])
        low, high = min(self.degrees), max(self.degrees)
        tcp = of_all.get((high, "tcp"), NOTHING)
        ledger.judge("tcp-mean", str(tcp), FCT(tcp))
        ledger.judge("tcp-sd", number(DEVIATION(tcp), "ms"), DEVIATION(tcp))
        for scheme in ("tcp", "ps-tcp"):
            before, after = (LOSS(of_all.get((at, scheme), NOTHING)) for at in (low, high))
            note = "at least 1.5 times as much at the highest degree; partly: more"
            shown = f"{percent(before)} at {low}%, {percent(after)} at {high}%"
            ledger.judge("rises-{scheme}", shown, rises(before, after, note), scheme=scheme)

    def frame(self) -> Frame:
        """Return the four panels."""
        x = "hotspots: core switches with short queues (%)"
        names = ("goodput", "core", "fct", "loss")
        panels = [panel(name, "degree", self.degrees, self.pairs, x) for name in names]
        title = f"{self.title}, 512 hosts, 4:1, 2,560 short flows/s"
        return Frame(panels, title, (4.4, 2.7), sharey=False, columns=2)


SPREAD = ("ps", "ps-tcp", "mmptcp", "mptcp-tcp")
"""The schemes of Figure 9 that spread long flows."""


@dataclass(frozen=True)
class Fig9(Summarised):
    """10% to 70% of the servers send long flows; the number of short flows stays."""

    id: str = "M-fig9"
    loads: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70)
    pairs: ClassVar = {
        "ps": ("ps", "ps"),
        "ps-tcp": ("ps", "tcp"),
        "tcp": ("tcp", "tcp"),
        "mmptcp": ("mmptcp", "mmptcp"),
        "mptcp-tcp": ("mptcp", "tcp"),
    }
    over: ClassVar = ("loads", "pairs")
    columns: ClassVar = declared.columns("mmptcp", "M-fig9")

    def point(self, seed: int, load: int, scheme: str) -> Point:
        """Return the run of a scheme at a load."""
        keys: Keys = {"load": load, "scheme": scheme}
        share = load / 100
        mix = Mix(*self.pairs[scheme], ARRIVALS, self.duration_s, Tree(2), long_share=share)
        return mix.point(keys, seed)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the text's claims about each of the four panels."""
        of_all = cells(data, "load")
        low, high = min(self.loads), max(self.loads)

        def at(load: int, scheme: str) -> Cell:
            return of_all.get((load, scheme), NOTHING)

        def least(of: Of, *schemes: str) -> list[bool]:
            return at_end(of_all, self.loads, self.pairs, of, True, schemes)

        told(ledger, "ps-stable", least(DEVIATION, "ps"))
        before, after = (DEVIATION(at(load, "tcp")) for load in (low, high))
        note = "at least 1.5 times as much at the highest load; partly: more"
        shown = f"{number(before, 'ms')} at {low}%, {number(after, 'ms')} at {high}%"
        judged = rises(before, after, note)
        ledger.judge("tcp-sensitive", shown, judged)
        told(ledger, "tcp-goodput", least(GOODPUT, "tcp"))
        best = at_end(of_all, (high,), self.pairs, GOODPUT, False, ("mmptcp", "mptcp-tcp"))
        told(ledger, "high-goodput", best)
        told(ledger, "ps-loss", least(LOSS, "ps", "ps-tcp"))
        told(ledger, "low-goodput", _alike(of_all, self.loads[:1], GOODPUT))
        told(ledger, "core-alike", _alike(of_all, self.loads, UTILISATION))
        fct = [{s: FCT(at(load, s)) for s in self.pairs} for load in (low, high)]
        mine, other = (
            {load: at(load, scheme).by_seed(FCT) for load in (low, high)}
            for scheme in ("mmptcp", "mptcp-tcp")
        )
        crosses = together(below(mine[low], other[low]), above(mine[high], other[high]))
        shown = f"at {low}% {listed(fct[0], 'ms')}; at {high}% {listed(fct[1], 'ms')}"
        ledger.judge("mmptcp-crosses", shown, crosses)

    def frame(self) -> Frame:
        """Return the four panels."""
        x, names = "servers with long flows (%)", ("fct", "goodput", "loss", "core")
        panels = [panel(name, "load", self.loads, self.pairs, x) for name in names]
        title = f"{self.title}, 256 hosts, 2:1, 256 short flows/s"
        return Frame(panels, title, (4.4, 2.7), sharey=False, columns=2)


def _alike(of_all: Cells, loads: Sequence[int], of: Of) -> list[bool]:
    """Say at each load with data whether the schemes that spread long flows are alike."""
    found = [[of(of_all.get((load, s), NOTHING)) for s in SPREAD] for load in loads]
    known = [[v for v in values if v is not None] for values in found]
    return [max(v) <= 1.05 * min(v) for v in known if len(v) == len(SPREAD)]


FIG1, FIG3, FIG9 = Fig1(), Fig3(), Fig9()
