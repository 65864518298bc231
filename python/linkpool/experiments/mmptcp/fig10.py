"""MMPTCP, Figure 10: as many subflows as a flow has paths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed, mixed_table, quantities, setting
from linkpool.experiments.mmptcp.mixed import (
    LONG,
    LONG_SHARE,
    NOTHING,
    OVERSUBSCRIBED,
    QUIET_S,
    SECOND,
    SHORT,
    Mixed,
)
from linkpool.experiments.mmptcp.mixed_table import listed
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

SCHEMES = ("mmptcp", "mmptcp-as")
ARRIVALS = 256.0
RACK = 16
POD = 64
SUBFLOWS = {"core": 8, "aggregation": 4, "access": 1}
"""Subflows of phase 2 by the highest layer that a flow crosses."""


@dataclass(frozen=True)
class Fig10(Mixed):
    """Both schemes have the same flows between the same hosts, drawn for each seed."""

    id: str = "M-fig10"
    seeds: int = 20
    columns: ClassVar = declared.columns("mmptcp", "M-fig10")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both schemes and every seed."""
        return [self._point(scheme, seed) for scheme in SCHEMES for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        senders = int(LONG_SHARE * OVERSUBSCRIBED.hosts)
        work = senders * 0.6e8 * self.duration_s / (8 * 1400)
        work += ARRIVALS * self.duration_s * setting.SHORT_PACKETS
        written = partial(self._scenario, scheme, seed)
        return Point({"scheme": scheme}, written, seed, self.duration_s, work)

    def _scenario(self, scheme: str, seed: int) -> str:
        flows = list(_flows(scheme, self.duration_s, Random(f"random matrix {seed}")))
        used = sorted({str(flow["transport"]) for flow in flows})
        duration = f"{self.duration_s:g}s"
        scenario: dict[str, Value] = {
            "name": f"random matrix, {scheme}",
            "duration": duration,
            "drain": setting.DRAIN,
            "topology": OVERSUBSCRIBED.topology(),
            "queue": setting.queue(),
            "transport": {layer: _transport(scheme, layer) for layer in used},
            "record": {"counters": {"every": SECOND, "until": duration}},
            "workload": {"flow": list[Value](flows)},
        }
        return dumps(scenario)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge completion times of short flows, at the tail too, and goodputs of long ones."""
        found = mixed.cells(data, "scheme")
        cells = {scheme: found.get(scheme, NOTHING) for scheme in SCHEMES}
        compared: dict[str, mixed_table.Of] = {
            "mean": quantities.fct,
            "tail-99": lambda c: mixed_table.percentile(c, 0.99),
            "tail-999": lambda c: mixed_table.percentile(c, 0.999),
        }
        for name, of in compared.items():
            shown = listed({s: of(c) for s, c in cells.items()}, "ms")
            ledger.judge(name, shown, *(cells[s].by_seed(of) for s in ("mmptcp-as", "mmptcp")))
        goodput = {s: c.goodput.mean for s, c in cells.items()}
        ledger.judge("goodput", listed(goodput, "Mbps"), goodput["mmptcp-as"], goodput["mmptcp"])

    def frame(self) -> Frame:
        """Return the distributions of completion times, and of goodputs."""
        times = mixed_table.tail(SCHEMES, "FCT at least (ms)", y="share of short flows", title="")

        def goodputs(axes: Axes, data: pl.DataFrame) -> None:
            long.paint(axes, data)
            axes.set_yscale("linear")

        x, y = "goodput at least (Mbps)", "share of long flows"
        long = mixed_table.tail(SCHEMES, x, lambda cell: cell.goodputs, y, "")
        panels = [times, replace(long, paint=goodputs)]
        return Frame(panels, f"{self.title}, 512 hosts, 4:1", (4.4, 2.8), sharey=False)


def _transport(scheme: str, layer: str) -> Value:
    count = SUBFLOWS[layer] if scheme == "mmptcp-as" else setting.SUBFLOWS
    return dict(setting.transport("mmptcp", {"subflows": count}))


def _flows(scheme: str, duration_s: float, random: Random) -> Iterator[dict[str, Value]]:
    """Give long flows of a third of the hosts, and short ones of the others, as they are drawn."""
    hosts = list(range(OVERSUBSCRIBED.hosts))
    random.shuffle(hosts)
    count = int(LONG_SHARE * len(hosts))
    for source in hosts[:count]:
        yield _flow(source, random, {"label": LONG, "stop": f"{duration_s:g}s"})
    start = random.expovariate(ARRIVALS)
    stop = max(duration_s - QUIET_S, duration_s / 2)
    while start < stop:
        keys: dict[str, Value] = {"label": SHORT, "size": setting.SHORT}
        yield _flow(random.choice(hosts[count:]), random, {**keys, "start": f"{start * 1e6:.0f}us"})
        start += random.expovariate(ARRIVALS)


def _flow(source: int, random: Random, keys: dict[str, Value]) -> dict[str, Value]:
    destination = random.randrange(OVERSUBSCRIBED.hosts - 1)
    destination += destination >= source
    return setting.flow(_layer(source, destination), source, destination, keys)


def _layer(source: int, destination: int) -> str:
    if source // RACK == destination // RACK:
        return "access"
    return "aggregation" if source // POD == destination // POD else "core"


EXPERIMENT = Fig10()
