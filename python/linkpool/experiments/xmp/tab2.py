"""XMP, Table 2: XMP beside other schemes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.xmp import fattree
from linkpool.experiments.xmp.fattree import mean, ratio, show
from linkpool.result import Result
from linkpool.study.claims import Ledger
from linkpool.study.experiment import each
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Table

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
    schemes = {s: {**fattree.transport(s), **(settings or {})} for s in (XMP, other)}
    name = f"XMP-2 beside {other}, {limit}"
    found = fattree.fabric(name, limit, large_flows, schemes, "beside", other)
    keys: Keys = {"beside": other, "limit": limit}
    return fattree.sized(keys, found, seed, large_flows * fattree.LARGE_B["random"])


@dataclass(frozen=True)
class Tab2(fattree.LargeFlows):
    """Half of the hosts send by XMP-2, the other half by another scheme."""

    id: str = "X-tab2"
    columns: ClassVar = declared.columns("xmp", "X-tab2")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every other scheme, queue and seed."""
        flows = self.large_flows
        return [point(o, limit, flows, seed) for o in OTHERS for limit in LIMITS for seed in seeds]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the goodput of each large flow that ended."""
        ended = result.flows.filter(pl.col("fct_s").is_not_null())
        return ended.select(pl.col("transport").alias("scheme"), "goodput_bps")

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the queues."""
        return each("limit", LIMITS)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and what the text reads from it, at each queue."""
        limit = int(str(ledger.setting))
        for other in OTHERS:
            for scheme, paper in zip((XMP, other), PAPER_MBPS[limit, other], strict=True):
                mine = _mean(data, other, scheme)
                words = {"other": other, "whose": "xmp" if scheme == XMP else "itself"}
                shown = show(mine, "Mbps")
                ledger.judge("{other}-{whose}", shown, mine, scheme=scheme, paper=paper, **words)
        share = ratio(*(_mean(data, "dctcp", s) for s in (XMP, "dctcp")))
        ledger.judge("fair", show(share, "times DCTCP's"), share)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge what a larger queue does."""
        small, large = (data.filter(limit=limit) for limit in LIMITS)
        for other in ("lia-2", "tcp"):
            gain = ratio(_mean(large, other, other), _mean(small, other, other))
            paper = PAPER_MBPS[100, other][1] / PAPER_MBPS[50, other][1]
            ledger.judge("queue-{other}", show(gain, "times"), gain, other=other, paper=paper)

    def frame(self) -> Frame:
        """Return the table, a panel for each queue, and the paper's numbers as lines."""
        panel = Panel(
            _draw, "queues of {} packets", "", "mean goodput (Mbps); lines: the paper's", True
        )
        return Frame([panel], self.title, (4.2, 3.0), columns=len(LIMITS))


def _mean(data: pl.DataFrame, other: str, scheme: str) -> float | None:
    found = mean(data, "goodput_bps", beside=other, scheme=scheme)
    return None if found is None else 1e-6 * found


def _draw(axes: Axes, data: pl.DataFrame) -> None:
    width, limit = 0.36, int(str(data["limit"].first()))
    looks = ((-0.5, NAMES[XMP], LOOKS[XMP].colour), (0.5, "the other scheme", OTHER_COLOUR))
    for i, (side, label, colour) in enumerate(looks):
        x = np.arange(len(OTHERS)) + side * width
        mbps = [_mean(data, other, (XMP, other)[i]) or 0.0 for other in OTHERS]
        axes.bar(x, mbps, 0.92 * width, color=colour, label=label)
        paper = [PAPER_MBPS[limit, other][i] for other in OTHERS]
        axes.hlines(paper, x - width / 2, x + width / 2, color="black", linewidth=1.0)
    axes.set_xticks(np.arange(len(OTHERS)), [f"beside {NAMES[other]}" for other in OTHERS])
    axes.grid(visible=False, axis="x")


EXPERIMENT = Tab2()
