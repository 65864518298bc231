"""The MPTCP talk: a fat-tree whose hosts have two NICs."""

import random
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.rows import ratio, spread, told
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table

HALF, LOCAL = "half", "local"
WORKLOADS = {HALF: "half of the hosts active", LOCAL: "half of the traffic in the rack"}
SCHEMES: dict[str, tuple[str, Table]] = {
    "tcp": ("TCP", trees.tcp()),
    "scatter": (
        "TCP, packets scattered",
        trees.tcp(paths="scatter", dupack_threshold="auto"),
    ),
    "mptcp": ("MPTCP, 8 subflows", trees.mptcp(8)),
}


@dataclass(frozen=True)
class Dual(trees.Timed):
    """Long flows in a fat-tree of 128 hosts, of which each has one NIC or two."""

    id: str = "T-dual"
    k: int = 8
    workloads: tuple[str, ...] = (HALF, LOCAL)
    schemes: ClassVar = tuple(SCHEMES)
    nics: ClassVar = (1, 2)
    over: ClassVar = ("workloads", "schemes", "nics")
    columns: ClassVar = declared.columns("talk", "T-dual")

    def point(self, seed: int, workload: str, scheme: str, nics: int) -> Point:
        """Return the run with so many NICs of a host."""
        pairs = self._pairs(workload, random.Random(f"T-dual, {workload}, seed {seed}"))
        name = f"{WORKLOADS[workload]}, {scheme}, {nics} NICs"
        fabric = trees.fat_tree(self.k, nics=nics)
        flows = trees.flows(scheme, pairs)
        transport = SCHEMES[scheme][1]
        text = trees.long_flows(name, self.duration_s, fabric, scheme, transport, flows)
        cost = trees.packets(nics * len(pairs), self.duration_s)
        keys: Keys = {"workload": workload, "scheme": scheme, "nics": nics}
        return Point(keys, text, seed, self.duration_s, cost)

    def _pairs(self, workload: str, rng: random.Random) -> list[tuple[int, int]]:
        """Return the pairs of senders and receivers; a permutation of the senders."""
        hosts, rack = self.k**3 // 4, self.k // 2
        if workload == HALF:
            return trees.permutation(sorted(rng.sample(range(hosts), hosts // 2)), rng)
        near = [h for h in range(hosts) if h % rack < rack // 2]
        within = [(h, h - h % rack + (h + 1) % (rack // 2)) for h in near]
        return within + trees.permutation([h for h in range(hosts) if h not in set(near)], rng)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each flow, and its rate under the best sharing."""
        problem = Measured.of(result).problem
        best = pl.Series("best_bps", trees.max_min(problem))
        nic = pl.Series("nic_bps", problem.payload * trees.RATE_BPS)
        return trees.goodputs(result).with_columns(nic, best)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each scheme's goodput with two NICs."""
        for workload in self.workloads:
            mptcp, tcp = (nics_worth(data, workload, s, 2) for s in ("mptcp", "tcp"))
            best = nics_worth(data, workload, "mptcp", 2, "best_bps")
            words = {"workload": workload, "what": WORKLOADS[workload]}
            shown = f"{mptcp} NICs; the best sharing would give {best}"
            ledger.judge("{workload}", shown, mptcp.value, **words)
            gain = ratio(mptcp.value, tcp.value)
            shown = told(f"MPTCP {{:.2f}} times TCP ({tcp} NICs)", gain)
            ledger.judge("{workload}-tcp", shown, gain, **words)

    def frame(self) -> Frame:
        """Return the mean goodput of each scheme in NICs, a panel per workload."""
        panels = [self._panel(workload) for workload in self.workloads]
        return Frame(panels, self.title, (3.6, 2.8), legend=3)

    def _panel(self, workload: str) -> Panel:
        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for i, nics in enumerate(self.nics):
                x = [j + 0.38 * (i - 0.5) for j in range(len(SCHEMES))]
                y = [nics_worth(data, workload, s, nics).value or 0.0 for s in SCHEMES]
                colour, several = ("#bbbbbb", "#0072b2")[i], "s" if nics > 1 else ""
                axes.bar(x, y, 0.34, color=colour, label=f"{nics} NIC{several} a host")
                best = nics_worth(data, workload, "tcp", nics, "best_bps").value
                if best is not None:
                    label = f"best sharing, {nics} NIC{several}"
                    axes.axhline(best, color=colour, lw=1.0, ls="--", label=label)
            axes.axhline(1.0, color="#d55e00", lw=1.0, ls=":", label="one NIC")
            names = [name.replace(", ", ",\n") for name, _ in SCHEMES.values()]
            axes.set_xticks(range(len(SCHEMES)), names, fontsize=8)
            axes.grid(visible=False, axis="x")

        return Panel(paint, WORKLOADS[workload], y="mean goodput of a flow (NICs)", from_zero=True)


def nics_worth(
    data: pl.DataFrame, workload: str, scheme: str, nics: int, column: str = "goodput_bps"
) -> Spread:
    """Return the mean rate of the flows over the payload rate of one NIC, by seed."""
    share = (pl.col(column) / pl.col("nic_bps")).mean()
    return spread(data, share, workload=workload, scheme=scheme, nics=nics)


EXPERIMENT = Dual()
