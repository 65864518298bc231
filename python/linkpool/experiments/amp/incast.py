"""AMP, Figures 2 and 8: incast in the paper's Figure 1 topology; and with the authors' faults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import panels
from linkpool.experiments.amp import setting
from linkpool.experiments.declared import Kept
from linkpool.experiments.rows import sample
from linkpool.experiments.scenarios import scenario
from linkpool.stats import Sample
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Value, dumps

SIZES = {"64KiB": 65_536, "128KiB": 131_072, "256KiB": 262_144, "512KiB": 524_288, "1MiB": 1 << 20}
FLOWS = (10, 20, 30, 40)
BURSTS = 20
SIZE, K = "128KiB", 30
"""Of which the text gives numbers."""


@dataclass(frozen=True)
class Load:
    """One kind of incast run; `keys` are further settings of its transport."""

    scheme: str
    size: str
    k: int
    delay: str
    keys: Mapping[str, Value] = field(default_factory=dict)

    def point(self, seed: int, bursts: int) -> Point:
        """Return the run of this load with a seed."""
        keys: Keys = {"delay": self.delay, "scheme": self.scheme, "size": self.size, "k": self.k}
        transport = setting.transport(self.scheme, self.keys)
        written = scenario("amp", "incast", bursts=bursts, transport=transport, **keys)
        work = self.k * SIZES[self.size] / 1400 * bursts
        return Point(keys, dumps(written), seed, float(bursts), work)


def points(loads: Sequence[Load], seeds: Sequence[int], bursts: int) -> list[Point]:
    """Return the runs of all loads; single-path incast, where only ties are random, runs once."""
    return [
        load.point(seed, bursts)
        for load in loads
        for seed in (seeds[:1] if load.scheme in setting.SINGLE_PATH else seeds)
    ]


FLOWS_KEPT = (
    "fct_established_s",
    "timeouts",
    "retransmits",
    pl.col("suppressions").cast(pl.UInt32),
)
"""The columns of flows that the analysis keeps."""


def fct(rows: pl.DataFrame) -> Sample:
    """Describe the completion times, in seconds and without handshake, of finished flows."""
    return sample(rows, "fct_established_s")


def shown(rows: pl.DataFrame) -> str:
    """Write a mean completion time with its spread and the flows that it leaves out."""
    mean = fct(rows).mean
    if mean is None:
        return "no finished flow"
    text = f"{1e3 * mean:.3g} ms"
    seeds = [m for part in rows.partition_by("seed") if (m := fct(part).mean) is not None]
    if len(seeds) > 1:
        text += f" (seeds: {1e3 * min(seeds):.3g} to {1e3 * max(seeds):.3g})"
    unfinished = rows["fct_established_s"].null_count()
    return text + (f", {unfinished} unfinished left out" if unfinished else "")


def _spread_ms(rows: pl.DataFrame) -> style.Spread:
    """Return percentiles and the mean of the completion times of finished flows, in ms."""
    ms, mean = 1e3 * rows["fct_established_s"], fct(rows).mean
    low, median, high = (ms.quantile(quantile, "linear") for quantile in (0.1, 0.5, 0.9))
    return style.Spread(low, median, high, None if mean is None else 1e3 * mean)


@dataclass(frozen=True)
class Incast(setting.Delayed):
    """An experiment that runs every scheme with every size, k and delay."""

    schemes: tuple[str, ...]
    sizes: tuple[str, ...]
    ks: tuple[int, ...] = FLOWS
    bursts: int = BURSTS
    kept: ClassVar = Kept("flows", FLOWS_KEPT)
    terms: ClassVar = {"shown": shown}

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme, size, k, delay and seed."""
        loads = [
            Load(scheme, size, k, delay)
            for delay in self.delays
            for size in self.sizes
            for k in self.ks
            for scheme in self.schemes
        ]
        return points(loads, seeds, self.bursts)

    def frame(self) -> Frame:
        """Return a panel per size: medians, 10th to 90th percentile of flows, and means.

        Figures 2 and 8 have bars to the mean, with whiskers of one standard deviation. Where that
        exceeds the mean, as with timeouts, the lower end of such a whisker is negative, which no
        logarithmic axis can show; and a mean may be above the 90th percentile.
        """

        def panel(size: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                of_size = data.filter(size=size)
                of = panels.of_each(_spread_ms, of_size, self.schemes, "k", self.ks)
                style.spreads(axes, [str(k) for k in self.ks], of)
                style.plain_log(axes, bottom=0.1)

            label = "FCT (ms): median, p10 to p90;\nmean (dash)"
            return Panel(paint, f"{size}, {{}} links", "flows in a burst", label)

        return Frame([panel(size) for size in self.sizes], self.title, (2.6, 2.3))


SETS = {"": "no fault", "-acks": "the faults of acknowledgments", "-faults": "all faults"}
"""Ends of the names of schemes, and how the figure names them."""


@dataclass(frozen=True)
class Faults(Incast):
    """Hold the completion times and timeouts with each set of faults against the paper."""

    def frame(self) -> Frame:
        """Return a panel per scheme: the distribution of its completion times."""

        def panel(scheme: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                for faults, label in SETS.items():
                    of_set = data.filter(scheme=f"{scheme}{faults}", size=SIZE, k=K)
                    times = of_set["fct_established_s"].drop_nulls()
                    if len(times):
                        look = LOOKS[f"xmp{faults}"]
                        axes.ecdf(times, color=look.colour, linestyle=look.dash, label=label)
                axes.set_xscale("log")

            return Panel(paint, f"{NAMES[scheme]}, {{}} links", "FCT (s)", "share of flows")

        return Frame([panel(scheme) for scheme in ("xmp", "dcm")], self.title, (4.4, 2.4))
