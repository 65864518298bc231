"""The MPTCP talk, design goals 2 and 3: users of two paths, round a triangle, and Wi-Fi and 3G."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Published
from linkpool.experiments.formulas import Found, Quantity
from linkpool.result import Result
from linkpool.study.claims import Judged, about, grade, no_data, under, weakest
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table, Value

USER = "user"
"""The label of the flows that are looked at."""


def transport(control: str) -> Table:
    """Return an algorithm's transport, with two subflows if it may have them."""
    several: dict[str, Value] = {} if control == "reno" else {"subflows": 2}
    return {"preset": "paper-2013", "initial_ssthresh": "unlimited", "control": control, **several}


@dataclass(frozen=True)
class Goal(Published, ABC):
    """An experiment of users, each of whom has a subflow over each of two paths.

    Attributes:
        duration_s: simulated seconds.

    """

    duration_s: float = 120.0
    cuts: ClassVar[Mapping[str, tuple[int, float]]] = {"duration_s": (0, 5)}
    over: ClassVar = ("runs_of",)

    def extent(self) -> str:
        """Say how much time is simulated."""
        return f"{self.duration_s:g} s of {super().extent()}"

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per subflow of the users."""
        users = result.flows.filter(pl.col("label") == USER).select("flow", "active_s")
        goodput = (8 * pl.col("acked_bytes") / pl.col("active_s")).alias("goodput_bps")
        rows = result.subflows.join(users, on="flow").sort("flow", "subflow")
        return rows.select("flow", "subflow", goodput)

    def run_of(self, scheme: str, seed: int, mbps: float, **words: Value) -> Point:
        """Return a run of users who get so much together."""
        packets = mbps * 1e6 / 11_696 * self.duration_s
        words |= {"duration": f"{self.duration_s:g}s"}
        return self.run(self.id, {"scheme": scheme}, seed, self.duration_s, packets, **words)


def user(scheme: str, ends: tuple[str, str], rng: Random, paths: list[Value]) -> Value:
    """Return a user's flow, which starts within a second."""
    start = f"{round(1e6 * rng.random())}us"
    to: Table = {"from": ends[0], "to": ends[1], "start": start, "paths": paths}
    return {"transport": scheme, "label": USER, **to}


@dataclass(frozen=True)
class Split:
    """A user's goodput over each path, Mbit/s, as a mean over users and seeds."""

    first: float
    second: float

    @property
    def total(self) -> float:
        """Return the user's total goodput."""
        return self.first + self.second

    @property
    def share(self) -> float:
        """Return the part that comes over the second path."""
        return self.second / self.total if self.total else 0.0

    def __str__(self) -> str:
        """Write both rates."""
        return f"{self.first:.3g} + {self.second:.3g} Mbps"


def split(rows: pl.DataFrame) -> Split | None:
    """Return the mean split of users; None: they got nothing."""
    users = rows.select("seed", "flow").unique().height
    rates = [float(rows.filter(subflow=s)["goodput_bps"].sum()) for s in (0, 1)]
    return Split(*(rate / users / 1e6 for rate in rates)) if sum(rates) else None


def _of(rows: pl.DataFrame, name: str) -> float | None:
    found = split(rows)
    return None if found is None else getattr(found, name)


TERMS: Mapping[str, Quantity] = {
    **{name: partial(_of, name=name) for name in ("first", "second", "total", "share")},
    "both": lambda rows: None if (found := split(rows)) is None else str(found),
}


USERS_OF_PAIR = 10
"""Flows of each of the three pairs: many, so that losses are spread as theory has them."""

SHARE_MBPS = 12.0
"""Of each bottleneck for a user, as in Wischik et al., NSDI 2011, section 2.3."""

OF_EFF = ("ewtcp", "lia", "balia", "olia")
ROOT_2 = 2.0**0.5
BALIA_RATIO = (-5.0 + 129.0**0.5) / 2.0
"""w1/w2 where the second path loses twice as much: (1 + a)(4 + a) = 30."""

