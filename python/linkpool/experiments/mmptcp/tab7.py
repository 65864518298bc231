"""MMPTCP, Table 7: incast in the 1:1 fat-tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.declared import LongRuns
from linkpool.experiments.mmptcp import setting
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import Ledger, grade
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

TREE = Tree(1)
KS = (20, 40, 100)
EVERY_S = 0.5
SCHEMES = ("mmptcp", "mmptcp-lt", "tcp", "mptcp", "mptcp-faults")

MEDIANS_MS = {
    "mmptcp": (277.2, 452.7, 767.4),
    "mmptcp-lt": (99.5, 165.2, 746.6),
    "tcp": (99.9, 169.4, 726.0),
}
"""The paper's, for each k."""

MPTCP_MEANS_S = (6.5, 7.6, 6.9)
MPTCP_COMPLETED = (7_884 / 16_000, 1_975 / 32_000, 263 / 80_000)


@dataclass(frozen=True)
class Cell:
    """The flows of one scheme and k.

    The paper's simulation gives up a connection whose SYN is unanswered when the last burst has
    had its time. So `fct_s` has the completion times of the finished flows that were established
    by then.
    """

    flows: int
    fct_s: pl.Series

    @classmethod
    def of(cls, flows: pl.DataFrame) -> "Cell":
        """Return the cell of these flows."""
        return cls(flows.height, flows.filter("counted")["fct_established_s"].drop_nulls())

    @property
    def fct(self) -> Sample:
        """Describe the completion times, in seconds."""
        return describe(self.fct_s.to_numpy())

    @property
    def completed(self) -> float | None:
        """Return the share of all flows that finished and count."""
        return self.fct_s.len() / self.flows if self.flows else None

    def quantile_ms(self, q: float) -> float | None:
        """Return a quantile of the completion times in milliseconds."""
        value = self.fct_s.quantile(q, "linear")
        return None if value is None else 1e3 * value

    def __str__(self) -> str:
        """Write the median, and the number of flows that do not count."""
        median = self.quantile_ms(0.5)
        if median is None:
            return "no finished flow"
        left_out = self.flows - self.fct_s.len()
        return f"{median:.4g} ms" + (
            f", {left_out:,} of {self.flows:,} flows not counted" if left_out else ""
        )


