"""AMP, Figure 13: long flows of half the servers beside short ones of the others, in a fat-tree."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import fattree
from linkpool.experiments.amp.setting import SUBFLOWS, seconds
from linkpool.experiments.declared import Published
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, below, same, together, weakest
from linkpool.study.experiment import Experiment
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
    columns: ClassVar = declared.columns("amp", "A-fig13")

    def extent(self) -> str:
        """Say how long each run is."""
        return f"{self.duration_s:g} s of simulated time"

    def shortened(self, scale: float) -> Experiment:
        """Return it with less simulated time."""
        return replace(self, duration_s=max(DURATION_S * scale, 0.01))

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return a run for each scheme; all have the same flows."""
        return [self._point(scheme, seed) for scheme in fattree.SCHEMES for seed in seeds]

    def _point(self, scheme: str, seed: int) -> Point:
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
        flows = result.flows
        short = flows.filter(pl.col("label") == fattree.SHORT).select(
            pl.lit("fct").alias("kind"),
            pl.lit("").alias("name"),
            pl.col("fct_established_s").alias("value"),
        )
        long = flows.filter(pl.col("label") == fattree.LONG).select(
            pl.lit("goodput").alias("kind"),
            pl.lit("").alias("name"),
            pl.col("goodput_bps").alias("value"),
        )
        return pl.concat([short, long, _utilisation(result.links, self.duration_s)])

    def frame(self) -> Frame:
        """Return the three panels."""

        def short(axes: Axes, data: pl.DataFrame) -> None:
            _cdf(axes, data, "fct", 1e3)
            style.plain_log_x(axes)

        def long(axes: Axes, data: pl.DataFrame) -> None:
            _cdf(axes, data, "goodput", 1e-9)

        def layers(axes: Axes, data: pl.DataFrame) -> None:
            names = [name for _, _, name in fattree.LAYERS]
            shares = {s: [_layer(data, s, name) for name in names] for s in fattree.SCHEMES}
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
        _short(ledger, data)
        _long(ledger, data)
        _layers(ledger, data)


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


def _values(data: pl.DataFrame, scheme: str, kind: str) -> "np.ndarray":
    rows = data.filter((pl.col("scheme") == scheme) & (pl.col("kind") == kind))
    return np.sort(rows["value"].drop_nulls().to_numpy())


def _mean(data: pl.DataFrame, scheme: str, kind: str) -> float | None:
    values = _values(data, scheme, kind)
    return float(values.mean()) if values.size else None


def _by_seed(data: pl.DataFrame, scheme: str, kind: str) -> dict[int, float]:
    rows = data.filter((pl.col("scheme") == scheme) & (pl.col("kind") == kind)).drop_nulls("value")
    means = rows.group_by("seed", maintain_order=True).agg(pl.col("value").mean())
    return dict(means.iter_rows())


def _layer(data: pl.DataFrame, scheme: str, name: str) -> float | None:
    rows = data.filter((pl.col("scheme") == scheme) & (pl.col("name") == name))
    value = rows["value"].mean()
    return float(value) if isinstance(value, float) else None


def _cdf(axes: Axes, data: pl.DataFrame, kind: str, unit: float) -> None:
    for scheme in fattree.SCHEMES:
        style.distribution(axes, scheme, unit * _values(data, scheme, kind))
    axes.set_ylim(0.0, 1.0)


def _short(ledger: Ledger, data: pl.DataFrame) -> None:
    means = {s: m for s in fattree.SCHEMES if (m := _mean(data, s, "fct")) is not None}
    shown = ", ".join(f"{NAMES[s]} {show_seconds(m)}" for s, m in means.items()) or "no data"
    shown = f"mean FCT beside {shown}{_unfinished(data)}"
    fct = {s: _by_seed(data, s, "fct") for s in fattree.SCHEMES}
    ledger.judge(
        "fct-best",
        shown,
        together(*(below(fct[best], fct["dcm"], fct["dctcp"]) for best in ("amp", "xmp"))),
    )
    ledger.judge("fct-worst", shown, fct["dctcp"], *(fct[s] for s in fattree.MULTIPATH))
    worse = _share_worse(_values(data, "dcm", "fct"), _values(data, "amp", "fct"))
    ledger.judge(
        "fct-dcm", f"quantiles more than {WORSE:g} times as long: {_percent(worse)} of them", worse
    )


def _long(ledger: Ledger, data: pl.DataFrame) -> None:
    means = {s: m for s in fattree.SCHEMES if (m := _mean(data, s, "goodput")) is not None}
    shown = ", ".join(f"{NAMES[s]} {m / 1e9:.3g}" for s, m in means.items()) or "no data"
    shown = f"mean goodput, Gbps: {shown}"
    goodput = {s: _by_seed(data, s, "goodput") for s in fattree.SCHEMES}
    ledger.judge("goodput-alike", shown, means.get("amp"), means.get("xmp"))
    ledger.judge(
        "goodput-dcm", shown, goodput["dcm"], *(of for s, of in goodput.items() if s != "dcm")
    )
    ledger.judge("goodput-dctcp", shown, goodput["dctcp"], *(goodput[s] for s in fattree.MULTIPATH))


def _layers(ledger: Ledger, data: pl.DataFrame) -> None:
    judged = []
    shown = []
    for _, _, name in fattree.LAYERS:
        shares = [v for s in fattree.MULTIPATH if (v := _layer(data, s, name)) is not None]
        judged.append(same(max(shares, default=None), min(shares, default=None)))
        if shares:
            shown.append(f"{name} {min(shares):.1%} to {max(shares):.1%}")
    ledger.judge("utilisation", "; ".join(shown) or "no data", weakest(*judged))


def _share_worse(one: "np.ndarray", other: "np.ndarray") -> float | None:
    """Return the share of the percentiles at which one is longer than the other."""
    if not one.size or not other.size:
        return None
    at = np.arange(1, 100)
    return float(np.mean(np.percentile(one, at) > WORSE * np.percentile(other, at)))


def _unfinished(data: pl.DataFrame) -> str:
    rows = data.filter((pl.col("kind") == "fct") & pl.col("value").is_null())
    return f"; {rows.height} unfinished" if rows.height else ""


def _percent(share: float | None) -> str:
    return show_number(share) if share is None else f"{share:.0%}"


EXPERIMENT = Fig13()
