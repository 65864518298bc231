"""XMP, Figure 10: round-trip times of large flows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import KEYS, PLACES, SCHEMES, ratio, show
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Claim
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES

PERCENTILES = (10, 25, 50, 75, 90, 99)


@dataclass(frozen=True)
class Fig10(fattree.Patterns):
    """Of each subflow of a large flow at most one round-trip time a second."""

    id: str = "X-fig10"
    columns: ClassVar[tuple[Column, ...]] = (
        *KEYS,
        fattree.KEY_PLACE,
        Column("percentile", "i32", "%", "of the round-trip times"),
        Column("rtt_s", "f64", "s", "round-trip time at this percentile"),
    )

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

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the medians between pods in each pattern."""
        found: list[Claim] = []
        medians = {
            (pattern, scheme): _median(data, pattern, scheme)
            for pattern in self.patterns
            for scheme in SCHEMES
        }
        for pattern in self.patterns:
            ledger = self.ledger(pattern)
            of = {scheme: medians[pattern, scheme] for scheme in SCHEMES}
            shown = ", ".join(f"{NAMES[s]} {show(v, 'us', 1e6)}" for s, v in of.items())
            ledger.judge("alike", shown, of["xmp-2"], of["dctcp"])
            ledger.judge(
                "subflows",
                f"{show(of['xmp-4'], 'us', 1e6)} against {show(of['xmp-2'], 'us', 1e6)}",
                of["xmp-4"],
                of["xmp-2"],
            )
            more = ratio(of["lia-2"], of["xmp-2"])
            ledger.judge("lia", show(more, "times XMP-2's"), more)
            found += ledger.claims
        ledger = self.ledger()
        gain = ratio(medians.get(("incast", "xmp-2")), medians.get(("random", "xmp-2")))
        ledger.judge("incast", show(gain, "times"), gain)
        return found + ledger.claims

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


def _median(
    data: pl.DataFrame, pattern: str, scheme: str, place: str = "inter-pod"
) -> float | None:
    keys = {"pattern": pattern, "scheme": scheme, "place": place}
    return fattree.mean(data.filter(pl.col("percentile") == 50), "rtt_s", **keys)


EXPERIMENT = Fig10()