RATIOS = {"ewtcp": ROOT_2, "lia": 2.0, "balia": BALIA_RATIO}
"""x1/x2 with equal RTTs, the long way losing twice as much as the short one."""


def predicted(scheme: str) -> Split:
    """Return the rates that theory gives: x1 + 2 x2 = 12 Mbps on every bottleneck."""
    if scheme not in RATIOS:
        return Split(SHARE_MBPS, 0.0)
    second = SHARE_MBPS / (RATIOS[scheme] + 2.0)
    return Split(RATIOS[scheme] * second, second)


def graph() -> Table:
    """Return the triangle, with access cables that make short and long ways equally long.

    Every user has hosts of its own, on cables that are not much faster than its share: bursts at
    the rate of a fast cable would lose several packets at once, and short ways have more of them.
    """
    users = range(USERS_OF_PAIR)
    hosts = [f"{x}{i}.{u}" for x in "SD" for i in (1, 2, 3) for u in users]
    nodes: list[Value] = [{"id": host, "kind": "host"} for host in hosts]
    nodes += [{"id": f"{x}{i}", "kind": "switch"} for x in "AB" for i in (1, 2, 3)]

    def edge(source: str, target: str, delay: str, rate: str = "24Mbps") -> Table:
        return {"source": source, "target": target, "delay": delay, "rate": rate}

    edges: list[Value] = []
    for i in (1, 2, 3):
        after, before = i % 3 + 1, (i + 1) % 3 + 1
        bottleneck = f"{round(SHARE_MBPS * USERS_OF_PAIR)}Mbps"
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


def _avoids(data: pl.DataFrame, scheme: str) -> Found:
    """Judge the share of an algorithm that comes over two hops."""
    mine, ewtcp = (split(data.filter(scheme=s)) for s in (scheme, "ewtcp"))
    note = "share at most 10%; partly: at most 85% of EWTCP's"
    if mine is None or ewtcp is None:
        return Found.of("", no_data(note))
    return Found.of("", grade(mine.share <= 0.1, mine.share <= 0.85 * ewtcp.share, note))


def _as_theory(data: pl.DataFrame, scheme: str) -> Found:
    """Judge the rate over each path; one that theory leaves empty may have a tenth of all."""
    note = "each path within 10%, or at most 10% of the total if theory has 0; partly: within a "
    note += "factor of 2"
    got, theory = split(data.filter(scheme=scheme)), predicted(scheme)
    if got is None:
        return Found.of("", no_data(note))
    parts = [
        about(mine, expected, tolerance=0.1) if expected else under(mine, 0.1 * theory.total)
        for mine, expected in ((got.first, theory.first), (got.second, theory.second))
    ]
    return Found.of("", Judged(weakest(*parts).verdict, note))


@dataclass(frozen=True)
class Eff(Goal):
    """Three pairs of hosts, each with a way over one bottleneck and a way over the two others."""

    runs_of: ClassVar = OF_EFF
    terms: ClassVar = {
        **TERMS,
        **{f"{scheme}-avoids": partial(_avoids, scheme=scheme) for scheme in ("lia", "olia")},
        **{f"{scheme}-theory": partial(_as_theory, scheme=scheme) for scheme in OF_EFF},
    }

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of an algorithm."""
        rng = Random(f"triangle {seed}")
        flows = [
            user(scheme, (f"S{i}.{u}", f"D{i}.{u}"), rng, ways(i, u))
            for i in (1, 2, 3)
            for u in range(USERS_OF_PAIR)
        ]
        of: dict[str, Value] = {"topology": graph(), "transport": transport(scheme)}
        return self.run_of(scheme, seed, 3 * USERS_OF_PAIR * SHARE_MBPS, **of, flows=flows)

    def frame(self) -> Frame:
        """Return each algorithm's goodput over the short and the long paths, beside theory."""
        theory = {s: predicted(s) for s in OF_EFF}
        return split_bars(self.title, theory, ("over one hop", "over two hops"))


