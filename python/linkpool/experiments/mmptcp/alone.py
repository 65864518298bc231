"""MMPTCP, Tables 6 and 7: long flows alone, and incasts of short flows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.mmptcp import setting
from linkpool.experiments.mmptcp.mixed import CORE, LONG, number, percent, with_sd
from linkpool.experiments.mmptcp.setting import ENDS, Tree
from linkpool.experiments.rows import told
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import Ledger, grade
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

TREE = Tree(1)
STEP = 64
"""Half of the hosts: every flow leaves its pod. The paper does not name its stride."""
PAPER = {
    "mptcp": {1: (67.2, 73.8), 2: (75.5, 82.0), 5: (81.7, 88.1), 20: (86.1, 92.6)},
    "mmptcp": {1: (66.9, 73.5), 2: (75.2, 81.6), 5: (81.7, 88.0), 20: (86.1, 92.6)},
}
"""By scheme and seconds: goodput of long flows in Mbit/s, utilisation of the core in per cent."""
LOSS = {1: 0.002, 2: 0.003, 5: 0.003, 20: 0.003}
"""Per cent, with both schemes."""


@dataclass(frozen=True)
class Tab6(LongRuns):
    """One run of 20 s gives all durations, as flows never end: a run of 5 s is its beginning."""

    id: str = "M-tab6"
    schemes: ClassVar = tuple(scheme + end for end in ENDS for scheme in PAPER)
    over: ClassVar = ("schemes",)
    columns: ClassVar = declared.columns("mmptcp", "M-tab6")

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme."""
        duration = f"{self.duration_s:g}s"
        words: dict[str, Value] = {"topology": TREE.topology()}
        transport = setting.transport(scheme)
        written = scenario(
            "mmptcp", "M-tab6", scheme=scheme, duration=duration, transport=transport, **words
        )
        work = TREE.hosts * 0.8e8 * self.duration_s / (8 * 1400)
        return Point({"scheme": scheme}, dumps(written), seed, self.duration_s, work)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow and second, and one per port of a core switch and second."""
        second = pl.col("time_s").round().cast(pl.Int32).alias("second")
        flows = result.rate.group_by("flow", second).agg(pl.col("goodput_bps").sum())
        flows = flows.sort("flow", "second").select(
            pl.lit(LONG).alias("kind"), "flow", "second", "goodput_bps"
        )
        core = result.links.filter(pl.col("layer") == CORE)
        ports = result.counters.join(core.select("link"), on="link", how="semi").select(
            pl.lit(CORE).alias("kind"),
            second,
            "utilisation",
            (pl.col("packets") + pl.col("drops")).alias("offered"),
            "drops",
        )
        rows = pl.concat([flows, ports], how="diagonal")
        return rows.select(column.name for column in self.columns[2:])

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the durations; a shortened run has nothing to say about longer ones."""
        return {
            f"{seconds}s": pl.lit(seconds <= self.duration_s) & pl.col("second").le(seconds)
            for seconds in LOSS
        }

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table at each duration, and that both schemes are alike, with faults too."""
        seconds = int(str(ledger.setting)[:-1])
        for end in ENDS:
            of = {s: data.filter(pl.col("scheme") == s + end) for s in PAPER}
            for scheme, rows in of.items():
                goodput, core = PAPER[scheme][seconds]
                _judge_second(ledger, scheme + end, rows, goodput, core, LOSS[seconds])
            mptcp, mmptcp = (_goodputs(of[s], seconds).mean for s in ("mptcp", "mmptcp"))
            shown = f"{number(mmptcp, 'Mbps')} against {number(mptcp, 'Mbps')}"
            ledger.judge("alike{end}", shown, mmptcp, mptcp, end=end)

    def frame(self) -> Frame:
        """Return the columns of the table against the duration."""

        def panel(title: str, of: Callable[[pl.DataFrame, int], float | None]) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                until = {s: data.filter(pl.col("second") <= s) for s in LOSS}
                heights = {
                    scheme: [of(rows.filter(scheme=scheme), s) for s, rows in until.items()]
                    for scheme in self.schemes
                }
                style.bars(axes, [f"{seconds} s" for seconds in LOSS], heights)

            return Panel(paint, title, "duration", from_zero=True)

        panels = [
            panel("goodput (Mbps), mean", lambda rows, seconds: _goodputs(rows, seconds).mean),
            panel("mean core utilisation (%)", lambda rows, _: _utilisation(rows)),
            panel("mean core loss (%)", lambda rows, _: _loss(rows)),
        ]
        title = f"{self.title}, 128 hosts, 1:1, stride {STEP}"
        return Frame(panels, title, (3.2, 2.8), sharey=False, together=True)


def _judge_second(
    ledger: Ledger, scheme: str, rows: pl.DataFrame, goodput: float, core: float, loss: float
) -> None:
    mine = _goodputs(rows, int(str(rows["second"].max() or 0)))
    shown = "no data" if mine.mean is None else f"{with_sd(mine)} Mbps"
    ledger.judge("goodput-{scheme}", shown, mine.mean, scheme=scheme, goodput=goodput)
    used, lost = _utilisation(rows), _loss(rows)
    ledger.judge("core-{scheme}", percent(used), used, scheme=scheme, core=core)
    ledger.judge("loss-{scheme}", percent(lost), lost, scheme=scheme, loss=loss)


def _goodputs(rows: pl.DataFrame, seconds: int) -> Sample:
    """Describe the goodputs of flows over so many seconds, in Mbit/s: means of their seconds."""
    flows = rows.filter(pl.col("kind") == LONG)
    if flows.is_empty() or not seconds:
        return describe(flows["goodput_bps"].to_numpy())
    means = flows.group_by("scheme", "seed", "flow", maintain_order=True).agg(
        pl.col("goodput_bps").sum() / seconds
    )
    return describe(1e-6 * means["goodput_bps"].to_numpy())


def _utilisation(rows: pl.DataFrame) -> float | None:
    ports = rows.filter(pl.col("kind") == CORE)
    return describe(100 * ports["utilisation"].drop_nulls().to_numpy()).mean


def _loss(rows: pl.DataFrame) -> float | None:
    ports = rows.filter(pl.col("kind") == CORE, pl.col("offered") > 0)
    return describe((100 * ports["drops"] / ports["offered"]).to_numpy()).mean


TAB6 = Tab6()


KS = (20, 40, 100)
EVERY_S = 0.5
SCHEMES = ("mmptcp", "mmptcp-lt", "tcp", "mptcp", "mptcp-faults")

MEDIANS_MS = {
    "mmptcp": (277.2, 452.7, 767.4),
    "mmptcp-lt": (99.5, 165.2, 746.6),
    "tcp": (99.9, 169.4, 726.0),
}
"""The paper's, for each k."""

