"""The MPTCP talk: MPTCP beside packet scatter and a central scheduler."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.columns import Column
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.talk import trees
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import KEY_SEED
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
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


@dataclass(frozen=True)
class Scatter(trees.Timed):
    """A permutation in a fat-tree of 128 hosts, in which the end of a flow starts the next."""

    id: str = "T-scatter"
    k: int = 8
    columns: ClassVar[tuple[Column, ...]] = (
        Column("scheme", "string", "", "ecmp, scatter, central with its period, or mptcp"),
        KEY_SEED,
        Column("host", "string", "", "sending host"),
        Column("flows", "u32", "", "flows that it started"),
        Column("goodput_bps", "f64", "bit/s", "payload acknowledged of all its flows"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme and seed."""
        return [self._point(scheme, seed) for scheme in SCHEMES for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        routing: Table | None = None
        if scheme.startswith("central-"):
            routing = {"placement": {"period": scheme.removeprefix("central-"), "share": SHARE}}
        written = scenario(
            "talk",
            "T-scatter",
            scheme=scheme,
            duration=trees.seconds(self.duration_s),
            topology=trees.fat_tree(self.k),
            routing=routing,
            transport=SCHEMES[scheme][1],
        )
        keys: Keys = {"scheme": scheme}
        cost = trees.packets(self.k**3 // 4, self.duration_s)
        return Point(keys, dumps(written), seed, self.duration_s, cost)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each host."""
        rate = 8 * pl.col("acked_bytes").sum() / self.duration_s
        hosts = result.flows.group_by(pl.col("src").alias("host")).agg(
            pl.len().cast(pl.UInt32).alias("flows"), rate.cast(pl.Float64).alias("goodput_bps")
        )
        return hosts.sort("host")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge MPTCP beside each of the others."""
        of = {scheme: _mean(data, scheme) for scheme in SCHEMES}
        mptcp = of["mptcp"].value
        ledger.judge(
            "central", f"{of['mptcp']} against {of[FASTEST]} Mbps a host", mptcp, of[FASTEST].value
        )
        gains = {
            other: mptcp / value
            for other in ("scatter", "ecmp")
            if mptcp is not None and (value := of[other].value)
        }
        shown = {
            other: f"{gain:.3f} times {of[other]} Mbps a host" for other, gain in gains.items()
        }
        ledger.judge(
            "scatter",
            shown.get("scatter", "no data"),
            _by_seed(data, "mptcp"),
            _by_seed(data, "scatter"),
        )
        gain = gains.get("ecmp", 0.0)
        ledger.judge("ecmp", shown.get("ecmp", "no data"), gain)

    def frame(self) -> Frame:
        """Return the mean goodput of a host by scheme, with the range over the seeds."""
        colours = {"mptcp": "#d55e00", "scatter": "#009e73", "ecmp": "#7f7f7f"}

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for i, (scheme, (name, _)) in enumerate(SCHEMES.items()):
                mean = _mean(data, scheme)
                if mean.value is None or mean.low is None or mean.high is None:
                    continue
                error = [[mean.value - mean.low], [mean.high - mean.value]]
                colour = colours.get(scheme, "#0072b2")
                axes.bar(i, mean.value, 0.7, yerr=error, capsize=3, color=colour, label=name)
            axes.set_xticks(range(len(SCHEMES)), [name for name, _ in SCHEMES.values()], fontsize=8)
            axes.grid(visible=False, axis="x")

        panel = Panel(paint, y="mean goodput of a host (Mbps)", from_zero=True)
        return Frame([panel], self.title, (6.4, 3.2), legend=0)


def _mean(data: pl.DataFrame, scheme: str) -> Spread:
    """Return the mean goodput of a host in Mbit/s, by seed."""
    return Spread.of(list(_by_seed(data, scheme).values()))


def _by_seed(data: pl.DataFrame, scheme: str) -> dict[int, float]:
    rows = data.filter(pl.col("scheme") == scheme)
    means = rows.group_by("seed", maintain_order=True).agg(pl.col("goodput_bps").mean() / 1e6)
    return dict(means.iter_rows())


EXPERIMENT = Scatter()
