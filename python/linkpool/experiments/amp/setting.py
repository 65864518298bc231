"""The basic configuration of the AMP paper, as parts of scenarios.

Values come from the paper's section 5 and, where it is silent, from what its authors' own
simulation did; `docs/experiments/amp.md` lists them.
"""

from abc import ABC
from dataclasses import dataclass, field
from typing import ClassVar

from linkpool.experiments import scenarios
from linkpool.experiments.declared import Published
from linkpool.study.toml import Table, Value

DELAYS = ("2us", "5.6us")
"""One-way link delays: 2 us stands in the text; 5.6 us gives the text's BDP of 20 packets."""

SUBFLOWS = 4
MARK = 10
PACKET_BITS = 8 * 1462
"""A full segment on the wire."""

SINGLE_PATH = frozenset({"dctcp"})


@dataclass(frozen=True)
class Delayed(Published, ABC):
    """An experiment whose claims are judged at each delay of a link."""

    delays: tuple[str, ...] = field(default=DELAYS, kw_only=True)
    apart: ClassVar = ("delay", "delays")


def transport(scheme: str, keys: Table, subflows: int = SUBFLOWS) -> Table:
    """Return a scheme's transport; `keys` replace or add to its settings."""
    several: dict[str, Value] = {} if scheme in SINGLE_PATH else {"subflows": subflows}
    return {**scenarios.transport("amp", scheme), **several, **keys}


def packets_per_second() -> float:
    """Return the full segments that a link carries in a second."""
    return 10e9 / PACKET_BITS


def seconds(value: float) -> str:
    """Write a time for a scenario, to the nanosecond."""
    return f"{round(value * 1e9)}ns"
