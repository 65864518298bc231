"""XMP, Figures 4 and 7: traffic shifting between paths, and rate compensation round a ring."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl

from linkpool.experiments.rows import ratio, spread
from linkpool.experiments.xmp import rates
from linkpool.result import Result
from linkpool.study.claims import Judged, Ledger, grade, together
from linkpool.study.frame import Frame
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.units import show_rate

LEAST_CUT = 0.6
"""A window that falls by more packets from one sample to the next was cut: 1/beta of it, a packet
at least; growth by a packet a round hides less of it."""


def cut_times(cwnd: pl.DataFrame) -> dict[tuple[object, ...], "np.ndarray"]:
    """Return the times of the cuts of each (flow, subflow), s, from the series of windows."""
    found = {}
    for key, rows in cwnd.partition_by("flow", "subflow", as_dict=True).items():
        fell = np.diff(rows["cwnd_pkts"].to_numpy()) < -LEAST_CUT
        found[key] = rows["time_s"].to_numpy()[1:][fell]
    return found


def near(mine: "np.ndarray", other: "np.ndarray", within_s: float) -> "np.ndarray":
    """Say for each time whether the other has one so near; both are in order."""
    after = np.searchsorted(other, mine)
    edges = np.concatenate(([-np.inf], other, [np.inf]))
    gaps = np.minimum(mine - edges[after], edges[after + 1] - mine)
    return np.asarray(gaps <= within_s + 1e-9)


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

    seeds: int = 10
    betas: ClassVar = BETAS
    over: ClassVar = ("betas",)

    def point(self, seed: int, beta: int) -> Point:
        """Return the run with a beta."""
        packets = 2 * END_S * 300e6 / rates.PACKET_BITS
        return self.run("X-fig4", {"beta": beta}, seed, END_S, packets)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the rates, and whether the flows of a bottleneck are cut together."""
        interval = (pl.col("time_s") / EVERY_S).round().cast(pl.Int64).alias("interval")
        table = super().measure(point, result).with_columns(interval)
        both = ("subflow", "interval")
        return table.join(_cuts_together(result), on=both, how="left").drop("interval")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the compensation between the subflows, and how long a shift takes."""
        of = {beta: data.filter(beta=beta) for beta in BETAS}
        away, back = _changes(of[4], QUIET, FIRST), _changes(of[4], FIRST, SECOND)
        first, then = _opposite(away[0], away[1]), _opposite(back[1], back[0])
        shown = f"on the first path {away[0]} times, on the second {away[1]} times, when the first "
        shown += f"is disturbed; then {back[0]} and {back[1]} times, when the second is"
        ledger.judge("compensation", shown, together(first, then))
        times = {beta: shift_times(rows) for beta, rows in of.items()}
        slow, fast = times[6].value, times[4].value
        known = slow is not None and fast is not None
        note = "from 10 s until both subflows' rates, averaged over 1 s, stay for 1 s within a "
        note += "quarter of the change of their later mean: at least 1.25 times as long; partly: "
        longer = grade(
            known and (slow or 0) >= 1.25 * (fast or 0),
            known and (slow or 0) > (fast or 0),
            f"{note}longer",
        )
        ledger.judge("slower", f"{times[4]} s with beta = 4, {times[6]} s with beta = 6", longer)
        rate, share = (
            {beta: rates.mean_rate(rows, SHIFTING, 0, SHIFTED, column) for beta, rows in of.items()}
            for column in ("goodput_bps", "cuts_together")
        )
        more, cut = ratio(rate[6], rate[4]) or 0.0, share[6] or 0.0
        note = (
            "beta = 6 leaves 1.25 times the rate of beta = 4, and 90% of the cuts are within two "
        )
        note += "RTTs of a cut of each other flow; partly: more, and 50%"
        judged = grade(more >= 1.25 and cut >= 0.9, more > 1.0 and cut >= 0.5, note)
        parts = (
            f"with beta = {beta} {show_rate(rate[beta])}, and {share[beta] or 0.0:.0%} of its cuts "
            "are of all flows"
            for beta in BETAS
        )
        shown = f"from 11 s to 15 s the disturbed subflow has {'; '.join(parts)}"
        ledger.judge("stalls", shown, judged)

    def frame(self) -> Frame:
        """Return the rates of Flow 2's subflows over time, a panel per beta."""
        panels = [
            rates.panel(
                (SHIFTING,),
                lambda rows: f"beta = {rows['beta'][0]}: {shift_times(rows)} s to shift",
                keys={"beta": beta},
            )
            for beta in BETAS
        ]
        return Frame(panels, self.title, (4.2, 2.8))


