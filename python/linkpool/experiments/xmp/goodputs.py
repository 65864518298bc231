"""XMP, Tables 1 and 2 and Figure 8: goodputs of large flows in a fat-tree."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import panels
from linkpool.experiments.declared import Kept
from linkpool.experiments.rows import mean
from linkpool.experiments.scenarios import transport
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import SCHEMES
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table

LARGE, ENDED = pl.col("label") == fattree.LARGE, pl.col("fct_s").is_not_null()


@dataclass(frozen=True)
class Goodputs(fattree.Patterns):
    """The goodput of each large flow that ended, over its whole time."""

    kept: ClassVar = Kept("flows", [fattree.place(), "goodput_bps"], LARGE & ENDED)


@dataclass(frozen=True)
class Tab1(Goodputs):
    """Means over all large flows."""

    def frame(self) -> Frame:
        """Return the table, and the paper's numbers as lines."""
        of = self.of("1e-6 * mean goodput_bps")
        label = "mean goodput (Mbps); lines: the paper's"
        panel = panels.bars(of, SCHEMES, "pattern", self.patterns, y=label)
        paper = [[row["paper"] for row in self.table("means", at=p)] for p in self.patterns]

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            panel.paint(axes, data)
            places, width = style.places_of_bars(len(self.patterns), len(SCHEMES))
            for x, y in zip(places, zip(*paper, strict=True), strict=True):
                axes.hlines(y, x - width / 2, x + width / 2, color="black", linewidth=1.0)
            axes.set_ylim(0.0, 1000.0)

        return Frame([replace(panel, paint=paint)], self.title, (7.0, 3.2), together=True)


@dataclass(frozen=True)
class Fig8(Goodputs):
    """The distributions, and by where the ends of a flow are."""

    patterns: tuple[str, ...] = ("permutation", "random")


XMP = "xmp-2"
OTHERS = ("lia-2", "tcp", "dctcp")
LIMITS = (50, 100)
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

    others: ClassVar = OTHERS
    limits: ClassVar = LIMITS
    over: ClassVar = ("others", "limits")
    apart: ClassVar = ("limit", "limits")
    kept: ClassVar = Kept("flows", [pl.col("transport").alias("scheme"), "goodput_bps"], ENDED)

    def point(self, seed: int, beside: str, limit: int) -> Point:
        """Return the run beside another scheme."""
        return point_beside(beside, limit, self.large_flows, seed)

    def frame(self) -> Frame:
        """Return the table, a panel for each queue, and the paper's numbers as lines."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            paper = [row["paper"] for row in self.table("means", at=str(data["limit"].first()))]
            looks = ((NAMES[XMP], LOOKS[XMP].colour), ("the other scheme", OTHER_COLOUR))
            for i, (label, colour) in enumerate(looks):
                x = np.arange(len(OTHERS)) + (i - 0.5) * 0.36
                pairs = [{"beside": other, "scheme": (XMP, other)[i]} for other in OTHERS]
                mbps = [1e-6 * (mean(data, "goodput_bps", **pair) or 0.0) for pair in pairs]
                axes.bar(x, mbps, 0.92 * 0.36, color=colour, label=label)
                axes.hlines(paper[i::2], x - 0.18, x + 0.18, color="black", linewidth=1.0)
            axes.set_xticks(np.arange(len(OTHERS)), [f"beside {NAMES[other]}" for other in OTHERS])
            axes.grid(visible=False, axis="x")

        label = "mean goodput (Mbps); lines: the paper's"
        panel = Panel(paint, "queues of {} packets", "", label, from_zero=True)
        return Frame([panel], self.title, (4.2, 3.0), columns=len(LIMITS))
