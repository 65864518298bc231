"""MMPTCP, Tables 6 and 7: long flows alone, and incasts of short flows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import panels
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.mmptcp import mixed, setting
from linkpool.experiments.mmptcp.mixed import CORE, LONG, with_sd
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

TREE = Tree(1)
STEP = 64
"""Half of the hosts: every flow leaves its pod. The paper does not name its stride."""
SECONDS = (1, 2, 5, 20)
"""The durations of the table."""


def _goodputs(rows: pl.DataFrame) -> Sample:
    """Describe the goodputs of flows over all seconds, in Mbit/s: means of their seconds."""
    flows, seconds = rows.filter(pl.col("kind") == LONG), int(str(rows["second"].max() or 0))
    if flows.is_empty() or not seconds:
        return describe(flows["goodput_bps"].to_numpy())
    means = flows.group_by("scheme", "seed", "flow", maintain_order=True).agg(
        pl.col("goodput_bps").sum() / seconds
    )
    return describe(1e-6 * means["goodput_bps"].to_numpy())


@dataclass(frozen=True)
class Tab6(LongRuns):
    """One run of 20 s gives all durations, as flows never end: a run of 5 s is its beginning."""

    schemes: ClassVar = ("mptcp", "mmptcp", "mptcp-faults", "mmptcp-faults")
    over: ClassVar = ("schemes",)
    terms: ClassVar = {
        "goodput": lambda rows: _goodputs(rows).mean,
        "rates": lambda rows: with_sd(_goodputs(rows)),
        "core": lambda rows: mixed.Cell(rows).utilisation,
        "loss": lambda rows: mixed.Cell(rows).loss,
    }

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme."""
        of: dict[str, Value] = {"topology": TREE.topology(), "transport": setting.transport(scheme)}
        of |= {"duration": f"{self.duration_s:g}s"}
        packets = TREE.hosts * 0.8e8 * self.duration_s / (8 * 1400)
        return self.run("M-tab6", {"scheme": scheme}, seed, self.duration_s, packets, **of)

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
            for seconds in SECONDS
        }

    def frame(self) -> Frame:
        """Return the columns of the table against the duration."""

        def panel(title: str, name: str) -> Panel:
            of = self.of(name)

            def paint(axes: Axes, data: pl.DataFrame) -> None:
                until = [data.filter(pl.col("second") <= s) for s in SECONDS]
                heights = {
                    scheme: [of(rows.filter(scheme=scheme)) for rows in until]
                    for scheme in self.schemes
                }
                style.bars(axes, [f"{seconds} s" for seconds in SECONDS], heights)

            return Panel(paint, title, "duration", from_zero=True)

        of_table = [
            panel("goodput (Mbps), mean", "goodput"),
            panel("mean core utilisation (%)", "core"),
            panel("mean core loss (%)", "loss"),
        ]
        title = f"{self.title}, 128 hosts, 1:1, stride {STEP}"
        return Frame(of_table, title, (3.2, 2.8), sharey=False, together=True)


KS = (20, 40, 100)
EVERY_S = 0.5
SCHEMES = ("mmptcp", "mmptcp-lt", "tcp", "mptcp", "mptcp-faults")


def _counted(rows: pl.DataFrame) -> pl.Series:
    """Return the completion times of finished flows that count, in milliseconds.

    The paper's simulation gives up a connection whose SYN is unanswered when the last burst has
    had its time. So these are of flows that were established by then.
    """
    return 1e3 * rows.filter("counted")["fct_established_s"].drop_nulls()


def medians(rows: pl.DataFrame) -> str:
    """Write the median, and the number of flows that do not count."""
    times = _counted(rows)
    if times.is_empty():
        return "no finished flow"
    left_out = rows.height - times.len()
    return f"{times.quantile(0.5, 'linear'):.4g} ms" + (
        f", {left_out:,} of {rows.height:,} flows not counted" if left_out else ""
    )


@dataclass(frozen=True)
class Tab7(LongRuns):
    """Every 500 ms, 20, 40 or 100 hosts drawn at random send 70 KB each to one host."""

    ks: tuple[int, ...] = KS
    step_s: ClassVar = EVERY_S
    least_s: ClassVar = EVERY_S
    seeds: int = 20
    schemes: ClassVar = SCHEMES
    over: ClassVar = ("ks", "schemes")
    terms: ClassVar = {"medians": medians}

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

    def frame(self) -> Frame:
        """Return medians with quartiles, and the share of flows that finish."""
        groups = [str(k) for k in self.ks]

        def times(axes: Axes, data: pl.DataFrame) -> None:
            of = panels.of_each(_counted, data, SCHEMES, "k", self.ks)
            low, middle, high = (
                {s: [times.quantile(q, "linear") for times in row] for s, row in of.items()}
                for q in (0.25, 0.5, 0.75)
            )
            style.bars(axes, groups, middle)
            style.ranges(axes, {s: list(zip(low[s], high[s], strict=True)) for s in of})
            style.plain_log(axes, bottom=10)

        x, y = "flows that start at once", "flows that finish and count\n(share of all)"
        finished = panels.bars(self.of("completed"), SCHEMES, "k", self.ks, x=x, y=y)
        both = [Panel(times, "", x, "FCT (ms): median, quartiles"), finished]
        title = f"{self.title}, 128 hosts, 100 Mbps"
        return Frame(both, title, (4.4, 2.8), sharey=False, legend=5)


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