def _cuts_together(result: Result) -> pl.DataFrame:
    """Return, for each subflow of Flow 2 and interval, the share of its cuts that are of all."""
    series = cut_times(result.cwnd)
    flows = result.flows.select("flow", "label", "src", "start_s", "active_s").rows()
    (shifting,) = (flow for flow, label, *_ in flows if label == SHIFTING)
    rows = []
    for subflow, source in enumerate(SOURCES):
        mine = series[shifting, subflow]
        all_of = np.ones(mine.size, dtype=bool)
        for flow, _, src, start, active in flows:
            if src == source:
                idle = (mine < start) | (mine > start + active)
                all_of &= idle | near(mine, series[flow, 0], 2 * RTT_S)
        rows += [(subflow, time, hit) for time, hit in zip(mine, all_of, strict=True)]
    found = pl.DataFrame(
        rows, {"subflow": pl.UInt32, "at": pl.Float64, "hit": pl.Boolean}, orient="row"
    )
    interval = (pl.col("at") / EVERY_S).ceil().cast(pl.Int64).alias("interval")
    return found.group_by("subflow", interval).agg(pl.col("hit").mean().alias("cuts_together"))


def _changes(
    rows: pl.DataFrame, before: tuple[float, float], after: tuple[float, float]
) -> list[Spread]:
    """Return the factor by which the rate of each subflow changes, by seed."""

    def of(run: pl.DataFrame, subflow: int) -> float | None:
        a, b = (rates.mean_rate(run, SHIFTING, subflow, span) for span in (before, after))
        return ratio(b, a)

    return [spread(rows, partial(of, subflow=subflow)) for subflow in (0, 1)]


def _opposite(disturbed: Spread, other: Spread) -> Judged:
    note = "the disturbed one falls by a quarter, the other rises by a quarter; partly: a tenth"
    down, up = disturbed.value, other.value
    if down is None or up is None:
        return grade(False, False, f"no data; {note}")
    return grade(down <= 0.75 and up >= 1.25, down <= 0.9 and up >= 1.1, note)


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
        before = rates.mean_rate(rows, SHIFTING, subflow, QUIET)
        after = rates.mean_rate(rows, SHIFTING, subflow, FIRST)
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


SETTINGS = ((4, 20), (5, 15), (6, 10))
"""beta, and K by the paper's equation (1)."""
TOTAL_BPS = 6e9
RING_END_S = 70.0
PERIODS = {
    "before": (20.0, 25.0),
    "busy": (40.0, 45.0),
    "later": (55.0, 60.0),
    "closed": (65.0, 70.0),
}
"""The intervals of 5 s that are compared: before any background flow, with all four, with one left
over, and with L3 closed."""


@dataclass(frozen=True)
class Fig7(rates.Rates):
    """Five flows, each over two neighbouring links of a ring; one link gets busy and fails."""

    settings: ClassVar = SETTINGS
    over: ClassVar = ("settings",)

    def point(self, seed: int, setting: tuple[int, int]) -> Point:
        """Return the run of a setting."""
        keys: Keys = dict(zip(("beta", "mark"), setting, strict=True))
        packets = RING_END_S * TOTAL_BPS / rates.PACKET_BITS
        return self.run("X-fig7", keys, seed, RING_END_S, packets)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the values of beta."""
        return {f"beta {beta}": pl.col("beta").eq(beta) for beta, _ in SETTINGS}

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge who falls and who rises, with each beta; subflows are named as the paper does."""
        flow = pl.col("label").str.strip_prefix("Flow ")
        which = pl.format("{}-{}", flow, pl.col("subflow") + 1).alias("which")
        super().judge(ledger, data.with_columns(which, rates.period(PERIODS)))
