"""The MPTCP talk, design goal 3: fair to TCP and to the user, over Wi-Fi and 3G."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

import polars as pl

from linkpool.columns import Column
from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.talk import design
from linkpool.experiments.talk.design import Split
from linkpool.experiments.talk.eff import splits
from linkpool.result import Result
from linkpool.study.claims import Judged, Ledger, about, grade, no_data
from linkpool.study.frame import Frame
from linkpool.study.point import Point
from linkpool.study.toml import Value, dumps

USERS = 10
"""They do not meet: each path has room for all, and loses packets at random, as radio does."""

WIFI_MBPS, CELL_MBPS = 2.2, 0.4
"""The goodput of a TCP on each path."""

WIFI_RTT_S, CELL_RTT_S = 0.1, 0.8


def loss(mbps: float, rtt_s: float) -> float:
    """Return the loss at which a TCP gets so much: a window of 1.31 / sqrt(p)."""
    window = 1e6 * mbps * rtt_s / (8 * 1400)
    return float((1.31 / window) ** 2)


WIFI, CELL = "tcp-wifi", "tcp-3g"
SCHEMES = ("lia", "ewtcp", "olia", "balia")
ALONE = {WIFI: ("S1", "A1", "B1", "D1"), CELL: ("S1", "A2", "B2", "D1")}
NAMES = {WIFI: "TCP on Wi-Fi", CELL: "TCP on 3G"}
THEORY = {
    "lia": Split(WIFI_MBPS - CELL_MBPS, CELL_MBPS),
    "ewtcp": Split(WIFI_MBPS / 2, CELL_MBPS / 2),
    "olia": None,
    "balia": None,
}


@dataclass(frozen=True)
class Fair(Published):
    """Users with a subflow over Wi-Fi, which loses more, and one over 3G, which takes longer."""

    id: str = "T-fair"
    duration_s: float = 1000.0
    columns: ClassVar[tuple[Column, ...]] = design.COLUMNS

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every algorithm, of TCP on each path, and seed."""
        return [self._point(s, seed) for s in (*ALONE, *SCHEMES) for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
        random = Random(f"wifi {seed}")
        used = [ALONE[scheme]] if scheme in ALONE else list(ALONE.values())
        paths: list[Value] = [list(path) for path in used]
        users: list[Value] = [
            {
                "transport": scheme,
                "label": design.USER,
                "from": "S1",
                "to": "D1",
                "start": f"{round(1e6 * random.random())}us",
                "paths": paths,
            }
            for _ in range(USERS)
        ]
        radio = (("A1->B1", WIFI_MBPS, WIFI_RTT_S), ("A2->B2", CELL_MBPS, CELL_RTT_S))
        delays = [f"{round(1e6 * rtt_s / 2 - 200)}us" for _, _, rtt_s in radio]
        losses: list[Value] = [
            {"links": [link], "loss": round(loss(mbps, rtt_s), 6)} for link, mbps, rtt_s in radio
        ]
        written = scenario(
            "talk",
            "T-fair",
            scheme=scheme,
            duration=f"{self.duration_s:g}s",
            delays=list(delays),
            losses=losses,
            transport=design.transport("reno" if scheme in ALONE else scheme),
            flows=users,
        )
        packets = USERS * (WIFI_MBPS + CELL_MBPS) * 1e6 / 11_696 * self.duration_s
        return Point({"scheme": scheme}, dumps(written), seed, self.duration_s, packets)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per subflow of the user."""
        return design.measure(point, result)

    def extent(self) -> str:
        """Say how much time is simulated."""
        return f"{self.duration_s:g} s of {self.seeds} seed{'s' if self.seeds > 1 else ''}"

    def shortened(self, scale: float) -> "Fair":
        """Return less simulated time."""
        return replace(self, duration_s=max(round(self.duration_s * scale), 10))

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge MPTCP's goodput on each path, and EWTCP's beside it."""
        found = design.splits(data)
        lia, ewtcp = found.get("lia"), found.get("ewtcp")
        for scheme, mbps in ((WIFI, WIFI_MBPS), (CELL, CELL_MBPS)):
            alone = found.get(scheme)
            ledger.judge(
                "{alone}",
                "no data" if alone is None else f"{alone.total:.3g} Mbps",
                None if alone is None else alone.total,
                alone=scheme,
                scheme=NAMES[scheme],
                mbps=mbps,
            )
        ledger.judge(
            "lia-3g",
            "no data" if lia is None else f"{lia.second:.3g} Mbps",
            None if lia is None else lia.second,
        )
        ledger.judge(
            "lia-wifi",
            "no data" if lia is None else f"{lia.first:.3g} Mbps",
            about(None if lia is None else lia.first, WIFI_MBPS - CELL_MBPS),
        )
        ledger.judge(
            "goal-3a",
            "no data" if lia is None else f"{lia.total:.3g} Mbps",
            _goal_3a(lia, found.get(WIFI)),
        )
        ratio = None if lia is None or ewtcp is None else ewtcp.total / lia.total
        ledger.judge(
            "ewtcp-worse",
            "no data" if ratio is None else f"{1.0 - ratio:.0%} worse ({ewtcp} against {lia})",
            None if ratio is None else 1.0 - ratio,
        )

    def frame(self) -> Frame:
        """Return the user's goodput over each path, beside theory."""
        return splits(self.title, {s: THEORY[s] for s in SCHEMES}, ("over Wi-Fi", "over 3G"))


def _goal_3a(lia: Split | None, alone: Split | None) -> Judged:
    if lia is None or alone is None:
        return no_data("at least 95% of TCP's; partly: 75%")
    return grade(
        lia.total >= 0.95 * alone.total,
        lia.total >= 0.75 * alone.total,
        "at least 95% of what TCP gets on Wi-Fi; partly: 75%",
    )


EXPERIMENT = Fair()
