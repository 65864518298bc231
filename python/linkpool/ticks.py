"""Numbers at the axes of figures: thousands have commas, as in text."""

import re

from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter


def grouped(text: str) -> str:
    """Put commas between the thousands of a number.

    >>> grouped("800"), grouped("12000.5"), grouped("1e5")
    ('800', '12,000.5', '1e5')
    """
    return re.sub(r"(?<![\d.])\d{4,}", lambda digits: f"{int(digits[0]):,}", text)


class Grouped(ScalarFormatter):
    """What matplotlib writes at an axis with equal steps, with commas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the number at a tick."""
        return grouped(super().__call__(x, pos))


def group_thousands(figure: Figure) -> None:
    """Put commas at all axes of a figure whose numbers matplotlib writes."""
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(Grouped())
