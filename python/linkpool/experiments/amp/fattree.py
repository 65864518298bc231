"""AMP, Figures 12 and 14: jobs and short flows in the fat-tree of section 5.3."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import setting
from linkpool.experiments.amp.setting import seconds
from linkpool.experiments.declared import Kept, Published
from linkpool.experiments.rows import Floats, by_seed, each_named, median, ratio, told, values
from linkpool.experiments.scenarios import scenario
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import Ledger, about, below, weakest
from linkpool.study.experiment import Experiment
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps
from linkpool.units import show_seconds

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
PAPER_XMP = {4: 1.2e-3, 6: 1.5e-3, 8: 1.8e-3}
LONG_B = 192e6

OF_JOBS = ("text", "implementation")
"""What the readings say of jobs and of long flows. The text: the next job at once, Pareto without a
cut, any destination. Its authors' simulation: a gap between jobs, sizes of 64 to 768 MB, at most
four long flows into a host."""


@dataclass(frozen=True)
class Fig12(Published):
    """Job completion times by the scheme of the long flows and its subflows."""

    id: str = "A-fig12"
    long_flows: int = 1000
    readings: tuple[str, ...] = OF_JOBS
    apart: ClassVar = ("reading", "readings")
    said: ClassVar = "each run until {long_flows} long flows have ended"
    cuts: ClassVar = {"long_flows": (0, 1)}
    kept: ClassVar = Kept("jobs", ["jct_s"])
    columns: ClassVar = declared.columns("amp", "A-fig12")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return a run for each reading, scheme and number of subflows."""
        return [
            self.point(seed, reading, scheme, subflows)
            for reading in self.readings
            for scheme in SCHEMES
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

    def frame(self) -> Frame:
        """Return the distributions as the paper's three panels do."""

        def panel(subflows: int) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                for scheme in SCHEMES:
                    jct_s = values(data, "jct_s", **_at(scheme, subflows))
                    style.distribution(axes, scheme, 1e3 * jct_s)
                axes.set_xlim(0.0, 3.0)
                axes.set_ylim(0.0, 1.0)
                axes.set_xlabel("job completion time (ms)")

            return Panel(paint, f"{subflows} subflows, {{}}", y="share of jobs")

        return Frame([panel(subflows) for subflows in SUBFLOWS], self.title, sharex=True)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim by the 90th percentile of completion times."""
        at = [("dctcp", 1), *((s, n) for s in MULTIPATH for n in SUBFLOWS)]
        jct = {(s, n): describe(values(data, "jct_s", **_at(s, n))) for s, n in at}
        p90 = {of: sample.p90 for of, sample in jct.items()}
        for n, paper in PAPER_XMP.items():
            words = {"subflows": n, "value": show_seconds(paper)}
            judged = about(p90["xmp", n], paper)
            ledger.judge("xmp-{subflows}", _show(jct["xmp", n]), judged, **words)
        ledger.judge("amp-8", _show(jct["amp", 8]), p90["amp", 8])
        over = [r for n in SUBFLOWS if (r := ratio(p90["amp", n], p90["dctcp", 1])) is not None]
        shown = f"90th percentile over DCTCP's: {', '.join(f'{r:.3g}' for r in over) or 'no data'}"
        shown += f"; DCTCP {_show(jct['dctcp', 1])}"
        of_p90 = pl.col("jct_s").quantile(0.9, "linear")
        seeds = {of: by_seed(data, of_p90, **_at(*of)) for of in at}
        better = (below(seeds["amp", n], seeds["dctcp", 1]) for n in SUBFLOWS)
        ledger.judge("amp-baseline", shown, weakest(*better))
        growth = {s: ratio(p90[s, 8], p90[s, 4]) for s in ("dcm", "xmp")}
        shown = f"90th percentile with 8 subflows over that with 4: {each_named(growth)}"
        ledger.judge("growth", shown, [r >= 1.25 for r in growth.values() if r is not None])
        left = ratio(p90["amp", 8], p90["xmp", 8])
        less = None if left is None else 1.0 - left
        ledger.judge("improvement", told("{:.0%} less", less), less)


def _at(scheme: str, subflows: int) -> Mapping[str, str | int]:
    return {"scheme": scheme, "subflows": subflows if scheme in MULTIPATH else 1}


def _show(sample: Sample) -> str:
    return f"{show_seconds(sample.p90)} ({sample.count:,} jobs)"


FIG12 = Fig12()


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

PAPER = {
    "p90": {"amp": 0.18e-3, "xmp": 0.27e-3, "dcm": 0.28e-3},
    "p99": {"amp": 0.78e-3, "xmp": 1.35e-3, "dcm": 1.41e-3},
}


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

    id: str = "A-fig14"
    scale: float = 1.0
    readings: tuple[str, ...] = tuple(READINGS)
    schemes: ClassVar = SCHEMES
    over: ClassVar = ("readings", "schemes")
    apart: ClassVar = ("reading", "readings")
    kept: ClassVar = Kept("flows", ["label", "fct_established_s", "goodput_bps"])
    columns: ClassVar = declared.columns("amp", "A-fig14")

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

    def frame(self) -> Frame:
        """Return the distribution of short flows' FCT."""

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            for scheme in SCHEMES:
                style.distribution(axes, scheme, 1e3 * _fct(data, scheme))
            style.plain_log_x(axes)
            axes.set_ylim(0.0, 1.0)

        title = "780 us between the flows of a {}"
        panel = Panel(paint, title, "FCT of short flows (ms)", "share of flows")
        return Frame([panel], self.title, columns=len(self.readings))

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge percentiles of short flows, and the goodput of long ones."""
        short, long = (data.filter(label=label) for label in (SHORT, LONG))
        for percentile, paper in PAPER.items():
            for scheme, value in paper.items():
                sample = describe(_fct(data, scheme))
                left = short.filter(scheme=scheme)["fct_established_s"].null_count()
                found = sample.p90 if percentile == "p90" else sample.p99
                more = f", {left} more unfinished" if left else ""
                shown = f"{show_seconds(found)} ({sample.count:,} flows{more})"
                words = {"percentile": percentile, "scheme": scheme, "value": percentile[1:]}
                words |= {"shown": show_seconds(value), "said": show_seconds(value)}
                ledger.judge("{percentile}-{scheme}", shown, about(found, value), **words)
        gbps = {s: median(long, "goodput_bps", scheme=s) for s in SCHEMES}
        known = {s: 1e-9 * m for s, m in gbps.items() if m is not None}
        ends = (end(known.values(), default=None) for end in (max, min))
        ledger.judge("goodput", f"median of long flows, Gbps: {each_named(known)}", *ends)


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


def _fct(data: pl.DataFrame, scheme: str) -> Floats:
    return values(data, "fct_established_s", scheme=scheme, label=SHORT)


FIG14 = Fig14()
