"""The MPTCP talk, design goal 3: fair to TCP and to the user, over Wi-Fi and 3G."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import polars as pl

from linkpool.experiments.rows import told
from linkpool.experiments.talk import design
from linkpool.experiments.talk.design import Split
from linkpool.experiments.talk.eff import splits
from linkpool.study.claims import Judged, Ledger, about, grade, no_data
from linkpool.study.frame import Frame
from linkpool.study.point import Point
from linkpool.study.toml import Value

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
class Fair(design.Goal):
    """Users with a subflow over Wi-Fi, which loses more, and one over 3G, which takes longer."""

    id: str = "T-fair"
    duration_s: float = 1000.0
    least_s: ClassVar = 10
    runs_of: ClassVar = (*ALONE, *SCHEMES)

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of an algorithm, or of TCP on one path."""
        rng = Random(f"wifi {seed}")
        used = [ALONE[scheme]] if scheme in ALONE else list(ALONE.values())
        paths: list[Value] = [list(path) for path in used]
        users = [design.user(scheme, ("S1", "D1"), rng, paths) for _ in range(USERS)]
        radio = (("A1->B1", WIFI_MBPS, WIFI_RTT_S), ("A2->B2", CELL_MBPS, CELL_RTT_S))
        delays: list[Value] = [f"{round(1e6 * rtt_s / 2 - 200)}us" for _, _, rtt_s in radio]
        losses: list[Value] = [
            {"links": [link], "loss": round(loss(mbps, rtt_s), 6)} for link, mbps, rtt_s in radio
        ]
        own = design.transport("reno" if scheme in ALONE else scheme)
        of: dict[str, Value] = {"delays": delays, "losses": losses, "transport": own}
        text = self.written("T-fair", scheme, **of, flows=users)
        packets = USERS * (WIFI_MBPS + CELL_MBPS) * 1e6 / 11_696 * self.duration_s
        return Point({"scheme": scheme}, text, seed, self.duration_s, packets)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge MPTCP's goodput on each path, and EWTCP's beside it."""
        found = design.splits(data)
        lia, ewtcp = found.get("lia"), found.get("ewtcp")
        mbps = "{:.3g} Mbps"
        for scheme, paper in ((WIFI, WIFI_MBPS), (CELL, CELL_MBPS)):
            total = found[scheme].total if scheme in found else None
            words = {"alone": scheme, "scheme": NAMES[scheme], "mbps": paper}
            ledger.judge("{alone}", told(mbps, total), total, **words)
        parts = (lia.first, lia.second, lia.total) if lia else (None, None, None)
        first, second, total = parts
        ledger.judge("lia-3g", told(mbps, second), second)
        ledger.judge("lia-wifi", told(mbps, first), about(first, WIFI_MBPS - CELL_MBPS))
        ledger.judge("goal-3a", told(mbps, total), _goal_3a(lia, found.get(WIFI)))
        worse = None if lia is None or ewtcp is None else 1.0 - ewtcp.total / lia.total
        ledger.judge("ewtcp-worse", told(f"{{:.0%}} worse ({ewtcp} against {lia})", worse), worse)

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
