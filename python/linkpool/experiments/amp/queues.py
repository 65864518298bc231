"""The bottleneck's queue length over time, as a histogram."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.result import Result
from linkpool.study.toml import Value

LINK = "W->R"
RECORD: dict[str, Value] = {"queue": {"links": [LINK], "every": "10us", "from": "10ms"}}
"""Every 10 us, without the first 10 ms, in which the flows start."""
SPARSE: dict[str, Value] = {"queue": {"links": [LINK], "every": "100us", "from": "10ms"}}
"""The same every 100 us, which is enough for a median."""


def histogram(result: Result) -> pl.DataFrame:
    """Return how many samples found each queue length, in packets."""
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
