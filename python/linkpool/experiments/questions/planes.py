"""Q-planes: what fails, flaps or is slow, and for how long."""

from dataclasses import dataclass

from linkpool.experiments.questions.completion import Completion
from linkpool.experiments.questions.question import Words
from linkpool.study.toml import Table, Value

AT_US = 200
SPANS_US = {"10us": 10, "100us": 100, "1ms": 1000, "10ms": 10_000}


def change(setting: str) -> Table:
    """Return what happens at 200 us: links of plane 0 fail, flap or have a tenth of their rate."""
    where, how, span = setting.split("-")
    us = SPANS_US[span]
    planes: list[Value] = [f"l0.{leaf}" for leaf in range(4)]
    of: Table = {"links": ["h0<->l0.0"]} if where == "cable" else {"nodes": planes}
    of = {**of, "at": f"{AT_US}us", "until": f"{AT_US + us}us"}
    if how == "slow":
        return {**of, "rate_factor": 0.1}
    flaps: Table = {"repeat": {"every": f"{us * 250}ns", "lasts": f"{us * 125}ns"}}
    return {**of, "state": "down", **(flaps if how == "flap" else {})}


@dataclass(frozen=True)
class Planes(Completion):
    """The permutation while a plane or a cable of plane 0 changes."""

    id: str = "Q-planes"

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows, and what changes; routes are as they were before."""
        changed = None if setting == "quiet" else change(setting)
        routing: Table | None = {"reconverge": "never"} if changed and "state" in changed else None
        return {
            "flows": [*self.flows(setting, scheme, seed)],
            "change": [changed] if changed else None,
            "routing": routing,
        }


EXPERIMENT = Planes()
