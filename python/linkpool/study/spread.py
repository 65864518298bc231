"""A quantity over the seeds of an experiment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """A quantity over the seeds: a typical value, the least and the largest; None without data."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarise the values of the seeds by their mean and range."""
        if not values:
            return cls(None, None, None)
        return cls(float(np.mean(values)), min(values), max(values))

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "no data"
        text = f"{self.value:.3g}"
        return text if self.low == self.high else f"{text} ({self.low:.3g} to {self.high:.3g})"
