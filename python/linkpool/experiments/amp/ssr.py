"""AMP, section 5.2: the same with subflow suppression switched off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import fig9, fig10, incast, longflows, queues, setting
from linkpool.experiments.amp.incast import Load
from linkpool.experiments.amp.longflows import Mix
from linkpool.experiments.amp.queues import Distribution
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study import style
from linkpool.study.claims import (
    Ledger,
    alike,
    cases,
    order_of_magnitude,
    together,
)
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.units import show_number, show_seconds

WITHOUT = "amp-nossr"
OTHERS = ("dcm", "xmp")
SCHEMES = ("dcm", "xmp", "amp", WITHOUT)
SIZE = "128KiB"
FLOWS = 4


@dataclass(frozen=True)
class Ssr(setting.Delayed):
    """Incast, fairness and queue length with AMP's suppression off, beside the other schemes."""

    id: str = "A-ssr"
    ks: tuple[int, ...] = incast.FLOWS
    dctcp: tuple[int, ...] = fig9.DCTCP_FLOWS
    delays: tuple[str, ...] = setting.DELAYS
    bursts: int = incast.BURSTS
    duration_s: float = longflows.DURATION_S
    columns: ClassVar = declared.columns("amp", "A-ssr")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the incasts, the mixes of Figure 9(c), and the mixes of Figure 10(b)."""
        found: list[Point] = []
        for delay in self.delays:
            for scheme in ("dctcp", *SCHEMES):
                for k in self.ks:
                    runs = incast.points([Load(scheme, SIZE, k, delay)], seeds, self.bursts)
                    found += [_tag(point, "incast", delay, scheme, k) for point in runs]
            for scheme in SCHEMES:
                mix = Mix(scheme, multipath=FLOWS, dctcp=4, delay=delay, duration_s=self.duration_s)
                for n in self.dctcp:
                    runs = [replace(mix, dctcp=n).point(seed) for seed in seeds]
                    found += [_tag(point, "fairness", delay, scheme, n) for point in runs]
                runs = [replace(mix, record=queues.RECORD).point(seed) for seed in seeds]
                found += [_tag(point, "queue", delay, scheme, 4) for point in runs]
        return found

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return completion times, Jain's index or queue lengths, by the load."""
        if point.keys["load"] == "queue":
            return queues.histogram(result).select(
                pl.col("queue_pkts").cast(pl.Float64).alias("value"), "samples"
            )
        if point.keys["load"] == "fairness":
            index = jain(result.flows["goodput_bps"].to_numpy())
            values = pl.DataFrame({"value": [index]}, schema={"value": pl.Float64})
        else:
            values = result.flows.select(pl.col("fct_established_s").alias("value"))
        return values.with_columns(pl.lit(1, dtype=pl.UInt32).alias("samples"))

    def frame(self) -> Frame:
        """Return mean completion times, Jain's index and queue lengths side by side."""
        multipath = "4 multipath flows, {} links"
        incasts, mixed = f"incast of {SIZE}, {{}} links", "4 multipath + 4 DCTCP, {} links"
        return Frame(
            [
                Panel(self._draw_incast, incasts, "flows in a burst", "mean FCT (ms)"),
                Panel(self._draw_fairness, multipath, "DCTCP flows", "Jain's index"),
                Panel(_draw_queue, mixed, "queue length (packets)", "CDF"),
            ],
            self.title,
            (3.4, 2.5),
            sharey=False,
        )

    def _draw_incast(self, axes: Axes, data: pl.DataFrame) -> None:
        table = _Table(data)
        schemes = ("dctcp", *SCHEMES)
        means = {s: [_ms(table.mean("incast", s, k)) for k in self.ks] for s in schemes}
        style.bars(axes, [str(k) for k in self.ks], means)
        style.plain_log(axes, bottom=0.1)

    def _draw_fairness(self, axes: Axes, data: pl.DataFrame) -> None:
        table = _Table(data)
        for scheme in SCHEMES:
            runs = [table.values("fairness", scheme, n) for n in self.dctcp]
            shown = [(n, v) for n, v in zip(self.dctcp, runs, strict=True) if v]
            style.lines(
                axes,
                scheme,
                [n for n, _ in shown],
                [float(np.mean(v)) for _, v in shown],
                [min(v) for _, v in shown],
                [max(v) for _, v in shown],
            )
        axes.set_xticks(self.dctcp)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge "all three approaches present equally poor performance" in each figure."""
        table = _Table(data)
        _judge_incast(ledger, table)
        self._judge_fairness(ledger, table)
        _judge_queue(ledger, table)

    def _judge_fairness(self, ledger: Ledger, table: "_Table") -> None:
        close = []
        for n in self.dctcp:
            mine = table.mean("fairness", WITHOUT, n)
            others = [x for s in OTHERS if (x := table.mean("fairness", s, n)) is not None]
            if mine is not None and others:
                close.append(min(others) - 0.05 <= mine <= max(others) + 0.05)
        ledger.judge("fairness", f"in {cases(close)}", close)


class _Table:
    """The values of each load, at one delay."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._rows = rows

    def values(self, load: str, scheme: str, k: int) -> list[float]:
        """Return the values of incast or fairness."""
        return self._of(load, scheme, k)["value"].drop_nulls().to_list()

    def mean(self, load: str, scheme: str, k: int) -> float | None:
        """Return the mean value of incast or fairness."""
        values = self.values(load, scheme, k)
        return float(np.mean(values)) if values else None

    def queue(self, scheme: str) -> Distribution | None:
        """Return the queue lengths."""
        rows = self._of("queue", scheme, 4)
        return Distribution.of(rows.rename({"value": "queue_pkts"}))

    def _of(self, load: str, scheme: str, k: int) -> pl.DataFrame:
        named = (pl.col("load") == load, pl.col("scheme") == scheme, pl.col("k") == k)
        return self._rows.filter(*named)


def _judge_incast(ledger: Ledger, table: _Table) -> None:
    mine, dctcp = table.mean("incast", WITHOUT, 30), table.mean("incast", "dctcp", 30)
    others = {s: table.mean("incast", s, 30) for s in OTHERS}
    ratio = None if mine is None or not dctcp else mine / dctcp
    parts = ", ".join(f"{NAMES[s]} {show_seconds(mean)}" for s, mean in others.items())
    ledger.judge(
        "incast",
        f"mean FCT {show_seconds(mine)}, {show_number(ratio)} times DCTCP's; {parts}",
        together(order_of_magnitude(ratio), *(alike(mine, mean) for mean in others.values())),
    )


def _judge_queue(ledger: Ledger, table: _Table) -> None:
    found = {s: table.queue(s) for s in (*OTHERS, WITHOUT)}
    medians = {s: d.quantile(0.5) for s, d in found.items() if d is not None}
    mine = medians.get(WITHOUT)
    others = [m for s, m in medians.items() if s != WITHOUT]
    gap = None
    if mine is not None and others:
        gap = max(min(others) - mine, mine - max(others), 0)
    ledger.judge(
        "queue", "medians: " + ", ".join(f"{NAMES[s]} {m}" for s, m in medians.items()), gap
    )


def _draw_queue(axes: Axes, data: pl.DataFrame) -> None:
    for scheme in SCHEMES:
        fig10.draw_cdf(axes, scheme, _Table(data).queue(scheme))


def _tag(point: Point, load: str, delay: str, scheme: str, k: int) -> Point:
    return replace(point, keys={"load": load, "delay": delay, "scheme": scheme, "k": k})


def _ms(value: float | None) -> float | None:
    return None if value is None else 1e3 * value


EXPERIMENT = Ssr()
