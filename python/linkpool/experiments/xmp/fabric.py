"""XMP, Table 3 and Figures 9 to 11: jobs, round-trip times and the utilisation of links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Kept
from linkpool.experiments.rows import Floats, by_seed, mean, ratio, show, values
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import PLACES, SCHEMES
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Judged, Ledger, about, below, grade, no_data, together
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES

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
    apart: ClassVar = None  # no claim names the pattern
    kept: ClassVar = Kept("jobs", ["jct_s"])


@dataclass(frozen=True)
class Tab3(Jobs):
    """Means, and the share of slow jobs."""

    id: str = "X-tab3"

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table and the text's comparisons."""
        means = {s: mean(data, "jct_s", scheme=s) for s in SCHEMES}
        for scheme, paper in MEANS_MS.items():
            s = means[scheme]
            mine, slow = None if s is None else 1e3 * s, _slow_percent(_times(data, scheme))
            ledger.judge("mean-{scheme}", show(mine, "ms"), mine, scheme=scheme, paper=paper)
            judged, words = _about_rounded(slow, SLOW[scheme]), {"paper": SLOW[scheme]}
            ledger.judge("slow-{scheme}", show(slow, "%"), judged, scheme=scheme, **words)
        double = ratio(means["xmp-2"], means["dctcp"])
        ledger.judge("xmp-dctcp", show(double, "times"), double)
        seeds = {s: by_seed(data, "jct_s", scheme=s) for s in SCHEMES}
        less = (below(seeds[f"xmp-{n}"], seeds[f"lia-{n}"]) for n in (2, 4))
        shown = ", ".join(f"{NAMES[s]} {show(v, 'ms', 1e3)}" for s, v in means.items())
        ledger.judge("xmp-lia", shown, together(*less))

    def frame(self) -> Frame:
        """Return the table: means, and the share of slow jobs."""

        def means(axes: Axes, data: pl.DataFrame) -> None:
            of = {s: mean(data, "jct_s", scheme=s) for s in SCHEMES}
            style.bars(axes, [""], {s: [None if v is None else 1e3 * v] for s, v in of.items()})

        def slow(axes: Axes, data: pl.DataFrame) -> None:
            style.bars(axes, [""], {s: [_slow_percent(_times(data, s))] for s in SCHEMES})

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
        judged = grade(all(hits), any(hits), note) if hits else no_data(note)
        shown = f"{_percents('in 200-300 ms', second)}; {_percents('in 100-200 ms', gaps)}"
        ledger.judge("jumps", shown, judged)

        def points(one: str, other: str, low: float, high: float) -> float | None:
            if not times[one].size or not times[other].size:
                return None
            return 100 * (_share(times[one], low, high) - _share(times[other], low, high))

        ahead = points("dctcp", "xmp-2", 0.0, JUMP_S)
        shown = show(ahead, "percentage points more jobs under 100 ms than XMP-2")
        ledger.judge("dctcp-ahead", shown, ahead)
        fast = {s: _median(v[v < JUMP_S]) for s, v in times.items()}
        shown = f"median under 100 ms: {show(fast['xmp-2'], 'ms', 1e3)}"
        ledger.judge("fast", shown, fast["xmp-2"])
        half = ratio(fast["xmp-2"], fast["lia-2"])
        ledger.judge("half", show(half, "times LIA-2's median under 100 ms"), half)
        more = points("xmp-4", "xmp-2", RTO_S, np.inf)
        shown = show(more, "percentage points more jobs above 200 ms with XMP-4 than with XMP-2")
        ledger.judge("doubling", shown, more)

    def frame(self) -> Frame:
        """Return the distributions."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme in SCHEMES:
                style.distribution(axes, scheme, 1e3 * _times(data, scheme))
            axes.set_xlim(0.0, 500.0)
            axes.set_ylim(0.0, 1.0)

        panel = Panel(paint, "", "job completion time (ms)", "share of jobs")
        return Frame([panel], self.title, (6.0, 3.2))


def _times(data: pl.DataFrame, scheme: str) -> Floats:
    return values(data, "jct_s", scheme=scheme)


def _slow_percent(times: Floats) -> float | None:
    return 100 * _share(times, 0.3, np.inf) if times.size else None


def _share(of: Floats, low: float, high: float) -> float:
    return float(((of >= low) & (of < high)).mean())


def _median(of: Floats) -> float | None:
    return float(np.median(of)) if of.size else None


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


PERCENTILES = (10, 25, 50, 75, 90, 99)


@dataclass(frozen=True)
class Fig10(fattree.Patterns):
    """Of each subflow of a large flow at most one round-trip time a second."""

    id: str = "X-fig10"
    columns: ClassVar = declared.columns("xmp", "X-fig10")

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return percentiles of the round-trip times, by where the ends of a flow are."""
        places = result.flows.select("flow", fattree.place())
        samples = result.rtt.join(places, on="flow", how="left")
        rows = []
        for place in PLACES:
            values = samples.filter(pl.col("place") == place)["rtt_s"].to_numpy()
            if values.size:
                rows += [(place, p, float(np.percentile(values, p))) for p in PERCENTILES]
        schema = {"place": pl.String, "percentile": pl.Int32, "rtt_s": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the medians between pods in each pattern."""
        of = {scheme: _middle(data, scheme) for scheme in SCHEMES}
        shown = {scheme: show(value, "us", 1e6) for scheme, value in of.items()}
        listed = ", ".join(f"{NAMES[s]} {text}" for s, text in shown.items())
        ledger.judge("alike", listed, of["xmp-2"], of["dctcp"])
        both = f"{shown['xmp-4']} against {shown['xmp-2']}"
        ledger.judge("subflows", both, of["xmp-4"], of["xmp-2"])
        more = ratio(of["lia-2"], of["xmp-2"])
        ledger.judge("lia", show(more, "times XMP-2's"), more)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Compare Incast, whose small flows use TCP, with Random."""
        incast, random = (_middle(data.filter(pattern=p), "xmp-2") for p in ("incast", "random"))
        gain = ratio(incast, random)
        ledger.judge("incast", show(gain, "times"), gain)

    def frame(self) -> Frame:
        """Return medians by where the ends are."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            medians = data.filter(percentile=50).with_columns(pl.col("rtt_s") * 1e3)
            heights = {
                s: [mean(medians, "rtt_s", scheme=s, place=p) for p in PLACES] for s in SCHEMES
            }
            style.bars(axes, PLACES, heights)

        panel = Panel(paint, "{}: median RTT (ms)", from_zero=True)
        columns = len(self.patterns)
        return Frame([panel], self.title, (3.6, 3.0), sharey=False, columns=columns)


def _middle(data: pl.DataFrame, scheme: str) -> float | None:
    return mean(data.filter(percentile=50), "rtt_s", scheme=scheme, place="inter-pod")


FIG10 = Fig10()


LAYERS = ("core", "aggregation", "rack")
"""Links to and from the core, between aggregation and rack, and of hosts."""


@dataclass(frozen=True)
class Fig11(fattree.Patterns):
    """What each link sent over the whole run, over what it can send."""

    id: str = "X-fig11"
    columns: ClassVar = declared.columns("xmp", "X-fig11")

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the utilisation of each link, with its layer."""
        ends = [pl.col("layer"), pl.col("to_layer")]
        layer = (
            pl.when((ends[0] == "core") | (ends[1] == "core"))
            .then(pl.lit("core"))
            .when((ends[0] == "host") | (ends[1] == "host"))
            .then(pl.lit("rack"))
            .otherwise(pl.lit("aggregation"))
        )
        return result.links.select(layer.alias("layer"), "utilisation")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the means of each layer, and how even the core is used."""
        of = {
            (s, layer): mean(data, "utilisation", scheme=s, layer=layer)
            for s in SCHEMES
            for layer in LAYERS
        }
        shares = {x: ratio(of["dctcp", x], of["xmp-2", x]) for x in LAYERS}
        known = [share for share in shares.values() if share is not None]
        note = "at most 0.9 of XMP-2's mean on every layer; partly: below it"
        judged = no_data(note)
        if len(known) == len(LAYERS):
            judged = grade(max(known) <= 0.9, max(known) < 1, note)
        shown = ", ".join(f"{x} {show(v)}" for x, v in shares.items())
        ledger.judge("dctcp-below", shown, judged)
        for count in (2, 4):
            gains = [ratio(of[f"xmp-{count}", x], of[f"lia-{count}", x]) for x in LAYERS]
            there = [gain for gain in gains if gain is not None]
            gain = sum(there) / len(there) if len(there) == len(LAYERS) else None
            ledger.judge("xmp-lia-{count}", show(gain, "times"), gain, count=count)
        schemes, used = ("dctcp", "xmp-2", "lia-2"), pl.col("utilisation")
        spans = {s: _span(data, s) for s in schemes}
        seeds = (by_seed(data, used.max() - used.min(), scheme=s, layer="core") for s in schemes)
        shown = ", ".join(f"{NAMES[s]} {show(v)}" for s, v in spans.items())
        ledger.judge("unbalanced", shown, *seeds)

    def frame(self) -> Frame:
        """Return the range of each layer's links, with 10th, 50th and 90th percentile."""
        panel = Panel(_ranges, "{}", y="utilisation of links")
        return Frame([panel], self.title, (3.8, 3.0), columns=len(self.patterns))


def _ranges(axes: Axes, data: pl.DataFrame) -> None:
    for i, scheme in enumerate(SCHEMES):
        look = LOOKS[scheme]
        for j, layer in enumerate(LAYERS):
            x = j + (i - 2) * 0.15
            used = values(data, "utilisation", scheme=scheme, layer=layer)
            if used.size:
                axes.vlines(x, used.min(), used.max(), color=look.colour)
                marks = np.percentile(used, (10, 50, 90))
                axes.plot([x] * 3, marks, "_", color=look.colour, markersize=7)
        axes.plot([], [], color=look.colour, label=NAMES[scheme])
    axes.set_xticks(range(len(LAYERS)), LAYERS)
    axes.set_ylim(0.0, 1.0)


def _span(data: pl.DataFrame, scheme: str) -> float | None:
    used = values(data, "utilisation", scheme=scheme, layer="core")
    return float(used.max() - used.min()) if used.size else None


FIG11 = Fig11()
