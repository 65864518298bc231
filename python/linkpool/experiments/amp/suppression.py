"""AMP, Figure 7 and remarks: when subflows are suppressed and released, and AMP without either."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.experiments.amp import incast, queues, setting, syndrome
from linkpool.experiments.amp.incast import SIZE, Load
from linkpool.experiments.amp.queues import Distribution
from linkpool.experiments.amp.syndrome import Fig9, Mix
from linkpool.experiments.rows import mean, median, spread
from linkpool.result import Result
from linkpool.stats import jain
from linkpool.study import style
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS

CALM = syndrome.Mix("amp", multipath=1, dctcp=4)
"""The paper calls this mix free of the syndrome (Figure 10a): a suppression is a false alarm."""


@dataclass(frozen=True)
class Gamma(setting.Delayed):
    """AMP with gamma from 1 to 10, in incast and beside a few long flows."""

    gammas: tuple[int, ...] = tuple(range(1, 11))
    ks: tuple[int, ...] = incast.FLOWS
    bursts: int = incast.BURSTS

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return incast of AMP with each gamma and of DCTCP, and the calm mix."""
        found: list[Point] = []
        for delay in self.delays:
            for k in self.ks:
                dctcp = incast.points([Load("dctcp", SIZE, k, delay)], seeds, self.bursts)
                found += [_tag_gamma(point, "incast", 0) for point in dctcp]
                for gamma in self.gammas:
                    load = Load("amp", SIZE, k, delay, {"gamma": gamma})
                    amp = incast.points([load], seeds, self.bursts)
                    found += [_tag_gamma(point, "incast", gamma) for point in amp]
            for gamma in self.gammas:
                mix = replace(CALM, delay=delay, keys={"gamma": gamma})
                keys: Keys = {"delay": delay, "scheme": "amp", "size": "unlimited", "k": 1}
                runs = [replace(mix.point(seed), keys=keys) for seed in seeds]
                found += [_tag_gamma(point, "calm", gamma) for point in runs]
        return found

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow of an incast, and one of the AMP flow of a calm mix."""
        calm = point.keys["load"] == "calm"
        amp = result.flows.filter(control="amp") if calm else result.flows
        return amp.select(incast.FLOWS_KEPT)

    def frame(self) -> Frame:
        """Return mean completion times against gamma for each k, and false alarms."""

        def means(axes: Axes, data: pl.DataFrame) -> None:
            def ms(gamma: int, k: int) -> float:
                fct = self.of(f"1e3 * mean fct_established_s load=incast gamma={gamma} k={k}")
                return float("nan") if (found := fct(data)) is None else found

            amp, dctcp = LOOKS["amp"].colour, LOOKS["dctcp"].colour
            shades = np.linspace(0.35, 1.0, len(self.ks))
            for k, shade, marker in zip(self.ks, shades, "os^D", strict=False):
                y = [ms(gamma, k) for gamma in self.gammas]
                dots = f"{marker}-"
                axes.plot(self.gammas, y, dots, ms=4, color=amp, alpha=shade, label=f"AMP, k = {k}")
                axes.axhline(ms(0, k), ls=":", color=dctcp, alpha=shade, label=f"DCTCP, k = {k}")
            style.plain_log(axes)

        def alarms(axes: Axes, data: pl.DataFrame) -> None:
            of = (f"mean suppressions load=calm gamma={gamma}" for gamma in self.gammas)
            found = [self.of(one)(data) or 0.0 for one in of]
            axes.bar(self.gammas, found, color=LOOKS["amp"].colour)

        calm = "4 DCTCP flows and 1 AMP flow, {} links"
        both = [
            Panel(means, f"incast of {SIZE}, {{}} links", "γ (rounds)", "mean FCT (ms)"),
            Panel(alarms, calm, "γ (rounds)", "suppressions in 1 s"),
        ]
        return Frame(both, self.title, (4.0, 2.6), sharey="col", legend=4)

    def best(self, data: pl.DataFrame) -> int | None:
        """Return the gamma with which flows take the least time."""
        scores = {g: score for g in self.gammas if (score := self.score(data.filter(gamma=g)))}
        return min(scores, key=lambda gamma: scores[gamma], default=None)

    def score(self, data: pl.DataFrame) -> float | None:
        """Return the geometric mean over k of the mean completion time in seconds."""
        means = [mean(data, "fct_established_s", load="incast", k=k) for k in self.ks]
        if not means or any(each is None for each in means):
            return None
        return float(np.exp(np.mean(np.log(np.array(means, dtype=float)))))


def _tag_gamma(point: Point, load: str, gamma: int) -> Point:
    return replace(point, keys={**point.keys, "load": load, "gamma": gamma})


_LOOKS = (("#9ad9c5", "o"), ("#009e73", "s"), ("#00513b", "^"))


@dataclass(frozen=True)
class Fig7(setting.Delayed):
    """3, 4 and 5 AMP flows alone on the bottleneck, tau from 1 to 12."""

    flows: tuple[int, ...] = (3, 4, 5)
    taus: tuple[int, ...] = tuple(range(1, 13))
    duration_s: float = syndrome.DURATION_S
    over: ClassVar = ("delays", "flows", "taus")
    terms: ClassVar = {"queue": lambda rows: _queue(rows)}

    def point(self, seed: int, delay: str, flows: int, tau: int) -> Point:
        """Return the run of so many flows with a tau."""
        keys: Keys = {"delay": delay, "flows": flows, "tau": tau}
        mix = Mix("amp", multipath=flows, dctcp=0, delay=delay, record=queues.SPARSE)
        one = replace(mix, keys={"tau": tau}, duration_s=self.duration_s)
        return replace(one.point(seed), keys=keys)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        lengths = Distribution.of(queues.histogram(result))
        middle = None if lengths is None else lengths.quantile(0.5)
        return result.flows.select(
            pl.col("suppressions", "releases").cast(pl.UInt32),
            pl.lit(middle, dtype=pl.Int32).alias("queue_median"),
        )

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the episodes of a flow, and the median queue, against tau."""
        title = f"{self.id}: {self.title}"
        figure, axes = style.panels(2, len(self.delays), title, (3.8, 2.4), sharey="row")
        for column, delay in enumerate(self.delays):
            above, below = axes[0, column], axes[1, column]
            rows = data.filter(delay=delay)
            for n, (shade, marker) in zip(self.flows, _LOOKS, strict=False):
                look = {"color": shade, "marker": marker, "ms": 4}
                means = [spread(rows, "suppressions", flows=n, tau=t).value for t in self.taus]
                above.plot(self.taus, means, **look, label=f"{n} AMP flows")
                below.plot(
                    self.taus, [_queue(rows.filter(flows=n, tau=t)) for t in self.taus], **look
                )
            above.axhline(1.0, color="black", lw=0.8, ls=":")
            above.set_yscale("symlog", linthresh=1.0)
            above.yaxis.set_major_formatter(style.PLAIN)
            above.set_title(f"{delay} links")
            below.set_xlabel("τ (rounds)")
        style.from_zero(axes[0, 0])
        style.from_zero(axes[1, 0])
        axes[0, 0].set_ylabel("suppressions of a flow in 1 s")
        axes[1, 0].set_ylabel("median queue (packets)")
        style.legend(figure, axes[0, 0])
        return figure

    def variation(self, data: pl.DataFrame) -> float | None:
        """Return the most mean suppressions of a flow, by number of flows, over the least."""
        means = (spread(data, "suppressions", flows=n).value for n in self.flows)
        known = [one for one in means if one is not None]
        return max(known) / max(min(known), 1e-9) if known else None


