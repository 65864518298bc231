"""AMP, Figures 4 and 9 and a remark: long flows over Figure 1, and the minimum window syndrome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.amp import setting
from linkpool.experiments.declared import Kept
from linkpool.experiments.formulas import Found, Quantity
from linkpool.experiments.rows import difference, spread
from linkpool.experiments.scenarios import scenario
from linkpool.stats import jain
from linkpool.study import style
from linkpool.study.claims import grade
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Value, dumps

DURATION_S = 1.0

MULTIPATH = "multipath"
DCTCP = "dctcp"
"""Labels of the two kinds of flows."""

SYNDROME = 1.25
"""A multipath flow has the syndrome when it gets more than this times a DCTCP flow's goodput."""

KEYS = ("delay", "scheme", "multipath", "dctcp", "subflows", "mark", "cwnd_min")
"""What sets a mix apart, in the data."""

SUPPRESSIONS = pl.col("suppressions").cast(pl.UInt32)


@dataclass(frozen=True)
class Mix:
    """Multipath flows of one scheme beside DCTCP flows, each from a host of its own, for 1 s.

    Attributes:
        scheme: the multipath scheme.
        multipath: how many multipath flows.
        dctcp: how many DCTCP flows.
        delay: one-way delay of each link.
        subflows: subflows of each multipath flow.
        mark: marking threshold K, packets.
        cwnd_min: floor of the window of both kinds of flows, packets.
        keys: further settings of the multipath transport.
        record: the scenario's `[record]` table.
        duration_s: length of the run in seconds.

    """

    scheme: str
    multipath: int
    dctcp: int
    delay: str = setting.DELAYS[0]
    subflows: int = setting.SUBFLOWS
    mark: int = setting.MARK
    cwnd_min: int = 2
    keys: Mapping[str, Value] = field(default_factory=dict)
    record: Mapping[str, Value] = field(default_factory=dict)
    duration_s: float = DURATION_S

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of this mix; without further subflows nothing is random: one run."""
        joins = self.multipath > 0 and self.subflows > 1
        return [self.point(seed) for seed in (seeds if joins else seeds[:1])]

    def point(self, seed: int) -> Point:
        """Return the run of this mix with a seed."""
        transports: dict[str, Value] = {}
        if self.multipath:
            keys = {"cwnd_min": self.cwnd_min, **self.keys}
            transports[self.scheme] = setting.transport(self.scheme, keys, self.subflows)
        if self.dctcp:
            transports["dctcp"] = setting.transport("dctcp", {"cwnd_min": self.cwnd_min})
        of = [(self.scheme, MULTIPATH)] * self.multipath + [("dctcp", DCTCP)] * self.dctcp
        flows: list[Value] = [
            {"transport": scheme, "label": label, "from": f"S{i + 1}", "to": "R"}
            for i, (scheme, label) in enumerate(of)
        ]
        keys_of: Keys = {name: getattr(self, name) for name in KEYS}
        written = scenario(
            "amp",
            "mix",
            **keys_of,
            duration=setting.seconds(self.duration_s),
            senders=len(flows),
            transports=transports,
            flows=flows,
            record=self.record or None,
        )
        work = self.duration_s * setting.packets_per_second()
        return Point(keys_of, dumps(written), seed, self.duration_s, work)

    def rows(self, data: pl.DataFrame) -> pl.DataFrame:
        """Return the flows of this mix, of the rows of one delay."""
        return data.filter(**{name: getattr(self, name) for name in KEYS[1:]})


@dataclass(frozen=True)
class Mixes(setting.Delayed):
    """An experiment of several mixes at each delay."""

    duration_s: float = field(default=DURATION_S, kw_only=True)
    kept: ClassVar = Kept("flows", ["label", "goodput_bps", SUPPRESSIONS])
    terms: ClassVar[Mapping[str, Quantity]] = {"ratio": lambda rows: ratio(rows)}

    def mixes(self) -> list[Mix]:
        """Return the mixes, whatever the delay."""
        raise NotImplementedError(f"{self.id} has neither mixes nor points")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return every mix at every delay with every seed."""
        return [
            point
            for delay in self.delays
            for mix in self.mixes()
            for point in replace(mix, delay=delay, duration_s=self.duration_s).points(seeds)
        ]


