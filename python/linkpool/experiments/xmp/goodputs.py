"""XMP, Table 1 and Figure 8: goodputs of large flows in a fat-tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import (
    PLACES,
    SCHEMES,
    by_seed,
    mean,
    median,
    ratio,
    show,
)
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import (
    Ledger,
)
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES

PAPER_MBPS = {
    "permutation": {
        "dctcp": 513.6,
        "lia-2": 400.8,
        "lia-4": 627.3,
        "xmp-2": 644.3,
        "xmp-4": 735.6,
    },
    "random": {"dctcp": 440.5, "lia-2": 310.0, "lia-4": 434.5, "xmp-2": 497.9, "xmp-4": 542.9},
    "incast": {"dctcp": 423.7, "lia-2": 302.7, "lia-4": 425.4, "xmp-2": 483.7, "xmp-4": 535.7},
}


@dataclass(frozen=True)
class Goodputs(fattree.Patterns):
    """The goodput of each large flow that ended, over its whole time."""

    columns: ClassVar = declared.columns("xmp", "goodputs")

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each large flow that ended, and where its ends are."""
        ended = pl.col("fct_s").is_not_null()
        flows = result.flows.filter(pl.col("label") == fattree.LARGE, ended)
        return flows.select(fattree.place(), "goodput_bps")


@dataclass(frozen=True)
class Tab1(Goodputs):
    """Means over all large flows."""

    id: str = "X-tab1"

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's comparisons, in each pattern."""
        of = {s: mean(data, "goodput_bps", scheme=s) for s in SCHEMES}
        for scheme, paper in PAPER_MBPS[str(ledger.setting)].items():
            mine = None if of[scheme] is None else 1e-6 * (of[scheme] or 0.0)
            ledger.judge("mean-{scheme}", show(mine, "Mbps"), mine, scheme=scheme, paper=paper)
        _comparisons(ledger, of)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what jobs cost."""
        kept = {
            s: ratio(
                mean(data, "goodput_bps", pattern="incast", scheme=s),
                mean(data, "goodput_bps", pattern="random", scheme=s),
            )
            for s in SCHEMES
        }
        known = [value for value in kept.values() if value is not None]
        shown = ", ".join(f"{NAMES[s]} {show(v, '')}" for s, v in kept.items())
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


def _comparisons(ledger: Ledger, of: Mapping[str, "float | None"]) -> None:
    gain = ratio(of["xmp-2"], of["dctcp"])
    ledger.judge("xmp-dctcp", show(gain, "times"), gain)
    gain = ratio(of["xmp-2"], of["lia-2"])
    ledger.judge("xmp-lia", show(gain, "times"), gain)
    gain = ratio(of["xmp-2"], of["lia-4"])
    ledger.judge("xmp-lia-4", show(gain, "times"), gain)
    gains = {s: ratio(of[f"{s}-4"], of[f"{s}-2"]) for s in ("xmp", "lia")}
    ledger.judge("xmp-4", show(gains["xmp"], "times"), gains["xmp"])
    ledger.judge("lia-4", show(gains["lia"], "times"), gains["lia"])


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
        inner = {s: of[s, "inner-rack"] for s in SCHEMES}
        value = pl.col("goodput_bps").median()
        where = {"place": "inner-rack"}
        seeds = {s: by_seed(data, "goodput_bps", value, scheme=s, **where) for s in SCHEMES}
        shown = ", ".join(f"{NAMES[s]} {show(v, 'Mbps', 1e-6)}" for s, v in inner.items())
        ledger.judge(
            "dctcp-inner",
            shown,
            *(seeds[s] for s in ("dctcp", *(s for s in SCHEMES if s != "dctcp"))),
        )
        for place in ("inter-rack", "inter-pod"):
            drop = ratio(of["dctcp", place], of["dctcp", "inner-rack"])
            ledger.judge("dctcp-{place}", show(drop, "of its inner-rack median"), drop, place=place)
        ledger.judge(
            "lia-pod",
            f"LIA-4 {show(of['lia-4', 'inter-pod'], 'Mbps', 1e-6)}, "
            f"XMP-2 {show(of['xmp-2', 'inter-pod'], 'Mbps', 1e-6)}",
            of["lia-4", "inter-pod"],
            of["xmp-2", "inter-pod"],
        )
        ledger.judge(
            "lia-inner",
            shown,
            *(seeds[s] for s in ("lia-2", *(s for s in SCHEMES if s != "lia-2"))),
        )

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