def _queue(rows: pl.DataFrame) -> float | None:
    """Return the median over the seeds of the median queue, packets."""
    return median(rows.unique(["seed", "queue_median"]), "queue_median")


WITHOUT = "amp-nossr"
OTHERS = ("dcm", "xmp")
SCHEMES = (*OTHERS, "amp", WITHOUT)
FLOWS = 4


@dataclass(frozen=True)
class Ssr(setting.Delayed):
    """Incast, fairness and queue length with AMP's suppression off, beside the other schemes."""

    ks: tuple[int, ...] = incast.FLOWS
    dctcp: tuple[int, ...] = Fig9.dctcp
    schemes: ClassVar = SCHEMES
    kinds: ClassVar = {"lengths": queues.lengths}
    terms: ClassVar = {"queue": lambda rows: queues.median(rows.rename({"value": "queue_pkts"}))}
    bursts: int = incast.BURSTS
    duration_s: float = syndrome.DURATION_S

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the incasts, the mixes of Figure 9(c), and the mixes of Figure 10(b)."""
        found: list[Point] = []
        for delay in self.delays:
            for scheme in ("dctcp", *SCHEMES):
                for k in self.ks:
                    runs = incast.points([Load(scheme, SIZE, k, delay)], seeds, self.bursts)
                    found += [_tag(point, "incast", delay, scheme, k) for point in runs]
            for scheme in SCHEMES:
                mix = Mix(scheme, multipath=FLOWS, dctcp=4, delay=delay, duration_s=self.duration_s)
                for n in self.dctcp:
                    runs = [replace(mix, dctcp=n).point(seed) for seed in seeds]
                    found += [_tag(point, "fairness", delay, scheme, n) for point in runs]
                runs = [replace(mix, record=queues.RECORD).point(seed) for seed in seeds]
                found += [_tag(point, "queue", delay, scheme, 4) for point in runs]
        return found

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return completion times, Jain's index or queue lengths, by the load."""
        if point.keys["load"] == "queue":
            lengths = pl.col("queue_pkts").cast(pl.Float64).alias("value")
            return queues.histogram(result).select(lengths, "samples")
        if point.keys["load"] == "fairness":
            index = jain(result.flows["goodput_bps"].to_numpy())
            found = pl.DataFrame({"value": [index]}, schema={"value": pl.Float64})
        else:
            found = result.flows.select(pl.col("fct_established_s").alias("value"))
        return found.with_columns(pl.lit(1, dtype=pl.UInt32).alias("samples"))

    def off(self, data: pl.DataFrame) -> float | None:
        """Return how far AMP without suppression is from the range of the other schemes.

        It is of the median queue, or else of the mean of the values.
        """
        of = self.of("queue" if data["load"].first() == "queue" else "mean value")
        mine, *others = (of(data.filter(scheme=scheme)) for scheme in (WITHOUT, *OTHERS))
        known = [one for one in others if one is not None]
        return max(min(known) - mine, mine - max(known), 0) if known and mine is not None else None


def _tag(point: Point, load: str, delay: str, scheme: str, k: int) -> Point:
    return replace(point, keys={"load": load, "delay": delay, "scheme": scheme, "k": k})