def goodput(label: str) -> pl.Expr:
    """Return the mean goodput of one kind of flows, bit/s."""
    return pl.col("goodput_bps").filter(pl.col("label") == label).mean()


def ratio(rows: pl.DataFrame) -> Spread:
    """Return the mean goodput of the multipath flows over that of the DCTCP flows, by seed."""
    dctcp = goodput(DCTCP)
    return spread(rows, pl.when(dctcp > 0).then(goodput(MULTIPATH) / dctcp))


ABOVE = "(ratio of goodputs above the bars)"
GBPS = "goodput of a flow (Gbit/s)"


def first(data: pl.DataFrame, mixes: Sequence[tuple[int, Mix]]) -> int | None:
    """Return the first number whose mix shows the syndrome."""
    means = ((number, ratio(mix.rows(data)).value) for number, mix in mixes)
    return next((n for n, mean in means if mean is not None and mean > SYNDROME), None)


def goodputs(mixes: Sequence[tuple[int, Mix]], title: str, x: str = "", y: str = "") -> Panel:
    """Return a panel of the mean goodput of a multipath and of a DCTCP flow, and their ratio."""
    return Panel(partial(_draw, mixes=mixes), f"{title}, {{}} links", x, y)


def _draw(axes: Axes, data: pl.DataFrame, mixes: Sequence[tuple[int, Mix]]) -> None:
    scheme = mixes[0][1].scheme
    labels = {scheme: MULTIPATH, "dctcp": DCTCP}
    rows = [mix.rows(data) for _, mix in mixes]
    found = {
        name: [spread(each, 1e-9 * goodput(label)) for each in rows]
        for name, label in labels.items()
    }
    heights = {name: [each.value for each in row] for name, row in found.items()}
    whiskers = {name: [_half(each) for each in row] for name, row in found.items()}
    style.bars(axes, [str(name) for name, _ in mixes], heights, whiskers)
    for i, each in enumerate(rows):
        times, height, whisker = ratio(each), heights[scheme][i], whiskers[scheme][i]
        if times.value is not None and height is not None and whisker is not None:
            shown, at, above = f"{times.value:.2f}", (i - 0.2, height + whisker), (0, 3)
            axes.annotate(shown, at, above, textcoords="offset points", ha="center", fontsize=7)
    axes.margins(y=0.12)


def _half(of: Spread) -> float | None:
    return None if of.low is None or of.high is None else (of.high - of.low) / 2


SUBFLOWS = range(1, 9)
DCTCP_FLOWS = (8, 10, 12, 14, 16, 18, 20, 24)
BY_SUBFLOWS = [(r, Mix("xmp", multipath=1, dctcp=8, subflows=r)) for r in SUBFLOWS]
BY_FLOWS = [(n, Mix("xmp", multipath=1, dctcp=n, subflows=2)) for n in DCTCP_FLOWS]


@dataclass(frozen=True)
class Fig4a(Mixes):
    """One XMP flow of 1 to 8 subflows beside 8 DCTCP flows, and with two beside more of them."""

    def mixes(self) -> list[Mix]:
        """Return 1 to 8 subflows with 8 DCTCP flows, and 2 subflows with 10 to 24."""
        return [mix for _, mix in BY_SUBFLOWS] + [mix for n, mix in BY_FLOWS if n != 8]

    def begins(self, data: pl.DataFrame) -> Found:
        """Judge the number of subflows with which the syndrome begins."""
        start = first(data, BY_SUBFLOWS[1:])
        note = (
            f"first number of subflows, from 2 on, with a ratio above {SYNDROME}; partly: one off"
        )
        shown = "never" if start is None else f"{start} subflows"
        return Found.of(shown, grade(start == 3, start in (2, 4), note))

    def again(self, data: pl.DataFrame) -> Found:
        """Judge the number of DCTCP flows with which it begins again."""
        again = first(data, BY_FLOWS)
        note = f"first of {', '.join(map(str, DCTCP_FLOWS))} flows with a ratio above {SYNDROME} "
        note += "is 14 to 18; partly: 12 to 20"
        judged = grade(again in (14, 16, 18), again in (12, 20), note)
        return Found.of("never" if again is None else f"{again} DCTCP flows", judged)

    def frame(self) -> Frame:
        """Return goodputs against subflows as the paper, and against flows beside it."""
        x = f"subflows of the XMP flow {ABOVE}"
        left = goodputs(BY_SUBFLOWS, "8 DCTCP flows", x, GBPS)
        right = goodputs(BY_FLOWS, "XMP with 2 subflows", "DCTCP flows")
        title = "goodput of an XMP flow and of the DCTCP flows beside it, K = 10"
        return Frame([left, right], title, (4.6, 2.6), sharey=False)


