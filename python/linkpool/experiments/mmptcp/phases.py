"""MMPTCP, Table 4 and Figures 6, 7 and 10: settings of both phases, and when they change."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from random import Random
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Kept, LongRuns
from linkpool.experiments.mmptcp import mixed, setting, summary
from linkpool.experiments.mmptcp.mixed import (
    FCT,
    GOODPUT,
    LONG,
    LONG_SHARE,
    NOTHING,
    OVERSUBSCRIBED,
    QUIET_S,
    SHORT,
    Mix,
    Mixed,
    Of,
    listed_of,
    number,
)
from linkpool.experiments.mmptcp.setting import ENDS, Tree
from linkpool.experiments.mmptcp.summary import Summarised, summarise
from linkpool.experiments.rows import ratio
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, Verdict, above, grade, more, weakest
from linkpool.study.experiment import each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps

THRESHOLDS = ("3", "5", "7", "9", "11", "13", "15", "17", "19", "21", "23", "auto")
TREES = (Tree(1), Tree(4))
ARRIVALS = 256.0

MEANS_MS = {"3": 158.0, "9": 112.0, "23": 116.0}
"""The paper's mean completion times by threshold."""


RECOVERED = Column(
    "with_recovery", "i64", "flows", "established short flows with a fast retransmission"
)


def row_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for the flows and ports of a run, given as `mixed.measure` has them."""
    short = rows.filter("established", pl.col("kind") == SHORT)
    recovered = short.filter(pl.col("recoveries") > 0).height
    return summarise(rows).with_columns(pl.lit(recovered, pl.Int64).alias(RECOVERED.name))


@dataclass(frozen=True)
class Tab4(Summarised):
    """All flows are MMPTCP's."""

    id: str = "M-tab4"
    trees: tuple[Tree, ...] = TREES
    thresholds: tuple[str, ...] = THRESHOLDS
    over: ClassVar = ("trees", "thresholds")
    columns: ClassVar = declared.columns("mmptcp", "M-tab4")

    def point(self, seed: int, tree: Tree, threshold: str) -> Point:
        """Return the run with a threshold."""
        value = threshold if threshold == "auto" else int(threshold)
        keys: Keys = {"tree": tree.name, "threshold": threshold}
        transport = {"dupack_threshold": value}
        mix = Mix("mmptcp", "mmptcp", ARRIVALS, self.duration_s, tree, keys=transport)
        return mix.point(keys, seed)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row."""
        return row_of(mixed.measure(result))

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the trees."""
        return each("tree", [tree.name for tree in self.trees])

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge means and their order, and the counts of Figure 4, on each tree."""
        found = _by_threshold(data)
        cells = {t: found.get(t, summary.NOTHING) for t in THRESHOLDS}
        fct = {t: cell.fct.mean for t, cell in cells.items()}
        for threshold, mean in MEANS_MS.items():
            words = {"threshold": threshold, "mean": mean}
            ledger.judge("mean-{threshold}", str(cells[threshold]), fct[threshold], **words)
        worse = more(ratio(fct["3"], fct["9"]), 158 / 112)
        ledger.judge("three-worst", f"{cells['3']} against {cells['9']}", worse)
        few = ("3", "5", "7", "auto")
        beyond = [value for t in self.thresholds if t not in few and (value := fct[t])]
        shown = f"{min(beyond):.3g} to {max(beyond):.3g} ms" if beyond else "no data"
        ledger.judge("flat", shown, max(beyond) / min(beyond) if beyond else None)
        three, nine, most = (_recovered(cells[t]) for t in ("3", "9", "23"))
        shown, note = (
            "no data",
            "fewer at 9 than at 3 and at most 1% at 23; partly: fewer at 23 than at 3",
        )
        judged = grade(False, False, note)
        if three is not None and nine is not None and most is not None:
            shown = f"{three:.1%}, {nine:.1%}, {most:.1%} of the flows met one"
            judged = grade(three > nine and most <= 0.01, three > most, note)
        ledger.judge("spurious", shown, judged)
        shares = {t: cells[t].with_timeout for t in ("3", "9", "auto", "23")}
        seeds = [cells[t].by_seed(attrgetter("with_timeout")) for t in shares]
        rising = weakest(*(above(b, a) for a, b in pairwise(seeds))).verdict
        ends = above(seeds[-1], seeds[0]).verdict
        note = (
            "the shares of flows with a timeout in this order, each by the paired interval of 95% "
        )
        note += "over the seeds; partly: 3 below 23 in the mean"
        judged = grade(rising is Verdict.REPRODUCED, ends is not Verdict.NOT, note)
        shown = ", ".join(f"{t}: {share:.1%}" for t, share in shares.items() if share is not None)
        ledger.judge("timeouts", shown or "no data", judged)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw mean completion times, and how flows met retransmissions and timeouts."""
        figure, axes = style.panels(
            len(self.trees), 2, f"{self.id}: {self.title}", (4.6, 2.6), sharey=False
        )
        for i, tree in enumerate(self.trees):
            cells = _by_threshold(data.filter(tree=tree.name))
            left, right = axes[i]
            _draw_means(left, cells, self.thresholds)
            _draw_counts(right, cells, self.thresholds)
            left.set_title(f"{tree.name}, {tree.hosts} hosts")
            right.set_title(f"{tree.name}, {tree.hosts} hosts")
            left.set_ylabel("FCT of short flows (ms), mean ± sd")
            right.set_ylabel("share of short flows")
        for at in axes[-1]:
            at.set_xlabel("duplicate-ACK threshold of phase 1")
        style.legend(figure, axes[0, 1])
        return figure


