"""NDP paper: a sender of four flows, one of whose receivers has a second sender."""

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
from linkpool.study.claims import Ledger, about, weakest
from linkpool.study.experiment import Experiment
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

WARM_UP_S = 0.002
RECEIVERS = ("h4", "h8", "h10", "h12")
SENDER, OTHER = "h0", "h6"


@dataclass(frozen=True)
class InOut(Published):
    """One host sends to four, which share its link; another sends to the first of the four."""

    id: str = "N-inout"
    schemes: tuple[str, ...] = ("ndp", "mptcp", "dctcp")
    duration_s: float = 0.02
    columns: ClassVar = declared.columns("ndp", "N-inout")

    def extent(self) -> str:
        """Say how long it runs."""
        return f"{1e3 * self.duration_s:g} ms simulated, {self.seeds} seeds"

    def shortened(self, scale: float) -> Experiment:
        """Simulate for a shorter time."""
        return replace(self, duration_s=max(round(self.duration_s * scale, 3), WARM_UP_S + 0.001))

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme and seed."""
        return [self._point(scheme, seed) for scheme in self.schemes for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        pairs = [*((SENDER, to) for to in RECEIVERS), (OTHER, RECEIVERS[0])]
        flows: list[Value] = [{"transport": scheme, "from": a, "to": b} for a, b in pairs]
        scenario = setting.scenario(
            f"one sender to four receivers, {scheme}",
            scheme,
            4,
            duration=f"{round(self.duration_s * 1e6)}us",
            measure={"warm_up": f"{round(WARM_UP_S * 1e6)}us"},
            workload={"flow": flows},
        )
        packets = 2 * self.duration_s * setting.RATE_BPS / 72_000
        return Point({"scheme": scheme}, dumps(scenario), seed, self.duration_s, packets)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        goodput = (8 * pl.col("measured_bytes") / pl.col("measured_s")).alias("goodput_bps")
        return result.flows.sort("flow").select("flow", goodput)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the goodput of each flow."""
        figure, axes = style.panels(1, 1, "one sender to four receivers, and another", (5, 3.2))
        names = [f"to {to}" for to in RECEIVERS] + [f"{OTHER} to {RECEIVERS[0]}"]
        means = {s: [_gbps(data, s, f) for f in range(5)] for s in self.schemes}
        zeros: dict[str, list[float | None]] = {s: [0.0] * 5 for s in self.schemes}
        style.bars(axes[0, 0], names, means, zeros)
        axes[0, 0].set_ylabel("goodput (Gbps)")
        style.legend(figure, axes[0, 0])
        return figure

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge NDP's shares: a quarter of the sender's link each, and the rest for the other."""
        shares = [_gbps(data, "ndp", flow) for flow in range(5)]
        quarter = [share for share in shares[:4] if share is not None]
        ledger.judge(
            "quarters",
            "no flow" if not quarter else f"{min(quarter):.2f} to {max(quarter):.2f} Gbps",
            weakest(*(about(end(quarter, default=None), 2.5, 0.1) for end in (min, max))),
        )
        ledger.judge("rest", "no flow" if shares[4] is None else f"{shares[4]:.2f} Gbps", shares[4])


def _gbps(data: pl.DataFrame, scheme: str, flow: int) -> float | None:
    rows = data.filter((pl.col("scheme") == scheme) & (pl.col("flow") == flow))
    mean = rows["goodput_bps"].mean()
    return None if mean is None else float(mean) / 1e9  # type: ignore[arg-type]


EXPERIMENT = InOut()
