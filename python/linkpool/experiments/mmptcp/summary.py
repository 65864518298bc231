"""A run of the common scenario as one row: counts, means and deviations.

For the sweeps, which have many runs of many flows, and whose claims are about means and deviations.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.formulas import Quantity
from linkpool.experiments.mmptcp import mixed
from linkpool.experiments.mmptcp.mixed import CORE, LONG, SHORT, Mixed
from linkpool.result import Result
from linkpool.stats import Sample
from linkpool.study.point import Point

COLUMNS = declared.columns("mmptcp", "summary")


def summarise(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for the flows and ports of a run, given as `mixed.measure` has them."""
    short, long, ports = (rows.filter(pl.col("kind") == kind) for kind in (SHORT, LONG, CORE))
    established = short.filter("established")
    fct, goodput = established["fct_established_s"], long["goodput_bps"]
    busy = ports.filter(pl.col("offered") > 0)
    values = {
        "short": established.height,
        "not_established": short.height - established.height,
        "with_timeout": established.filter(pl.col("timeouts") > 0).height,
        "finished": fct.count(),
        "fct_mean_s": fct.mean(),
        "fct_sd_s": fct.std(),
        "long": goodput.count(),
        "goodput_mean_bps": goodput.mean(),
        "goodput_sd_bps": goodput.std(),
        "ports": ports["utilisation"].count(),
        "utilisation": ports["utilisation"].mean(),
        "busy_ports": busy.height,
        "loss": (busy["drops"] / busy["offered"]).mean(),
    }
    return pl.DataFrame([values], schema=declared.nothing(COLUMNS).schema, orient="row")


@dataclass(frozen=True)
class Cell:
    """The results of runs with the same settings, all seeds together: a row for each run."""

    rows: pl.DataFrame

    @property
    def fct(self) -> Sample:
        """Describe the completion times of short flows that finished, in ms."""
        return _pooled(self.rows, "finished", "fct_mean_s", "fct_sd_s", 1e3)

    @property
    def goodput(self) -> Sample:
        """Describe the goodputs of long flows, in Mbit/s."""
        return _pooled(self.rows, "long", "goodput_mean_bps", "goodput_sd_bps", 1e-6)

    @property
    def utilisation(self) -> float | None:
        """Return the mean utilisation of the core switches' ports, by second, in per cent."""
        return _weighted(self.rows, "ports", "utilisation", 100)

    @property
    def loss(self) -> float | None:
        """Return the mean drop rate of the core switches' ports, by second, in per cent."""
        return _weighted(self.rows, "busy_ports", "loss", 100)

    def __str__(self) -> str:
        """Write the mean completion time and its deviation, and the number of flows left out."""
        left_out = int(self.rows["short"].sum()) - int(self.rows["finished"].sum())
        return mixed.written(self.fct, left_out, int(self.rows["not_established"].sum()))


QUANTITIES: Mapping[str, Quantity] = mixed.quantities(Cell)


@dataclass(frozen=True)
class Summarised(Mixed, ABC):
    """An experiment of runs of the common scenario of which a row each is kept."""

    terms: ClassVar[Mapping[str, Quantity]] = QUANTITIES

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row."""
        return summarise(mixed.measure(result))


def _weighted(rows: pl.DataFrame, count: str, mean: str, unit: float) -> float | None:
    known = rows.filter(pl.col(count) > 0)
    total = int(known[count].sum())
    return unit * float((known[count] * known[mean]).sum()) / total if total else None


def _pooled(rows: pl.DataFrame, count: str, mean: str, sd: str, unit: float) -> Sample:
    """Return the mean and the deviation of all values of all runs, from each run's."""
    n = int(rows[count].sum())
    of_all = _weighted(rows, count, mean, unit)
    if of_all is None:
        return Sample(0)
    known: Sequence[tuple[int, float, float | None]] = list(
        rows.filter(pl.col(count) > 0).select(count, mean, sd).iter_rows()
    )
    # The sum of squares within runs, and between runs and the mean of all.
    squares = sum(
        (size - 1) * (unit * (deviation or 0.0)) ** 2 + size * (unit * middle - of_all) ** 2
        for size, middle, deviation in known
    )
    return Sample(n, mean=of_all, sd=sqrt(squares / (n - 1)) if n > 1 else None)
