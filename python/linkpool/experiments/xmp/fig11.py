"""XMP, Figure 11: the utilisation of links by layer."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import SCHEMES, by_seed, mean, ratio, show
from linkpool.result import Result
from linkpool.study.claims import Ledger, grade, no_data
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES

LAYERS = ("core", "aggregation", "rack")
"""Links to and from the core, between aggregation and rack, and of hosts."""


@dataclass(frozen=True)
class Fig11(fattree.Patterns):
    """What each link sent over the whole run, over what it can send."""

    id: str = "X-fig11"
    columns: ClassVar = declared.columns("xmp", "X-fig11")

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

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the means of each layer, and how even the core is used."""
        of = {
            (s, layer): mean(data, "utilisation", scheme=s, layer=layer)
            for s in SCHEMES
            for layer in LAYERS
        }
        shares = [ratio(of["dctcp", layer], of["xmp-2", layer]) for layer in LAYERS]
        known = [share for share in shares if share is not None]
        note = "at most 0.9 of XMP-2's mean on every layer; partly: below it"
        ledger.judge(
            "dctcp-below",
            ", ".join(f"{x} {show(v, '')}" for x, v in zip(LAYERS, shares, strict=True)),
            grade(max(known) <= 0.9, max(known) < 1, note)
            if len(known) == len(LAYERS)
            else no_data(note),
        )
        for count in (2, 4):
            gains = [ratio(of[f"xmp-{count}", x], of[f"lia-{count}", x]) for x in LAYERS]
            there = [gain for gain in gains if gain is not None]
            gain = sum(there) / len(there) if len(there) == len(LAYERS) else None
            ledger.judge("xmp-lia-{count}", show(gain, "times"), gain, count=count)
        spans = {s: _span(data, s) for s in ("dctcp", "xmp-2", "lia-2")}
        used = pl.col("utilisation")
        where = {"layer": "core"}
        seeds = [
            by_seed(data, "utilisation", used.max() - used.min(), scheme=s, **where) for s in spans
        ]
        ledger.judge(
            "unbalanced", ", ".join(f"{NAMES[s]} {show(v, '')}" for s, v in spans.items()), *seeds
        )

    def frame(self) -> Frame:
        """Return the range of each layer's links, with 10th, 50th and 90th percentile."""
        panel = Panel(_ranges, "{}", y="utilisation of links")
        return Frame([panel], self.title, (3.8, 3.0), columns=len(self.patterns))


def _ranges(axes: Axes, data: pl.DataFrame) -> None:
    for i, scheme in enumerate(SCHEMES):
        look = LOOKS[scheme]
        for j, layer in enumerate(LAYERS):
            x = j + (i - 2) * 0.15
            values = _links(data, scheme, layer)
            if values.size:
                axes.vlines(x, values.min(), values.max(), color=look.colour)
                marks = np.percentile(values, (10, 50, 90))
                axes.plot([x] * 3, marks, "_", color=look.colour, markersize=7)
        axes.plot([], [], color=look.colour, label=NAMES[scheme])
    axes.set_xticks(range(len(LAYERS)), LAYERS)
    axes.set_ylim(0.0, 1.0)


def _links(data: pl.DataFrame, scheme: str, layer: str) -> "np.ndarray":
    rows = data.filter(pl.col("scheme") == scheme, pl.col("layer") == layer)
    return rows["utilisation"].drop_nulls().to_numpy()


def _span(data: pl.DataFrame, scheme: str) -> float | None:
    values = _links(data, scheme, "core")
    return float(values.max() - values.min()) if values.size else None


EXPERIMENT = Fig11()