MPTCP_MEANS_S = (6.5, 7.6, 6.9)
MPTCP_COMPLETED = (7_884 / 16_000, 1_975 / 32_000, 263 / 80_000)


@dataclass(frozen=True)
class Cell:
    """The flows of one scheme and k.

    The paper's simulation gives up a connection whose SYN is unanswered when the last burst has
    had its time. So `fct_s` has the completion times of the finished flows that were established
    by then.
    """

    flows: int
    fct_s: pl.Series

    @classmethod
    def of(cls, flows: pl.DataFrame) -> "Cell":
        """Return the cell of these flows."""
        return cls(flows.height, flows.filter("counted")["fct_established_s"].drop_nulls())

    @property
    def fct(self) -> Sample:
        """Describe the completion times, in seconds."""
        return describe(self.fct_s.to_numpy())

    @property
    def completed(self) -> float | None:
        """Return the share of all flows that finished and count."""
        return self.fct_s.len() / self.flows if self.flows else None

    def quantile_ms(self, q: float) -> float | None:
        """Return a quantile of the completion times in milliseconds."""
        value = self.fct_s.quantile(q, "linear")
        return None if value is None else 1e3 * value

    def __str__(self) -> str:
        """Write the median, and the number of flows that do not count."""
        median = self.quantile_ms(0.5)
        if median is None:
            return "no finished flow"
        left_out = self.flows - self.fct_s.len()
        return f"{median:.4g} ms" + (
            f", {left_out:,} of {self.flows:,} flows not counted" if left_out else ""
        )


