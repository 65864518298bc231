"""What a fabric is made of, what it can carry, and how it looks."""

from linkpool.topology.fabric import Fabric

__all__ = ["Fabric"]
