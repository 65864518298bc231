"""XMP, Figure 4: traffic shifting between two paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.xmp import cuts, rates
from linkpool.result import Result
from linkpool.study.claims import Judged, Ledger, grade, together
from linkpool.study.frame import Frame
from linkpool.study.point import Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import dumps
from linkpool.units import show_rate

BETAS = (4, 6)
END_S = 40.0
EVERY_S = 0.1
AVERAGE_S = 1.0
SHARE = 0.25
QUIET, FIRST, SECOND = (5.0, 10.0), (15.0, 20.0), (25.0, 30.0)
"""When all is settled without a background flow, with one on the first path, on the second."""
SHIFT_S = 10.0
SHIFTING = "Flow 2"
RTT_S = 1.8e-3
SHIFTED = (11.0, 15.0)
"""When the shift at 10 s has ended or stalled."""
SOURCES = ("X1", "X2")
"""Of the other flows on the first bottleneck, and on the second."""


@dataclass(frozen=True)
class Fig4(rates.Rates):
    """A flow with a subflow on each of two bottlenecks that others disturb in turn."""

    id: str = "X-fig4"
    seeds: int = 10
    columns: ClassVar = declared.columns("xmp", "X-fig4")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both betas and every seed."""
        return [_point(beta, seed) for beta in BETAS for seed in seeds]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the rates, and whether the flows of a bottleneck are cut together."""
        interval = (pl.col("time_s") / EVERY_S).round().cast(pl.Int64).alias("interval")
        table = super().measure(point, result).with_columns(interval)
        both = ("subflow", "interval")
        return table.join(_cuts_together(result), on=both, how="left").drop("interval")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the compensation between the subflows, and how long a shift takes."""
        four = data.filter(pl.col("beta") == BETAS[0])
        away, back = _change(four, QUIET, FIRST), _change(four, FIRST, SECOND)
        ledger.judge(
            "compensation",
            f"on the first path {away[0]} times, on the second {away[1]} times, when the first is "
            f"disturbed; then {back[0]} and {back[1]} times, when the second is",
            together(
                _opposite(away[0].value, away[1].value), _opposite(back[1].value, back[0].value)
            ),
        )
        times = {beta: shift_times(data.filter(pl.col("beta") == beta)) for beta in BETAS}
        slow, fast = times[BETAS[1]].value, times[BETAS[0]].value
        ledger.judge(
            "slower",
            f"{times[BETAS[0]]} s with beta = 4, {times[BETAS[1]]} s with beta = 6",
            grade(
                slow is not None and fast is not None and slow >= 1.25 * fast,
                slow is not None and fast is not None and slow > fast,
                "from 10 s until both subflows' rates, averaged over 1 s, stay for 1 s within a "
                "quarter of the change of their later mean: at least 1.25 times as long; partly: "
                "longer",
            ),
        )
        _stalls(ledger, data)

    def frame(self) -> Frame:
        """Return the rates of Flow 2's subflows over time, a panel per beta."""
        panels = [
            rates.panel(
                (SHIFTING,),
                lambda rows: f"beta = {rows['beta'][0]}: {shift_times(rows)} s to shift",
                beta=beta,
            )
            for beta in BETAS
        ]
        return Frame(panels, self.title, (4.2, 2.8))


def _stalls(ledger: Ledger, data: pl.DataFrame) -> None:
    rate, share = (
        {
            beta: rates.mean(data.filter(pl.col("beta") == beta), SHIFTING, 0, SHIFTED, column)
            for beta in BETAS
        }
        for column in ("goodput_bps", "cuts_together")
    )
    ratio = rate[6] / rate[4] if rate[4] and rate[6] else 0.0
    ledger.judge(
        "stalls",
        "from 11 s to 15 s the disturbed subflow has "
        + "; ".join(
            f"with beta = {beta} {show_rate(rate[beta])}, and {share[beta] or 0.0:.0%} of its cuts "
            "are of all flows"
            for beta in BETAS
        ),
        grade(
            ratio >= 1.25 and (share[6] or 0.0) >= 0.9,
            ratio > 1.0 and (share[6] or 0.0) >= 0.5,
            "beta = 6 leaves 1.25 times the rate of beta = 4, and 90% of the cuts are within two "
            "RTTs of a cut of each other flow; partly: more, and 50%",
        ),
    )


