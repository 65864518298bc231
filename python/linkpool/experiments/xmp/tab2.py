"""XMP, Table 2: XMP beside other schemes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import mean, ratio, show
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Claim
from linkpool.study.experiment import KEY_SEED
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table, Value

XMP = "xmp-2"
OTHERS = ("lia-2", "tcp", "dctcp")
LIMITS = (50, 100)
PAPER_MBPS = {
    (50, "lia-2"): (463.4, 314.3),
    (100, "lia-2"): (423.2, 388.3),
    (50, "tcp"): (522.9, 175.3),
    (100, "tcp"): (501.8, 243.4),
    (50, "dctcp"): (485.4, 485.3),
    (100, "dctcp"): (481.4, 493.5),
}
"""By queue and other scheme: goodputs of XMP-2 and of the other."""

OTHER_COLOUR = "0.5"
"""Of the scheme beside XMP-2 in the figure."""


def point(
    other: str, limit: int, large_flows: int, seed: int, settings: "Table | None" = None
) -> Point:
    """Return the run of XMP-2 beside another scheme.

    Args:
        other: the other scheme.
        limit: packets that a queue holds.
        large_flows: the run ends when so many have ended.
        seed: the seed.
        settings: more settings of both transports.

    """
    scenario = fattree.fabric(f"XMP-2 beside {other}, {limit}", limit, large_flows)
    more = settings or {}
    scenario["transport"] = {s: {**fattree.transport(s), **more} for s in (XMP, other)}
    scenario["roles"] = {"half": fattree.HOSTS // 2}
    # At most 4 flows into a host, of which 2 of each scheme.
    same: dict[str, Value] = {
        "label": fattree.LARGE,
        "size": fattree.PARETO,
        "at_most": 2,
        "repeat": "each",
    }
    scenario["workload"] = {
        "random": [
            {"transport": XMP, "role": "half", **same},
            {"transport": other, "role": "others", **same},
        ]
    }
    keys: Keys = {"beside": other, "limit": limit}
    return fattree.sized(keys, scenario, seed, large_flows * fattree.LARGE_B["random"])


@dataclass(frozen=True)
class Tab2(fattree.LargeFlows):
    """Half of the hosts send by XMP-2, the other half by another scheme."""

    id: str = "X-tab2"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("beside", "string", "", "the other scheme"),
        Column("limit", "i32", "packets", "that a queue holds"),
        KEY_SEED,
        Column("scheme", "string", "", "of the flow"),
        Column("goodput_bps", "f64", "bit/s", "payload acknowledged over the flow's time"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every other scheme, queue and seed."""
        flows = self.large_flows
        return [point(o, limit, flows, seed) for o in OTHERS for limit in LIMITS for seed in seeds]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each large flow that ended."""
        ended = result.flows.filter(pl.col("fct_s").is_not_null())
        return ended.select(pl.col("transport").alias("scheme"), "goodput_bps")

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the table, and what the text reads from it."""
        found: list[Claim] = []
        for limit in LIMITS:
            ledger = self.ledger(f"{limit}")
            for other in OTHERS:
                for scheme, paper in zip((XMP, other), PAPER_MBPS[limit, other], strict=True):
                    mine = self._mean(data, other, limit, scheme)
                    ledger.judge(
                        "{other}-{whose}",
                        show(mine, "Mbps"),
                        mine,
                        other=other,
                        whose="xmp" if scheme == XMP else "itself",
                        scheme=scheme,
                        paper=paper,
                    )
            share = ratio(*(self._mean(data, "dctcp", limit, s) for s in (XMP, "dctcp")))
            ledger.judge("fair", show(share, "times DCTCP's"), share)
            found += ledger.claims
        ledger = self.ledger()
        for other in ("lia-2", "tcp"):
            gain = ratio(*(self._mean(data, other, limit, other) for limit in reversed(LIMITS)))
            paper = PAPER_MBPS[100, other][1] / PAPER_MBPS[50, other][1]
            ledger.judge("queue-{other}", show(gain, "times"), gain, other=other, paper=paper)
        return found + ledger.claims

    def _mean(self, data: pl.DataFrame, other: str, limit: int, scheme: str) -> float | None:
        rows = data.filter(pl.col("limit") == limit)
        found = mean(rows, "goodput_bps", beside=other, scheme=scheme)
        return None if found is None else 1e-6 * found

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the table, a panel for each queue, and the paper's numbers as lines."""
        figure, axes = style.panels(1, len(LIMITS), f"{self.id}: {self.title}", (4.2, 3.0))
        width = 0.36
        for at, limit in zip(axes[0], LIMITS, strict=True):
            for side, label in ((-1, NAMES[XMP]), (1, "the other scheme")):
                x = np.arange(len(OTHERS)) + side * width / 2
                mine = [XMP if side < 0 else other for other in OTHERS]
                mbps = [
                    self._mean(data, other, limit, scheme) or 0.0
                    for other, scheme in zip(OTHERS, mine, strict=True)
                ]
                colour = LOOKS[XMP].colour if side < 0 else OTHER_COLOUR
                at.bar(x, mbps, 0.92 * width, color=colour, label=label)
                paper = [PAPER_MBPS[limit, other][(side + 1) // 2] for other in OTHERS]
                at.hlines(paper, x - width / 2, x + width / 2, color="black", linewidth=1.0)
            at.set_xticks(np.arange(len(OTHERS)), [f"beside {NAMES[other]}" for other in OTHERS])
            at.grid(visible=False, axis="x")
            at.set_title(f"queues of {limit} packets")
            style.from_zero(at)
        axes[0, 0].set_ylabel("mean goodput (Mbps); lines: the paper's")
        style.legend(figure, axes[0, 0])
        return figure


EXPERIMENT = Tab2()
