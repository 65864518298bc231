"""AMP, Figure 13: long flows of half the servers beside short ones of the others, in a fat-tree."""

import random
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import fattree
from linkpool.experiments.amp.setting import SUBFLOWS, seconds
from linkpool.experiments.declared import Published
from linkpool.experiments.rows import Floats, by_seed, each_named, mean, values
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, below, same, together, weakest
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps
from linkpool.units import show_number, show_seconds

DURATION_S = 10.0
RATE = 256.0
SMALLEST_B, LARGEST_B = 1_000, 1_000_000
WORSE = 1.1
"""A quantile of FCT is longer with more than this times the other."""


@dataclass(frozen=True)
class Fig13(Published):
    """FCT of short flows, goodput of long ones, utilisation, by the scheme of the long flows."""

    id: str = "A-fig13"
    duration_s: float = DURATION_S
    schemes: ClassVar = fattree.SCHEMES
    over: ClassVar = ("schemes",)
    said: ClassVar = "{duration_s:g} s of simulated time"
    cuts: ClassVar = {"duration_s": (6, 0.01)}
    columns: ClassVar = declared.columns("amp", "A-fig13")

    def point(self, seed: int, scheme: str) -> Point:
        """Return the run of a scheme; all have the same flows."""
        work = fattree.HOSTS / 2 * self.duration_s * fattree.LINK_BPS / 8 / fattree.PACKET_B
        written = partial(self._scenario, scheme, seed)
        return Point({"scheme": scheme}, written, seed, self.duration_s, work)

    def _scenario(self, scheme: str, seed: int) -> str:
        scenario = fattree.fat_tree(
            f"long {NAMES[scheme]} flows and short ones", seconds(self.duration_s), scheme, SUBFLOWS
        )
        scenario["drain"] = "1s"
        scenario["workload"] = {"flow": workload(self.duration_s, seed)}
        return dumps(scenario)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return the three panels' values."""
        kinds = {
            "fct": (fattree.SHORT, "fct_established_s"),
            "goodput": (fattree.LONG, "goodput_bps"),
        }
        rows = [
            result.flows.filter(label=label).select(
                pl.lit(kind).alias("kind"), pl.lit("").alias("name"), pl.col(of).alias("value")
            )
            for kind, (label, of) in kinds.items()
        ]
        return pl.concat([*rows, _utilisation(result.links, self.duration_s)])

    def frame(self) -> Frame:
        """Return the three panels."""

        def cdf(axes: Axes, data: pl.DataFrame, kind: str, unit: float) -> None:
            for scheme in fattree.SCHEMES:
                found = values(data, "value", scheme=scheme, kind=kind)
                style.distribution(axes, scheme, unit * found)
            axes.set_ylim(0.0, 1.0)

        def short(axes: Axes, data: pl.DataFrame) -> None:
            cdf(axes, data, "fct", 1e3)
            style.plain_log_x(axes)

        def long(axes: Axes, data: pl.DataFrame) -> None:
            cdf(axes, data, "goodput", 1e-9)

        def layers(axes: Axes, data: pl.DataFrame) -> None:
            names = [name for _, _, name in fattree.LAYERS]
            shares = {
                s: [mean(data, "value", scheme=s, name=name) for name in names]
                for s in fattree.SCHEMES
            }
            style.bars(axes, names, shares)
            for label in axes.get_xticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")

        panels = [
            Panel(short, "", "FCT of short flows (ms)", "share of flows"),
            Panel(long, "", "goodput of long flows (Gbps)", "share of flows"),
            Panel(layers, "", "", "mean utilisation"),
        ]
        return Frame(panels, self.title, sharey=False)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the text's claims about each panel."""
        fct, goodput = (
            {s: by_seed(data, "value", scheme=s, kind=kind) for s in fattree.SCHEMES}
            for kind in ("fct", "goodput")
        )
        means = {s: mean(data, "value", scheme=s, kind="fct") for s in fattree.SCHEMES}
        known = ", ".join(
            f"{NAMES[s]} {show_seconds(m)}" for s, m in means.items() if m is not None
        )
        left = data.filter(kind="fct")["value"].null_count()
        shown = f"mean FCT beside {known or 'no data'}{f'; {left} unfinished' if left else ''}"
        best = (below(fct[s], fct["dcm"], fct["dctcp"]) for s in ("amp", "xmp"))
        ledger.judge("fct-best", shown, together(*best))
        ledger.judge("fct-worst", shown, fct["dctcp"], *(fct[s] for s in fattree.MULTIPATH))
        worse = _share_worse(*(values(data, "value", scheme=s, kind="fct") for s in ("dcm", "amp")))
        of_them = show_number(worse) if worse is None else f"{worse:.0%}"
        shown = f"quantiles more than {WORSE:g} times as long: {of_them} of them"
        ledger.judge("fct-dcm", shown, worse)
        gbps = {s: mean(data, "value", scheme=s, kind="goodput") for s in fattree.SCHEMES}
        each = each_named({s: None if m is None else m / 1e9 for s, m in gbps.items()})
        shown = f"mean goodput, Gbps: {each}"
        ledger.judge("goodput-alike", shown, gbps["amp"], gbps["xmp"])
        others = (of for s, of in goodput.items() if s != "dcm")
        ledger.judge("goodput-dcm", shown, goodput["dcm"], *others)
        multipath = (goodput[s] for s in fattree.MULTIPATH)
        ledger.judge("goodput-dctcp", shown, goodput["dctcp"], *multipath)
        used: dict[str, list[float]] = {}
        for _, _, name in fattree.LAYERS:
            shares = [mean(data, "value", scheme=s, name=name) for s in fattree.MULTIPATH]
            used[name] = [share for share in shares if share is not None]
        spans = [f"{name} {min(of):.1%} to {max(of):.1%}" for name, of in used.items() if of]
        alike = (same(max(of, default=None), min(of, default=None)) for of in used.values())
        ledger.judge("utilisation", "; ".join(spans) or "no data", weakest(*alike))


