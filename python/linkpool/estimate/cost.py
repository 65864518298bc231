"""What runs cost."""

from collections.abc import Sequence
from typing import NamedTuple

from linkpool.result import Result


class Cost(NamedTuple):
    """What runs took: packets that crossed a link, and CPU seconds of the simulation."""

    packet_hops: int
    cpu_s: float


def took(results: Sequence[Result]) -> Cost:
    """Return what runs took together."""
    return Cost(
        sum(int(run.run["packet_hops"]) for run in results),
        sum(float(run.run["cpu_s"]) for run in results),
    )
