"""XMP, Figure 1: a constant cut of the window against DCTCP's."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.xmp import rates
from linkpool.stats import jain
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame
from linkpool.study.point import Keys, Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table, dumps

SCHEMES = ("dctcp", "xmp")
MARKS = (10, 20)
STEP_S = 5.0
SETTLE_S = 1.0
FLOWS = 4
END_S = (2 * FLOWS - 1) * STEP_S
PAYLOAD_SHARE = 1448 / 1500
RATE_BPS = 1e9
NAMES = tuple(f"Flow {number}" for number in range(1, FLOWS + 1))


def present(start: float) -> tuple[str, ...]:
    """Return the flows that are there from `start` on: one more, then one fewer, every 5 s."""
    step = round(start / STEP_S)
    return NAMES[max(step - FLOWS + 1, 0) : step + 1]


@dataclass(frozen=True)
class Fig1(rates.Rates):
    """Four flows start 5 s after each other, and stop 5 s after each other in the same order."""

    id: str = "X-fig1"
    columns: ClassVar = declared.columns("xmp", "X-fig1")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of both schemes, thresholds and every seed."""
        return [_point(s, k, seed) for s in SCHEMES for k in MARKS for seed in seeds]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the fairness of both, and how halving uses the link."""
        index = {
            (scheme, mark): _worst(_of(data, scheme, mark)) for scheme in SCHEMES for mark in MARKS
        }
        for mark in MARKS:
            unfair, fair = index["dctcp", mark], index["xmp", mark]
            ledger.judge(
                "dctcp-unfair-{mark}",
                f"K = {mark}: least Jain's index between two events {unfair}",
                unfair.low,
                mark=mark,
            )
            ledger.judge(
                "fair-{mark}",
                f"K = {mark}: least Jain's index between two events {fair}",
                fair.low,
                mark=mark,
            )
            use = _use(_of(data, "xmp", mark))
            of = f"K = {mark}: {use} of the payload that the link carries"
            ledger.judge(f"use-{mark}", of, use.value)

    def frame(self) -> Frame:
        """Return the rate of every flow over time, a panel per scheme and threshold."""
        panels = [
            rates.panel(
                NAMES,
                f"{'DCTCP' if scheme == 'dctcp' else 'halving'}, K = {mark}",
                "rate (Mbit/s)",
                scheme=scheme,
                k=mark,
            )
            for scheme in SCHEMES
            for mark in MARKS
        ]
        return Frame(panels, self.title, (4.6, 2.4), columns=2)


def _of(data: pl.DataFrame, scheme: str, mark: int) -> pl.DataFrame:
    return data.filter(pl.col("scheme") == scheme, pl.col("k") == mark)


def _phases() -> list[float]:
    return [step * STEP_S for step in range(round(END_S / STEP_S))]


def _worst(rows: pl.DataFrame) -> Spread:
    """Return the least of Jain's indices between events with several flows, by seed."""
    parts = rows.partition_by("seed") if rows.height else []
    found = []
    for part in parts:
        indices = []
        for start in _phases():
            names = present(start)
            inside = pl.col("time_s").is_between(start + SETTLE_S, start + STEP_S, closed="right")
            flows = part.filter(inside).group_by("label").agg(pl.col("goodput_bps").sum())
            got = dict(flows.iter_rows())
            index = jain([float(got.get(name, 0.0)) for name in names])
            indices += [] if index is None else [index]
        found += [min(indices)] if indices else []
    return Spread.of(found)


def _use(rows: pl.DataFrame) -> Spread:
    """Return the mean rate of all flows together over what the link carries, by seed."""
    parts = rows.partition_by("seed") if rows.height else []
    after = pl.col("time_s") > SETTLE_S + 1e-9
    shares = []
    for part in parts:
        totals = part.filter(after).group_by("time_s").agg(pl.col("goodput_bps").sum())
        mean = totals["goodput_bps"].mean()
        shares += [mean / (RATE_BPS * PAYLOAD_SHARE)] if isinstance(mean, float) else []
    return Spread.of(shares)


def _point(scheme: str, mark: int, seed: int) -> Point:
    packet: Table = {"mss": "1448B", "header": "52B", "ack_size": "52B"}
    dctcp: Table = {"preset": "paper-2013", "control": "dctcp", **packet}
    random = Random(f"starts {seed}")
    starts = {
        f"start{number + 1}": f"{1e6 * number * STEP_S + random.randrange(1000):.0f}"
        for number in range(FLOWS)
    }
    transport = rates.transport(2, 1) if scheme == "xmp" else dctcp
    text = dumps(scenario("xmp", "X-fig1", scheme=scheme, mark=mark, transport=transport, **starts))
    keys: Keys = {"scheme": scheme, "k": mark}
    return Point(keys, text, seed, END_S, END_S * RATE_BPS / rates.PACKET_BITS)


EXPERIMENT = Fig1()
