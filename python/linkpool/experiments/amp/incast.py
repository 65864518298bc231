"""Incast in the paper's Figure 1 topology: the common part of Figures 2 and 8."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments import columns as declared
from linkpool.experiments.amp import setting
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.toml import Value, dumps

SIZES = {"64KiB": 65_536, "128KiB": 131_072, "256KiB": 262_144, "512KiB": 524_288, "1MiB": 1 << 20}
FLOWS = (10, 20, 30, 40)
BURSTS = 20


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
        words: dict[str, Value] = {"queue": setting.queue(), "transport": transport}
        written = scenario("amp", "incast", bursts=bursts, **keys, **words)
        work = self.k * SIZES[self.size] / 1400 * bursts
        return Point(keys, dumps(written), seed, float(bursts), work)


def points(loads: Sequence[Load], seeds: Sequence[int], bursts: int) -> list[Point]:
    """Return the runs of all loads; single-path incast, where only ties are random, runs once."""
    return [
        load.point(seed, bursts)
        for load in loads
        for seed in (seeds[:1] if load.scheme in setting.SINGLE_PATH else seeds)
    ]


COLUMNS = declared.columns("amp", "incast")


def flows(result: Result) -> pl.DataFrame:
    """Return the columns of a run's flows that the analysis keeps."""
    kept = ("fct_established_s", "timeouts", "retransmits")
    return result.flows.select(*kept, pl.col("suppressions").cast(pl.UInt32))


class Cells:
    """Statistics of the flows by scheme, size and k, at one delay."""

    def __init__(self, data: pl.DataFrame) -> None:
        """Take the rows of one delay."""
        parts = data.partition_by("scheme", "size", "k", as_dict=True)
        self._rows = {(str(s), str(z), int(k)): rows for (s, z, k), rows in parts.items()}

    def rows(self, scheme: str, size: str, k: int) -> pl.DataFrame | None:
        """Return the flows of a cell, or None where it was not run."""
        return self._rows.get((scheme, size, k))

    def fct(self, scheme: str, size: str, k: int) -> Sample:
        """Describe the completion times, in seconds and without handshake, of finished flows."""
        rows = self.rows(scheme, size, k)
        return Sample(0) if rows is None else _fct(rows)

    def mean(self, scheme: str, size: str, k: int) -> float | None:
        """Return the mean completion time in seconds."""
        return self.fct(scheme, size, k).mean

    def seed_means(self, scheme: str, size: str, k: int) -> list[float]:
        """Return the mean completion time, in seconds, of each seed."""
        rows = self.rows(scheme, size, k)
        parts = [] if rows is None else rows.partition_by("seed")
        return [mean for part in parts if (mean := _fct(part).mean) is not None]

    def percentiles(
        self, scheme: str, size: str, k: int, of: Sequence[float] = (0.1, 0.9)
    ) -> list[float | None]:
        """Return quantiles of the completion times, in seconds, of finished flows."""
        rows = self.rows(scheme, size, k)
        times = pl.Series([], dtype=pl.Float64) if rows is None else rows["fct_established_s"]
        return [times.quantile(quantile, "linear") for quantile in of]

    def unfinished(self, scheme: str, size: str, k: int) -> int:
        """Return how many flows did not finish."""
        rows = self.rows(scheme, size, k)
        return 0 if rows is None else rows["fct_established_s"].null_count()

    def ratio(self, scheme: str, other: str, size: str, k: int) -> float | None:
        """Return a scheme's mean completion time over another's."""
        mine, theirs = self.mean(scheme, size, k), self.mean(other, size, k)
        return None if mine is None or not theirs else mine / theirs


def _fct(rows: pl.DataFrame) -> Sample:
    return describe(rows["fct_established_s"].drop_nulls().to_numpy())


def show_mean(cells: Cells, scheme: str, size: str, k: int) -> str:
    """Write a mean completion time with its spread and the flows that it leaves out."""
    mean = cells.mean(scheme, size, k)
    if mean is None:
        return "no finished flow"
    text = f"{1e3 * mean:.3g} ms"
    seeds = cells.seed_means(scheme, size, k)
    if len(seeds) > 1:
        text += f" (seeds: {1e3 * min(seeds):.3g} to {1e3 * max(seeds):.3g})"
    unfinished = cells.unfinished(scheme, size, k)
    return text + (f", {unfinished} unfinished left out" if unfinished else "")


def _spread_ms(cells: Cells, scheme: str, size: str, k: int) -> style.Spread:
    low, median, high = cells.percentiles(scheme, size, k, (0.1, 0.5, 0.9))
    return style.Spread(*map(_ms, (low, median, high, cells.mean(scheme, size, k))))


def _ms(value: float | None) -> float | None:
    return None if value is None else 1e3 * value


@dataclass(frozen=True)
class Incast(setting.Delayed):
    """An experiment that runs every scheme with every size, k and delay."""

    schemes: tuple[str, ...]
    sizes: tuple[str, ...]
    ks: tuple[int, ...] = FLOWS
    delays: tuple[str, ...] = setting.DELAYS
    bursts: int = BURSTS
    columns: ClassVar[tuple[Column, ...]] = COLUMNS

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

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        return flows(result)

    def frame(self) -> Frame:
        """Return a panel per size: medians, 10th to 90th percentile of flows, and means.

        Figures 2 and 8 have bars to the mean, with whiskers of one standard deviation. Where that
        exceeds the mean, as with timeouts, the lower end of such a whisker is negative, which no
        logarithmic axis can show; and a mean may be above the 90th percentile.
        """

        def panel(size: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = Cells(data)
                of = {s: [_spread_ms(cells, s, size, k) for k in self.ks] for s in self.schemes}
                style.spreads(axes, [str(k) for k in self.ks], of)
                style.plain_log(axes, bottom=0.1)

            label = "FCT (ms): median, p10 to p90;\nmean (dash)"
            return Panel(paint, f"{size}, {{}} links", "flows in a burst", label)

        return Frame([panel(size) for size in self.sizes], self.title, (2.6, 2.3))
