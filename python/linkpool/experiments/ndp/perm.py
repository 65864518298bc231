"""NDP paper: a permutation, where every host sends to another and all links are needed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Published
from linkpool.experiments.ndp import setting
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Claim, Judged, grade, no_data, under
from linkpool.study.experiment import Experiment
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import dumps

WARM_UP_S = 0.005


@dataclass(frozen=True)
class Permutation(Published):
    """A permutation in fat-trees, for a while; goodput of each flow after the first 5 ms."""

    id: str = "N-perm"
    ks: tuple[int, ...] = (8, 12)
    schemes: tuple[str, ...] = ("ndp", "mptcp", "dctcp")
    duration_s: float = 0.02
    columns: ClassVar = declared.columns("ndp", "N-perm")

    def extent(self) -> str:
        """Say how long it runs."""
        return f"{1e3 * self.duration_s:g} ms simulated, {self.seeds} seeds"

    def shortened(self, scale: float) -> Experiment:
        """Simulate for a shorter time."""
        return replace(self, duration_s=max(round(self.duration_s * scale, 3), WARM_UP_S + 0.001))

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every fat-tree, scheme and seed."""
        return [self._point(k, s, seed) for k in self.ks for s in self.schemes for seed in seeds]

    def _point(self, k: int, scheme: str, seed: int) -> Point:
        scenario = setting.scenario(
            f"permutation, k = {k}, {scheme}",
            scheme,
            k,
            duration=f"{round(self.duration_s * 1e6)}us",
            measure={"warm_up": f"{round(WARM_UP_S * 1e6)}us"},
            workload={"permutation": [{"transport": scheme}]},
        )
        packets = k**3 / 4 * self.duration_s * setting.RATE_BPS / 72_000
        return Point({"k": k, "scheme": scheme}, dumps(scenario), seed, self.duration_s, packets)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        goodput = (8 * pl.col("measured_bytes") / pl.col("measured_s")).alias("goodput_bps")
        return result.flows.sort("flow").select("flow", goodput)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the goodput of flows in their order, as the paper does."""
        figure, axes = style.panels(1, len(self.ks), "goodput of the flows of a permutation")
        for at, k in zip(axes[0], self.ks, strict=True):
            for scheme in self.schemes:
                rates = _rates(data, k, scheme)
                ranks = [(i + 0.5) / len(rates) for i in range(len(rates))]
                colour = LOOKS[scheme].colour
                at.plot(ranks, [r / 1e9 for r in sorted(rates)], color=colour, label=NAMES[scheme])
            at.set_title(f"k = {k}, {k**3 // 4} hosts")
            at.set_xlabel("rank of the flow")
            style.from_zero(at)
        axes[0, 0].set_ylabel("goodput (Gbps)")
        style.legend(figure, axes[0, 0])
        return figure

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge NDP's goodput, in the mean and of the slowest flow."""
        claims = []
        for k in self.ks:
            ledger = self.ledger(f"k={k}")
            rates = [rate / setting.RATE_BPS for rate in _rates(data, k, "ndp")]
            mean = sum(rates) / len(rates) if rates else None
            least = min(rates, default=None)
            ledger.judge("mean", _percent(mean), _of_the_line(mean, 0.92))
            ledger.judge("least", _percent(least), _every(rates, 0.85))
            claims += ledger.claims
        return claims


def _rates(data: pl.DataFrame, k: int, scheme: str) -> list[float]:
    rows = data.filter((pl.col("k") == k) & (pl.col("scheme") == scheme))
    return rows["goodput_bps"].to_list()


def _percent(value: float | None) -> str:
    return "no flow" if value is None else f"{100 * value:.1f}%"


def _of_the_line(share: float | None, bound: float) -> Judged:
    """Judge "over a share of the line rate" by what is missing: half the share is far from it."""
    note = f"at least {bound:.0%}; partly: {1 - 2 * (1 - bound):.0%}, which leaves twice as much"
    judged = under(None if share is None else 1 - share, 1 - bound)
    return no_data(note) if share is None else Judged(judged.verdict, note)


def _every(rates: Sequence[float], bound: float) -> Judged:
    note = "all flows above it; partly: 99% of them"
    if not rates:
        return no_data(note)
    hits = sum(rate > bound for rate in rates)
    return grade(hits == len(rates), hits >= 0.99 * len(rates), note)


EXPERIMENT = Permutation()
