"""AMP, Figure 7: how many unmarked rounds to wait before the subflows are released."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import longflows, queues, setting
from linkpool.experiments.amp.longflows import Mix
from linkpool.experiments.amp.queues import Distribution
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, cases
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.units import show_number

STABLE = 6
"""The tau from which the paper finds one episode only."""
_SHADES = ("#9ad9c5", "#009e73", "#00513b")
_MARKERS = "os^"


@dataclass(frozen=True)
class Fig7(setting.Delayed):
    """3, 4 and 5 AMP flows alone on the bottleneck, tau from 1 to 12."""

    id: str = "A-fig7"
    flows: tuple[int, ...] = (3, 4, 5)
    taus: tuple[int, ...] = tuple(range(1, 13))
    delays: tuple[str, ...] = setting.DELAYS
    duration_s: float = longflows.DURATION_S
    columns: ClassVar = declared.columns("amp", "A-fig7")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return every tau with every number of flows, delay and seed."""
        found = []
        for delay in self.delays:
            for n in self.flows:
                mix = Mix("amp", multipath=n, dctcp=0, delay=delay, record=queues.SPARSE)
                for tau in self.taus:
                    one = replace(mix, keys={"tau": tau}, duration_s=self.duration_s)
                    keys: Keys = {"delay": delay, "flows": n, "tau": tau}
                    found += [replace(one.point(seed), keys=keys) for seed in seeds]
        return found

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        lengths = Distribution.of(queues.histogram(result))
        median = None if lengths is None else lengths.quantile(0.5)
        return result.flows.select(
            pl.col("suppressions", "releases").cast(pl.UInt32),
            pl.lit(median, dtype=pl.Int32).alias("queue_median"),
        )

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the episodes of a flow, and the median queue, against tau."""
        title = f"{self.id}: {self.title}"
        figure, axes = style.panels(2, len(self.delays), title, (3.8, 2.4), sharey="row")
        for column, delay in enumerate(self.delays):
            above, below = axes[0, column], axes[1, column]
            for n, shade, marker in zip(self.flows, _SHADES, _MARKERS, strict=False):
                at = _Cells(data.filter(delay=delay), n)
                episodes = [at.episodes(tau) for tau in self.taus]
                above.plot(
                    self.taus,
                    [e.value for e in episodes],
                    color=shade,
                    marker=marker,
                    ms=4,
                    label=f"{n} AMP flows",
                )
                below.plot(
                    self.taus, [at.queue(t) for t in self.taus], color=shade, marker=marker, ms=4
                )
            above.axhline(1.0, color="black", lw=0.8, ls=":")
            above.set_yscale("symlog", linthresh=1.0)
            above.yaxis.set_major_formatter(style.PLAIN)
            above.set_title(f"{delay} links")
            below.set_xlabel("τ (rounds)")
        style.from_zero(axes[0, 0])
        style.from_zero(axes[1, 0])
        axes[0, 0].set_ylabel("suppressions of a flow in 1 s")
        axes[1, 0].set_ylabel("median queue (packets)")
        style.legend(figure, axes[0, 0])
        return figure

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the episodes below tau = 6 and from tau = 6 on."""
        cells = {n: _Cells(data, n) for n in self.flows}
        low = [tau for tau in self.taus if tau < STABLE]
        high = [tau for tau in self.taus if tau >= STABLE]
        many = _means(cells, low)
        ledger.judge(
            "unstable",
            f"mean episodes of a flow: {_range(many)}; more than one in "
            f"{cases([m > 1.0 for m in many])}",
            [m > 1.0 for m in many],
        )
        varied = []
        for tau in low:
            means = _means(cells, [tau])
            if means:
                varied.append(max(means) >= 1.5 * max(min(means), 1e-9))
        ledger.judge("varies", f"by half or more in {cases(varied)}", varied)
        once = _means(cells, high)
        single = [0.9 <= m <= 1.1 for m in once]
        ledger.judge(
            "stable", f"mean episodes of a flow: {_range(once)}; one in {cases(single)}", single
        )
        lengths = [q for n in cells for t in high if (q := cells[n].queue(t)) is not None]
        middle = sorted(lengths)[len(lengths) // 2] if lengths else None
        ledger.judge(
            "queue", f"{_range(lengths)}; judged by {show_number(middle)}, the middle one", middle
        )


class _Cells:
    """The runs of a number of flows, at one delay."""

    def __init__(self, data: pl.DataFrame, flows: int) -> None:
        self._rows = data.filter(pl.col("flows") == flows)

    def episodes(self, tau: int) -> Spread:
        """Return the mean number of suppressions of a flow, by seed."""
        runs = self._rows.filter(pl.col("tau") == tau).group_by("seed", maintain_order=True)
        return Spread.of(runs.agg(pl.col("suppressions").mean())["suppressions"].to_list())

    def queue(self, tau: int) -> float | None:
        """Return the median over the seeds of the median queue, packets."""
        runs = self._rows.filter(pl.col("tau") == tau).unique(["seed", "queue_median"])
        median = runs["queue_median"].drop_nulls().median()
        return float(median) if isinstance(median, (int, float)) else None


def _means(cells: dict[int, _Cells], taus: Sequence[int]) -> list[float]:
    found = [at.episodes(tau).value for at in cells.values() for tau in taus]
    return [mean for mean in found if mean is not None]


def _range(values: Sequence[float]) -> str:
    return f"{show_number(min(values))} to {show_number(max(values))}" if values else "no data"


EXPERIMENT = Fig7()
