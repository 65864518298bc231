"""XMP, Figure 7: rate compensation spreads round a ring of bottlenecks, and fades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments import columns as declared
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.xmp import rates
from linkpool.study.claims import Judged, Ledger, grade, together
from linkpool.study.frame import Frame
from linkpool.study.point import Keys, Point
from linkpool.study.toml import dumps

SETTINGS = ((4, 20), (5, 15), (6, 10))
"""beta, and K by the paper's equation (1)."""
TOTAL_BPS = 6e9
END_S = 70.0
FLOWS = tuple(f"Flow {i}" for i in range(1, 6))
QUIET, BUSY, CLOSED = (20.0, 25.0), (40.0, 45.0), (65.0, 70.0)
LATER = (55.0, 60.0)
"""The intervals of 5 s that are compared: before any background flow, with all four, with one left
over, and with L3 closed."""

FALLING = ((2, 2), (3, 1))
RISING = ((2, 1), (3, 2))
BEYOND = ((1, 2), (4, 1))
UNCHANGED = ((1, 1), (4, 2))
"""Flow and subflow, as the paper counts them: on L3; their siblings; on these siblings' links; and
the siblings of those. The paper's text has 4-2 fall with 1-2, and then hardly change with 1-1; what
shares L4 with 3-2 is 4-1."""


@dataclass(frozen=True)
class Fig7(rates.Rates):
    """Five flows, each over two neighbouring links of a ring; one link gets busy and fails."""

    id: str = "X-fig7"
    columns: ClassVar = declared.columns("xmp", "X-fig7")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every setting and seed."""
        return [_point(beta, mark, seed) for beta, mark in SETTINGS for seed in seeds]

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the values of beta."""
        return {f"beta {beta}": pl.col("beta").eq(beta) for beta, _ in SETTINGS}

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge who falls and who rises, with each beta."""
        _judge(ledger, data)

    def frame(self) -> Frame:
        """Return the rates of all subflows in intervals of 5 s, a panel per setting."""
        panels = [
            rates.panel(FLOWS, f"beta = {beta}, K = {mark}", at=(25.0, 45.0, 60.0), beta=beta)
            for beta, mark in SETTINGS
        ]
        return Frame(panels, self.title, (4.0, 3.2), legend=5, together=True)


def _judge(ledger: Ledger, rows: pl.DataFrame) -> None:
    busy = {s: _factor(rows, s, QUIET, BUSY) for s in (*FALLING, *RISING, *BEYOND, *UNCHANGED)}
    ledger.judge(
        "compensate",
        _listing(busy, (*FALLING, *RISING)),
        together(
            _all(busy, FALLING, -0.1, "2-2 and 3-1 fall by a tenth; partly: at all"),
            _all(busy, RISING, 0.1, "2-1 and 3-2 rise by a tenth; partly: at all"),
        ),
    )
    ledger.judge(
        "beyond",
        _listing(busy, BEYOND),
        _all(busy, BEYOND, -0.02, "1-2 and 4-1 fall by a fiftieth; partly: at all"),
    )
    back = {s: _factor(rows, s, BUSY, LATER) for s in (*FALLING, *RISING)}
    ledger.judge(
        "reverse",
        _listing(back, (*FALLING, *RISING)),
        together(
            _all(back, FALLING, 0.1, "2-2 and 3-1 rise by a tenth; partly: at all"),
            _all(back, RISING, -0.05, "2-1 and 3-2 fall by a twentieth; partly: at all"),
        ),
    )
    closed = {s: _factor(rows, s, LATER, CLOSED) for s in (*FALLING, *RISING)}
    ledger.judge(
        "closed",
        _listing(closed, (*FALLING, *RISING)),
        together(
            _all(closed, FALLING, -0.99, "2-2 and 3-1 fall to a hundredth; partly: at all"),
            _all(closed, RISING, 0.1, "2-1 and 3-2 rise by a tenth; partly: at all"),
        ),
    )
    steady = {s: _factor(rows, s, QUIET, CLOSED) for s in UNCHANGED}
    steady_busy = {s: busy[s] for s in UNCHANGED}
    known = [f for f in (*steady.values(), *steady_busy.values()) if f is not None]
    whole = len(known) == 2 * len(UNCHANGED)
    ledger.judge(
        "fades",
        f"with four background flows {_listing(steady_busy, UNCHANGED)}; with L3 closed "
        f"{_listing(steady, UNCHANGED)}",
        grade(
            whole and all(abs(f - 1.0) <= 0.1 for f in known),
            whole and all(abs(f - 1.0) <= 0.25 for f in known),
            "within a tenth of their rates at 20 to 25 s; partly: a quarter",
        ),
    )


Subflow = tuple[int, int]


def _factor(
    rows: pl.DataFrame, which: Subflow, before: tuple[float, float], after: tuple[float, float]
) -> float | None:
    """Return the factor by which a subflow's rate changes, from the mean over the seeds."""
    flow, subflow = which
    a = rates.mean(rows, f"Flow {flow}", subflow - 1, before)
    b = rates.mean(rows, f"Flow {flow}", subflow - 1, after)
    return None if not a or b is None else b / a


def _all(
    factors: dict[Subflow, float | None], which: Sequence[Subflow], change: float, note: str
) -> Judged:
    found = [f for f in (factors[s] for s in which) if f is not None]
    whole = len(found) == len(which)
    sign = 1.0 if change > 0 else -1.0
    return grade(
        whole and all(sign * (f - 1.0) >= abs(change) for f in found),
        whole and all(sign * (f - 1.0) > 0.0 for f in found),
        note if whole else f"no data; {note}",
    )


def _listing(factors: dict[Subflow, float | None], which: Sequence[Subflow]) -> str:
    shown = [(s, factors[s]) for s in which]
    return ", ".join(f"{f}-{i} x {'?' if x is None else f'{x:.2f}'}" for (f, i), x in shown)


def _point(beta: int, mark: int, seed: int) -> Point:
    one, two = rates.transport(beta, 1), rates.transport(beta, 2, paths="disjoint")
    text = dumps(scenario("xmp", "X-fig7", beta=beta, mark=mark, one=one, two=two))
    keys: Keys = {"beta": beta, "mark": mark}
    return Point(keys, text, seed, END_S, END_S * TOTAL_BPS / rates.PACKET_BITS)


EXPERIMENT = Fig7()
