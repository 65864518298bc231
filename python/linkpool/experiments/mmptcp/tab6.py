"""MMPTCP, Table 6: long flows alone, and what switching between phases costs them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.mmptcp import setting
from linkpool.experiments.mmptcp.mixed import CORE, LONG
from linkpool.experiments.mmptcp.mixed_table import number, percent
from linkpool.experiments.mmptcp.setting import ENDS, Tree
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import Ledger
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
SCHEMES = tuple(scheme + end for end in ENDS for scheme in PAPER)
LOSS = {1: 0.002, 2: 0.003, 5: 0.003, 20: 0.003}
"""Per cent, with both schemes."""


@dataclass(frozen=True)
class Tab6(LongRuns):
    """One run of 20 s gives all durations, as flows never end: a run of 5 s is its beginning."""

    id: str = "M-tab6"
    columns: ClassVar = declared.columns("mmptcp", "M-tab6")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme and seed."""
        return [self._point(scheme, seed) for scheme in SCHEMES for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        duration = f"{self.duration_s:g}s"
        words: dict[str, Value] = {"topology": TREE.topology(), "queue": setting.queue()}
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
                _judge(ledger, scheme + end, rows, goodput, core, LOSS[seconds])
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
                    for scheme in SCHEMES
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


def _judge(
    ledger: Ledger, scheme: str, rows: pl.DataFrame, goodput: float, core: float, loss: float
) -> None:
    seconds = int(str(rows["second"].max() or 0))
    mine = _goodputs(rows, seconds)
    spread = "" if mine.sd is None else f" ± {mine.sd:.3g}"
    ledger.judge(
        "goodput-{scheme}",
        "no data" if mine.mean is None else f"{mine.mean:.3g}{spread} Mbps",
        mine.mean,
        scheme=scheme,
        goodput=goodput,
    )
    ledger.judge(
        "core-{scheme}", percent(_utilisation(rows)), _utilisation(rows), scheme=scheme, core=core
    )
    ledger.judge("loss-{scheme}", percent(_loss(rows)), _loss(rows), scheme=scheme, loss=loss)


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


EXPERIMENT = Tab6()
