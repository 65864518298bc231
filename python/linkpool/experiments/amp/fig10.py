"""AMP, Figure 10: queue lengths without the syndrome and with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import longflows, queues, setting
from linkpool.experiments.amp.longflows import Mix
from linkpool.experiments.amp.queues import Distribution
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES

SCHEMES = ("dcm", "xmp", "amp")
CASES = ((1, "a) 1 multipath flow"), (4, "b) 4 multipath flows"))
DCTCP_FLOWS = 4
INFLATED = 20


@dataclass(frozen=True)
class Fig10(setting.Delayed):
    """4 DCTCP flows with one multipath flow, and with four."""

    id: str = "A-fig10"
    schemes: tuple[str, ...] = SCHEMES
    delays: tuple[str, ...] = setting.DELAYS
    duration_s: float = longflows.DURATION_S
    columns: ClassVar = declared.columns("amp", "A-fig10")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return both cases with every scheme, delay and seed."""
        return [
            Mix(
                scheme,
                multipath=count,
                dctcp=DCTCP_FLOWS,
                delay=delay,
                record=queues.RECORD,
                duration_s=self.duration_s,
            ).point(seed)
            for delay in self.delays
            for count, _ in CASES
            for scheme in self.schemes
            for seed in seeds
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the histogram of the bottleneck's queue length."""
        return queues.histogram(result)

    def frame(self) -> Frame:
        """Return a panel per case: the distribution functions of the schemes."""

        def panel(count: int, name: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                for scheme in self.schemes:
                    draw_cdf(axes, scheme, distribution(data, scheme, count))

            return Panel(paint, f"{name}, {{}} links", "queue length (packets)", "CDF")

        return Frame([panel(*case) for case in CASES], self.title, (3.8, 2.5), sharex=True)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge both cases at each delay."""
        one = {s: distribution(data, s, 1) for s in self.schemes}
        four = {s: distribution(data, s, 4) for s in self.schemes}
        _claims(ledger, one, four)


def distribution(data: pl.DataFrame, scheme: str, count: int) -> Distribution | None:
    """Return the queue lengths over all seeds with `count` multipath flows."""
    rows = data.filter(pl.col("scheme") == scheme, pl.col("multipath") == count)
    return Distribution.of(rows)


def draw_cdf(axes: Axes, scheme: str, found: Distribution | None) -> None:
    """Draw a scheme's distribution function, if there is one."""
    if found is None:
        return
    axes.step(
        [found.lengths[0], *found.lengths],
        [0.0, *found.shares],
        LOOKS[scheme].dash,
        where="post",
        color=LOOKS[scheme].colour,
        label=NAMES[scheme],
    )


Found = dict[str, "Distribution | None"]


def _claims(ledger: Ledger, one: Found, four: Found) -> None:
    medians = {s: d.quantile(0.5) for s, d in one.items() if d is not None}
    gap = max(medians.values()) - min(medians.values()) if len(medians) > 1 else None
    ledger.judge(
        "a-alike", "medians: " + ", ".join(f"{NAMES[s]} {m}" for s, m in medians.items()), gap
    )
    calm, busy = one.get("amp"), four.get("amp")
    before = None if calm is None else calm.quantile(0.5)
    after = None if busy is None else busy.quantile(0.5)
    ledger.judge("a-amp", str(before), before)
    for scheme in ("dcm", "xmp"):
        found = four.get(scheme)
        alone = medians.get(scheme)
        share = None if found is None else found.above(INFLATED)
        inflation = None if found is None or not alone else found.quantile(0.5) / alone - 1.0
        ledger.judge(
            "b-{scheme}",
            "no data" if share is None else f"{share:.1%} of the time",
            share,
            scheme=scheme,
        )
        ledger.judge(
            "b-{scheme}-inflation",
            "no data" if inflation is None else f"{inflation:.0%} longer",
            inflation,
            scheme=scheme,
        )
    ledger.judge("b-amp", str(after), after)
    more = None if before is None or after is None else after - before
    ledger.judge("b-amp-difference", "no data" if more is None else f"{more} packets", more)


EXPERIMENT = Fig10()
