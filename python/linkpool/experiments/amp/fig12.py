"""AMP, Figure 12: jobs of many answers at once beside long flows, in a fat-tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import fattree
from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import Ledger, about, below, weakest
from linkpool.study.experiment import Experiment, each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import dumps
from linkpool.units import show_seconds

SUBFLOWS = (4, 6, 8)
PAPER_XMP = {4: 1.2e-3, 6: 1.5e-3, 8: 1.8e-3}
LONG_B = 192e6

READINGS = ("text", "implementation")
"""What the readings say of jobs and of long flows. The text: the next job at once, Pareto without a
cut, any destination. Its authors' simulation: a gap between jobs, sizes of 64 to 768 MB, at most
four long flows into a host."""


@dataclass(frozen=True)
class Fig12(Published):
    """Job completion times by the scheme of the long flows and its subflows."""

    id: str = "A-fig12"
    long_flows: int = 1000
    readings: tuple[str, ...] = READINGS
    columns: ClassVar = declared.columns("amp", "A-fig12")

    def extent(self) -> str:
        """Say until when each run lasts."""
        return f"each run until {self.long_flows} long flows have ended"

    def shortened(self, scale: float) -> Experiment:
        """Return it with fewer long flows."""
        return replace(self, long_flows=max(round(self.long_flows * scale), 1))

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return a run for each reading, scheme and number of subflows."""
        return [
            self._point(reading, scheme, subflows, seed)
            for reading in self.readings
            for scheme in fattree.SCHEMES
            for subflows in (SUBFLOWS if scheme in fattree.MULTIPATH else (1,))
            for seed in seeds
        ]

    def _point(self, reading: str, scheme: str, subflows: int, seed: int) -> Point:
        name = f"jobs beside long {NAMES[scheme]} flows of {subflows} subflows, by the {reading}"
        more = scenario("amp", "A-fig12", long_flows=self.long_flows)
        written = fattree.fat_tree(name, "60s", scheme, subflows)
        written |= {"until": more["until"], "workload": more["workload"][reading]}
        keys: Keys = {"reading": reading, "scheme": scheme, "subflows": subflows}
        # Half of it if all links were full: of order and progress only.
        seconds = self.long_flows * LONG_B * 8 / (fattree.HOSTS * fattree.LINK_BPS)
        work = self.long_flows * LONG_B / fattree.PACKET_B
        return Point(keys, dumps(written), seed, seconds, work)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the completion time of each job."""
        return result.jobs.select("jct_s")

    def frame(self) -> Frame:
        """Return the distributions as the paper's three panels do."""

        def panel(subflows: int) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                for scheme in fattree.SCHEMES:
                    style.distribution(axes, scheme, 1e3 * _jct(data, scheme, subflows))
                axes.set_xlim(0.0, 3.0)
                axes.set_ylim(0.0, 1.0)
                axes.set_xlabel("job completion time (ms)")

            return Panel(paint, f"{subflows} subflows, {{}}", y="share of jobs")

        return Frame([panel(subflows) for subflows in SUBFLOWS], self.title, sharex=True)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the readings."""
        return each("reading", self.readings)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim."""
        _judge(ledger, data)


def _judge(ledger: Ledger, data: pl.DataFrame) -> None:
    def p90(scheme: str, subflows: int) -> float | None:
        return _sample(data, scheme, subflows).p90

    for subflows, value in PAPER_XMP.items():
        ledger.judge(
            "xmp-{subflows}",
            _show(data, "xmp", subflows),
            about(p90("xmp", subflows), value),
            subflows=subflows,
            value=show_seconds(value),
        )
    ledger.judge("amp-8", _show(data, "amp", 8), p90("amp", 8))
    baseline = p90("dctcp", 1)
    ratios = [
        amp / baseline
        for subflows in SUBFLOWS
        if baseline is not None and (amp := p90("amp", subflows)) is not None
    ]
    of_dctcp = _p90_by_seed(data, "dctcp", 1)
    ledger.judge(
        "amp-baseline",
        f"90th percentile over DCTCP's: {', '.join(f'{r:.3g}' for r in ratios) or 'no data'}; "
        f"DCTCP {_show(data, 'dctcp', 1)}",
        weakest(*(below(_p90_by_seed(data, "amp", s), of_dctcp) for s in SUBFLOWS)),
    )
    growth = {
        scheme: many / few
        for scheme in ("dcm", "xmp")
        if (few := p90(scheme, 4)) is not None and (many := p90(scheme, 8)) is not None
    }
    ledger.judge(
        "growth",
        "90th percentile with 8 subflows over that with 4: "
        + (", ".join(f"{NAMES[s]} {r:.3g}" for s, r in growth.items()) or "no data"),
        [r >= 1.25 for r in growth.values()],
    )
    ratio = _over(p90("amp", 8), p90("xmp", 8))
    less = None if ratio is None else 1.0 - ratio
    ledger.judge("improvement", "no data" if less is None else f"{less:.0%} less", less)


def _over(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def _rows(data: pl.DataFrame, scheme: str, subflows: int) -> pl.DataFrame:
    count = subflows if scheme in fattree.MULTIPATH else 1
    return data.filter((pl.col("scheme") == scheme) & (pl.col("subflows") == count)).drop_nulls(
        "jct_s"
    )


def _jct(data: pl.DataFrame, scheme: str, subflows: int) -> "np.ndarray":
    return _rows(data, scheme, subflows)["jct_s"].to_numpy()


def _p90_by_seed(data: pl.DataFrame, scheme: str, subflows: int) -> dict[int, float]:
    p90 = pl.col("jct_s").quantile(0.9, "linear")
    rows = _rows(data, scheme, subflows)
    return dict(rows.group_by("seed", maintain_order=True).agg(p90).iter_rows())


def _sample(data: pl.DataFrame, scheme: str, subflows: int) -> Sample:
    return describe(_jct(data, scheme, subflows))


def _show(data: pl.DataFrame, scheme: str, subflows: int) -> str:
    sample = _sample(data, scheme, subflows)
    return f"{show_seconds(sample.p90)} ({sample.count:,} jobs)"


EXPERIMENT = Fig12()
