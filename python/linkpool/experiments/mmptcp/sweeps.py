"""MMPTCP, Figures 1, 3 and 9: schemes over subflows, hotspots in the core, and load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from linkpool.experiments.formulas import Found, Quantity
from linkpool.experiments.mmptcp.mixed import Mix
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import QUANTITIES, Summarised
from linkpool.experiments.mmptcp.tables import ARRIVALS, MANY_ARRIVALS
from linkpool.experiments.mmptcp.tables import PAIRS as PAIRS_OF_TABLE_3
from linkpool.study.claims import cases, grade
from linkpool.study.experiment import each
from linkpool.study.point import Keys, Point

TIE = 0.02
"""Values so near to each other, relatively, count as the same."""


def found_cases(hits: Sequence[bool]) -> Found:
    """Say in how many cases a claim holds, which its criterion judges."""
    return Found.of(cases(hits) if hits else "no data", hits)


def at_end(
    among: Iterable[str], key: str, quantity: str, end: str, *schemes: str, last: bool = False
) -> Quantity:
    """Return what says where schemes are, in any order, at that end of all.

    Args:
        among: all schemes.
        key: the column that varies; only values at which all schemes have data count.
        quantity: what is compared.
        end: least or greatest.
        schemes: the schemes.
        last: at the greatest value alone.

    """
    of = QUANTITIES[quantity]

    def found(data: pl.DataFrame) -> Found:
        hits = []
        for at in data[key].unique().sort()[-1 if last else 0 :]:
            got = {s: of(data.filter(pl.col(key) == at, pl.col("scheme") == s)) for s in among}
            if None in got.values():
                continue
            mine = [got.pop(scheme) for scheme in schemes]
            rest = got.values()
            if end == "least":
                hits.append(max(mine) <= (1 + TIE) * min(rest))
            else:
                hits.append(min(mine) >= (1 - TIE) * max(rest))
        return found_cases(hits)

    return found


def rises(quantity: str, key: str, scheme: str, data: pl.DataFrame) -> Found:
    """Judge "rises", from the least value of a column to its greatest: by half; partly: at all."""
    of = QUANTITIES[quantity]
    ends = (data[key].min(), data[key].max())
    before, after = (of(data.filter(pl.col(key).eq_missing(at), scheme=scheme)) for at in ends)
    low, high = before or 0.0, after or 0.0
    known = before is not None and after is not None
    note = f"at least 1.5 times as much at the highest {key}; partly: more"
    return Found.of("", grade(known and high >= 1.5 * low and high > 0, known and high > low, note))


@dataclass(frozen=True)
class Fig1(Summarised):
    """MPTCP against its number of subflows; with one subflow that is TCP."""

    trees: tuple[Tree, ...] = (Tree(1), Tree(4))
    subflows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    schemes: ClassVar = ("mptcp", "mptcp-faults")
    varied: ClassVar = ("subflows", "subflows")

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


of_degrees = partial(at_end, PAIRS_OF_TABLE_3, "degree")


@dataclass(frozen=True)
class Fig3(Summarised):
    """Hotspots: the queues at all links of some core switches hold 10 packets instead of 100."""

    degrees: tuple[int, ...] = (0, 10, 20, 30, 40, 50, 60)
    pairs: ClassVar = PAIRS_OF_TABLE_3
    over: ClassVar = ("degrees", "pairs")
    varied: ClassVar = ("degree", "degrees")
    terms: ClassVar = {
        **QUANTITIES,
        "least-loss": of_degrees("loss", "least", "mmptcp"),
        "most-core": of_degrees("core", "greatest", "mmptcp"),
        "most-goodput": of_degrees("goodput", "greatest", "mmptcp"),
        "least-goodput": of_degrees("goodput", "least", "tcp", "ps-tcp"),
        "rises-tcp": partial(rises, "loss", "degree", "tcp"),
        "rises-ps-tcp": partial(rises, "loss", "degree", "ps-tcp"),
    }

    def unstable(self, data: pl.DataFrame) -> Found:
        """Say where MPTCP has the largest deviation, and TCP the next."""
        ends = (("mptcp", "tcp"), ("mptcp",))
        both = (of_degrees("sd", "greatest", *of)(data).values[0] for of in ends)
        return found_cases([two and one for two, one in zip(*both, strict=True)])

    def point(self, seed: int, degree: int, scheme: str) -> Point:
        """Return the run of a scheme with so many per cent of hotspots."""
        keys: Keys = {"degree": degree, "scheme": scheme}
        mix = Mix(*self.pairs[scheme], MANY_ARRIVALS, self.duration_s, hotspots=degree / 100)
        return mix.point(keys, seed)


PAIRS = {
    "ps": ("ps", "ps"),
    "ps-tcp": ("ps", "tcp"),
    "tcp": ("tcp", "tcp"),
    "mmptcp": ("mmptcp", "mmptcp"),
    "mptcp-tcp": ("mptcp", "tcp"),
}
"""By scheme of Figure 9: the transport of long flows, and of short flows."""
of_loads = partial(at_end, PAIRS, "load")


@dataclass(frozen=True)
class Fig9(Summarised):
    """10% to 70% of the servers send long flows; the number of short flows stays."""

    loads: tuple[int, ...] = (10, 20, 30, 40, 50, 60, 70)
    pairs: ClassVar = PAIRS
    over: ClassVar = ("loads", "pairs")
    varied: ClassVar = ("load", "loads")
    terms: ClassVar = {
        **QUANTITIES,
        "least-sd": of_loads("sd", "least", "ps"),
        "rises-tcp": partial(rises, "sd", "load", "tcp"),
        "least-goodput": of_loads("goodput", "least", "tcp"),
        "most-goodput": of_loads("goodput", "greatest", "mmptcp", "mptcp-tcp", last=True),
        "least-loss": of_loads("loss", "least", "ps", "ps-tcp"),
    }

    def point(self, seed: int, load: int, scheme: str) -> Point:
        """Return the run of a scheme at a load."""
        keys: Keys = {"load": load, "scheme": scheme}
        share = load / 100
        mix = Mix(*self.pairs[scheme], ARRIVALS, self.duration_s, Tree(2), long_share=share)
        return mix.point(keys, seed)
