"""XMP, Tables 1 and 2 and Figure 8: goodputs of large flows in a fat-tree."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Kept
from linkpool.experiments.rows import by_seed, mean, median, ratio, show
from linkpool.experiments.scenarios import transport
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import PLACES, SCHEMES
from linkpool.study import style
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table

PAPER_MBPS = {
    "permutation": {"dctcp": 513.6, "lia-2": 400.8, "lia-4": 627.3, "xmp-2": 644.3, "xmp-4": 735.6},
    "random": {"dctcp": 440.5, "lia-2": 310.0, "lia-4": 434.5, "xmp-2": 497.9, "xmp-4": 542.9},
    "incast": {"dctcp": 423.7, "lia-2": 302.7, "lia-4": 425.4, "xmp-2": 483.7, "xmp-4": 535.7},
}


LARGE, ENDED = pl.col("label") == fattree.LARGE, pl.col("fct_s").is_not_null()


@dataclass(frozen=True)
class Goodputs(fattree.Patterns):
    """The goodput of each large flow that ended, over its whole time."""

    columns: ClassVar = declared.columns("xmp", "goodputs")
    kept: ClassVar = Kept("flows", [fattree.place(), "goodput_bps"], LARGE & ENDED)


@dataclass(frozen=True)
class Tab1(Goodputs):
    """Means over all large flows."""

    id: str = "X-tab1"

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's comparisons, in each pattern."""
        of = {s: mean(data, "goodput_bps", scheme=s) for s in SCHEMES}
        for scheme, paper in PAPER_MBPS[str(ledger.setting)].items():
            bps = of[scheme]
            mine = None if bps is None else 1e-6 * bps
            ledger.judge("mean-{scheme}", show(mine, "Mbps"), mine, scheme=scheme, paper=paper)
        gains = {
            "xmp-dctcp": ("xmp-2", "dctcp"),
            "xmp-lia": ("xmp-2", "lia-2"),
            "xmp-lia-4": ("xmp-2", "lia-4"),
            "xmp-4": ("xmp-4", "xmp-2"),
            "lia-4": ("lia-4", "lia-2"),
        }
        for name, (one, other) in gains.items():
            gain = ratio(of[one], of[other])
            ledger.judge(name, show(gain, "times"), gain)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what jobs cost."""
        kept: dict[str, float | None] = {}
        for scheme in SCHEMES:
            at = {"scheme": scheme}
            both = (mean(data, "goodput_bps", pattern=p, **at) for p in ("incast", "random"))
            kept[scheme] = ratio(*both)
        known = [value for value in kept.values() if value is not None]
        shown = ", ".join(f"{NAMES[s]} {show(v)}" for s, v in kept.items())
        ledger.judge("jobs", shown, min(known) if len(known) == len(kept) else None)

    def frame(self) -> Frame:
        """Return the table, and the paper's numbers as lines."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            mbps = data.with_columns(pl.col("goodput_bps") * 1e-6)
            heights = {
                s: [mean(mbps, "goodput_bps", pattern=p, scheme=s) for p in self.patterns]
                for s in SCHEMES
            }
            style.bars(axes, self.patterns, heights)
            width = 0.8 / len(SCHEMES)
            for i, scheme in enumerate(SCHEMES):
                x = np.arange(len(self.patterns)) + (i - (len(SCHEMES) - 1) / 2) * width
                y = [PAPER_MBPS[p][scheme] for p in self.patterns]
                axes.hlines(y, x - width / 2, x + width / 2, color="black", linewidth=1.0)
            axes.set_ylim(0.0, 1000.0)

        panel = Panel(paint, y="mean goodput (Mbps); lines: the paper's")
        return Frame([panel], self.title, (7.0, 3.2), together=True)


