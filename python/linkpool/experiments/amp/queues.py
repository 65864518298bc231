"""AMP, Figure 10: queue lengths without the syndrome and with it, as histograms."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.amp.syndrome import Mix, Mixes
from linkpool.result import Result
from linkpool.study.frame import Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Value

LINK = "W->R"
RECORD: dict[str, Value] = {"queue": {"links": [LINK], "every": "10us", "from": "10ms"}}
"""Every 10 us, without the first 10 ms, in which the flows start."""
SPARSE: dict[str, Value] = {"queue": {"links": [LINK], "every": "100us", "from": "10ms"}}
"""The same every 100 us, which is enough for a median."""


def histogram(result: Result) -> pl.DataFrame:
    """Return how many samples found each queue length of the bottleneck, in packets."""
    lengths = result.queue.filter(pl.col("link") == LINK)
    found = lengths.group_by("queue_pkts").agg(pl.len().alias("samples")).sort("queue_pkts")
    return found.with_columns(pl.col("queue_pkts").cast(pl.UInt32))


@dataclass(frozen=True)
class Distribution:
    """Queue lengths, in packets, and the share of samples at or below each."""

    lengths: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Distribution | None":
        """Add up histograms; None without samples."""
        table = rows.group_by("queue_pkts").agg(pl.col("samples").sum()).sort("queue_pkts")
        counts = table["samples"].to_numpy().astype(np.float64)
        if counts.sum() == 0:
            return None
        lengths = table["queue_pkts"].to_numpy().astype(np.int64)
        return cls(lengths, np.cumsum(counts) / counts.sum())

    def quantile(self, share: float) -> int:
        """Return the least length that this share of the samples does not exceed."""
        return int(self.lengths[np.searchsorted(self.shares, share - 1e-12)])

    def above(self, length: int) -> float:
        """Return the share of samples above a length."""
        index = np.searchsorted(self.lengths, length, side="right")
        return 1.0 - (float(self.shares[index - 1]) if index else 0.0)

    def draw(self, axes: Axes, scheme: str) -> None:
        """Draw it as that of a scheme."""
        x, y, look = [self.lengths[0], *self.lengths], [0.0, *self.shares], LOOKS[scheme]
        label = NAMES[scheme]
        axes.step(x, y, look.dash, where="post", color=look.colour, label=label)


def distributions(rows: pl.DataFrame, schemes: Iterable[str]) -> dict[str, Distribution]:
    """Return the queue lengths of each scheme over all seeds."""
    found = {scheme: Distribution.of(rows.filter(scheme=scheme)) for scheme in schemes}
    return {scheme: of for scheme, of in found.items() if of is not None}


def lengths(
    schemes: Iterable[str], keys: Mapping[str, Any], column: str = "queue_pkts", **labels: Any
) -> Panel:
    """Return a panel of the distribution functions of queue lengths, in rows with these keys."""

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        rows = data.filter(**keys).rename({column: "queue_pkts"})
        for scheme, found in distributions(rows, schemes).items():
            found.draw(axes, scheme)

    return Panel(paint, x="queue length (packets)", y="CDF", **labels)


CASES = (1, 4)
"""Multipath flows."""
INFLATED = 20


def median(rows: pl.DataFrame) -> int | None:
    """Return the median queue length of some rows, packets."""
    of = Distribution.of(rows)
    return None if of is None else of.quantile(0.5)


def _inflated(rows: pl.DataFrame) -> float | None:
    of = Distribution.of(rows)
    return None if of is None else of.above(INFLATED)


@dataclass(frozen=True)
class Fig10(Mixes):
    """4 DCTCP flows with one multipath flow, and with four."""

    schemes: tuple[str, ...] = ("dcm", "xmp", "amp")
    kinds: ClassVar = {"lengths": lengths}
    terms: ClassVar = {"queue": median, "inflated": _inflated}

    def mixes(self) -> list[Mix]:
        """Return both cases with every scheme."""
        return [
            Mix(scheme, multipath=count, dctcp=4, record=RECORD)
            for count in CASES
            for scheme in self.schemes
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the histogram of the bottleneck's queue length."""
        return histogram(result)
