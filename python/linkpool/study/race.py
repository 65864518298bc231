"""Race trials: one that is worse than the best with confidence is stopped before its last seed.

A race by Student's paired t test with Bonferroni's correction, as the races by t tests in
Birattari, Stützle, Paquete and Varrentrapp, "A racing algorithm for configuring metaheuristics",
GECCO 2002; the idea is that of Maron and Moore, "Hoeffding races", NIPS 1993.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from linkpool.intervals import CONFIDENCE, paired_p
from linkpool.study.measures import MEASURES, wanted

BySeed: TypeAlias = "Mapping[int, float]"
"""The value of a measure with each seed."""

Objectives: TypeAlias = "Sequence[tuple[str, bool]]"
"""Measures, and whether each is to be small."""


def looks(seeds: int) -> list[int]:
    """Return after how many of so many seeds a trial is looked at.

    After 2, 4, 8 and so on: a t test needs two values, and with fewer looks each decides more.

    >>> looks(2), looks(3), looks(10)
    ([], [2], [2, 4, 8])

    """
    return [count for count in (2**i for i in range(1, seeds.bit_length())) if count < seeds]


def is_worse(
    mine: Mapping[str, BySeed],
    other: Mapping[str, BySeed],
    objectives: Objectives,
    chances: int,
) -> bool:
    """Tell whether a trial is worse than another in every objective, with confidence.

    The differences of both, seed by seed, have a mean on the worse side by the one-sided t test at
    level (1 - 95%) / chances. A measure whose ratios are compared has differences of logarithms.

    Args:
        mine: the values of the trial, by measure; with the seeds that it has made.
        other: those of the other trial, with these seeds at least.
        objectives: all of them are to be worse, so no correction is needed for their number.
        chances: how often a trial is compared, over all looks and others: a trial that is not
            worse is then stopped with a chance of at most 5%.

    """
    return all(
        _is_worse(name, mine[name], other[name], small, chances) for name, small in objectives
    )


def _is_worse(name: str, mine: BySeed, other: BySeed, small: bool, chances: int) -> bool:
    if not mine.keys() <= other.keys():
        return False
    x = np.array(list(mine.values()), dtype=np.float64)
    y = np.array([other[seed] for seed in mine], dtype=np.float64)
    if MEASURES[wanted(name).measure.name].by_ratio:
        if not (x > 0.0).all() or not (y > 0.0).all():
            return False
        x, y = np.log(x), np.log(y)
    worse = x - y if small else y - x
    p = paired_p(worse)
    return p is not None and float(worse.mean()) > 0.0 and p / 2.0 <= (1.0 - CONFIDENCE) / chances
