"""Q-spray: AMP against packet spraying with RACK, REPS, PLB and NDP, with and without failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result
from linkpool.study.toml import Table, Value

HOSTS = 128
RATE_BPS = 100e9
SIZE = 8 << 20
BDP = 28
"""Packets: 100 Gbps, 8 links of 1 us there and back, and four packets' serialisation."""
CABLES = 6
"""Cables that fail or are slow: 5% of the 128 between leaves and spines."""
AT = "200us"
HEALTHY, FAILED, DEGRADED, FLAPPING = "healthy", "failed", "degraded", "flapping"

CHANGES: Mapping[str, Table] = {
    FAILED: {"between": "edge<->core", "count": CABLES, "state": "down"},
    DEGRADED: {"between": "edge<->core", "count": CABLES, "rate_factor": 0.25},
    FLAPPING: {
        "between": "edge<->core",
        "count": 1,
        "state": "down",
        "repeat": {"every": "100us", "lasts": "50us", "redraw": True},
    },
}
RECONVERGE = {FAILED: "10ms", FLAPPING: "never"}


@dataclass(frozen=True)
class Spray(Question):
    """A permutation of 8 MiB in a two-tier tree of 128 hosts at 100 Gbps."""

    id: str = "Q-spray"
    seeds: int = 20
    settings: ClassVar = {
        HEALTHY: "healthy",
        FAILED: "5% of cables\nfail",
        DEGRADED: "5% at a quarter\nof their rate",
        FLAPPING: "a new cable down\nfor 50 us every 100 us",
    }
    schemes: ClassVar = ("ecmp", "plb", "spray", "reps", "ndp", "lia-8", "amp-8")
    panels: ClassVar = (
        Panel("last", "last completion over ideal", log=True),
        Panel("mean", "mean completion over ideal", log=True),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the permutation by one scheme."""
        queue: Table = {"discipline": "trimming"} if scheme == "ndp" else {"limit": 100, "mark": 20}
        tree: Table = {"leaves": 16, "spines": 8, "hosts_per_leaf": 8}
        permutation: Table = {"transport": scheme, "size": f"{SIZE}B"}
        scenario: dict[str, Value] = {
            "duration": "1ms",
            "drain": "199ms",
            "topology": {"leaf-spine": {**tree, "rate": "100Gbps", "delay": "1us"}},
            "queue": queue,
            "transport": {scheme: balancing.transport(scheme, BDP, "250us")},
            "workload": {"permutation": [permutation]},
        }
        if setting in CHANGES:
            scenario["change"] = [{"at": AT, "until": "200ms", **CHANGES[setting]}]
        if setting in RECONVERGE:
            scenario["routing"] = {"reconverge": RECONVERGE[setting]}
        return Case(scenario, 1e-3, HOSTS * SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times over the least time of a host's link."""
        ideal = balancing.on_wire_s(SIZE, RATE_BPS)
        last, trouble = balancing.last_s(result), balancing.trouble(result)
        if last is None:
            return trouble
        mean = float(result.flows["fct_s"].mean())  # type: ignore[arg-type]
        return {"last": last / ideal, "mean": mean / ideal, **trouble}


EXPERIMENT = Spray()
