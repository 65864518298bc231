"""AMP, Figure 13: long flows of half the servers beside short ones of the others, in a fat-tree."""

import random
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl

from linkpool.experiments.amp import fattree
from linkpool.experiments.amp.setting import SUBFLOWS, seconds
from linkpool.experiments.declared import Published
from linkpool.experiments.formulas import Found
from linkpool.experiments.rows import mean, values
from linkpool.result import Result
from linkpool.study.claims import same, weakest
from linkpool.study.point import Point
from linkpool.study.schemes import NAMES
from linkpool.study.toml import Value, dumps

DURATION_S = 10.0
RATE = 256.0
SMALLEST_B, LARGEST_B = 1_000, 1_000_000
WORSE = 1.1
"""A quantile of FCT is longer with more than this times the other."""


@dataclass(frozen=True)
class Fig13(Published):
    """FCT of short flows, goodput of long ones, utilisation, by the scheme of the long flows."""

    duration_s: float = DURATION_S
    schemes: ClassVar = fattree.SCHEMES
    layers: ClassVar = tuple(name for _, _, name in fattree.LAYERS)
    over: ClassVar = ("schemes",)
    terms: ClassVar = {"unfinished": lambda rows: _unfinished(rows["value"].null_count())}
    said: ClassVar = "{duration_s:g} s of simulated time"
    cuts: ClassVar = {"duration_s": (6, 0.01)}

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

    def used(self, data: pl.DataFrame) -> Found:
        """Judge how alike the multipath schemes use each layer."""
        used: dict[str, list[float]] = {}
        for name in self.layers:
            shares = [mean(data, "value", scheme=s, name=name) for s in fattree.MULTIPATH]
            used[name] = [share for share in shares if share is not None]
        spans = [f"{name} {min(of):.1%} to {max(of):.1%}" for name, of in used.items() if of]
        alike = (same(max(of, default=None), min(of, default=None)) for of in used.values())
        return Found.of("; ".join(spans) or "no data", weakest(*alike))

    def worse(self, data: pl.DataFrame) -> float | None:
        """Return the share of the percentiles of FCT that are longer beside DCM than beside AMP."""
        fct = data.filter(kind="fct")
        one, other = (values(fct, "value", scheme=scheme) for scheme in ("dcm", "amp"))
        if not one.size or not other.size:
            return None
        at = np.arange(1, 100)
        return float(np.mean(np.percentile(one, at) > WORSE * np.percentile(other, at)))


def _unfinished(flows: int) -> str:
    return f"; {flows} unfinished" if flows else ""


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
