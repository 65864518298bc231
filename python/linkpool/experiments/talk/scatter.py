"""The MPTCP talk: MPTCP beside packet scatter and a central scheduler."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.rows import by_seed, ratio, spread, told
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Table, dumps

PERIODS_MS = (1000, 100, 10)
"""From one look of the scheduler to the next."""
FASTEST = f"central-{min(PERIODS_MS)}ms"
SHARE = 0.1
"""The share of its host's link that a flow must have got in a period to be placed."""

SCHEMES: dict[str, tuple[str, Table]] = {
    "ecmp": ("TCP, ECMP", trees.tcp()),
    "scatter": ("TCP, packets\nscattered", trees.tcp(paths="scatter", dupack_threshold="auto")),
    **{
        f"central-{ms}ms": (f"TCP, placed\nevery {ms} ms", trees.tcp(paths="placed"))
        for ms in PERIODS_MS
    },
    "mptcp": ("MPTCP,\n8 subflows", trees.mptcp(8)),
}
COLOURS = {"mptcp": "#d55e00", "scatter": "#009e73", "ecmp": "#7f7f7f"}
MBPS = pl.col("goodput_bps").mean() / 1e6
"""The mean goodput of a host."""


@dataclass(frozen=True)
class Scatter(trees.Timed):
    """A permutation in a fat-tree of 128 hosts, in which the end of a flow starts the next."""

    id: str = "T-scatter"
    k: int = 8
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("schemes",)
    columns: ClassVar = declared.columns("talk", "T-scatter")

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme; a central scheduler has a period."""
        _, central, period = scheme.partition("central-")
        placement: Table = {"placement": {"period": period, "share": SHARE}}
        written = scenario(
            "talk",
            "T-scatter",
            scheme=scheme,
            duration=trees.seconds(self.duration_s),
            topology=trees.fat_tree(self.k),
            routing=placement if central else None,
            transport=SCHEMES[scheme][1],
        )
        cost = trees.packets(self.k**3 // 4, self.duration_s)
        return Point({"scheme": scheme}, dumps(written), seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each host."""
        rate = 8 * pl.col("acked_bytes").sum() / self.duration_s
        hosts = result.flows.group_by(pl.col("src").alias("host")).agg(
            pl.len().cast(pl.UInt32).alias("flows"), rate.cast(pl.Float64).alias("goodput_bps")
        )
        return hosts.sort("host")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge MPTCP beside each of the others."""
        of = {scheme: spread(data, MBPS, scheme=scheme) for scheme in SCHEMES}
        mptcp, fastest = of["mptcp"], of[FASTEST]
        central = f"{mptcp} against {fastest} Mbps a host"
        ledger.judge("central", central, mptcp.value, fastest.value)
        gains = {other: ratio(mptcp.value, of[other].value) for other in ("scatter", "ecmp")}
        shown = {o: told(f"{{:.3f}} times {of[o]} Mbps a host", g) for o, g in gains.items()}
        seeds = (by_seed(data, MBPS, scheme=scheme) for scheme in ("mptcp", "scatter"))
        ledger.judge("scatter", shown["scatter"], *seeds)
        ledger.judge("ecmp", shown["ecmp"], gains["ecmp"] or 0.0)

    def frame(self) -> Frame:
        """Return the mean goodput of a host by scheme, with the range over the seeds."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for i, (scheme, (name, _)) in enumerate(SCHEMES.items()):
                mean = spread(data, MBPS, scheme=scheme)
                if mean.value is None or mean.low is None or mean.high is None:
                    continue
                error = [[mean.value - mean.low], [mean.high - mean.value]]
                colour = COLOURS.get(scheme, "#0072b2")
                axes.bar(i, mean.value, 0.7, yerr=error, capsize=3, color=colour, label=name)
            axes.set_xticks(range(len(SCHEMES)), [name for name, _ in SCHEMES.values()], fontsize=8)
            axes.grid(visible=False, axis="x")

        panel = Panel(paint, y="mean goodput of a host (Mbps)", from_zero=True)
        return Frame([panel], self.title, (6.4, 3.2), legend=0)


EXPERIMENT = Scatter()
