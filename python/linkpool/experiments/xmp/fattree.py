"""The fat-tree of the XMP paper's section 5.2, and the runs that its tables and figures share.

One run of a pattern and a scheme serves Tables 1 and 3 and Figures 8 to 11: their points are the
same, so the cache makes each of them once.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from linkpool.columns import Column
from linkpool.experiments.declared import Published
from linkpool.experiments.scenarios import scenario
from linkpool.experiments.xmp import rates
from linkpool.study.experiment import KEY_SEED, Experiment, each
from linkpool.study.point import Keys, Point
from linkpool.study.toml import Table, Value, dumps

K = 8
RACK, POD = 4, 16
"""Hosts of a rack and of a pod."""
LIMIT, BETA = 100, 4
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

KEY_PATTERN = Column("pattern", "string", "", "permutation, random or incast")
KEY_OF = Column("scheme", "string", "", "of large flows, with its subflows")
KEY_PLACE = Column("place", "string", "", "of a flow's ends: inter-pod, inter-rack or inner-rack")
KEYS = (KEY_PATTERN, KEY_OF, KEY_SEED)


def transport(scheme: str) -> Table:
    """Return the transport of a scheme of large flows, or of `tcp`."""
    name, _, subflows = scheme.partition("-")
    if name == "xmp":
        return rates.transport(BETA, int(subflows))
    control = "reno" if name == "tcp" else name
    packet: dict[str, Value] = {"mss": "1448B", "header": "52B", "ack_size": "52B"}
    paths: dict[str, Value] = {"subflows": int(subflows)} if subflows else {}
    return {"preset": "paper-2013", "control": control, **paths, **packet}


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
    transports: Table = {s: {**transport(s), **(settings or {})} for s in schemes}
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

    def extent(self) -> str:
        """Say until when each run lasts."""
        return f"each run until {self.large_flows} large flows have ended"

    def shortened(self, scale: float) -> Experiment:
        """Return it with fewer large flows."""
        return replace(self, large_flows=max(round(self.large_flows * scale), 1))


@dataclass(frozen=True)
class Patterns(LargeFlows, ABC):
    """An experiment of the shared runs.

    Attributes:
        patterns: the patterns that it is about.

    """

    patterns: tuple[str, ...] = PATTERNS

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the patterns."""
        return each("pattern", self.patterns)

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every pattern, scheme and seed."""
        return [
            point(pattern, scheme, self.large_flows, seed)
            for pattern in self.patterns
            for scheme in SCHEMES
            for seed in seeds
        ]


def mean(data: pl.DataFrame, column: str, **keys: str) -> float | None:
    """Return the mean of a column over the rows with these keys; None: there are none."""
    rows = data.filter(*(pl.col(name) == value for name, value in keys.items()))
    found = rows[column].drop_nulls().mean()
    return float(found) if isinstance(found, float) else None


def by_seed(data: pl.DataFrame, column: str, of: pl.Expr, **keys: str) -> dict[int, float]:
    """Return an aggregate of a column over the rows with these keys, of each seed that has it."""
    rows = data.filter(*(pl.col(name) == value for name, value in keys.items()))
    found = rows.drop_nulls(column).group_by("seed", maintain_order=True).agg(of.alias("value"))
    return {int(seed): float(value) for seed, value in found.select("seed", "value").iter_rows()}


def median(data: pl.DataFrame, column: str, **keys: str) -> float | None:
    """Return the median of a column over the rows with these keys; None: there are none."""
    rows = data.filter(*(pl.col(name) == value for name, value in keys.items()))
    found = rows[column].drop_nulls().median()
    return float(found) if isinstance(found, float) else None


def ratio(value: float | None, reference: float | None) -> float | None:
    """Return a ratio, if there is one."""
    return value / reference if value is not None and reference else None


def show(value: float | None, unit: str, factor: float = 1.0) -> str:
    """Write a number with its unit."""
    return "no data" if value is None else f"{value * factor:.4g} {unit}".rstrip()
