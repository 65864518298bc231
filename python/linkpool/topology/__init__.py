"""The structure of a fabric, its capacity, and its picture."""

from linkpool.topology.fabric import Fabric

__all__ = ["Fabric"]