def _by_threshold(data: pl.DataFrame) -> dict[str, summary.Cell]:
    parts = data.partition_by("threshold", as_dict=True)
    return {str(threshold): summary.Cell(rows) for (threshold,), rows in parts.items()}


def _recovered(cell: summary.Cell) -> float | None:
    """Return the share of established short flows that met a fast retransmission."""
    flows = int(cell.rows["short"].sum())
    return int(cell.rows[RECOVERED.name].sum()) / flows if flows else None


def _draw_means(axes: Axes, cells: Mapping[str, summary.Cell], thresholds: Sequence[str]) -> None:
    samples = [cells.get(t, summary.NOTHING).fct for t in thresholds]
    means = {"mmptcp": [s.mean for s in samples]}
    style.bars(axes, thresholds, means, {"mmptcp": [s.sd for s in samples]})
    style.from_zero(axes)


def _draw_counts(axes: Axes, cells: Mapping[str, summary.Cell], thresholds: Sequence[str]) -> None:
    x = range(len(thresholds))
    here = [cells.get(t) for t in thresholds]
    for name, of, colour, marker in (
        ("fast retransmission", _recovered, "#0072b2", "o"),
        ("timeout", lambda cell: cell.with_timeout, "#d55e00", "X"),
    ):
        shares = [None if cell is None else of(cell) for cell in here]
        y = [float("nan") if share is None else share for share in shares]
        axes.plot(x, y, color=colour, marker=marker, markersize=4, label=f"at least one {name}")
    axes.set_xticks(list(x), list(thresholds))
    style.from_zero(axes)


TAB4 = Tab4()


SUFFIXES = {f"mmptcp{end}": end for end in ENDS}
"""The schemes, and the ends of their claims' names."""
ESTABLISHED = (pl.col("label") == SHORT) & pl.col("established_s").is_not_null()
"""Short flows that were established: the paper counts only these."""
NO_TIMES = pl.Series("fct_established_s", dtype=pl.Float64)
THRESHOLDS_KB = (100, 200, 400, 600, 800, 1024)
UNIFORM: Value = {"uniform": ["1KB", "1024KB"]}
PACKET = 1400
MEASURED: Value = {
    "cdf": [
        [1, 0.0],
        [PACKET, 0.5],
        [2 * PACKET, 0.6],
        [3 * PACKET, 0.7],
        [7 * PACKET, 0.8],
        [267 * PACKET, 0.9],
        [2107 * PACKET, 1.0],
    ],
    "interpolation": "linear",
}
"""Half of the flows are of one packet, 90% of fewer than 267, and none reaches 3 MB."""


