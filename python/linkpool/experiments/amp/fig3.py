"""AMP, Figure 3: the minimum window syndrome.

The paper assumes that an acknowledgement comes back, and the next packet arrives, at the moment at
which a packet leaves the queue. So only the bottleneck takes time here: links have no propagation
delay and those of the hosts are a hundred times as fast. The paper counts the packet in service
("the 5th packet in the queue" finds a length of 4), so the queues here do too.
"""

import random
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.experiments.amp import setting
from linkpool.experiments.declared import Published
from linkpool.experiments.rows import Floats, median, values
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study import style
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Value

MARK = 4
DURATION_S = 0.1
FROM_S, UNTIL_S = 0.05, 0.06
DRAWN_S = 60e-6
LINK = "L->R"
SINGLE, MULTI = "single-path", "multipath"
CASES = {"a": (2, 0), "b": (5, 0), "c": (4, 1)}
"""Single-path and multipath flows of each case."""


def _range(of: Floats) -> str | None:
    return f"{of.min():.2f} to {of.max():.2f}" if of.size else None


@dataclass(frozen=True)
class Fig3(Published):
    """2 and 5 single-path flows, and 4 of them with one multipath flow of 4 subflows."""

    cases: ClassVar = tuple(CASES)
    over: ClassVar = ("cases",)
    terms: ClassVar = {
        "range": lambda rows: _range(values(rows, "value")),
        "whole-median": lambda rows: median(rows.select(pl.col("value").floor()), "value"),
        "jain": lambda rows: jain(rows["value"].to_numpy()),
    }

    def point(self, seed: int, case: str) -> Point:
        """Return the run of a case; the seed draws the flows' starts."""
        single, multi = CASES[case]
        rng = random.Random(f"Figure 3, seed {seed}")
        kinds = [(SINGLE, "dctcp")] * single + [(MULTI, "xmp")] * multi
        flows: list[Value] = [
            {
                "transport": scheme,
                "label": label,
                "from": f"S{i + 1}",
                "to": f"D{i + 1}",
                "start": setting.seconds(rng.uniform(0.0, 100e-6)),
            }
            for i, (label, scheme) in enumerate(kinds)
        ]
        schemes = dict.fromkeys(scheme for _, scheme in kinds)
        work = DURATION_S * setting.packets_per_second()
        return self.run(
            "A-fig3",
            {"case": case},
            seed,
            DURATION_S,
            work,
            duration=setting.seconds(DURATION_S),
            pairs=len(kinds),
            transports={s: setting.transport(s, {"cwnd_min": 1}) for s in schemes},
            flows=flows,
            start=setting.seconds(FROM_S),
            until=setting.seconds(UNTIL_S),
        )

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the samples of queue and windows, goodputs and the share of marked packets."""
        labels = result.flows.select("flow", "label")
        queue, link = (table.filter(link=LINK) for table in (result.queue, result.links))
        cwnd = result.cwnd.join(labels, on="flow", maintain_order="left")
        marked = pl.col("marks") / pl.col("packets")
        rows = [
            _rows(queue, "queue", pl.col("queue_pkts")),
            _rows(cwnd, "cwnd", pl.col("cwnd_pkts")),
            _rows(result.flows, "goodput", pl.col("goodput_bps")),
            _rows(link, "marked", marked),
        ]
        return pl.concat(rows)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw queue and windows over a short time, a column per case."""
        title = f"{self.id}: {self.title} (K = {MARK}, no propagation delay)"
        figure, axes = style.panels(2, len(CASES), title, (3.4, 2.2), sharey="row")
        names = {
            "a": "a) 2 single-path flows",
            "b": "b) 5 single-path flows",
            "c": "c) 4 single-path, 1 multipath with 4 subflows",
        }
        for column, case in enumerate(CASES):
            rows = data.filter(pl.col("case") == case, pl.col("seed") == data["seed"].min())
            above, below = axes[0, column], axes[1, column]
            _draw_queue(above, rows)
            _draw_windows(below, rows)
            above.set_title(names[case])
            below.set_xlabel("time (µs)")
        style.from_zero(axes[0, 0])
        style.from_zero(axes[1, 0])
        axes[0, 0].set_ylabel("queue (packets)")
        axes[1, 0].set_ylabel("cwnd (packets)")
        axes[0, 0].legend(loc="lower right")
        axes[1, -1].legend(loc="upper right", fontsize=7)
        return figure


def _rows(table: pl.DataFrame, quantity: str, value: pl.Expr) -> pl.DataFrame:
    """Return a table in the columns of the data; missing columns become null."""
    kinds = {"label": pl.String, "flow": pl.UInt32, "subflow": pl.UInt32, "time_s": pl.Float64}
    sampled = quantity in ("queue", "cwnd")
    kept = [
        (pl.col(name) if name in table.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in kinds.items()
        if name != "time_s" or sampled
    ]
    times = [] if sampled else [pl.lit(None, dtype=pl.Float64).alias("time_s")]
    named = pl.lit(quantity).alias("quantity")
    return table.select(named, *kept, *times, value.cast(pl.Float64).alias("value"))


def _draw_queue(axes: Axes, rows: pl.DataFrame) -> None:
    shown = rows.filter(pl.col("quantity") == "queue", pl.col("time_s") <= FROM_S + DRAWN_S)
    times = 1e6 * (shown["time_s"].to_numpy() - FROM_S)
    axes.step(times, shown["value"].to_numpy(), where="post", color="black", lw=1.0)
    axes.axhline(MARK, color="#d55e00", ls="--", lw=1.0, label="K")


def _draw_windows(axes: Axes, rows: pl.DataFrame) -> None:
    shown = rows.filter(pl.col("quantity") == "cwnd", pl.col("time_s") <= FROM_S + DRAWN_S)
    named: set[str] = set()
    for part in shown.partition_by("flow", "subflow", maintain_order=True):
        scheme = "dctcp" if part["label"][0] == SINGLE else "xmp"
        times = 1e6 * (part["time_s"].to_numpy() - FROM_S)
        name = NAMES[scheme] + ("" if scheme == "dctcp" else ", each subflow")
        axes.step(
            times,
            part["value"].to_numpy(),
            where="post",
            color=LOOKS[scheme].colour,
            lw=1.0,
            alpha=0.75,
            label="_" + name if name in named else name,
        )
        named.add(name)