@dataclass(frozen=True)
class Fig8(Goodputs):
    """The distributions, and by where the ends of a flow are."""

    id: str = "X-fig8"
    patterns: tuple[str, ...] = ("permutation", "random")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge who is best and worst where, by medians."""
        of = {
            (s, place): median(data, "goodput_bps", scheme=s, place=place)
            for s in SCHEMES
            for place in PLACES
        }
        middle = pl.col("goodput_bps").median()
        seeds = {s: by_seed(data, middle, scheme=s, place="inner-rack") for s in SCHEMES}
        inner = (f"{NAMES[s]} {show(of[s, 'inner-rack'], 'Mbps', 1e-6)}" for s in SCHEMES)
        shown = ", ".join(inner)

        def beside_others(name: str, scheme: str) -> None:
            others = (seeds[s] for s in SCHEMES if s != scheme)
            ledger.judge(name, shown, seeds[scheme], *others)

        beside_others("dctcp-inner", "dctcp")
        for place in ("inter-rack", "inter-pod"):
            drop = ratio(of["dctcp", place], of["dctcp", "inner-rack"])
            ledger.judge("dctcp-{place}", show(drop, "of its inner-rack median"), drop, place=place)
        pod = {s: of[s, "inter-pod"] for s in ("lia-4", "xmp-2")}
        listed = ", ".join(f"{NAMES[s]} {show(v, 'Mbps', 1e-6)}" for s, v in pod.items())
        ledger.judge("lia-pod", listed, *pod.values())
        beside_others("lia-inner", "lia-2")

    def frame(self) -> Frame:
        """Return the distributions of all flows, and medians by place."""

        def flows(axes: Axes, data: pl.DataFrame) -> None:
            for scheme in SCHEMES:
                mine = data.filter(pl.col("scheme") == scheme)["goodput_bps"]
                style.distribution(axes, scheme, 1e-6 * mine.to_numpy())
            axes.set_xlabel("goodput (Mbps)")

        def places(axes: Axes, data: pl.DataFrame) -> None:
            mbps = data.with_columns(pl.col("goodput_bps") * 1e-6)
            heights = {
                s: [median(mbps, "goodput_bps", scheme=s, place=p) for p in PLACES] for s in SCHEMES
            }
            style.bars(axes, PLACES, heights)

        panels = [
            Panel(flows, "{}", y="share of large flows"),
            Panel(places, "{}: medians (Mbps)", from_zero=True),
        ]
        return Frame(panels, self.title, (4.4, 2.7), sharey=False)


TAB1 = Tab1()
FIG8 = Fig8()


XMP = "xmp-2"
OTHERS = ("lia-2", "tcp", "dctcp")
LIMITS = (50, 100)
BESIDE_MBPS = {
    (50, "lia-2"): (463.4, 314.3),
    (100, "lia-2"): (423.2, 388.3),
    (50, "tcp"): (522.9, 175.3),
    (100, "tcp"): (501.8, 243.4),
    (50, "dctcp"): (485.4, 485.3),
    (100, "dctcp"): (481.4, 493.5),
}
"""By queue and other scheme: goodputs of XMP-2 and of the other."""

OTHER_COLOUR = "0.5"
"""Of the scheme beside XMP-2 in the figure."""


def point_beside(
    other: str, limit: int, large_flows: int, seed: int, settings: "Table | None" = None
) -> Point:
    """Return the run of XMP-2 beside another scheme.

    Args:
        other: the other scheme.
        limit: packets that a queue holds.
        large_flows: the run ends when so many have ended.
        seed: the seed.
        settings: more settings of both transports.

    """
    schemes = {s: {**transport("xmp", s), **(settings or {})} for s in (XMP, other)}
    name = f"XMP-2 beside {other}, {limit}"
    found = fattree.fabric(name, limit, large_flows, schemes, "beside", other)
    keys: Keys = {"beside": other, "limit": limit}
    return fattree.sized(keys, found, seed, large_flows * fattree.LARGE_B["random"])


@dataclass(frozen=True)
class Tab2(fattree.LargeFlows):
    """Half of the hosts send by XMP-2, the other half by another scheme."""

    id: str = "X-tab2"
    others: ClassVar = OTHERS
    limits: ClassVar = LIMITS
    over: ClassVar = ("others", "limits")
    apart: ClassVar = ("limit", "limits")
    kept: ClassVar = Kept("flows", [pl.col("transport").alias("scheme"), "goodput_bps"], ENDED)
    columns: ClassVar = declared.columns("xmp", "X-tab2")

    def point(self, seed: int, beside: str, limit: int) -> Point:
        """Return the run beside another scheme."""
        return point_beside(beside, limit, self.large_flows, seed)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and what the text reads from it, at each queue."""
        limit = int(str(ledger.setting))
        for other in OTHERS:
            for scheme, paper in zip((XMP, other), BESIDE_MBPS[limit, other], strict=True):
                mine = _mean_beside(data, other, scheme)
                words = {"other": other, "whose": "xmp" if scheme == XMP else "itself"}
                shown = show(mine, "Mbps")
                ledger.judge("{other}-{whose}", shown, mine, scheme=scheme, paper=paper, **words)
        share = ratio(*(_mean_beside(data, "dctcp", s) for s in (XMP, "dctcp")))
        ledger.judge("fair", show(share, "times DCTCP's"), share)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what a larger queue does."""
        small, large = (data.filter(limit=limit) for limit in LIMITS)
        for other in ("lia-2", "tcp"):
            gain = ratio(_mean_beside(large, other, other), _mean_beside(small, other, other))
            paper = BESIDE_MBPS[100, other][1] / BESIDE_MBPS[50, other][1]
            ledger.judge("queue-{other}", show(gain, "times"), gain, other=other, paper=paper)

    def frame(self) -> Frame:
        """Return the table, a panel for each queue, and the paper's numbers as lines."""
        panel = Panel(
            _draw_beside,
            "queues of {} packets",
            "",
            "mean goodput (Mbps); lines: the paper's",
            True,
        )
        return Frame([panel], self.title, (4.2, 3.0), columns=len(LIMITS))


def _mean_beside(data: pl.DataFrame, other: str, scheme: str) -> float | None:
    found = mean(data, "goodput_bps", beside=other, scheme=scheme)
    return None if found is None else 1e-6 * found


def _draw_beside(axes: Axes, data: pl.DataFrame) -> None:
    width, limit = 0.36, int(str(data["limit"].first()))
    looks = ((-0.5, NAMES[XMP], LOOKS[XMP].colour), (0.5, "the other scheme", OTHER_COLOUR))
    for i, (side, label, colour) in enumerate(looks):
        x = np.arange(len(OTHERS)) + side * width
        mbps = [_mean_beside(data, other, (XMP, other)[i]) or 0.0 for other in OTHERS]
        axes.bar(x, mbps, 0.92 * width, color=colour, label=label)
        paper = [BESIDE_MBPS[limit, other][i] for other in OTHERS]
        axes.hlines(paper, x - width / 2, x + width / 2, color="black", linewidth=1.0)
    axes.set_xticks(np.arange(len(OTHERS)), [f"beside {NAMES[other]}" for other in OTHERS])
    axes.grid(visible=False, axis="x")


TAB2 = Tab2()
