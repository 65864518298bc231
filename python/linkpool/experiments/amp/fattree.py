"""AMP, Figures 12 and 14: jobs and short flows in the fat-tree of section 5.3."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import polars as pl

from linkpool.experiments.amp import setting
from linkpool.experiments.amp.setting import seconds
from linkpool.experiments.declared import Kept, Published
from linkpool.experiments.scenarios import scenario
from linkpool.study.experiment import Experiment
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps

K = 8
HOSTS = K**3 // 4
LINK_BPS = 10e9
PACKET_B = 1400

SCHEMES = ("dctcp", "dcm", "xmp", "amp")
"""Of the long flows; the short ones are always DCTCP's."""
MULTIPATH = ("dcm", "xmp", "amp")

LONG = "long"
SHORT = "short"
"""Labels of the two kinds of flows."""

LAYERS = (
    ("host", "edge", "access up"),
    ("edge", "aggregation", "aggregation up"),
    ("aggregation", "core", "core up"),
    ("core", "aggregation", "core down"),
    ("aggregation", "edge", "aggregation down"),
    ("edge", "host", "access down"),
)
"""The layers of links: from, to, and how figures name them; upwards is away from the servers."""


def fat_tree(name: str, duration: str, scheme: str, subflows: int) -> dict[str, Value]:
    """Return fabric, queues and the transports called long and short, without a workload."""
    return scenario(
        "amp",
        "fat-tree",
        name=name,
        duration=duration,
        long=setting.transport(scheme, {}, subflows),
        short=setting.transport("dctcp", {}),
    )


def layer(node: str) -> str:
    """Return the layer of a node of a fat-tree by its name."""
    return {"h": "host", "e": "edge", "a": "aggregation", "c": "core"}[node[0]]


SUBFLOWS = (4, 6, 8)
LONG_B = 192e6

OF_JOBS = ("text", "implementation")
"""What the readings say of jobs and of long flows. The text: the next job at once, Pareto without a
cut, any destination. Its authors' simulation: a gap between jobs, sizes of 64 to 768 MB, at most
four long flows into a host."""


@dataclass(frozen=True)
class Fig12(Published):
    """Job completion times by the scheme of the long flows and its subflows."""

    long_flows: int = 1000
    readings: tuple[str, ...] = OF_JOBS
    schemes: ClassVar = SCHEMES
    apart: ClassVar = ("reading", "readings")
    said: ClassVar = "each run until {long_flows} long flows have ended"
    cuts: ClassVar = {"long_flows": (0, 1)}
    kept: ClassVar = Kept("jobs", ["jct_s"])

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return a run for each reading, scheme and number of subflows."""
        return [
            self.point(seed, reading, scheme, subflows)
            for reading in self.readings
            for scheme in self.schemes
            for subflows in (SUBFLOWS if scheme in MULTIPATH else (1,))
            for seed in seeds
        ]

    def point(self, seed: int, reading: str, scheme: str, subflows: int) -> Point:
        """Return the run of a scheme of long flows."""
        name = f"jobs beside long {NAMES[scheme]} flows of {subflows} subflows, by the {reading}"
        more = scenario("amp", "A-fig12", long_flows=self.long_flows)
        written = fat_tree(name, "60s", scheme, subflows)
        written |= {"until": more["until"], "workload": more["workload"][reading]}
        keys: Keys = {"reading": reading, "scheme": scheme, "subflows": subflows}
        # Half of it if all links were full: of order and progress only.
        seconds = self.long_flows * LONG_B * 8 / (HOSTS * LINK_BPS)
        work = self.long_flows * LONG_B / PACKET_B
        return Point(keys, dumps(written), seed, seconds, work)


INTERARRIVAL_S = 780e-6
LIMIT_B = 100_000.0
"""A smaller flow is short."""

DATA_MINING = (
    (1460.0, 0.0),
    (1460.0, 0.5),
    (2920.0, 0.6),
    (4380.0, 0.7),
    (10220.0, 0.8),
    (389820.0, 0.9),
    (3076220.0, 0.95),
    (97333820.0, 0.99),
    (973333820.0, 1.0),
)
"""The table of pFabric's simulations, `datamining_mqecn`; 7.5 MB in the mean."""


