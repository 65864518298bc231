"""NDP paper: a permutation, one sender to four receivers, and incasts in fat-trees of 10 Gbps.

The paper simulates packets of 9,000 B, switches with eight packets of data per port, first windows
of 30 packets. Delays of links are ours: 1 us. DCTCP and MPTCP stand beside NDP as there, in FIFO
queues of 200 packets; DCTCP marks at 30.
"""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.experiments.declared import Kept, Published
from linkpool.experiments.formulas import Found
from linkpool.experiments.rows import mean
from linkpool.experiments.scenarios import transport
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.experiment import Experiment
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table, Value, dumps

RATE = "10Gbps"
RATE_BPS = 10e9
DELAY = "1us"
PAYLOAD, HEADER = 8936, 64


def queue(scheme: str) -> Table:
    """Return the queues that a scheme's switches have."""
    if scheme == "ndp":
        return {"discipline": "trimming"}
    return {"limit": 200, **({"mark": 30} if scheme == "dctcp" else {})}


def fat_tree(k: int) -> Table:
    """Return a fat-tree of k-port switches."""
    return {"fat-tree": {"k": k, "rate": RATE, "delay": DELAY}}


def scenario(name: str, scheme: str, k: int, **keys: Value) -> dict[str, Value]:
    """Return a scenario of one scheme in a fat-tree, with these further keys."""
    return {
        "name": name,
        "topology": fat_tree(k),
        "queue": queue(scheme),
        "transport": {scheme: transport("ndp", scheme)},
        **keys,
    }


GOODPUT = (8 * pl.col("measured_bytes") / pl.col("measured_s")).alias("goodput_bps")


@dataclass(frozen=True)
class LongFlows(Published, ABC):
    """An experiment of the goodputs of flows without end, after a warm-up.

    Attributes:
        duration_s: simulated seconds.
        warm_up_s: of these, the seconds that are not measured.

    """

    schemes: tuple[str, ...] = ("ndp", "mptcp", "dctcp")
    duration_s: float = 0.02
    warm_up_s: ClassVar[float]
    kept: ClassVar = Kept("flows", ["flow", GOODPUT])

    def extent(self) -> str:
        """Say how long it runs."""
        return f"{1e3 * self.duration_s:g} ms simulated, {self.seeds} seeds"

    def written(self, name: str, scheme: str, k: int, workload: Table) -> dict[str, Value]:
        """Return a scenario of this duration."""
        return scenario(
            name,
            scheme,
            k,
            duration=f"{round(self.duration_s * 1e6)}us",
            measure={"warm_up": f"{round(self.warm_up_s * 1e6)}us"},
            workload=workload,
        )


@dataclass(frozen=True)
class Permutation(LongFlows):
    """A permutation in fat-trees, for a while; goodput of each flow after the first 5 ms."""

    ks: tuple[int, ...] = (8, 12)
    warm_up_s: ClassVar = 0.005
    cuts: ClassVar = {"duration_s": (3, 0.006)}
    over: ClassVar = ("ks", "schemes")

    def point(self, seed: int, k: int, scheme: str) -> Point:
        """Return the run of a scheme in a fat-tree."""
        workload: Table = {"permutation": [{"transport": scheme}]}
        text = dumps(self.written(f"permutation, k = {k}, {scheme}", scheme, k, workload))
        packets = k**3 / 4 * self.duration_s * RATE_BPS / 72_000
        return Point({"k": k, "scheme": scheme}, text, seed, self.duration_s, packets)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the goodput of flows in their order, as the paper does."""
        figure, axes = style.panels(1, len(self.ks), "goodput of the flows of a permutation")
        for at, k in zip(axes[0], self.ks, strict=True):
            for scheme in self.schemes:
                rates = _rates(data.filter(k=k), scheme)
                ranks = [(i + 0.5) / len(rates) for i in range(len(rates))]
                colour = LOOKS[scheme].colour
                at.plot(ranks, [r / 1e9 for r in sorted(rates)], color=colour, label=NAMES[scheme])
            at.set_title(f"k = {k}, {k**3 // 4} hosts")
            at.set_xlabel("rank of the flow")
            style.from_zero(at)
        axes[0, 0].set_ylabel("goodput (Gbps)")
        style.legend(figure, axes[0, 0])
        return figure

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the fat-trees."""
        return {f"k={k}": pl.col("k").eq(k) for k in self.ks}


def _rates(data: pl.DataFrame, scheme: str) -> list[float]:
    return data.filter(scheme=scheme)["goodput_bps"].to_list()


RECEIVERS = ("h4", "h8", "h10", "h12")
SENDER, OTHER = "h0", "h6"


