"""Long flows over the bottleneck of the paper's Figure 1: the common part of several figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from linkpool.columns import Column
from linkpool.experiments import columns as declared
from linkpool.experiments.amp import setting
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Value, dumps

DURATION_S = 1.0

MULTIPATH = "multipath"
DCTCP = "dctcp"
"""Labels of the two kinds of flows."""

SYNDROME = 1.25
"""A multipath flow has the syndrome when it gets more than this times a DCTCP flow's goodput."""


@dataclass(frozen=True)
class Mix:
    """Multipath flows of one scheme beside DCTCP flows, each from a host of its own, for 1 s.

    Attributes:
        scheme: the multipath scheme.
        multipath: how many multipath flows.
        dctcp: how many DCTCP flows.
        delay: one-way delay of each link.
        subflows: subflows of each multipath flow.
        mark: marking threshold K, packets.
        cwnd_min: floor of the window of both kinds of flows, packets.
        keys: further settings of the multipath transport.
        record: the scenario's `[record]` table.
        duration_s: length of the run in seconds.

    """

    scheme: str
    multipath: int
    dctcp: int
    delay: str = setting.DELAYS[0]
    subflows: int = setting.SUBFLOWS
    mark: int = setting.MARK
    cwnd_min: int = 2
    keys: Mapping[str, Value] = field(default_factory=dict)
    record: Mapping[str, Value] = field(default_factory=dict)
    duration_s: float = DURATION_S

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of this mix; without further subflows nothing is random: one run."""
        joins = self.multipath > 0 and self.subflows > 1
        return [self.point(seed) for seed in (seeds if joins else seeds[:1])]

    def point(self, seed: int) -> Point:
        """Return the run of this mix with a seed."""
        transports: dict[str, Value] = {}
        if self.multipath:
            keys = {"cwnd_min": self.cwnd_min, **self.keys}
            transports[self.scheme] = setting.transport(self.scheme, keys, self.subflows)
        if self.dctcp:
            transports["dctcp"] = setting.transport("dctcp", {"cwnd_min": self.cwnd_min})
        written = scenario(
            "amp",
            "mix",
            multipath=self.multipath,
            scheme=self.scheme,
            dctcp=self.dctcp,
            delay=self.delay,
            duration=setting.seconds(self.duration_s),
            senders=self.multipath + self.dctcp,
            queue=setting.queue(self.mark),
            transports=transports,
            flows=self._flows(),
            record=self.record or None,
        )
        identity: Keys = {
            "delay": self.delay,
            "scheme": self.scheme,
            "multipath": self.multipath,
            "dctcp": self.dctcp,
            "subflows": self.subflows,
            "mark": self.mark,
            "cwnd_min": self.cwnd_min,
        }
        work = self.duration_s * setting.packets_per_second()
        return Point(identity, dumps(written), seed, self.duration_s, work)

    def _flows(self) -> list[Value]:
        flows: list[Value] = []
        for i in range(self.multipath + self.dctcp):
            multipath = i < self.multipath
            flows.append(
                {
                    "transport": self.scheme if multipath else "dctcp",
                    "label": MULTIPATH if multipath else DCTCP,
                    "from": f"S{i + 1}",
                    "to": "R",
                }
            )
        return flows


KEYS = (
    Column("delay", "string", "", "one-way propagation delay of every link"),
    Column("scheme", "string", "", "congestion control of the multipath flows"),
    Column("multipath", "i32", "", "number of multipath flows"),
    Column("dctcp", "i32", "", "number of DCTCP flows"),
    Column("subflows", "i32", "", "subflows of each multipath flow"),
    Column("mark", "i32", "packets", "marking threshold K"),
    Column("cwnd_min", "i32", "packets", "floor of the window"),
    Column("seed", "i32", "", "seed of the run"),
)

COLUMNS = declared.columns("amp", "longflows")


def flows(result: Result) -> pl.DataFrame:
    """Return the columns of a run's flows that the analysis keeps."""
    return result.flows.select("label", "goodput_bps", pl.col("suppressions").cast(pl.UInt32))


def ratio(rows: pl.DataFrame) -> Spread:
    """Return the mean goodput of the multipath flows over that of the DCTCP flows, by seed."""
    means = _by_seed(rows)
    return Spread.of([m / d for m, d in means if m is not None and d])


def goodputs(rows: pl.DataFrame) -> tuple[Spread, Spread]:
    """Return the mean goodput, bit/s, of the multipath and of the DCTCP flows, by seed."""
    means = _by_seed(rows)
    multipath = Spread.of([m for m, _ in means if m is not None])
    return multipath, Spread.of([d for _, d in means if d is not None])


def _by_seed(rows: pl.DataFrame) -> list[tuple[float | None, float | None]]:
    mean = pl.col("goodput_bps")
    table = rows.group_by("seed", maintain_order=True).agg(
        mean.filter(pl.col("label") == MULTIPATH).mean().alias("multipath"),
        mean.filter(pl.col("label") == DCTCP).mean().alias("dctcp"),
    )
    return list(zip(table["multipath"].to_list(), table["dctcp"].to_list(), strict=True))
