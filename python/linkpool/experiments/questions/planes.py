"""Q-planes: a subflow in each plane, or packets over all planes, when one of them fails.

Hosts with eight ports of 100 Gbps, each in a plane of its own. A plane, or one host's cable to it,
fails, flaps or is slow for 10 us to 10 ms, while every host sends one message.
"""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import balancing
from linkpool.experiments.questions.question import (
    Case,
    Panel,
    Quantities,
    Question,
)
from linkpool.experiments.questions.trees import BDP, LIMIT, UET, permutation, trimming
from linkpool.result import Result
from linkpool.study.toml import Table, Value

PLANES, LEAVES, SPINES, HOSTS_OF_LEAF = 8, 4, 2, 2
HOSTS = LEAVES * HOSTS_OF_LEAF
RATE_BPS = PLANES * 100e9
SIZE = 64 << 20
AT_US = 200
SPANS_US = {"10us": 10, "100us": 100, "1ms": 1000, "10ms": 10_000}

ALL: Table = {**UET, "paths": "planes"}
SUBFLOWS: Table = {**ALL, "subflows": PLANES}
MPTCP: Table = {
    "paths": "planes",
    "scheduler": "lowest-rtt",
    "send_buffer": "4MiB",
    "subflow_window": f"{2 * LIMIT}B",
}
"""Without a bound a lone subflow's window grows, and its port holds all of the send buffer."""
TRANSPORTS: dict[str, Table] = {
    "nscc": ALL,
    "nscc-bitmap": {**ALL, "balancer": "bitmap"},
    "nscc-reps": {**ALL, "balancer": "reps"},
    "mp-amp": {**SUBFLOWS, "subflow_coupling": "amp"},
    "mp-reps": {**SUBFLOWS, "subflow_coupling": "amp", "balancer": "reps"},
    "lia-8": {**balancing.transport("lia-8", PLANES * BDP, "250us"), **MPTCP},
    "amp-8": {**balancing.transport("amp-8", PLANES * BDP, "250us"), **MPTCP},
}
WORDS = {
    "plane-down": "a plane fails",
    "plane-flap": "a plane flaps",
    "plane-slow": "a plane is slow",
    "cable-down": "a cable fails",
    "cable-flap": "a cable flaps",
    "cable-slow": "a cable is slow",
}


def change(setting: str) -> Table:
    """Return what happens at 200 us: links of plane 0 fail, flap or have a tenth of their rate."""
    where, how, span = setting.split("-")
    us = SPANS_US[span]
    planes: list[Value] = [f"l0.{leaf}" for leaf in range(LEAVES)]
    cable: list[Value] = ["h0<->l0.0"]
    of: Table = {"links": cable} if where == "cable" else {"nodes": planes}
    of = {**of, "at": f"{AT_US}us", "until": f"{AT_US + us}us"}
    if how == "slow":
        return {**of, "rate_factor": 0.1}
    down: Table = {**of, "state": "down"}
    if how == "down":
        return down
    return {**down, "repeat": {"every": f"{us * 250}ns", "lasts": f"{us * 125}ns"}}


@dataclass(frozen=True)
class Planes(Question):
    """A permutation of 64 MiB over eight planes of 4 leaves and 2 spines at 100 Gbps."""

    id: str = "Q-planes"
    settings: ClassVar = {
        "quiet": "all is well",
        **{f"{what}-{span}": span for what in WORDS for span in SPANS_US},
    }
    schemes: ClassVar = tuple(TRANSPORTS)
    panels: ClassVar = tuple(
        Panel("last", f"last completion over ideal\n{words}", only=what)
        for what, words in WORDS.items()
    )
    figure_rows: ClassVar[int] = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return the permutation by one scheme: each host sends to one of another leaf."""
        flows: list[Value] = [
            {"transport": scheme, "from": f"h{a}", "to": f"h{b}", "size": f"{SIZE}B"}
            for a, b in permutation(seed, tuple(range(HOSTS)), HOSTS_OF_LEAF)
        ]
        of: Table = {"planes": PLANES, "leaves": LEAVES, "spines": SPINES}
        scenario: dict[str, Value] = {
            "duration": "5ms",
            "drain": "95ms",
            "topology": {
                "multi-plane": {
                    **of,
                    "hosts_per_leaf": HOSTS_OF_LEAF,
                    "rate": "100Gbps",
                    "delay": "1us",
                }
            },
            "queue": trimming(f"{LIMIT}B"),
            "transport": {scheme: TRANSPORTS[scheme]},
            "workload": {"flow": flows},
        }
        if setting != "quiet":
            changed = change(setting)
            scenario["change"] = [changed]
            if "state" in changed:
                scenario["routing"] = {"reconverge": "never"}
        return Case(scenario, 1e-3, HOSTS * SIZE / balancing.MSS)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times over the least time of a host's ports."""
        flows = result.flows
        trouble = balancing.trouble(result)
        last = balancing.last_s(result)
        if last is None:
            return trouble
        ideal = balancing.on_wire_s(SIZE, RATE_BPS)
        mean = float(flows["fct_s"].mean())  # type: ignore[arg-type]
        return {"last": last / ideal, "mean": mean / ideal, **trouble}


EXPERIMENT = Planes()
