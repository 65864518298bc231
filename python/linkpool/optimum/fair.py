"""Two optima: the largest share that all flows can have at once, and max-min fair rates."""

from collections.abc import Sequence

import numpy as np

from linkpool.optimum.network import Floats, Flow, Network
from linkpool.optimum.region import OptimumError, Region

HOLDS = 1e-6
"""A flow whose price is this share of all prices holds the others down."""


def concurrent(
    network: Network, flows: Sequence[Flow], demands: Sequence[float] | None = None
) -> float:
    """Return the maximum concurrent flow: the largest t for t times all demands at once.

    Args:
        network: the links.
        flows: who shares them.
        demands: of each flow, bit/s; None: 1 each, so that the result is a rate in bit/s.

    Shahrokhi and Matula, JACM 37(2), 1990; solved exactly, as a linear programme.

    """
    weights = np.ones(len(flows)) if demands is None else np.array(demands, dtype=np.float64)
    return Region(network, flows).raise_together(weights, np.full(len(flows), np.nan))[0]


def max_min(network: Network, flows: Sequence[Flow]) -> Floats:
    """Return the max-min fair rates, bit/s: none can be raised but at the cost of one no larger.

    A flow splits its traffic over its paths, or over any, as serves best. All rates are raised
    together until some can rise no more; these keep what they have, and the others are raised
    further (Bertsekas and Gallager, Data Networks, section 6.5.2, with a linear programme in each
    step, as traffic may be split).
    """
    region = Region(network, flows)
    rates = np.full(len(flows), np.nan)
    weights = np.ones(len(flows))
    while np.isnan(rates).any():
        level, prices = region.raise_together(weights, rates)
        held = prices > HOLDS * prices.sum()
        if not held.any():
            raise OptimumError("no flow holds the others down, yet they rise no further")
        rates[held] = level
    return rates


def water_filling(network: Network, paths: Sequence[Sequence[int]]) -> Floats:
    """Return the max-min fair rates, bit/s, of flows with one path each, by filling the links.

    The link that gives the least to each flow over it is filled first (Bertsekas and Gallager, Data
    Networks, section 6.5.2).
    """
    rates = np.full(len(paths), np.nan)
    left = network.capacity.copy()
    members: list[set[int]] = [set() for _ in left]
    for flow, path in enumerate(paths):
        for link in path:
            members[link].add(flow)
    while np.isnan(rates).any():
        share = [left[i] / len(m) if m else np.inf for i, m in enumerate(members)]
        level = min(share)
        for flow in members[int(np.argmin(share))].copy():
            rates[flow] = level
            for link in paths[flow]:
                left[link] -= level
                members[link].discard(flow)
    return rates