@dataclass(frozen=True)
class Tab7(LongRuns):
    """Every 500 ms, 20, 40 or 100 hosts drawn at random send 70 KB each to one host."""

    id: str = "M-tab7"
    ks: tuple[int, ...] = KS
    step_s: ClassVar = EVERY_S
    least_s: ClassVar = EVERY_S
    seeds: int = 20
    columns: ClassVar = declared.columns("mmptcp", "M-tab7")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme, k and seed."""
        return [
            self._point(scheme, k, seed) for k in self.ks for scheme in SCHEMES for seed in seeds
        ]

    def _point(self, scheme: str, k: int, seed: int) -> Point:
        bursts = self._bursts()
        work = k * bursts * setting.SHORT_PACKETS
        written = partial(self._scenario, scheme, k, seed)
        return Point({"scheme": scheme, "k": k}, written, seed, bursts * EVERY_S, work)

    def _bursts(self) -> int:
        return max(round(self.duration_s / EVERY_S), 1)

    def _scenario(self, scheme: str, k: int, seed: int) -> str:
        random = Random(f"incast {k} {seed}")
        hosts = list(range(TREE.hosts))
        random.shuffle(hosts)
        receiver, senders = hosts[0], hosts[1 : k + 1]
        bursts = self._bursts()
        flows: list[Value] = [
            setting.flow(scheme, s, receiver, {"size": setting.SHORT, "start": f"{500 * burst}ms"})
            for burst in range(bursts)
            for s in senders
        ]
        scenario: dict[str, Value] = {
            "name": f"incast of {k} flows, {scheme}",
            "duration": f"{bursts * EVERY_S:g}s",
            "drain": setting.DRAIN,
            "topology": TREE.topology(),
            "queue": setting.queue(),
            "transport": {scheme: setting.transport(scheme)},
            "workload": {"flow": flows},
        }
        return dumps(scenario)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        counted = (pl.col("established_s") <= self.duration_s).fill_null(False).alias("counted")
        return result.flows.select(counted, "fct_established_s", "timeouts")

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the medians, and MPTCP's collapse with faithful transport and with the faults."""
        cells = _cells(data)
        for scheme, medians in MEDIANS_MS.items():
            for k, paper in zip(KS, medians, strict=True):
                cell = cells.get((scheme, k), _NOTHING)
                ledger.judge(
                    "{scheme}-{k}",
                    str(cell),
                    cell.quantile_ms(0.5),
                    scheme=scheme,
                    k=k,
                    paper=paper,
                )
        _lt_as_tcp(ledger, cells)
        for scheme in ("mptcp", "mptcp-faults"):
            _collapse(ledger, cells, scheme)

    def frame(self) -> Frame:
        """Return medians with quartiles, and the share of flows that finish."""
        groups = [str(k) for k in self.ks]

        def times(axes: Axes, data: pl.DataFrame) -> None:
            of = self._by_scheme(data)
            low, middle, high = (
                {s: [c.quantile_ms(q) for c in row] for s, row in of.items()}
                for q in (0.25, 0.5, 0.75)
            )
            style.bars(axes, groups, middle)
            style.ranges(axes, {s: list(zip(low[s], high[s], strict=True)) for s in of})
            style.plain_log(axes, bottom=10)

        def finished(axes: Axes, data: pl.DataFrame) -> None:
            of = self._by_scheme(data)
            style.bars(axes, groups, {s: [c.completed for c in row] for s, row in of.items()})

        x, y = "flows that start at once", "flows that finish and count\n(share of all)"
        panels = [Panel(times, "", x, "FCT (ms): median, quartiles"), Panel(finished, "", x, y)]
        title = f"{self.title}, 128 hosts, 100 Mbps"
        return Frame(panels, title, (4.4, 2.8), sharey=False, legend=5)

    def _by_scheme(self, data: pl.DataFrame) -> dict[str, list[Cell]]:
        cells = _cells(data)
        return {s: [cells.get((s, k), _NOTHING) for k in self.ks] for s in SCHEMES}


def _cells(data: pl.DataFrame) -> dict[tuple[str, int], Cell]:
    parts = data.partition_by("scheme", "k", as_dict=True)
    return {(str(s), int(k)): Cell.of(rows) for (s, k), rows in parts.items()}


_NOTHING = Cell(0, pl.Series(dtype=pl.Float64))


def _lt_as_tcp(ledger: Ledger, cells: Mapping[tuple[str, int], Cell]) -> None:
    medians = [
        [cells.get((scheme, k), _NOTHING).quantile_ms(0.5) for scheme in ("mmptcp-lt", "tcp")]
        for k in KS
    ]
    ratios = [a / b for a, b in medians if a and b]
    near = [1 / 1.25 <= r <= 1.25 for r in ratios]
    ledger.judge(
        "lt-as-tcp",
        f"median FCT over TCP's: {', '.join(f'{r:.3g}' for r in ratios) or 'no data'}",
        grade(
            len(near) == len(KS) and all(near),
            any(near),
            "ratio of medians within 1.25 for all k; partly: for one",
        ),
    )


def _collapse(ledger: Ledger, cells: Mapping[tuple[str, int], Cell], scheme: str) -> None:
    for k, mean, share in zip(KS, MPTCP_MEANS_S, MPTCP_COMPLETED, strict=True):
        cell = cells.get((scheme, k), _NOTHING)
        ledger.judge(
            "{scheme}-{k}-mean",
            "no finished flow" if cell.fct.mean is None else f"{cell.fct.mean:.3g} s",
            cell.fct.mean,
            scheme=scheme,
            k=k,
            mean=mean,
        )
        measured = cell.completed
        ledger.judge(
            "{scheme}-{k}-completed",
            "no data" if measured is None else f"{measured:.1%}",
            measured,
            scheme=scheme,
            k=k,
            share=share,
        )


EXPERIMENT = Tab7()
