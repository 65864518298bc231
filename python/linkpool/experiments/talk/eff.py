"""The MPTCP talk, design goal 2: efficient paths round a triangle."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.rows import told
from linkpool.experiments.talk import design
from linkpool.experiments.talk.design import Split
from linkpool.study.claims import Judged, Ledger, about, grade, more, no_data, under, weakest
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table, Value

USERS = 10
"""Flows of each of the three pairs: many, so that losses are spread as theory has them."""

SHARE_MBPS = 12.0
"""Of each bottleneck for a user, as in Wischik et al., NSDI 2011, section 2.3."""

SCHEMES = ("ewtcp", "lia", "balia", "olia")
ROOT_2 = 2.0**0.5
BALIA_RATIO = (-5.0 + 129.0**0.5) / 2.0
"""w1/w2 where the second path loses twice as much: (1 + a)(4 + a) = 30."""

THEORY = {"ewtcp": ROOT_2, "lia": 2.0, "balia": BALIA_RATIO}
"""x1/x2 with equal RTTs, the long way losing twice as much as the short one."""


def predicted(scheme: str) -> Split:
    """Return the rates that theory gives: x1 + 2 x2 = 12 Mbps on every bottleneck."""
    if scheme not in THEORY:
        return Split(SHARE_MBPS, 0.0)
    second = SHARE_MBPS / (THEORY[scheme] + 2.0)
    return Split(THEORY[scheme] * second, second)


def graph() -> Table:
    """Return the triangle, with access cables that make short and long ways equally long.

    Every user has hosts of its own, on cables that are not much faster than its share: bursts at
    the rate of a fast cable would lose several packets at once, and short ways have more of them.
    """
    users = range(USERS)
    hosts = [f"{x}{i}.{u}" for x in "SD" for i in (1, 2, 3) for u in users]
    nodes: list[Value] = [{"id": host, "kind": "host"} for host in hosts]
    nodes += [{"id": f"{x}{i}", "kind": "switch"} for x in "AB" for i in (1, 2, 3)]

    def edge(source: str, target: str, delay: str, rate: str = "24Mbps") -> Table:
        return {"source": source, "target": target, "delay": delay, "rate": rate}

    edges: list[Value] = []
    for i in (1, 2, 3):
        after, before = i % 3 + 1, (i + 1) % 3 + 1
        bottleneck = f"{round(SHARE_MBPS * USERS)}Mbps"
        edges += [
            edge(f"A{i}", f"B{i}", "1ms", bottleneck),
            edge(f"B{i}", f"A{after}", "1ms", "1Gbps"),
        ]
        for u in users:
            edges += [
                edge(f"S{i}.{u}", f"A{i}", "10ms"),
                edge(f"S{i}.{u}", f"A{after}", "8ms"),
                edge(f"B{i}", f"D{i}.{u}", "10ms"),
                edge(f"B{before}", f"D{i}.{u}", "10ms"),
            ]
    return {"graph": {"nodes": nodes, "edges": edges}}


def ways(i: int, u: int) -> list[Value]:
    """Return the short and the long way of a user of pair i."""
    after, before = i % 3 + 1, (i + 1) % 3 + 1
    short = [f"S{i}.{u}", f"A{i}", f"B{i}", f"D{i}.{u}"]
    first, second = (f"A{after}", f"B{after}"), (f"A{before}", f"B{before}")
    long = [f"S{i}.{u}", *first, *second, f"D{i}.{u}"]
    return [list(short), list(long)]


@dataclass(frozen=True)
class Eff(design.Goal):
    """Three pairs of hosts, each with a way over one bottleneck and a way over the two others."""

    id: str = "T-eff"
    runs_of: ClassVar = SCHEMES

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of an algorithm."""
        rng = Random(f"triangle {seed}")
        flows = [
            design.user(scheme, (f"S{i}.{u}", f"D{i}.{u}"), rng, ways(i, u))
            for i in (1, 2, 3)
            for u in range(USERS)
        ]
        transport = design.transport(scheme)
        text = self.written("T-eff", scheme, topology=graph(), transport=transport, flows=flows)
        packets = 3 * USERS * SHARE_MBPS * 1e6 / 11_696 * self.duration_s
        return Point({"scheme": scheme}, text, seed, self.duration_s, packets)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the split of each algorithm against the talk, and against theory."""
        found = design.splits(data)
        lia, ewtcp, olia = (found.get(s) for s in ("lia", "ewtcp", "olia"))
        judged = no_data("")
        if ewtcp is not None:
            note = "share at least 30%; partly: 15%"
            judged = grade(ewtcp.share >= 0.3, ewtcp.share >= 0.15, note)
        ledger.judge("ewtcp-long", _share(ewtcp), judged)
        for scheme, split in (("lia", lia), ("olia", olia)):
            judged = no_data("")
            if split is not None and ewtcp is not None:
                note = "share at most 10%; partly: at most 85% of EWTCP's"
                judged = grade(split.share <= 0.1, split.share <= 0.85 * ewtcp.share, note)
            words = {"scheme": scheme, "control": scheme.upper()}
            ledger.judge("{scheme}-avoids", _share(split), judged, **words)
        gain = None if lia is None or ewtcp is None else lia.total / ewtcp.total
        expected = more(gain, predicted("lia").total / predicted("ewtcp").total)
        ledger.judge("lia-more", told("{:.3g} times", gain), expected)
        for scheme in SCHEMES:
            theory, split = predicted(scheme), found.get(scheme)
            shown = "no data" if split is None else str(split)
            ledger.judge(
                "{scheme}-theory", shown, _as_theory(split, theory), scheme=scheme, theory=theory
            )

    def frame(self) -> Frame:
        """Return each algorithm's goodput over the short and the long paths, beside theory."""
        theory = {s: predicted(s) for s in SCHEMES}
        return splits(self.title, theory, ("over one hop", "over two hops"))


