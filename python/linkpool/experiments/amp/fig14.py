"""AMP, Figure 14: a data-mining workload, its short flows by DCTCP, in a fat-tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import fattree
from linkpool.experiments.amp.setting import SUBFLOWS, seconds
from linkpool.experiments.declared import Published
from linkpool.result import Result
from linkpool.stats import describe
from linkpool.study import style
from linkpool.study.claims import Ledger, about
from linkpool.study.experiment import Experiment, each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps
from linkpool.units import show_seconds

INTERARRIVAL_S = 780e-6
LIMIT_B = 100_000.0
"""A smaller flow is short."""

DATA_MINING = (
    (1460.0, 0.0),
    (1460.0, 0.5),
    (2920.0, 0.6),
    (4380.0, 0.7),
    (10220.0, 0.8),
    (389820.0, 0.9),
    (3076220.0, 0.95),
    (97333820.0, 0.99),
    (973333820.0, 1.0),
)
"""The table of pFabric's simulations, `datamining_mqecn`; 7.5 MB in the mean."""

PAPER = {
    "p90": {"amp": 0.18e-3, "xmp": 0.27e-3, "dcm": 0.28e-3},
    "p99": {"amp": 0.78e-3, "xmp": 1.35e-3, "dcm": 1.41e-3},
}


class Reading(NamedTuple):
    """How often flows arrive in the whole network, and for how long."""

    flows_per_second: float
    duration_s: float


READINGS = {
    "server": Reading(fattree.HOSTS / INTERARRIVAL_S, 0.1),
    "network": Reading(1 / INTERARRIVAL_S, 2.0),
}
"""780 us between two flows of a server, as the text says, offer 7.7 times what the servers' links
carry; between two flows of the network they offer 6%."""

DRAIN = "100ms"


@dataclass(frozen=True)
class Fig14(Published):
    """FCT of short DCTCP flows by the scheme of the long ones."""

    id: str = "A-fig14"
    scale: float = 1.0
    readings: tuple[str, ...] = tuple(READINGS)
    columns: ClassVar = declared.columns("amp", "A-fig14")

    def extent(self) -> str:
        """Say how long flows arrive."""
        times = [f"{READINGS[r].duration_s * self.scale:g} s" for r in self.readings]
        return f"arrivals for {' and '.join(times)}"

    def shortened(self, scale: float) -> Experiment:
        """Return it with arrivals for a shorter time."""
        return replace(self, scale=self.scale * scale)

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return a run for each reading and scheme."""
        return [
            self._point(reading, scheme, seed)
            for reading in self.readings
            for scheme in fattree.SCHEMES
            for seed in seeds
        ]

    def _point(self, reading: str, scheme: str, seed: int) -> Point:
        rate, duration = READINGS[reading]
        duration *= self.scale
        name = f"data mining, {NAMES[scheme]} for long flows, 780 us by {reading}"
        scenario = fattree.fat_tree(name, seconds(duration), scheme, SUBFLOWS)
        scenario["drain"] = DRAIN
        below, small, large = split(LIMIT_B)
        scenario["workload"] = {
            "poisson": [
                _arrivals(fattree.SHORT, rate * below, small),
                _arrivals(fattree.LONG, rate * (1 - below), large),
            ]
        }
        keys: Keys = {"reading": reading, "scheme": scheme}
        offered = rate * 7.5e6 * 8 / (fattree.HOSTS * fattree.LINK_BPS)
        busy = min(offered, 1.0) * duration
        work = fattree.HOSTS * busy * fattree.LINK_BPS / 8 / fattree.PACKET_B
        return Point(keys, dumps(scenario), seed, duration, work)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the columns of each flow that are drawn and judged."""
        return result.flows.select("label", "fct_established_s", "goodput_bps")

    def frame(self) -> Frame:
        """Return the distribution of short flows' FCT."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme in fattree.SCHEMES:
                style.distribution(axes, scheme, 1e3 * _fct(data, scheme))
            style.plain_log_x(axes)
            axes.set_ylim(0.0, 1.0)

        title = "780 us between the flows of a {}"
        panel = Panel(paint, title, "FCT of short flows (ms)", "share of flows")
        return Frame([panel], self.title, columns=len(self.readings))

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the readings."""
        return each("reading", self.readings)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim."""
        _judge(ledger, data)


def split(limit: float) -> tuple[float, list[Value], list[Value]]:
    """Split the table at a size: the share below it, and the tables of both parts.

    A Poisson process of which each arrival goes to one of two kinds by chance is two of them.
    """
    above = next(i for i, (size, _) in enumerate(DATA_MINING) if size > limit)
    (size0, p0), (size1, p1) = DATA_MINING[above - 1], DATA_MINING[above]
    below = p0 + (p1 - p0) * (limit - size0) / (size1 - size0)
    small = [(size, p / below) for size, p in DATA_MINING[:above]] + [(limit, 1.0)]
    large = [(limit, 0.0)] + [(size, (p - below) / (1 - below)) for size, p in DATA_MINING[above:]]
    return below, [[s, p] for s, p in small], [[s, p] for s, p in large]


def _arrivals(label: str, rate: float, table: list[Value]) -> dict[str, Value]:
    size: dict[str, Value] = {
        "cdf": table,
        "interpolation": "linear",
        "name": f"datamining_mqecn, {label}",
    }
    rates: dict[str, Value] = {"flows_per_second": rate, "allow_overload": True}
    return {"transport": label, "label": label, **rates, "size": size}


def _judge(ledger: Ledger, data: pl.DataFrame) -> None:
    for percentile, paper in PAPER.items():
        for scheme, value in paper.items():
            sample = describe(_fct(data, scheme))
            count = f"{sample.count:,} flows{_unfinished(data, scheme)}"
            found = sample.p90 if percentile == "p90" else sample.p99
            ledger.judge(
                "{percentile}-{scheme}",
                f"{show_seconds(found)} ({count})",
                about(found, value),
                percentile=percentile,
                scheme=scheme,
                value=percentile[1:],
                shown=show_seconds(value),
                said=show_seconds(value),
            )
    means = {s: m for s in fattree.SCHEMES if (m := _goodput(data, s)) is not None}
    shown = ", ".join(f"{NAMES[s]} {m / 1e9:.3g}" for s, m in means.items()) or "no data"
    ledger.judge(
        "goodput",
        f"median of long flows, Gbps: {shown}",
        max(means.values(), default=None),
        min(means.values(), default=None),
    )


def _rows(data: pl.DataFrame, scheme: str, label: str) -> pl.DataFrame:
    return data.filter((pl.col("scheme") == scheme) & (pl.col("label") == label))


def _fct(data: pl.DataFrame, scheme: str) -> "np.ndarray":
    rows = _rows(data, scheme, fattree.SHORT)
    return rows["fct_established_s"].drop_nulls().to_numpy()


def _unfinished(data: pl.DataFrame, scheme: str) -> str:
    left = _rows(data, scheme, fattree.SHORT)["fct_established_s"].null_count()
    return f", {left} more unfinished" if left else ""


def _goodput(data: pl.DataFrame, scheme: str) -> float | None:
    value = _rows(data, scheme, fattree.LONG)["goodput_bps"].median()
    return float(value) if isinstance(value, float) else None


EXPERIMENT = Fig14()