class Reading(NamedTuple):
    """How often flows arrive in the whole network, and for how long."""

    flows_per_second: float
    duration_s: float


READINGS = {
    "server": Reading(HOSTS / INTERARRIVAL_S, 0.1),
    "network": Reading(1 / INTERARRIVAL_S, 2.0),
}
"""780 us between two flows of a server, as the text says, offer 7.7 times what the servers' links
carry; between two flows of the network they offer 6%."""

DRAIN = "100ms"


@dataclass(frozen=True)
class Fig14(Published):
    """FCT of short DCTCP flows by the scheme of the long ones."""

    scale: float = 1.0
    readings: tuple[str, ...] = tuple(READINGS)
    schemes: ClassVar = SCHEMES
    over: ClassVar = ("readings", "schemes")
    terms: ClassVar = {"flows": lambda rows: _flows(rows["fct_established_s"])}
    apart: ClassVar = ("reading", "readings")
    kept: ClassVar = Kept("flows", ["label", "fct_established_s", "goodput_bps"])

    def extent(self) -> str:
        """Say how long flows arrive."""
        times = [f"{READINGS[r].duration_s * self.scale:g} s" for r in self.readings]
        return f"arrivals for {' and '.join(times)}"

    def shortened(self, scale: float) -> Experiment:
        """Return it with arrivals for a shorter time."""
        return replace(self, scale=self.scale * scale)

    def point(self, seed: int, reading: str, scheme: str) -> Point:
        """Return the run of a scheme of long flows."""
        rate, duration = READINGS[reading]
        duration *= self.scale
        name = f"data mining, {NAMES[scheme]} for long flows, 780 us by {reading}"
        scenario = fat_tree(name, seconds(duration), scheme, setting.SUBFLOWS)
        scenario["drain"] = DRAIN
        below, small, large = split(LIMIT_B)
        scenario["workload"] = {
            "poisson": [
                _arrivals(SHORT, rate * below, small),
                _arrivals(LONG, rate * (1 - below), large),
            ]
        }
        keys: Keys = {"reading": reading, "scheme": scheme}
        offered = rate * 7.5e6 * 8 / (HOSTS * LINK_BPS)
        busy = min(offered, 1.0) * duration
        work = HOSTS * busy * LINK_BPS / 8 / PACKET_B
        return Point(keys, dumps(scenario), seed, duration, work)


def split(limit: float) -> tuple[float, list[Value], list[Value]]:
    """Split the table at a size: the share below it, and the tables of both parts.

    A Poisson process of which each arrival goes to one of two kinds by chance is two of them.
    """
    above = next(i for i, (size, _) in enumerate(DATA_MINING) if size > limit)
    (size0, p0), (size1, p1) = DATA_MINING[above - 1], DATA_MINING[above]
    below = p0 + (p1 - p0) * (limit - size0) / (size1 - size0)
    small = [(size, p / below) for size, p in DATA_MINING[:above]] + [(limit, 1.0)]
    large = [(limit, 0.0)] + [(size, (p - below) / (1 - below)) for size, p in DATA_MINING[above:]]
    return below, [[s, p] for s, p in small], [[s, p] for s, p in large]


def _arrivals(label: str, rate: float, table: list[Value]) -> dict[str, Value]:
    size: dict[str, Value] = {
        "cdf": table,
        "interpolation": "linear",
        "name": f"datamining_mqecn, {label}",
    }
    rates: dict[str, Value] = {"flows_per_second": rate, "allow_overload": True}
    return {"transport": label, "label": label, **rates, "size": size}


def _flows(fct_s: pl.Series) -> str:
    """Write how many flows finished, and how many did not."""
    left = fct_s.null_count()
    return f"{fct_s.count():,} flows{f', {left} more unfinished' if left else ''}"