def _cuts_together(result: Result) -> pl.DataFrame:
    """Return, for each subflow of Flow 2 and interval, the share of its cuts that are of all."""
    series = cuts.times(result.cwnd)
    flows = result.flows.select("flow", "label", "src", "start_s", "active_s").rows()
    (shifting,) = (flow for flow, label, *_ in flows if label == SHIFTING)
    rows = []
    for subflow, source in enumerate(SOURCES):
        mine = series[shifting, subflow]
        all_of = np.ones(mine.size, dtype=bool)
        for flow, _, src, start, active in flows:
            if src == source:
                idle = (mine < start) | (mine > start + active)
                all_of &= idle | cuts.near(mine, series[flow, 0], 2 * RTT_S)
        rows += [(subflow, time, hit) for time, hit in zip(mine, all_of, strict=True)]
    found = pl.DataFrame(
        rows, {"subflow": pl.UInt32, "at": pl.Float64, "hit": pl.Boolean}, orient="row"
    )
    interval = (pl.col("at") / EVERY_S).ceil().cast(pl.Int64).alias("interval")
    return found.group_by("subflow", interval).agg(pl.col("hit").mean().alias("cuts_together"))


def _change(
    rows: pl.DataFrame, before: tuple[float, float], after: tuple[float, float]
) -> list[Spread]:
    """Return the factor by which the rate of each subflow changes, by seed."""
    spreads = []
    for subflow in (0, 1):
        parts = rows.partition_by("seed") if rows.height else []
        pairs = [
            (
                rates.mean(part, SHIFTING, subflow, before),
                rates.mean(part, SHIFTING, subflow, after),
            )
            for part in parts
        ]
        spreads.append(Spread.of([b / a for a, b in pairs if a and b is not None]))
    return spreads


def _opposite(disturbed: float | None, other: float | None) -> Judged:
    note = "the disturbed one falls by a quarter, the other rises by a quarter; partly: a tenth"
    if disturbed is None or other is None:
        return grade(False, False, f"no data; {note}")
    return grade(disturbed <= 0.75 and other >= 1.25, disturbed <= 0.9 and other >= 1.1, note)


def shift_times(rows: pl.DataFrame) -> Spread:
    """Return how long the shift at 10 s took, s: median, least and largest over the seeds."""
    parts = rows.partition_by("seed") if rows.height else []
    found = [_shift_time(part) for part in parts]
    times = [t for t in found if t is not None]
    if not times or len(times) < len(found):
        return Spread(None, None, None)
    return Spread(float(np.median(times)), min(times), max(times))


def _shift_time(rows: pl.DataFrame) -> float | None:
    times = []
    for subflow in (0, 1):
        part = rows.filter(pl.col("subflow") == subflow)
        before = rates.mean(rows, SHIFTING, subflow, QUIET)
        after = rates.mean(rows, SHIFTING, subflow, FIRST)
        if before is None or after is None:
            return None
        time, rate = part["time_s"].to_numpy(), part["goodput_bps"].to_numpy()
        width = round(AVERAGE_S / EVERY_S)
        smooth = np.convolve(rate, np.ones(width) / width, mode="same")
        settled = np.abs(smooth - after) <= SHARE * abs(after - before)
        hold = np.convolve(settled, np.ones(width), mode="full")[width - 1 :]
        found = np.flatnonzero((time > SHIFT_S) & (time < FIRST[1]) & (hold > width - 0.5))
        if not found.size:
            return None
        times.append(float(time[found[0]]) - (SHIFT_S))
    return max(times)


def _point(beta: int, seed: int) -> Point:
    one, two = rates.transport(beta, 1), rates.transport(beta, 2, paths="disjoint")
    text = dumps(scenario("xmp", "X-fig4", beta=beta, one=one, two=two))
    return Point({"beta": beta}, text, seed, END_S, 2 * END_S * 300e6 / rates.PACKET_BITS)


EXPERIMENT = Fig4()
