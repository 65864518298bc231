"""The optimum: the best possible sharing, with which measured rates are compared."""

from linkpool.optimum.fair import concurrent, max_min, water_filling
from linkpool.optimum.network import Flow, Network
from linkpool.optimum.region import OptimumError

__all__ = ["Flow", "Network", "OptimumError", "concurrent", "max_min", "water_filling"]
