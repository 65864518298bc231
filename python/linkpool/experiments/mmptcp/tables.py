"""MMPTCP, Tables 1, 2, 3, 5 and 8: schemes of long and of short flows in the common scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.formulas import Found, Quantity
from linkpool.experiments.mmptcp import mixed
from linkpool.experiments.mmptcp.mixed import QUANTITIES, Cell, Mix, Mixed
from linkpool.experiments.mmptcp.setting import ENDS, Tree
from linkpool.experiments.rows import by_seed
from linkpool.result import Result
from linkpool.stats import describe
from linkpool.study.claims import Verdict, above, together
from linkpool.study.frame import Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES

ARRIVALS = 256.0
COLUMNS = declared.columns("mmptcp", "table")


@dataclass(frozen=True)
class Table(Mixed):
    """A table with a row for each scheme."""

    schemes: ClassVar[tuple[str, ...]]
    over: ClassVar[tuple[str, ...]] = ("schemes",)

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme; all flows are of it."""
        return Mix(scheme, scheme, ARRIVALS, self.duration_s)

    def point(self, seed: int, *of: Any) -> Point:
        """Return the run of a scheme."""
        (scheme,) = of
        return self.mix(scheme).point({"scheme": scheme}, seed)


LOADS = {"100Mbps": (100, 33), "1000Mbps": (1000, 33), "1000Mbps-quarter": (1000, 25)}
"""By reading: the rate of all links, Mbit/s, and the hosts with long flows, in per cent. At 1 Gbps
the goodput and the utilisation that are printed fit a quarter of the hosts, not a third."""


@dataclass(frozen=True)
class Tab1(Table):
    """MMPTCP beside MPTCP at 100 Mbps and 1 Gbps, with Figure 2."""

    schemes: ClassVar = ("mptcp", "mptcp-faults", "mmptcp")
    loads: ClassVar = tuple(LOADS.values())
    over: ClassVar = ("loads", "schemes")

    def point(self, seed: int, *of: Any) -> Point:
        """Return the run of a scheme by a reading."""
        (rate, of_hosts), scheme = of
        mix = replace(self.mix(scheme), rate_mbps=rate, long_share=of_hosts / 100)
        keys: Keys = {"rate_mbps": rate, "long_percent": of_hosts, "scheme": scheme}
        return mix.point(keys, seed)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the readings."""
        return {
            reading: pl.col("rate_mbps").eq(rate) & pl.col("long_percent").eq(of_hosts)
            for reading, (rate, of_hosts) in LOADS.items()
        }


@dataclass(frozen=True)
class Tab2(Table):
    """Beside TCP and packet scatter."""

    schemes: ClassVar = ("ps", "tcp", "mmptcp", "mptcp", "mptcp-faults")


PAIRS = {
    "ps": ("ps", "ps"),
    "ps-tcp": ("ps", "tcp"),
    "tcp": ("tcp", "tcp"),
    "mmptcp": ("mmptcp", "mmptcp"),
    "mptcp": ("mptcp", "mptcp"),
}
"""By scheme of Table 3: the transport of long flows, and of short flows."""
MANY_ARRIVALS = 2560.0


@dataclass(frozen=True)
class Tab3(Table):
    """Ten times as many short flows, and packet scatter beside TCP."""

    schemes: ClassVar = (*PAIRS, "mptcp-faults")

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme."""
        return Mix(*PAIRS.get(scheme, (scheme, scheme)), MANY_ARRIVALS, self.duration_s)


def shares(column: str, schemes: Sequence[str], **labels: Any) -> Panel:
    """Return a panel of the shares of short flows by how many events they met."""

    def paint(axes: Axes, data: pl.DataFrame) -> None:
        for scheme in schemes:
            counts = Cell(data.filter(scheme=scheme)).short[column].to_numpy()
            if counts.size:
                n = np.arange(int(counts.max()) + 1)
                share, look = [float((counts == i).mean()) for i in n], LOOKS[scheme]
                dots: Any = {"color": look.colour, "marker": look.marker}
                axes.plot(n, share, look.dash, **dots, label=NAMES[scheme])
        axes.set_yscale("log")

    return Panel(paint, **labels)


@dataclass(frozen=True)
class Tab5(Table):
    """Limited transmit in phase 1, with Figure 5; 135 of 256 hosts send long flows."""

    schemes: ClassVar = ("mmptcp", "mmptcp-lt")
    kinds: ClassVar = {"shares": shares}

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme."""
        return replace(super().mix(scheme), tree=Tree(2), long_share=0.53)


ACCESS = "access"
PHASE_2 = {"mmptcp-fc": "fully-coupled", "mmptcp-uc": "uncoupled", "mmptcp": "lia"}
"""By scheme of Table 8: the algorithm of phase 2."""


def _access_loss(rows: pl.DataFrame) -> float | None:
    """Return the mean loss of the links between hosts and racks, in per cent, over seconds.

    The paper's column has the same "(mean)" as that of the core, which is the mean over ports: in
    Tables 2 and 3 TCP's and PS's losses tell this from the share of all packets.
    """
    busy = rows.filter(pl.col("kind") == ACCESS, pl.col("offered") > 0)
    return describe((100 * busy["drops"] / busy["offered"]).to_numpy()).mean


@dataclass(frozen=True)
class Tab8(Table):
    """The congestion control of phase 2, with Figure 8: subflows are coupled in three ways."""

    schemes: ClassVar = tuple(scheme + end for end in ENDS for scheme in PHASE_2)
    terms: ClassVar[Mapping[str, Quantity]] = {
        **QUANTITIES,
        "access-loss": _access_loss,
    }

    def tails(self, data: pl.DataFrame, end: str = "") -> Found:
        """Judge the tails: uncoupled above both others, fully coupled above linked increases."""
        schemes = [f"{scheme}{end}" for scheme in ("mmptcp-uc", "mmptcp-fc", "mmptcp")]
        uncoupled, fully, linked = (by_seed(data, self.of("p99"), scheme=s) for s in schemes)
        worst, second = together(above(uncoupled, fully, linked)), above(fully, linked)
        return Found.of("", worst if worst.verdict is Verdict.NOT else together(worst, second))

    def tails_faults(self, data: pl.DataFrame) -> Found:
        """Judge the same of those with faults."""
        return self.tails(data, "-faults")

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme: MMPTCP with or without faults."""
        end = "-faults" if scheme.endswith("-faults") else ""
        keys = {"phase_2": PHASE_2[scheme.removesuffix(end)]}
        return replace(super().mix(f"mmptcp{end}"), keys=keys)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return what all tables have, and losses of each second between hosts and racks."""
        access = result.links.filter((pl.col("layer") == "host") | (pl.col("to_layer") == "host"))
        ports = result.counters.join(access.select("link"), on="link", how="semi").select(
            pl.lit(ACCESS).alias("kind"),
            pl.lit(None, pl.Float64).alias("utilisation"),
            (pl.col("packets") + pl.col("drops")).alias("offered"),
            "drops",
        )
        rows = pl.concat([mixed.measure(result), ports], how="diagonal")
        return rows.select(column.name for column in mixed.COLUMNS)
