"""The basic configuration of the AMP paper, as parts of scenarios.

Values come from the paper's section 5 and, where it is silent, from what its authors' own
simulation did; `docs/experiments/amp.md` lists them.
"""

from abc import ABC
from collections.abc import Mapping

import polars as pl

from linkpool.experiments.authors import ACK_FAULTS, FAULTS
from linkpool.experiments.declared import Published
from linkpool.study.experiment import each
from linkpool.study.toml import Table, Value

DELAYS = ("2us", "5.6us")
"""One-way link delays: 2 us stands in the text; 5.6 us gives the text's BDP of 20 packets."""

RATE = "10Gbps"
SUBFLOWS = 4
MARK = 10
PACKET_BITS = 8 * 1462
"""A full segment on the wire."""

SINGLE_PATH = frozenset({"dctcp"})
_CONTROL: dict[str, dict[str, Value]] = {
    "dctcp": {"control": "dctcp"},
    "dcm": {"control": "dcm"},
    "xmp": {"control": "xmp", "beta": 4},
    "amp": {"control": "amp", "beta": 4, "gamma": 2, "tau": 8},
    "amp-nossr": {"control": "amp", "beta": 4, "suppression": False},
    "mptcp-cut": {"control": "mptcp-cut", "beta": 4},
}
for _scheme in ("dcm", "xmp", "amp"):
    _CONTROL[f"{_scheme}-acks"] = {**_CONTROL[_scheme], "faults": list(ACK_FAULTS)}
    _CONTROL[f"{_scheme}-faults"] = {**_CONTROL[_scheme], "faults": list(FAULTS)}


class Delayed(Published, ABC):
    """An experiment whose claims are judged at each delay of a link."""

    delays: tuple[str, ...]

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the delays."""
        return each("delay", self.delays)


def queue(mark: int = MARK) -> Table:
    """Return the queue of every port."""
    return {
        "limit": 100,
        "mark": mark,
        "mark_when": ">=",
        "non_ect": "drop",
        "exempt": ["syn", "fin", "ack"],
    }


def transport(scheme: str, keys: Table, subflows: int = SUBFLOWS) -> Table:
    """Return a scheme's transport; `keys` replace or add to its settings."""
    several: dict[str, Value] = {} if scheme in SINGLE_PATH else {"subflows": subflows}
    base: dict[str, Value] = {"preset": "paper-2013"}
    fixed: dict[str, Value] = {"mss": "1400B", "cwnd_min": 2}
    return {**base, **_CONTROL[scheme], **several, **fixed, **keys}


def many_to_one(senders: int, delay: str) -> Table:
    """Return the topology of the paper's Figure 1."""
    return {"many-to-one": {"senders": senders, "rate": RATE, "delay": delay}}


def packets_per_second() -> float:
    """Return the full segments that a link carries in a second."""
    return 10e9 / PACKET_BITS


def seconds(value: float) -> str:
    """Write a time for a scenario, to the nanosecond."""
    return f"{round(value * 1e9)}ns"
