"""NDP paper: an incast of many senders to one receiver, whose link is the bottleneck."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl
from matplotlib.figure import Figure

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import Published
from linkpool.experiments.ndp import setting
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, grade, no_data
from linkpool.study.experiment import Experiment
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table, dumps

SIZE = 450_000
K = 12


def bottleneck_s(senders: int) -> float:
    """Return how long the receiver's link takes for all data with its headers."""
    packets = -(-SIZE // setting.PAYLOAD)
    return senders * 8 * (SIZE + packets * setting.HEADER) / setting.RATE_BPS


@dataclass(frozen=True)
class Incast(Published):
    """Up to 400 senders of 450 KB each to one receiver, in a fat-tree of 432 hosts."""

    id: str = "N-incast"
    senders: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 100, 200, 300, 400)
    schemes: tuple[str, ...] = ("ndp", "dctcp")
    columns: ClassVar = declared.columns("ndp", "N-incast")

    def shortened(self, scale: float) -> Experiment:
        """Take fewer seeds, and with one seed fewer senders."""
        most = 400 * scale * self.seeds
        senders = tuple(n for n in self.senders if n <= max(most, 8))
        return replace(self, seeds=max(round(self.seeds * scale), 1), senders=senders)

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every number of senders, scheme and seed."""
        return [
            self._point(n, scheme, seed)
            for n in self.senders
            for scheme in self.schemes
            for seed in seeds
        ]

    def _point(self, senders: int, scheme: str, seed: int) -> Point:
        burst: Table = {
            "transport": scheme,
            "senders": senders,
            "receiver": "h0",
            "size": f"{SIZE}B",
            "every": "10s",
        }
        scenario = setting.scenario(
            f"incast of {senders}, {scheme}",
            scheme,
            K,
            duration="10s",
            workload={"incast": [burst]},
        )
        keys: dict[str, str | int | float] = {"senders": senders, "scheme": scheme}
        return Point(keys, dumps(scenario), seed, bottleneck_s(senders), senders * 51)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return one row: the first and the last completion."""
        times = result.flows["fct_s"]
        last = None if times.null_count() else times.max()
        row = {
            "first_s": times.min(),
            "last_s": last,
            "timeouts": result.flows["timeouts"].sum(),
        }
        return pl.DataFrame(
            [row], schema={"first_s": pl.Float64, "last_s": pl.Float64, "timeouts": pl.Int64}
        )

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

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the last completion of NDP by what the receiver's link allows, and its timeouts."""
        for n in self.senders:
            if n < 8:
                continue
            last = _last(data, n, "ndp")
            over = max(last) / bottleneck_s(n) - 1 if last else None
            ledger.judge(
                "last{n}", "one did not end" if over is None else f"{100 * over:.2f}%", over, n=n
            )
            rows = data.filter(senders=n, scheme="ndp")
            timeouts, flows = int(rows["timeouts"].sum()), n * rows.height
            note = "none; partly: of fewer than 1 flow in 100"
            ledger.judge(
                "timeouts{n}",
                f"{timeouts} in {flows} flows",
                no_data(note)
                if rows.is_empty()
                else grade(timeouts == 0, timeouts < flows / 100, note),
                n=n,
            )


def _last(data: pl.DataFrame, senders: int, scheme: str) -> list[float]:
    """Return the last completion of each seed, or nothing if a flow of any did not end."""
    rows = data.filter((pl.col("senders") == senders) & (pl.col("scheme") == scheme))
    times = rows["last_s"]
    return [] if times.null_count() else times.to_list()


EXPERIMENT = Incast()