@dataclass(frozen=True)
class InOut(LongFlows):
    """One host sends to four, which share its link; another sends to the first of the four."""

    warm_up_s: ClassVar = 0.002
    cuts: ClassVar = {"duration_s": (3, 0.003)}
    over: ClassVar = ("schemes",)

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme."""
        pairs = [*((SENDER, to) for to in RECEIVERS), (OTHER, RECEIVERS[0])]
        flows: list[Value] = [{"transport": scheme, "from": a, "to": b} for a, b in pairs]
        name = f"one sender to four receivers, {scheme}"
        text = dumps(self.written(name, scheme, 4, {"flow": flows}))
        packets = 2 * self.duration_s * RATE_BPS / 72_000
        return Point({"scheme": scheme}, text, seed, self.duration_s, packets)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the goodput of each flow."""
        figure, axes = style.panels(1, 1, "one sender to four receivers, and another", (5, 3.2))
        names = [f"to {to}" for to in RECEIVERS] + [f"{OTHER} to {RECEIVERS[0]}"]
        means = {s: [_gbps(data, s, f) for f in range(5)] for s in self.schemes}
        zeros: dict[str, list[float | None]] = {s: [0.0] * 5 for s in self.schemes}
        style.bars(axes[0, 0], names, means, zeros)
        axes[0, 0].set_ylabel("goodput (Gbps)")
        style.legend(figure, axes[0, 0])
        return figure


def _gbps(data: pl.DataFrame, scheme: str, flow: int) -> float | None:
    found = mean(data, "goodput_bps", scheme=scheme, flow=flow)
    return None if found is None else found / 1e9


SIZE = 450_000
K = 12


def bottleneck_s(senders: int) -> float:
    """Return how long the receiver's link takes for all data with its headers."""
    packets = -(-SIZE // PAYLOAD)
    return senders * 8 * (SIZE + packets * HEADER) / RATE_BPS


@dataclass(frozen=True)
class Incast(Published):
    """Up to 400 senders of 450 KB each to one receiver, in a fat-tree of 432 hosts."""

    senders: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 100, 200, 300, 400)
    schemes: tuple[str, ...] = ("ndp", "dctcp")
    over: ClassVar = ("senders", "schemes")

    def shortened(self, scale: float) -> Experiment:
        """Take fewer seeds, and with one seed fewer senders."""
        most = 400 * scale * self.seeds
        senders = tuple(n for n in self.senders if n <= max(most, 8))
        return replace(self, seeds=max(round(self.seeds * scale), 1), senders=senders)

    def point(self, seed: int, senders: int, scheme: str) -> Point:
        """Return the run of so many senders."""
        burst: Table = {
            "transport": scheme,
            "senders": senders,
            "receiver": "h0",
            "size": f"{SIZE}B",
            "every": "10s",
        }
        name = f"incast of {senders}, {scheme}"
        workload: Table = {"incast": [burst]}
        written = scenario(name, scheme, K, duration="10s", workload=workload)
        keys: Keys = {"senders": senders, "scheme": scheme}
        return Point(keys, dumps(written), seed, bottleneck_s(senders), senders * 51)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return one row: the first and the last completion."""
        times = result.flows["fct_s"]
        last = None if times.null_count() else times.max()
        timeouts = result.flows["timeouts"].sum()
        row = {"first_s": times.min(), "last_s": last, "timeouts": timeouts}
        schema = {"first_s": pl.Float64, "last_s": pl.Float64, "timeouts": pl.Int64}
        return pl.DataFrame([row], schema=schema)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the last completion by the number of senders."""
        figure, axes = style.panels(1, 1, "last completion of an incast of 450 KB each", (5, 3.4))
        at = axes[0, 0]
        ns = list(self.senders)
        at.plot(ns, [1e3 * bottleneck_s(n) for n in ns], "k:", label="receiver's link")
        for scheme in self.schemes:
            last = [_last(data, n, scheme) for n in ns]
            at.plot(
                ns,
                [None if not x else 1e3 * max(x) for x in last],
                color=LOOKS[scheme].colour,
                marker=LOOKS[scheme].marker,
                markersize=4,
                label=NAMES[scheme],
            )
        style.plain_log(at)
        style.plain_log_x(at)
        at.set_xlabel("senders")
        at.set_ylabel("last completion (ms)")
        style.legend(figure, at)
        return figure

    def table(self, name: str, **given: object) -> list[dict[str, Any]]:
        """Return the numbers of senders that are judged, of those that are run."""
        return [{"n": n} for n in self.senders if n >= 8]

    def late(self, data: pl.DataFrame) -> Found:
        """Return how much later than the receiver's link allows NDP's last flow ends."""
        for (senders,), rows in data.partition_by("senders", as_dict=True).items():
            if last := _last(rows, int(senders), "ndp"):
                over = max(last) / bottleneck_s(int(senders)) - 1
                return Found.of(f"{100 * over:.2f}%", over)
        return Found.of("one did not end", None)


def _last(data: pl.DataFrame, senders: int, scheme: str) -> list[float]:
    """Return the last completion of each seed, or nothing if a flow of any did not end."""
    rows = data.filter((pl.col("senders") == senders) & (pl.col("scheme") == scheme))
    times = rows["last_s"]
    return [] if times.null_count() else times.to_list()
