"""AMP, section 5.1: how many rounds to wait before suppression."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import incast, longflows, setting
from linkpool.experiments.amp.incast import Load
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import (
    ORDER,
    Ledger,
    cases,
    grade,
    no_data,
)
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS
from linkpool.units import show_number

SIZE = "128KiB"
CALM = longflows.Mix("amp", multipath=1, dctcp=4)
"""The paper calls this mix free of the syndrome (Figure 10a): a suppression is a false alarm."""


@dataclass(frozen=True)
class Gamma(setting.Delayed):
    """AMP with gamma from 1 to 10, in incast and beside a few long flows."""

    id: str = "A-gamma"
    gammas: tuple[int, ...] = tuple(range(1, 11))
    ks: tuple[int, ...] = incast.FLOWS
    delays: tuple[str, ...] = setting.DELAYS
    bursts: int = incast.BURSTS
    columns: ClassVar = declared.columns("amp", "A-gamma")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return incast of AMP with each gamma and of DCTCP, and the calm mix."""
        found: list[Point] = []
        for delay in self.delays:
            for k in self.ks:
                dctcp = incast.points([Load("dctcp", SIZE, k, delay)], seeds, self.bursts)
                found += [_tag(point, "incast", 0) for point in dctcp]
                for gamma in self.gammas:
                    load = Load("amp", SIZE, k, delay, {"gamma": gamma})
                    amp = incast.points([load], seeds, self.bursts)
                    found += [_tag(point, "incast", gamma) for point in amp]
            for gamma in self.gammas:
                mix = replace(CALM, delay=delay, keys={"gamma": gamma})
                for seed in seeds:
                    point = mix.point(seed)
                    keys: Keys = {"delay": delay, "scheme": "amp", "size": "unlimited", "k": 1}
                    found.append(_tag(replace(point, keys=keys), "calm", gamma))
        return found

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow of an incast, and one of the AMP flow of a calm mix."""
        rows = incast.flows(result)
        return rows.filter(result.flows["control"] == "amp") if _calm(point) else rows

    def frame(self) -> Frame:
        """Return mean completion times against gamma for each k, and false alarms."""
        calm = "4 DCTCP flows and 1 AMP flow, {} links"
        return Frame(
            [
                Panel(self._means, f"incast of {SIZE}, {{}} links", "γ (rounds)", "mean FCT (ms)"),
                Panel(self._alarms, calm, "γ (rounds)", "suppressions in 1 s"),
            ],
            self.title,
            (4.0, 2.6),
            sharey="col",
            legend=4,
        )

    def _means(self, axes: Axes, data: pl.DataFrame) -> None:
        table = _Table(data)
        amp, dctcp = LOOKS["amp"].colour, LOOKS["dctcp"].colour
        shades = np.linspace(0.35, 1.0, len(self.ks))
        for k, shade, marker in zip(self.ks, shades, "os^D", strict=False):
            y = [_ms(table.mean(gamma, k)) for gamma in self.gammas]
            dots = f"{marker}-"
            axes.plot(self.gammas, y, dots, ms=4, color=amp, alpha=shade, label=f"AMP, k = {k}")
            baseline = _ms(table.mean(0, k))
            axes.axhline(baseline, ls=":", color=dctcp, alpha=shade, label=f"DCTCP, k = {k}")
        style.plain_log(axes)

    def _alarms(self, axes: Axes, data: pl.DataFrame) -> None:
        table = _Table(data)
        alarms = [table.alarms(gamma) for gamma in self.gammas]
        axes.bar(self.gammas, alarms, color=LOOKS["amp"].colour)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the three remarks on gamma."""
        table = _Table(data)
        third = table.ratio(3, 30)
        ledger.judge("gamma3", f"{show_number(third)} times", third)
        slow = [
            ratio >= ORDER
            for gamma in self.gammas
            if gamma >= 3 and (ratio := table.ratio(gamma, 30)) is not None
        ]
        ledger.judge("slow", f"10 times or more in {cases(slow)}", slow)
        self._best(ledger, table)
        one, two = table.alarms(1), table.alarms(2)
        ledger.judge(
            "false-alarm",
            f"suppressions in 1 s without the syndrome: {one:.3g} with 1, {two:.3g} with 2",
            grade(
                one > 0 and two <= one / 2,
                one > two,
                "with gamma = 2 at most half as many; partly: fewer",
            ),
        )

    def _best(self, ledger: Ledger, table: "_Table") -> None:
        note = "its geometric mean over k within 5% of the least of all gammas; partly: 25%"
        scores = {gamma: table.score(gamma, self.ks) for gamma in self.gammas}
        least = min((s for s in scores.values() if s is not None), default=None)
        two = scores.get(2)
        judged = no_data(note)
        measured = "no data"
        if least is not None and two is not None:
            judged = grade(two <= 1.05 * least, two <= 1.25 * least, note)
            best = next(gamma for gamma, score in scores.items() if score == least)
            measured = f"best: {best}; with 2 the mean FCT is {two / least:.3g} times the best"
        ledger.judge("best", measured, judged)


class _Table:
    """Statistics by gamma and k, at one delay."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._calm = rows.filter(pl.col("load") == "calm")
        incasts = rows.filter(pl.col("load") == "incast")
        self._cells = {
            int(str(gamma)): incast.Cells(part)
            for (gamma,), part in incasts.partition_by("gamma", as_dict=True).items()
        }

    def mean(self, gamma: int, k: int) -> float | None:
        """Return the mean completion time in seconds; gamma 0 stands for DCTCP."""
        cells = self._cells.get(gamma)
        return None if cells is None else cells.mean("amp" if gamma else "dctcp", SIZE, k)

    def ratio(self, gamma: int, k: int) -> float | None:
        """Return the mean completion time over DCTCP's."""
        mine, theirs = self.mean(gamma, k), self.mean(0, k)
        return None if mine is None or not theirs else mine / theirs

    def score(self, gamma: int, ks: Sequence[int]) -> float | None:
        """Return the geometric mean over k of the mean completion time in seconds."""
        means = [self.mean(gamma, k) for k in ks]
        if not means or any(mean is None for mean in means):
            return None
        return float(np.exp(np.mean(np.log(np.array(means, dtype=float)))))

    def alarms(self, gamma: int) -> float:
        """Return the mean number of suppressions of the AMP flow in the calm mix."""
        counts = self._calm.filter(pl.col("gamma") == gamma)["suppressions"].to_list()
        return float(np.mean(counts)) if counts else 0.0


def _tag(point: Point, load: str, gamma: int) -> Point:
    return replace(point, keys={**point.keys, "load": load, "gamma": gamma})


def _calm(point: Point) -> bool:
    return point.keys["load"] == "calm"


def _ms(value: float | None) -> float:
    return float("nan") if value is None else 1e3 * value


EXPERIMENT = Gamma()
