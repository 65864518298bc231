"""XMP, Table 3 and Figure 9: completion times of jobs beside large flows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import SCHEMES, by_seed, ratio, show
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import (
    Judged,
    Ledger,
    about,
    below,
    grade,
    no_data,
    together,
)
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES

MEANS_MS = {"dctcp": 52.0, "lia-2": 156.0, "lia-4": 180.0, "xmp-2": 93.0, "xmp-4": 109.0}
SLOW = {"dctcp": 0.1, "lia-2": 10.1, "lia-4": 12.5, "xmp-2": 0.1, "xmp-4": 0.2}
"""The paper's jobs above 300 ms, in per cent."""
JUMP_S = 0.1
"""Before the first jump of the distributions: jobs without a timeout of 200 ms."""
RTO_S = 0.2


@dataclass(frozen=True)
class Jobs(fattree.Patterns):
    """The completion times of jobs in the pattern Incast."""

    patterns: tuple[str, ...] = ("incast",)
    columns: ClassVar = declared.columns("xmp", "jobs")

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return nothing: there is one pattern, which no claim names."""
        return {}

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the completion time of each job."""
        return result.jobs.select("jct_s")


@dataclass(frozen=True)
class Tab3(Jobs):
    """Means, and the share of slow jobs."""

    id: str = "X-tab3"

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table and the text's comparisons."""
        times = {scheme: _times(data, scheme) for scheme in SCHEMES}
        means = {s: float(v.mean()) if v.size else None for s, v in times.items()}
        for scheme in SCHEMES:
            mine = None if means[scheme] is None else 1e3 * (means[scheme] or 0.0)
            ledger.judge(
                "mean-{scheme}",
                show(mine, "ms"),
                mine,
                scheme=scheme,
                paper=MEANS_MS[scheme],
            )
            slow = 100 * _share(times[scheme], 0.3, np.inf) if times[scheme].size else None
            ledger.judge(
                "slow-{scheme}",
                show(slow, "%"),
                _about_rounded(slow, SLOW[scheme]),
                scheme=scheme,
                paper=SLOW[scheme],
            )
        double = ratio(means["xmp-2"], means["dctcp"])
        ledger.judge("xmp-dctcp", show(double, "times"), double)
        seeds = {s: by_seed(data, "jct_s", pl.col("jct_s").mean(), scheme=s) for s in SCHEMES}
        ledger.judge(
            "xmp-lia",
            ", ".join(f"{NAMES[s]} {show(v, 'ms', 1e3)}" for s, v in means.items()),
            together(*(below(seeds[f"xmp-{n}"], seeds[f"lia-{n}"]) for n in (2, 4))),
        )

    def frame(self) -> Frame:
        """Return the table: means, and the share of slow jobs."""

        def means(axes: Axes, data: pl.DataFrame) -> None:
            times = {scheme: _times(data, scheme) for scheme in SCHEMES}
            style.bars(axes, [""], {s: [_mean_ms(v)] for s, v in times.items()})

        def slow(axes: Axes, data: pl.DataFrame) -> None:
            times = {scheme: _times(data, scheme) for scheme in SCHEMES}
            style.bars(axes, [""], {s: [_slow_percent(v)] for s, v in times.items()})

        panels = [
            Panel(means, "mean job completion time (ms)", from_zero=True),
            Panel(slow, "jobs above 300 ms (%)", from_zero=True),
        ]
        return Frame(panels, self.title, (3.8, 3.0), sharey=False)


@dataclass(frozen=True)
class Fig9(Jobs):
    """The distributions of completion times."""

    id: str = "X-fig9"

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the jumps, and what comes before the first one."""
        times = {scheme: _times(data, scheme) for scheme in SCHEMES}
        gaps = [_share(v, JUMP_S, RTO_S) for v in times.values() if v.size]
        second = [_share(v, RTO_S, RTO_S + JUMP_S) for v in times.values() if v.size]
        hits = [gap <= 0.05 and jump >= 0.05 for gap, jump in zip(gaps, second, strict=True)]
        note = "at most 5% of the jobs in 100-200 ms and at least 5% in 200-300 ms, with every "
        note += "scheme; partly: with one"
        ledger.judge(
            "jumps",
            _percents("in 200-300 ms", second) + "; " + _percents("in 100-200 ms", gaps),
            grade(all(hits), any(hits), note) if hits else no_data(note),
        )
        before = {s: _share(v, 0.0, JUMP_S) if v.size else None for s, v in times.items()}
        ahead = None
        if before["dctcp"] is not None and before["xmp-2"] is not None:
            ahead = 100 * (before["dctcp"] - before["xmp-2"])
        ledger.judge(
            "dctcp-ahead", show(ahead, "percentage points more jobs under 100 ms than XMP-2"), ahead
        )
        fast = {s: _median(v[v < JUMP_S]) for s, v in times.items()}
        ledger.judge(
            "fast", f"median under 100 ms: {show(fast['xmp-2'], 'ms', 1e3)}", fast["xmp-2"]
        )
        half = ratio(fast["xmp-2"], fast["lia-2"])
        ledger.judge("half", show(half, "times LIA-2's median under 100 ms"), half)
        late = {s: _share(v, RTO_S, np.inf) if v.size else None for s, v in times.items()}
        more = None
        if late["xmp-2"] is not None and late["xmp-4"] is not None:
            more = 100 * (late["xmp-4"] - late["xmp-2"])
        ledger.judge(
            "doubling",
            show(more, "percentage points more jobs above 200 ms with XMP-4 than with XMP-2"),
            more,
        )

    def frame(self) -> Frame:
        """Return the distributions."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme in SCHEMES:
                style.distribution(axes, scheme, 1e3 * _times(data, scheme))
            axes.set_xlim(0.0, 500.0)
            axes.set_ylim(0.0, 1.0)

        panel = Panel(paint, "", "job completion time (ms)", "share of jobs")
        return Frame([panel], self.title, (6.0, 3.2))


def _times(data: pl.DataFrame, scheme: str) -> "np.ndarray":
    return data.filter(pl.col("scheme") == scheme)["jct_s"].drop_nulls().to_numpy()


def _mean_ms(times: "np.ndarray") -> float | None:
    return 1e3 * float(times.mean()) if times.size else None


def _slow_percent(times: "np.ndarray") -> float | None:
    return 100 * _share(times, 0.3, np.inf) if times.size else None


def _share(values: "np.ndarray", low: float, high: float) -> float:
    return float(((values >= low) & (values < high)).mean())


def _median(values: "np.ndarray") -> float | None:
    return float(np.median(values)) if values.size else None


def _about_rounded(percent: float | None, paper: float) -> Judged:
    """Judge "about" by whatever the paper rounded to a tenth of a per cent."""
    least, largest = paper - 0.05, paper + 0.05
    judged = about(percent, paper if percent is None else min(max(percent, least), largest))
    return Judged(judged.verdict, f"{judged.note}, of what rounds to {paper:g}%")


def _percents(what: str, shares: Sequence[float]) -> str:
    shown = ", ".join(f"{share:.1%}" for share in shares)
    return f"{what}: {shown or 'no data'}"


TAB3 = Tab3()
FIG9 = Fig9()
