"""XMP, Table 3 and Figures 9 to 11: jobs, round-trip times and the utilisation of links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Kept
from linkpool.experiments.formulas import Found
from linkpool.experiments.rows import Floats, values
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import PLACES, SCHEMES
from linkpool.result import Result
from linkpool.study.claims import grade, no_data
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES

JUMP_S = 0.1
"""Before the first jump of the distributions: jobs without a timeout of 200 ms."""
RTO_S = 0.2


@dataclass(frozen=True)
class Jobs(fattree.Patterns):
    """The completion times of jobs in the pattern Incast."""

    patterns: tuple[str, ...] = ("incast",)
    apart: ClassVar = None  # no claim names the pattern
    kept: ClassVar = Kept("jobs", ["jct_s"])


@dataclass(frozen=True)
class Fig9(Jobs):
    """The distributions of completion times."""

    def jumps(self, data: pl.DataFrame) -> Found:
        """Judge the jumps of each scheme's distribution."""
        times = [v for scheme in SCHEMES if (v := values(data, "jct_s", scheme=scheme)).size]
        gaps, second = (
            [_share(v, JUMP_S, RTO_S) for v in times],
            [_share(v, RTO_S, 0.3) for v in times],
        )
        hits = [gap <= 0.05 and jump >= 0.05 for gap, jump in zip(gaps, second, strict=True)]
        note = "at most 5% of the jobs in 100-200 ms and at least 5% in 200-300 ms, with every "
        note += "scheme; partly: with one"
        judged = grade(all(hits), any(hits), note) if hits else no_data(note)
        shown = f"{_percents('in 200-300 ms', second)}; {_percents('in 100-200 ms', gaps)}"
        return Found.of(shown, judged)


def _share(of: Floats, low: float, high: float) -> float:
    return float(((of >= low) & (of < high)).mean())


def _percents(what: str, shares: Sequence[float]) -> str:
    shown = ", ".join(f"{share:.1%}" for share in shares)
    return f"{what}: {shown or 'no data'}"


PERCENTILES = (10, 25, 50, 75, 90, 99)


@dataclass(frozen=True)
class Fig10(fattree.Patterns):
    """Of each subflow of a large flow at most one round-trip time a second."""

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


LAYERS = ("core", "aggregation", "rack")
"""Links to and from the core, between aggregation and rack, and of hosts."""


@dataclass(frozen=True)
class Fig11(fattree.Patterns):
    """What each link sent over the whole run, over what it can send."""

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the utilisation of each link, with its layer."""
        ends = [pl.col("layer"), pl.col("to_layer")]
        layer = (
            pl.when((ends[0] == "core") | (ends[1] == "core"))
            .then(pl.lit("core"))
            .when((ends[0] == "host") | (ends[1] == "host"))
            .then(pl.lit("rack"))
            .otherwise(pl.lit("aggregation"))
        )
        return result.links.select(layer.alias("layer"), "utilisation")

    def frame(self) -> Frame:
        """Return the range of each layer's links, with 10th, 50th and 90th percentile."""
        panel = Panel(_ranges, "{}", y="utilisation of links")
        return Frame([panel], self.title, (3.8, 3.0), columns=len(self.patterns))


def _ranges(axes: Axes, data: pl.DataFrame) -> None:
    for i, scheme in enumerate(SCHEMES):
        look = LOOKS[scheme]
        for j, layer in enumerate(LAYERS):
            x = j + (i - 2) * 0.15
            used = values(data, "utilisation", scheme=scheme, layer=layer)
            if used.size:
                axes.vlines(x, used.min(), used.max(), color=look.colour)
                marks = np.percentile(used, (10, 50, 90))
                axes.plot([x] * 3, marks, "_", color=look.colour, markersize=7)
        axes.plot([], [], color=look.colour, label=NAMES[scheme])
    axes.set_xticks(range(len(LAYERS)), LAYERS)
    axes.set_ylim(0.0, 1.0)
