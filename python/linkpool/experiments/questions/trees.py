"""Trees of two tiers at 100 Gbps with queues that trim, and UET, as several questions have them."""

import random
from collections.abc import Sequence
from functools import cache

from linkpool.experiments.questions import balancing
from linkpool.study.toml import Table, Value

RATE_BPS = 100e9
BDP = 28
"""Packets: 100 Gbps, 4 links of 1 us there and back, and four packets' serialisation."""
LIMIT = BDP * (balancing.MSS + balancing.HEADER)
"""The same on the wire."""

UET: Table = {
    **balancing.SIZES,
    "control": "uet",
    "ack_bytes": "1B",
    "entropies": 64,
    "balancer": "oblivious",
}
"""Sprayed over 64 values, and an ACK for each packet, as the others have."""
REPS: Table = {**UET, "balancer": "reps"}
ROCE_MARKS: Table = {
    "min": "400KB",
    "max": "1600KB",
    "max_probability": 0.2,
    "weight": 1,
    "gentle": False,
}
"""Marks of RoCE, as HPCC's repository has them at 100 Gbit/s."""


def tree(leaves: int, spines: int, hosts: int) -> Table:
    """Return leaves with so many hosts each, and spines."""
    of: Table = {"leaves": leaves, "spines": spines, "hosts_per_leaf": hosts}
    return {"leaf-spine": {**of, "rate": "100Gbps", "delay": "1us"}}


def trimming(limit: Value) -> Table:
    """Return queues that trim, and mark by what they leave behind, as uet-htsim's do."""
    marks: Table = {"mark_min": f"{LIMIT // 5}B", "mark_max": f"{4 * LIMIT // 5}B"}
    headers: Table = {"headers": f"{2 * LIMIT}B", "return_to_sender": False, **marks}
    return {"discipline": "trimming", "limit": limit, "trimming": headers}


@cache  # all schemes have the same one, and a thousand may be drawn until one will do
def permutation(seed: int, hosts: Sequence[int], rack: int) -> list[tuple[int, int]]:
    """Return senders and receivers: each sends to one, and none into its rack of so many hosts."""
    drawn = random.Random(seed)
    while True:
        others = drawn.sample(hosts, len(hosts))
        pairs = list(zip(hosts, others, strict=True))
        if all(a // rack != b // rack for a, b in pairs):
            return pairs
