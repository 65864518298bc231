"""The fat-tree of the XMP paper's section 5.2, and the runs that its tables and figures share.

One run of a pattern and a scheme serves Tables 1 and 3 and Figures 8 to 11: their points are the
same, so the cache makes each of them once.
"""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario, transport
from linkpool.study.point import Keys, Point
from linkpool.study.toml import Table, Value, dumps

K = 8
RACK, POD = 4, 16
"""Hosts of a rack and of a pod."""
LIMIT = 100
LINK_BPS = 1e9
HOSTS = K**3 // 4

SCHEMES = {"dctcp": 1, "lia-2": 2, "lia-4": 4, "xmp-2": 2, "xmp-4": 4}
"""The schemes of large flows, and their subflows."""
PATTERNS = ("permutation", "random", "incast")
LARGE = "large"
LARGE_B = {"permutation": 288e6, "random": 170e6, "incast": 170e6}
"""The mean of large flows, roughly: for order and progress only."""

PARETO: Value = {"pareto": {"shape": 1.5, "mean": "192MB", "max": "768MB"}}

PLACES = ("inter-pod", "inter-rack", "inner-rack")


def fabric(
    name: str, limit: int, large_flows: int, transports: Table, pattern: str, scheme: str
) -> dict[str, Value]:
    """Return a scenario of a pattern; it ends when so many large flows have."""
    found = scenario("xmp", "fabric", name=name, limit=limit, large_flows=large_flows)
    found["transport"] = transports
    if pattern == "beside":
        found["roles"] = {"half": HOSTS // 2}
    words = {"scheme": scheme, "pareto": PARETO}
    found["workload"] = scenario("xmp", "workload", **words)[pattern]
    return found


def point(
    pattern: str, scheme: str, large_flows: int, seed: int, settings: "Table | None" = None
) -> Point:
    """Return the run of a pattern with a scheme of large flows.

    Args:
        pattern: permutation, random or incast.
        scheme: of the large flows.
        large_flows: the run ends when so many have ended.
        seed: the seed.
        settings: more settings of all transports.

    """
    schemes = (scheme, "tcp") if pattern == "incast" else (scheme,)
    transports: Table = {s: {**transport("xmp", s), **(settings or {})} for s in schemes}
    name = f"{pattern}, large flows by {scheme}"
    found = fabric(name, LIMIT, large_flows, transports, pattern, scheme)
    keys: Keys = {"pattern": pattern, "scheme": scheme}
    return sized(keys, found, seed, large_flows * LARGE_B[pattern])


def sized(keys: Keys, found: Table, seed: int, payload_b: float) -> Point:
    """Return a run in which large flows carry about so many bytes: of order and progress only."""
    active = payload_b * 8 / (HOSTS * 0.5 * LINK_BPS)
    return Point(keys, dumps(found), seed, active, payload_b / 1448)


def place() -> pl.Expr:
    """Return where the ends of a flow are, from the names of its hosts."""
    ends = [pl.col(end).str.strip_prefix("h").cast(pl.Int64) for end in ("src", "dst")]
    source, destination = ends
    return (
        pl.when(source // RACK == destination // RACK)
        .then(pl.lit("inner-rack"))
        .when(source // POD == destination // POD)
        .then(pl.lit("inter-rack"))
        .otherwise(pl.lit("inter-pod"))
        .alias("place")
    )


@dataclass(frozen=True)
class LargeFlows(Published, ABC):
    """An experiment whose runs end when so many large flows have ended: `large_flows`."""

    large_flows: int = 2000
    said: ClassVar = "each run until {large_flows} large flows have ended"
    cuts: ClassVar = {"large_flows": (0, 1)}


@dataclass(frozen=True)
class Patterns(LargeFlows, ABC):
    """An experiment of the shared runs.

    Attributes:
        patterns: the patterns that it is about.

    """

    patterns: tuple[str, ...] = PATTERNS
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("patterns", "schemes")
    apart: ClassVar[tuple[str, str] | None] = ("pattern", "patterns")

    def point(self, seed: int, pattern: str, scheme: str) -> Point:
        """Return the run of a pattern and a scheme."""
        return point(pattern, scheme, self.large_flows, seed)