@dataclass(frozen=True)
class Thresholds(LongRuns):
    """All flows are MMPTCP's; sizes of short flows vary."""

    id: str = "M-fig6"
    size: str = "uniform"
    step_s: ClassVar = 0.1
    thresholds_kb: tuple[int, ...] = THRESHOLDS_KB
    schemes: ClassVar = tuple(SUFFIXES)
    over: ClassVar = ("schemes", "thresholds_kb")
    kept: ClassVar = Kept("flows", ["fct_established_s"], ESTABLISHED)
    columns: ClassVar = declared.columns("mmptcp", "M-fig6")

    def point(self, seed: int, scheme: str, threshold: int) -> Point:
        """Return the run of a scheme with a threshold."""
        size = UNIFORM if self.size == "uniform" else MEASURED
        keys = {"switch_bytes": f"{threshold}KB"}
        mix = Mix(scheme, scheme, ARRIVALS, self.duration_s, size=size, keys=keys)
        return mix.point({"scheme": scheme, "threshold_kb": threshold}, seed)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the tail and the middle of the distribution at the ends of the thresholds."""
        cells = _times(data)
        low, high = min(self.thresholds_kb), max(self.thresholds_kb)
        for scheme, suffix in SUFFIXES.items():
            first, last = (cells.get((t, scheme), NO_TIMES) for t in (low, high))
            words = {"suffix": suffix, "scheme": scheme}
            for name, q in (("tail-99", 0.99), ("tail-999", 0.999), ("median", 0.5)):
                before, after = (fct.quantile(q, "linear") for fct in (first, last))
                shown = f"{number(before, 'ms')} at {low} KB, {number(after, 'ms')} at {high} KB"
                if name == "median":
                    ledger.judge("median{suffix}", shown, before, after, **words)
                    continue
                tail = {"tail": name, "percentile": f"{q:.1%}"}
                ledger.judge("{tail}{suffix}", shown, ratio(after, before), **tail, **words)

    def frame(self) -> Frame:
        """Return percentiles and tails by threshold, of each scheme."""

        def panel(scheme: str, draw: _Draw, title: str, x: str) -> Panel:
            last = scheme == list(SUFFIXES)[-1]

            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = _times(data)
                draw(axes, {t: cells.get((t, scheme), NO_TIMES) for t in self.thresholds_kb})
                if last:
                    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=3)

            return Panel(paint, title, x if last else "")

        panels = []
        for scheme in SUFFIXES:
            times = f"{NAMES[scheme]}: FCT of short flows (ms)"
            panels += [
                panel(scheme, _draw_percentiles, times, "switching threshold (KB)"),
                panel(scheme, _draw_tails, "share of short flows", "FCT at least (ms)"),
            ]
        return Frame(panels, self.title, (4.6, 2.8), sharey=False, legend=0, columns=2)


_Draw = Callable[[Axes, Mapping[int, pl.Series]], None]


def _times(data: pl.DataFrame) -> dict[tuple[int, str], pl.Series]:
    """Return the completion times of short flows that finished, in ms."""
    parts = data.partition_by("threshold_kb", "scheme", as_dict=True)
    times = {at: 1e3 * rows["fct_established_s"].drop_nulls() for at, rows in parts.items()}
    return {(int(kb), str(scheme)): fct for (kb, scheme), fct in times.items()}


def _draw_percentiles(axes: Axes, of: Mapping[int, pl.Series]) -> None:
    percentiles = ((0.5, "median", "o"), (0.99, "99th", "s"), (0.999, "99.9th percentile", "^"))
    for q, name, marker in percentiles:
        values = [fct.quantile(q, "linear") for fct in of.values()]
        y = [float("nan") if value is None else value for value in values]
        axes.plot(list(of), y, marker=marker, label=name)
    style.from_zero(axes)


def _draw_tails(axes: Axes, of: Mapping[int, pl.Series]) -> None:
    shades = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7")
    for (threshold, fct), colour in zip(of.items(), shades, strict=False):
        drawn = len(axes.get_lines())
        mixed.draw_tail(axes, fct.to_numpy(), "mmptcp")
        for line in axes.get_lines()[drawn:]:
            line.set(color=colour, label=f"{threshold} KB")


FIG6 = Thresholds()
FIG7 = Thresholds(id="M-fig7", size="measured")


RACK = 16
POD = 64
SUBFLOWS = {"core": 8, "aggregation": 4, "access": 1}
"""Subflows of phase 2 by the highest layer that a flow crosses."""


@dataclass(frozen=True)
class Fig10(Mixed):
    """Both schemes have the same flows between the same hosts, drawn for each seed."""

    id: str = "M-fig10"
    seeds: int = 20
    schemes: ClassVar = ("mmptcp", "mmptcp-as")
    over: ClassVar = ("schemes",)
    columns: ClassVar = declared.columns("mmptcp", "table")

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme."""
        senders = int(LONG_SHARE * OVERSUBSCRIBED.hosts)
        work = senders * 0.6e8 * self.duration_s / (8 * 1400)
        work += ARRIVALS * self.duration_s * setting.SHORT_PACKETS
        written = partial(_scenario, scheme, seed, self.duration_s)
        return Point({"scheme": scheme}, written, seed, self.duration_s, work)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge completion times of short flows, at the tail too, and goodputs of long ones."""
        found = mixed.cells(data, "scheme")
        cells = {scheme: found.get(scheme, NOTHING) for scheme in self.schemes}
        compared: dict[str, Of] = {
            "mean": FCT,
            "tail-99": partial(mixed.percentile, q=0.99),
            "tail-999": partial(mixed.percentile, q=0.999),
        }
        for name, of in compared.items():
            seeds = (cells[s].by_seed(of) for s in ("mmptcp-as", "mmptcp"))
            ledger.judge(name, listed_of(cells, of, "ms"), *seeds)
        goodput = (GOODPUT(cells[s]) for s in ("mmptcp-as", "mmptcp"))
        ledger.judge("goodput", listed_of(cells, GOODPUT, "Mbps"), *goodput)

    def frame(self) -> Frame:
        """Return the distributions of completion times, and of goodputs."""
        times = mixed.tail(self.schemes, "FCT at least (ms)", y="share of short flows", title="")

        def goodputs(axes: Axes, data: pl.DataFrame) -> None:
            long.paint(axes, data)
            axes.set_yscale("linear")

        x, y = "goodput at least (Mbps)", "share of long flows"
        long = mixed.tail(self.schemes, x, lambda cell: cell.goodputs, y, "")
        panels = [times, replace(long, paint=goodputs)]
        return Frame(panels, f"{self.title}, 512 hosts, 4:1", (4.4, 2.8), sharey=False)


def _scenario(scheme: str, seed: int, duration_s: float) -> str:
    flows = list(_flows(scheme, duration_s, Random(f"random matrix {seed}")))
    counts = SUBFLOWS if scheme == "mmptcp-as" else dict.fromkeys(SUBFLOWS, setting.SUBFLOWS)
    written = scenario(
        "mmptcp",
        "M-fig10",
        scheme=scheme,
        duration=f"{duration_s:g}s",
        topology=OVERSUBSCRIBED.topology(),
        transports={
            layer: setting.transport("mmptcp", {"subflows": counts[layer]})
            for layer in sorted({str(flow["transport"]) for flow in flows})
        },
        flows=[*flows],
    )
    return dumps(written)


def _flows(scheme: str, duration_s: float, random: Random) -> Iterator[dict[str, Value]]:
    """Give long flows of a third of the hosts, and short ones of the others, as they are drawn."""
    hosts = list(range(OVERSUBSCRIBED.hosts))
    random.shuffle(hosts)
    count = int(LONG_SHARE * len(hosts))
    for source in hosts[:count]:
        yield _flow(source, random, {"label": LONG, "stop": f"{duration_s:g}s"})
    start = random.expovariate(ARRIVALS)
    stop = max(duration_s - QUIET_S, duration_s / 2)
    while start < stop:
        keys: dict[str, Value] = {"label": SHORT, "size": setting.SHORT}
        yield _flow(random.choice(hosts[count:]), random, {**keys, "start": f"{start * 1e6:.0f}us"})
        start += random.expovariate(ARRIVALS)


def _flow(source: int, random: Random, keys: dict[str, Value]) -> dict[str, Value]:
    destination = random.randrange(OVERSUBSCRIBED.hosts - 1)
    destination += destination >= source
    return setting.flow(_layer(source, destination), source, destination, keys)


def _layer(source: int, destination: int) -> str:
    if source // RACK == destination // RACK:
        return "access"
    return "aggregation" if source // POD == destination // POD else "core"


FIG10 = Fig10()