def split_bars(title: str, theories: Mapping[str, Split | None], paths: tuple[str, str]) -> Frame:
    """Return stacked bars: what comes over each path, and beside it what theory says."""

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        for i, (scheme, theory) in enumerate(theories.items()):
            look, found = LOOKS[scheme], split(data.filter(scheme=scheme))
            for x, of, alpha in ((i - 0.2, found, 1.0), (i + 0.2, theory, 0.35)):
                if of is None:
                    continue
                bar: dict[str, Any] = {"color": look.colour, "alpha": alpha}
                hatched: dict[str, Any] = {"hatch": "///", "edgecolor": "white", "linewidth": 0}
                axes.bar(x, of.first, 0.36, **bar)
                axes.bar(x, of.second, 0.36, bottom=of.first, **bar, **hatched)
                axes.annotate(f"{of.total:.3g}", (x, of.total), ha="center", va="bottom")
        axes.set_xticks(range(len(theories)), [NAMES[s] for s in theories])
        axes.grid(visible=False, axis="x")

    x = "left: simulated; right, pale: theory"
    y = f"goodput of a user (Mbit/s)\n{paths[0]}; hatched: {paths[1]}"
    return Frame([Panel(paint, "", x, y, from_zero=True)], title, (5.5, 3.0), legend=0)


USERS = 10
"""They do not meet: each path has room for all, and loses packets at random, as radio does."""

WIFI_MBPS, CELL_MBPS = 2.2, 0.4
"""The goodput of a TCP on each path."""

WIFI_RTT_S, CELL_RTT_S = 0.1, 0.8


def loss(mbps: float, rtt_s: float) -> float:
    """Return the loss at which a TCP gets so much: a window of 1.31 / sqrt(p)."""
    window = 1e6 * mbps * rtt_s / (8 * 1400)
    return float((1.31 / window) ** 2)


WIFI, CELL = "tcp-wifi", "tcp-3g"
SCHEMES = ("lia", "ewtcp", "olia", "balia")
ALONE = {WIFI: ("S1", "A1", "B1", "D1"), CELL: ("S1", "A2", "B2", "D1")}
THEORY = {
    "lia": Split(WIFI_MBPS - CELL_MBPS, CELL_MBPS),
    "ewtcp": Split(WIFI_MBPS / 2, CELL_MBPS / 2),
    "olia": None,
    "balia": None,
}


@dataclass(frozen=True)
class Fair(Goal):
    """Users with a subflow over Wi-Fi, which loses more, and one over 3G, which takes longer."""

    duration_s: float = 1000.0
    cuts: ClassVar = {"duration_s": (0, 10)}
    runs_of: ClassVar = (*ALONE, *SCHEMES)
    terms: ClassVar = TERMS

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of an algorithm, or of TCP on one path."""
        rng = Random(f"wifi {seed}")
        used = [ALONE[scheme]] if scheme in ALONE else list(ALONE.values())
        paths: list[Value] = [list(path) for path in used]
        users = [user(scheme, ("S1", "D1"), rng, paths) for _ in range(USERS)]
        radio = (("A1->B1", WIFI_MBPS, WIFI_RTT_S), ("A2->B2", CELL_MBPS, CELL_RTT_S))
        delays: list[Value] = [f"{round(1e6 * rtt_s / 2 - 200)}us" for _, _, rtt_s in radio]
        losses: list[Value] = [
            {"links": [link], "loss": round(loss(mbps, rtt_s), 6)} for link, mbps, rtt_s in radio
        ]
        own = transport("reno" if scheme in ALONE else scheme)
        of: dict[str, Value] = {"delays": delays, "losses": losses, "transport": own}
        return self.run_of(scheme, seed, USERS * (WIFI_MBPS + CELL_MBPS), **of, flows=users)

    def frame(self) -> Frame:
        """Return the user's goodput over each path, beside theory."""
        return split_bars(self.title, {s: THEORY[s] for s in SCHEMES}, ("over Wi-Fi", "over 3G"))