AT_20 = [(n, Mix("xmp", multipath=1, dctcp=n, mark=20)) for n in (2, 4, 8, 12, 16, 20)]
EIGHT = Mix("xmp", multipath=1, dctcp=8, mark=20)


@dataclass(frozen=True)
class Fig4b(Mixes):
    """One XMP flow of 4 subflows beside DCTCP flows, K = 20."""

    def mixes(self) -> list[Mix]:
        """Return the mixes with K = 20, and with K = 10 for comparison."""
        return [mix for _, mix in AT_20] + [replace(EIGHT, mark=10)]

    def frame(self) -> Frame:
        """Return goodputs against the number of DCTCP flows."""
        title = "goodput of an XMP flow and of the DCTCP flows beside it, K = 20"
        panel = goodputs(AT_20, "4 subflows", f"DCTCP flows {ABOVE}", GBPS)
        return Frame([panel], title, (4.2, 2.8), columns=len(self.delays))


FLOORS = [(m, Mix("xmp", multipath=m, dctcp=8, cwnd_min=1)) for m in (1, 2, 3, 4)]


@dataclass(frozen=True)
class Cwnd1(Mixes):
    """One to four XMP flows beside 8 DCTCP flows, with a floor of one packet and of two."""

    def mixes(self) -> list[Mix]:
        """Return the mixes with either floor."""
        return [replace(mix, cwnd_min=floor) for floor in (1, 2) for _, mix in FLOORS]

    def less(self, data: pl.DataFrame) -> Found:
        """Judge the ratio with one XMP flow by that with the usual floor."""
        one = FLOORS[0][1]
        low, usual = ratio(one.rows(data)), ratio(replace(one, cwnd_min=2).rows(data))
        less = low.value is not None and usual.value is not None and low.value < usual.value
        note = f"ratio lower than with cwnd_min = 2, and at most {SYNDROME}; partly: lower"
        judged = grade(less and (low.value or 0.0) <= SYNDROME, less, note)
        return Found.of(f"ratio {low}; with cwnd_min = 2 it is {usual}", judged)

    def frame(self) -> Frame:
        """Return goodputs against the number of XMP flows, for either floor."""
        both = [
            goodputs(
                [(m, replace(mix, cwnd_min=floor)) for m, mix in FLOORS],
                f"cwnd_min = {floor}",
                f"XMP flows {ABOVE}",
                GBPS,
            )
            for floor in (1, 2)
        ]
        title = "goodput of XMP flows of 4 subflows beside 8 DCTCP flows, K = 10"
        return Frame(both, title, (3.6, 2.5), sharey="row")


def fairness(rows: pl.DataFrame) -> Spread:
    """Return Jain's index over all flows of a mix, by seed."""
    return spread(rows, lambda run: jain(run["goodput_bps"].to_numpy()))


@dataclass(frozen=True)
class Fig9(Mixes):
    """1, 2 and 4 multipath flows beside 4 to 24 DCTCP flows."""

    schemes: tuple[str, ...] = ("dcm", "xmp", "amp")
    multipath: tuple[int, ...] = (1, 2, 4)
    dctcp: tuple[int, ...] = (4, 8, 12, 16, 20, 24)

    def mixes(self) -> list[Mix]:
        """Return every scheme in every mix."""
        return [
            Mix(scheme, multipath=m, dctcp=n)
            for m in self.multipath
            for n in self.dctcp
            for scheme in self.schemes
        ]

    terms: ClassVar = {"jain": fairness}

    def ahead(self, data: pl.DataFrame) -> float | None:
        """Return how far AMP's index is above the greater one of the others."""
        index = {s: fairness(data.filter(scheme=s)).value for s in self.schemes}
        others = [one for s, one in index.items() if s != "amp" and one is not None]
        return difference(index["amp"], max(others, default=None))
