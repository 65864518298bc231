"""Percentiles of a large fabric from runs of small ones with the same load on every link."""

from linkpool.estimate.domain import OutsideError
from linkpool.estimate.perform import Estimate, estimate
from linkpool.estimate.shape import Shape

__all__ = ["Estimate", "OutsideError", "Shape", "estimate"]