def splits(title: str, theories: Mapping[str, Split | None], paths: tuple[str, str]) -> Frame:
    """Return stacked bars: what comes over each path, and beside it what theory says."""

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        found = design.splits(data)
        for i, (scheme, theory) in enumerate(theories.items()):
            look = LOOKS[scheme]
            for x, split, alpha in ((i - 0.2, found.get(scheme), 1.0), (i + 0.2, theory, 0.35)):
                if split is None:
                    continue
                bar: dict[str, Any] = {"color": look.colour, "alpha": alpha}
                hatched: dict[str, Any] = {"hatch": "///", "edgecolor": "white", "linewidth": 0}
                axes.bar(x, split.first, 0.36, **bar)
                axes.bar(x, split.second, 0.36, bottom=split.first, **bar, **hatched)
                axes.annotate(f"{split.total:.3g}", (x, split.total), ha="center", va="bottom")
        axes.set_xticks(range(len(theories)), [NAMES[s] for s in theories])
        axes.grid(visible=False, axis="x")

    x = "left: simulated; right, pale: theory"
    y = f"goodput of a user (Mbit/s)\n{paths[0]}; hatched: {paths[1]}"
    return Frame([Panel(paint, "", x, y, from_zero=True)], title, (5.5, 3.0), legend=0)


def _as_theory(split: Split | None, theory: Split) -> Judged:
    """Judge the rate over each path; one that theory leaves empty may have a tenth of all."""
    note = "each path within 10%, or at most 10% of the total if theory has 0; partly: within a "
    note += "factor of 2"
    if split is None:
        return no_data(note)
    parts = [
        about(got, expected, tolerance=0.1) if expected else under(got, 0.1 * theory.total)
        for got, expected in ((split.first, theory.first), (split.second, theory.second))
    ]
    return Judged(weakest(*parts).verdict, note)


def _share(split: Split | None) -> str:
    return "no data" if split is None else f"{split.share:.1%} over two hops ({split})"


EXPERIMENT = Eff()
