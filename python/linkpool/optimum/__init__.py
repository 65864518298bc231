"""What the best possible sharing would give: the optimum that measured rates are compared with."""

from linkpool.optimum.fair import concurrent, max_min, water_filling
from linkpool.optimum.network import Flow, Network
from linkpool.optimum.region import OptimumError

__all__ = ["Flow", "Network", "OptimumError", "concurrent", "max_min", "water_filling"]
