"""AMP, Figures 6 and 11: traffic shifting in the paper's Figure 5.

When is a shift complete? The paper reads a time off its figure, so a criterion is needed. Ours: a
subflow has *settled* once its window, averaged over 0.5 ms, is nearer to its later value than a
tenth of the whole change, and stays so for 1 ms. The earlier value is the mean over
1.9 to 2.0 s, the later value over 2.5 to 3.0 s. The shift is complete when both subflows have
settled. 0.5 ms is longer than a period of the windows' saw-tooth, and a tenth of the change is
about what an eye tells apart in the paper's figure.
"""

import random
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.amp import setting
from linkpool.result import Result
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.statistics import Spread

Floats = npt.NDArray[np.float64]

EVERY_S = 10e-6
SHIFT_S = 2.0
BEFORE_S = (1.9, 2.0)
AFTER_S = (2.5, 3.0)
DRAWN_S = (1.999, 2.010)
AVERAGE_S = 0.5e-3
HOLD_S = 1e-3
SHARE = 0.1
UPPER, LOWER = "upper", "lower"
LABEL = "multipath"


def settling_time(time_s: Floats, cwnd: Floats) -> float | None:
    """Return how long after `SHIFT_S`, in seconds, a window has settled; None: never.

    Args:
        time_s: times of evenly spaced samples from `BEFORE_S[0]` to `AFTER_S[1]`.
        cwnd: the window at each of them, packets.

    """
    before = cwnd[(time_s >= BEFORE_S[0]) & (time_s < BEFORE_S[1])].mean()
    after = cwnd[(time_s >= AFTER_S[0]) & (time_s < AFTER_S[1])].mean()
    step = float(time_s[1] - time_s[0])
    width = max(round(AVERAGE_S / step), 1)
    smooth = np.convolve(cwnd, np.ones(width) / width, mode="same")
    settled = np.abs(smooth - after) <= SHARE * abs(after - before)
    hold = max(round(HOLD_S / step), 1)
    run = np.convolve(settled, np.ones(hold), mode="full")[hold - 1 :]
    found = np.flatnonzero((time_s >= SHIFT_S) & (time_s < AFTER_S[0]) & (run > hold - 0.5))
    return float(time_s[found[0]]) - SHIFT_S if found.size else None


@dataclass(frozen=True)
class Shift(setting.Delayed):
    """A multipath flow of two subflows, one of which is disturbed, then the other."""

    schemes: tuple[str, ...]
    seeds: int = field(default=10, kw_only=True)
    over: ClassVar = ("delays", "schemes")
    terms: ClassVar = {"shift": lambda rows: shifts(rows)}

    def point(self, seed: int, delay: str, scheme: str) -> Point:
        """Return the run of a scheme."""
        rng = random.Random(f"traffic shifting, seed {seed}")
        return self.run(
            "shift",
            {"delay": delay, "scheme": scheme},
            seed,
            3.0,
            6.0 * setting.packets_per_second(),
            transport=setting.transport(scheme, {"paths": "disjoint"}, subflows=2),
            dctcp=setting.transport("dctcp", {}),
            first=setting.seconds(rng.uniform(0.0, 1e-3)),
            second=setting.seconds(1.0 + rng.uniform(0.0, 1e-3)),
            every=setting.seconds(EVERY_S),
            start=setting.seconds(BEFORE_S[0]),
            until=setting.seconds(AFTER_S[1]),
        )

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the windows around the shift, and how long it took."""
        flow = result.flows.filter(pl.col("label") == LABEL).select("flow")
        paths = result.subflows.join(flow, on="flow").select("flow", "subflow", "path")
        upper = pl.col("path").str.contains("A1", literal=True)
        side = pl.when(upper).then(pl.lit(UPPER)).otherwise(pl.lit(LOWER))
        series = (
            result.cwnd.join(paths, on=["flow", "subflow"])
            .select("time_s", "cwnd_pkts", side.alias("path"))
            .sort("path", "time_s")
        )
        times = [
            settling_time(part["time_s"].to_numpy(), part["cwnd_pkts"].to_numpy())
            for part in series.partition_by("path")
        ]
        known = [t for t in times if t is not None]
        shift = max(known) if len(known) == len(times) and known else None
        drawn = pl.col("time_s").is_between(*DRAWN_S)
        return series.filter(drawn).select(
            "path", "time_s", "cwnd_pkts", pl.lit(shift, dtype=pl.Float64).alias("shift_s")
        )

    def frame(self) -> Frame:
        """Return a panel per scheme: the windows of the first seed."""

        def panel(scheme: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                rows = data.filter(pl.col("scheme") == scheme)
                _panel(axes, rows, scheme)
                delay = str(rows["delay"].first())
                axes.set_title(f"{NAMES[scheme]}, {delay} links: {_shown(shifts(rows))}")

            return Panel(paint, "", "time after 2 s (ms)", "cwnd (packets)", from_zero=True)

        panels = [panel(scheme) for scheme in self.schemes]
        return Frame(panels, f"{self.title} at 2 s", (3.6, 2.4), sharey="row", legend=0)


def shifts(rows: pl.DataFrame) -> Spread:
    """Return the shift times of a scheme's seeds in ms: their median, least and largest."""
    times = rows.group_by("seed").agg(pl.col("shift_s").first())["shift_s"]
    known = [1e3 * t for t in times.drop_nulls().to_list()]
    if not known or len(known) < len(times):
        return Spread(None, None, None)
    return Spread(float(np.median(known)), min(known), max(known))


def _shown(shift: Spread) -> str:
    if shift.value is None or shift.low is None or shift.high is None:
        return "not complete"
    return f"{shift.value:.1f} ms ({shift.low:.1f}-{shift.high:.1f})"


def _panel(axes: Axes, rows: pl.DataFrame, scheme: str) -> None:
    first = rows.filter(pl.col("seed") == rows["seed"].min())
    looks = {UPPER: (LOOKS[scheme].colour, "-"), LOWER: ("black", "--")}
    for path, (colour, dash) in looks.items():
        part = first.filter(pl.col("path") == path)
        times = 1e3 * (part["time_s"].to_numpy() - SHIFT_S)
        label = f"{path} path"
        axes.plot(times, part["cwnd_pkts"].to_numpy(), dash, color=colour, lw=1.0, label=label)
    done = first["shift_s"].first()
    if isinstance(done, float):
        axes.axvline(1e3 * done, color="#d55e00", lw=1.0, ls=":", label="complete")
    axes.legend(loc="center right")
