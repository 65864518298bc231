"""Of how many values a percentile is one."""

import math
from fractions import Fraction
from functools import cache


@cache
def needed(percent: Fraction) -> int:
    """Return of how many values a percentile is one: at least one value is to be beyond it.

    With fewer, the percentile lies between the two last values, and says no more than the largest.

    >>> [needed(Fraction(percent)) for percent in ("50", "95", "99", "99.9", "1", "0")]
    [2, 20, 100, 1000, 100, 1]

    """
    beyond = min(percent, 100 - percent)
    return math.ceil(100 / beyond) if beyond else 1
