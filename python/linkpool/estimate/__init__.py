"""Answers without the whole run: percentiles by scale models, jobs by their first iterations."""

from linkpool.estimate.domain import OutsideError
from linkpool.estimate.iterations import Iterations, estimate_iterations
from linkpool.estimate.perform import Estimate, estimate
from linkpool.estimate.shape import Shape

__all__ = ["Estimate", "Iterations", "OutsideError", "Shape", "estimate", "estimate_iterations"]