@dataclass(frozen=True)
class Tab7(LongRuns):
    """Every 500 ms, 20, 40 or 100 hosts drawn at random send 70 KB each to one host."""

    id: str = "M-tab7"
    ks: tuple[int, ...] = KS
    step_s: ClassVar = EVERY_S
    least_s: ClassVar = EVERY_S
    seeds: int = 20
    schemes: ClassVar = SCHEMES
    over: ClassVar = ("ks", "schemes")
    columns: ClassVar = declared.columns("mmptcp", "M-tab7")

    def point(self, seed: int, k: int, scheme: str) -> Point:
        """Return the run of bursts of so many flows."""
        bursts = max(round(self.duration_s / EVERY_S), 1)
        work = k * bursts * setting.SHORT_PACKETS
        written = partial(_scenario, scheme, k, seed, bursts)
        return Point({"scheme": scheme, "k": k}, written, seed, bursts * EVERY_S, work)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        counted = (pl.col("established_s") <= self.duration_s).fill_null(False).alias("counted")
        return result.flows.select(counted, "fct_established_s", "timeouts")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the medians, and MPTCP's collapse with faithful transport and with the faults."""
        cells = _cells(data)

        def at(scheme: str, k: int) -> Cell:
            return cells.get((scheme, k), _NOTHING)

        for scheme, medians in MEDIANS_MS.items():
            for k, paper in zip(KS, medians, strict=True):
                cell, words = at(scheme, k), {"scheme": scheme, "k": k, "paper": paper}
                ledger.judge("{scheme}-{k}", str(cell), cell.quantile_ms(0.5), **words)
        of_k = ((at("mmptcp-lt", k).quantile_ms(0.5), at("tcp", k).quantile_ms(0.5)) for k in KS)
        ratios = [a / b for a, b in of_k if a and b]
        near = [1 / 1.25 <= r <= 1.25 for r in ratios]
        note = "ratio of medians within 1.25 for all k; partly: for one"
        judged = grade(len(near) == len(KS) and all(near), any(near), note)
        shown = ", ".join(f"{r:.3g}" for r in ratios) or "no data"
        ledger.judge("lt-as-tcp", f"median FCT over TCP's: {shown}", judged)
        for scheme in ("mptcp", "mptcp-faults"):
            for k, mean, share in zip(KS, MPTCP_MEANS_S, MPTCP_COMPLETED, strict=True):
                cell, named = at(scheme, k), {"scheme": scheme, "k": k}
                found, done = cell.fct.mean, cell.completed
                shown = "no finished flow" if found is None else f"{found:.3g} s"
                ledger.judge("{scheme}-{k}-mean", shown, found, **named, mean=mean)
                shown = told("{:.1%}", done)
                ledger.judge("{scheme}-{k}-completed", shown, done, **named, share=share)

    def frame(self) -> Frame:
        """Return medians with quartiles, and the share of flows that finish."""
        groups = [str(k) for k in self.ks]

        def times(axes: Axes, data: pl.DataFrame) -> None:
            of = self._by_scheme(data)
            low, middle, high = (
                {s: [c.quantile_ms(q) for c in row] for s, row in of.items()}
                for q in (0.25, 0.5, 0.75)
            )
            style.bars(axes, groups, middle)
            style.ranges(axes, {s: list(zip(low[s], high[s], strict=True)) for s in of})
            style.plain_log(axes, bottom=10)

        def finished(axes: Axes, data: pl.DataFrame) -> None:
            of = self._by_scheme(data)
            style.bars(axes, groups, {s: [c.completed for c in row] for s, row in of.items()})

        x, y = "flows that start at once", "flows that finish and count\n(share of all)"
        panels = [Panel(times, "", x, "FCT (ms): median, quartiles"), Panel(finished, "", x, y)]
        title = f"{self.title}, 128 hosts, 100 Mbps"
        return Frame(panels, title, (4.4, 2.8), sharey=False, legend=5)

    def _by_scheme(self, data: pl.DataFrame) -> dict[str, list[Cell]]:
        cells = _cells(data)
        return {s: [cells.get((s, k), _NOTHING) for k in self.ks] for s in SCHEMES}


def _scenario(scheme: str, k: int, seed: int, bursts: int) -> str:
    random = Random(f"incast {k} {seed}")
    hosts = list(range(TREE.hosts))
    random.shuffle(hosts)
    receiver, senders = hosts[0], hosts[1 : k + 1]
    flows: list[Value] = [
        setting.flow(scheme, s, receiver, {"size": setting.SHORT, "start": f"{500 * burst}ms"})
        for burst in range(bursts)
        for s in senders
    ]
    duration = f"{bursts * EVERY_S:g}s"
    words: dict[str, Value] = {"topology": TREE.topology(), "transport": setting.transport(scheme)}
    words |= {"flows": flows}
    return dumps(scenario("mmptcp", "M-tab7", k=k, scheme=scheme, duration=duration, **words))


def _cells(data: pl.DataFrame) -> dict[tuple[str, int], Cell]:
    parts = data.partition_by("scheme", "k", as_dict=True)
    return {(str(s), int(k)): Cell.of(rows) for (s, k), rows in parts.items()}


_NOTHING = Cell(0, pl.Series(dtype=pl.Float64))


TAB7 = Tab7()
