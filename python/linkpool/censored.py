"""Samples in which some values are only known to be at least so much.

A flow that has not finished when the run ends will take longer than it has taken: its completion
time is censored on the right. A statistic of the whole sample is at least what it is with each such
value at its bound, since means and percentiles do not fall when a value rises. It is exactly that
if it does not depend on how far these values rise.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkpool.intervals import Interval, percentile_ends, percentile_interval

Values = npt.NDArray[np.float64]


class Bounded(NamedTuple):
    """A statistic, or the least that it may be."""

    value: float
    at_least: bool = False


class Censored:
    """A sample of values, of which some are lower bounds.

    >>> sample = Censored(np.array([1.0, 2.0, 3.0, 2.5]), np.array([False, False, False, True]))
    >>> sample.percentile(0), sample.percentile(50), sample.mean()
    (Bounded(value=1.0, at_least=False), Bounded(value=2.25, at_least=True), \
Bounded(value=2.125, at_least=True))

    """

    def __init__(self, values: Values, unfinished: npt.NDArray[np.bool_]) -> None:
        """Take the values, and which of them are lower bounds."""
        self.count = int(values.size)
        self.unfinished = int(np.count_nonzero(unfinished))
        self._sorted = np.sort(values)
        self._known = np.sort(values[~unfinished]) if self.unfinished else self._sorted

    def mean(self) -> Bounded:
        """Return the mean."""
        return Bounded(float(self._sorted.mean()), self.unfinished > 0)

    def max(self) -> Bounded:
        """Return the largest value."""
        return Bounded(float(self._sorted[-1]), self.unfinished > 0)

    def percentile(self, percent: float) -> Bounded:
        """Return a percentile, which interpolates linearly between the two nearest values."""
        at = percent / 100 * (self.count - 1)
        ranks = {math.floor(at), math.ceil(at)}
        known = all(self.is_known(rank) for rank in ranks)
        return Bounded(float(np.percentile(self._sorted, percent)), not known)

    def percentile_interval(self, percent: float) -> Interval:
        """Return a percentile with its bootstrap interval, as `intervals.percentile_interval` does.

        The upper end is None if it depends on how far bounds rise; the lower end may be the least
        that it can be.
        """
        interval = percentile_interval(self._sorted, percent)
        if self.count < 2 or self.is_known(percentile_ends(self.count, percent)[1]):
            return interval
        return interval._replace(high=None)

    def is_known(self, rank: int) -> bool:
        """Tell whether the value of this rank, from 0, is the same however far bounds rise.

        With all bounds far above everything, the known values alone have the lowest ranks.
        """
        return rank < self._known.size and bool(self._known[rank] == self._sorted[rank])
