"""XMP, Figure 10: round-trip times of large flows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import PLACES, SCHEMES, ratio, show
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES

PERCENTILES = (10, 25, 50, 75, 90, 99)


@dataclass(frozen=True)
class Fig10(fattree.Patterns):
    """Of each subflow of a large flow at most one round-trip time a second."""

    id: str = "X-fig10"
    columns: ClassVar = declared.columns("xmp", "X-fig10")

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return percentiles of the round-trip times, by where the ends of a flow are."""
        places = result.flows.select("flow", fattree.place())
        samples = result.rtt.join(places, on="flow", how="left")
        rows = []
        for place in PLACES:
            values = samples.filter(pl.col("place") == place)["rtt_s"].to_numpy()
            if values.size:
                rows += [(place, p, float(np.percentile(values, p))) for p in PERCENTILES]
        schema = {"place": pl.String, "percentile": pl.Int32, "rtt_s": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the medians between pods in each pattern."""
        of = {scheme: _median(data, scheme) for scheme in SCHEMES}
        shown = {scheme: show(value, "us", 1e6) for scheme, value in of.items()}
        listed = ", ".join(f"{NAMES[s]} {text}" for s, text in shown.items())
        ledger.judge("alike", listed, of["xmp-2"], of["dctcp"])
        both = f"{shown['xmp-4']} against {shown['xmp-2']}"
        ledger.judge("subflows", both, of["xmp-4"], of["xmp-2"])
        more = ratio(of["lia-2"], of["xmp-2"])
        ledger.judge("lia", show(more, "times XMP-2's"), more)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Compare Incast, whose small flows use TCP, with Random."""
        incast, random = (_median(data.filter(pattern=p), "xmp-2") for p in ("incast", "random"))
        gain = ratio(incast, random)
        ledger.judge("incast", show(gain, "times"), gain)

    def frame(self) -> Frame:
        """Return medians by where the ends are."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            medians = data.filter(percentile=50).with_columns(pl.col("rtt_s") * 1e3)
            heights = {
                s: [fattree.mean(medians, "rtt_s", scheme=s, place=p) for p in PLACES]
                for s in SCHEMES
            }
            style.bars(axes, PLACES, heights)

        panel = Panel(paint, "{}: median RTT (ms)", from_zero=True)
        columns = len(self.patterns)
        return Frame([panel], self.title, (3.6, 3.0), sharey=False, columns=columns)


def _median(data: pl.DataFrame, scheme: str) -> float | None:
    return fattree.mean(data.filter(percentile=50), "rtt_s", scheme=scheme, place="inter-pod")


EXPERIMENT = Fig10()
