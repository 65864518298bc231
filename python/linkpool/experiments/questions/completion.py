"""Questions about how long transfers take, beside the least time that the links of a host need."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import polars as pl

from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.experiments.scenarios import filled
from linkpool.result import Result
from linkpool.study.toml import Table

MSS, HEADER = 4096, 64
"""Bytes of the packets of most questions."""
RATE_BPS = 100e9


def on_wire_s(size: float, rate_bps: float, mss: int = MSS, header: int = HEADER) -> float:
    """Return how long a link takes for so much data with its headers."""
    return 8 * size * (mss + header) / mss / rate_bps


def trouble(
    flows: pl.DataFrame, names: Sequence[str], packets: float | None = None
) -> dict[str, float]:
    """Return what went wrong: unfinished flows, timeouts, the share of data sent again.

    The data are so many packets, or as many as were sent, and then again.
    """
    resent = float(flows["retransmits"].sum()) / (packets or max(float(flows["segments"].sum()), 1))
    of = {
        "unfinished": float(flows["fct_s"].null_count()),
        "timeouts": float(flows["timeouts"].sum()),
        "retransmits": resent,
        "resent": resent,
    }
    return {name: of[name] for name in names}


def completion(
    flows: pl.DataFrame, ideal_s: float, wrong: Quantities, start_s: float = 0.0
) -> Quantities:
    """Return when the last flow ended, and the mean, over the least time; and what went wrong.

    There is only the latter if a flow did not end.
    """
    if wrong["unfinished"] or flows.is_empty():
        return wrong
    last = float(flows["end_s"].max()) - start_s  # type: ignore[arg-type]
    mean = float(flows["fct_s"].mean())  # type: ignore[arg-type]
    return {"last": last / ideal_s, "mean": mean / ideal_s, **wrong}


@cache  # all schemes have the same one, and a thousand may be drawn until one will do
def permutation(seed: int, hosts: Sequence[int], rack: int) -> list[tuple[int, int]]:
    """Return senders and receivers: each sends to one, and none into its rack of so many hosts."""
    drawn = random.Random(seed)
    while True:
        others = drawn.sample(hosts, len(hosts))
        pairs = list(zip(hosts, others, strict=True))
        if all(a // rack != b // rack for a, b in pairs):
            return pairs


@dataclass(frozen=True)
class Completion(Question):
    """A question whose file declares the permutation, if it has one, and what is measured.

    The table `permutation` has the leaves, the hosts of a leaf, how many of them send, out of how
    large a rack, and a flow in which `src` and `dst` are words. The table `completion` has the size
    of a flow, what may go wrong, and if need be: the start, the flows of a label of their own that
    are left out, the packets of all flows.
    """

    def pairs(self, setting: str, seed: int) -> list[tuple[int, int]]:
        """Return senders and receivers."""
        of = self.setup.more["permutation"]
        leaves, each, senders = of["leaves"], of["hosts_per_leaf"], of["senders"]
        hosts = [each * leaf + i for leaf in range(leaves) for i in range(senders)]
        return permutation(seed, tuple(hosts), of["rack"])

    def flows(self, setting: str, scheme: str, seed: int) -> list[Table]:
        """Return the flows of the permutation."""
        each = self.setup.more["permutation"]["flow"]
        pairs = self.pairs(setting, seed)
        return [filled(each, {"scheme": scheme, "src": a, "dst": b}) for a, b in pairs]

    def words(self, setting: str, scheme: str, seed: int) -> Words | None:
        """Return the flows of the permutation, if there is one."""
        if "permutation" not in self.setup.more:
            return {}
        return {"flows": [*self.flows(setting, scheme, seed)]}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion times over the least time of a host's link."""
        of: dict[str, Any] = self.setup.more["completion"]
        flows = result.flows.filter(pl.col("transport") != of.get("without", ""))
        wrong = trouble(flows, of["trouble"], of.get("packets"))
        size, rate = of["size"], of.get("rate_bps", RATE_BPS)
        ideal_s = on_wire_s(size, rate, of.get("mss", MSS), of.get("header", HEADER))
        found = completion(flows, ideal_s, wrong, of.get("start_s", 0.0))
        return {name: value for name, value in found.items() if name != of.get("not")}