def workload(duration_s: float, seed: int) -> list[Value]:
    """Return the flows: a permutation of all servers, half of which send one long flow.

    The others' short flows come as one Poisson process over the network; each is of a server drawn
    anew, to the one that the permutation gives it.
    """
    rng = random.Random(f"permutation {seed}")
    to = derangement(fattree.HOSTS, rng)
    servers = list(range(fattree.HOSTS))
    rng.shuffle(servers)
    long, others = servers[: fattree.HOSTS // 2], servers[fattree.HOSTS // 2 :]
    flows: list[Value] = [
        {
            "transport": fattree.LONG,
            "label": fattree.LONG,
            "from": src,
            "to": to[src],
            "stop": seconds(duration_s),
        }
        for src in sorted(long)
    ]
    rng = random.Random(f"short flows {seed}")
    at = rng.expovariate(RATE)
    while at < duration_s:
        src = rng.choice(others)
        flows.append(
            {
                "transport": fattree.SHORT,
                "label": fattree.SHORT,
                "from": src,
                "to": to[src],
                "size": f"{rng.randint(SMALLEST_B, LARGEST_B)}B",
                "start": seconds(at),
            }
        )
        at += rng.expovariate(RATE)
    return flows


def derangement(hosts: int, rng: random.Random) -> list[int]:
    """Return a permutation in which no host sends to itself."""
    while True:
        to = list(range(hosts))
        rng.shuffle(to)
        if all(src != dst for src, dst in enumerate(to)):
            return to


def _utilisation(links: pl.DataFrame, duration_s: float) -> pl.DataFrame:
    """Return the mean share of each layer's rate that was used in the time of the long flows."""
    used = links.with_columns(
        pl.col("from").map_elements(fattree.layer, return_dtype=pl.String).alias("a"),
        pl.col("to").map_elements(fattree.layer, return_dtype=pl.String).alias("b"),
        (8 * pl.col("bytes") / (pl.col("rate_bps") * duration_s)).alias("share"),
    )
    rows = [
        {
            "kind": "utilisation",
            "name": name,
            "value": used.filter((pl.col("a") == a) & (pl.col("b") == b))["share"].mean(),
        }
        for a, b, name in fattree.LAYERS
    ]
    return pl.DataFrame(rows, schema={"kind": pl.String, "name": pl.String, "value": pl.Float64})


def _share_worse(one: Floats, other: Floats) -> float | None:
    """Return the share of the percentiles at which one is longer than the other."""
    if not one.size or not other.size:
        return None
    at = np.arange(1, 100)
    return float(np.mean(np.percentile(one, at) > WORSE * np.percentile(other, at)))


EXPERIMENT = Fig13()
