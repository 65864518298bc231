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
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.experiment import Experiment
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table

RATE_BPS = 10e9
PAYLOAD, HEADER = 8936, 64

QUEUES: Mapping[str, Table] = {
    "ndp": {"discipline": "trimming"},
    "mptcp": {"limit": 200},
    "dctcp": {"limit": 200, "mark": 30},
}
"""Of the switches, by scheme."""


GOODPUT = (8 * pl.col("measured_bytes") / pl.col("measured_s")).alias("goodput_bps")


@dataclass(frozen=True)
class LongFlows(Published, ABC):
    """An experiment of the goodputs of flows without end, after a warm-up.

    Attributes:
        duration_s: simulated seconds.

    """

    schemes: tuple[str, ...] = ("ndp", "mptcp", "dctcp")
    duration_s: float = 0.02
    kept: ClassVar = Kept("flows", ["flow", GOODPUT])

    def extent(self) -> str:
        """Say how long it runs."""
        return f"{1e3 * self.duration_s:g} ms simulated, {self.seeds} seeds"

    def flows(self, keys: Keys, seed: int, links: float) -> Point:
        """Return a run in which as much is sent as so many links carry."""
        packets = links * self.duration_s * RATE_BPS / 72_000
        words = {"us": round(self.duration_s * 1e6), "queue": QUEUES[str(keys["scheme"])]}
        return self.run(self.id, keys, seed, self.duration_s, packets, **words)


@dataclass(frozen=True)
class Permutation(LongFlows):
    """A permutation in fat-trees, for a while; goodput of each flow after the first 5 ms."""

    ks: tuple[int, ...] = (8, 12)
    cuts: ClassVar = {"duration_s": (3, 0.006)}
    over: ClassVar = ("ks", "schemes")

    def point(self, seed: int, k: int, scheme: str) -> Point:
        """Return the run of a scheme in a fat-tree."""
        return self.flows({"k": k, "scheme": scheme}, seed, k**3 / 4)

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


FLOWS = ("to h4", "to h8", "to h10", "to h12", "h6 to h4")


@dataclass(frozen=True)
class InOut(LongFlows):
    """One host sends to four, which share its link; another sends to the first of the four."""

    cuts: ClassVar = {"duration_s": (3, 0.003)}
    over: ClassVar = ("schemes",)

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme."""
        return self.flows({"scheme": scheme}, seed, 2)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the goodput of each flow."""
        figure, axes = style.panels(1, 1, "one sender to four receivers, and another", (5, 3.2))
        means = {s: [_gbps(data, s, f) for f in range(5)] for s in self.schemes}
        zeros: dict[str, list[float | None]] = {s: [0.0] * 5 for s in self.schemes}
        style.bars(axes[0, 0], FLOWS, means, zeros)
        axes[0, 0].set_ylabel("goodput (Gbps)")
        style.legend(figure, axes[0, 0])
        return figure


def _gbps(data: pl.DataFrame, scheme: str, flow: int) -> float | None:
    found = mean(data, "goodput_bps", scheme=scheme, flow=flow)
    return None if found is None else found / 1e9


SIZE = 450_000


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
        keys: Keys = {"senders": senders, "scheme": scheme}
        least_s = bottleneck_s(senders)
        return self.run("N-incast", keys, seed, least_s, senders * 51, queue=QUEUES[scheme])

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
