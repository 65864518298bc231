"""How a value of an arm is written: with its interval, its ratio, and what makes it doubtful.

Terminals, LaTeX, Markdown, notebooks and the page of a report write what stands here, so they say
the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from linkpool.study.measures import MEASURES
from linkpool.units import show_count, show_number, show_rate, show_seconds

BOUNDS = {None: "", ">=": "≥ ", "<=": "≤ "}


class Cell(NamedTuple):
    """The texts of a cell; each is empty if there is nothing to say.

    Attributes:
        value: the mean, with "≥ " before it if it is a lower bound.
        interval: that of the mean, with the parentheses or the "±" before it.
        unfinished: how many values are lower bounds, if the mean is one.
        ratio: to the baseline, with its interval.
        why: there is no value, no ratio or no interval.
        seeds: in how many seeds the value is on the same side of the baseline's, and of how many
            seeds there is no value.

    """

    value: str = ""
    interval: str = ""
    unfinished: str = ""
    ratio: str = ""
    why: str = ""
    seeds: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: Mapping[str, Any], is_baseline: bool, seeds: int) -> "Cell":
        """Write a row of a comparison.

        Args:
            row: as in `Comparison.table`.
            is_baseline: it is what ratios are to, so it has none.
            seeds: a value of fewer says of how many it is not.

        """
        if row["mean"] is None:
            return cls(why=row["why"])
        value = _show(row["mean"], row["unit"])
        unfinished = f"{show_count(row['unfinished'])} of {show_count(row['count'])} unfinished"
        cell = cls(
            f"≥ {value}" if row["at_least"] else value,
            "" if row["at_least"] else _interval(row),
            unfinished if row["at_least"] else "",
        )
        verdict: tuple[str, ...] = ()
        if not is_baseline:
            verdict = _verdict(row)
            cell = cell._replace(ratio=_ratio(row), why=(row["why"] or "") if row["mean"] else "")
        lacking = seeds - row["seeds"]
        without = (f"without {lacking} of {seeds} seeds",) if lacking else ()
        return cell._replace(seeds=(*verdict, *without))

    def texts(self) -> list[str]:
        """Return what there is to say, in order: the value with its interval comes first."""
        first = f"{self.value} {self.interval}".strip()
        return [
            text for text in (first, self.unfinished, self.ratio, self.why, *self.seeds) if text
        ]


def ends(
    value: float, low: float, high: float, show: Callable[[float], str], bound: float | None = None
) -> str:
    """Write the ends of an interval: with two digits, which are as many as they are worth.

    They have those of the value where two do not stand around it, or not on the same side of a
    bound that the interval is held against.

    >>> ends(12.6, 12.1, 12.9, show_number), ends(12.6, 12.51, 12.7, show_number)
    ('12 to 13', '12.5 to 12.7')
    >>> ends(12.3, 11.6, 13.4, show_number), ends(12.3, 11.6, 13.4, show_number, bound=13)
    ('12 to 13', '11.6 to 13.4')
    """
    first, last = float(f"{low:.2g}"), float(f"{high:.2g}")
    stand = first < last and first <= value <= last
    if bound is not None:
        stand = stand and all(
            (short < bound) == (end < bound) and (short > bound) == (end > bound)
            for short, end in ((first, low), (last, high))
        )
    if stand:
        low, high = first, last
    return _to(show(value), show(low), show(high))


def _to(value: str, low: str, high: str) -> str:
    """Leave the unit of the ends out if it is that of the value."""
    _, blank, unit = value.partition(" ")
    if all(end.endswith(f"{blank}{unit}") for end in (low, high)):
        low, high = (end.removesuffix(f"{blank}{unit}") for end in (low, high))
    return f"{low} to {high}"


def _interval(row: Mapping[str, Any]) -> str:
    """Write the interval of a mean: by its ends where these are not as far from it."""
    if row["low"] is None or row["high"] is None or not row["mean"]:
        return ""
    measure = MEASURES.get(row["measure"])
    if "value" not in row and not (measure is not None and measure.by_ratio):
        share = 50 * (row["high"] - row["low"]) / abs(row["mean"])
        return f"±{show_number(float(f'{share:.2g}'))}%"
    return f"({ends(row['mean'], row['low'], row['high'], lambda end: _show(end, row['unit']))})"


def _ratio(row: Mapping[str, Any]) -> str:
    if row["ratio"] is None:
        return ""
    ratio = f"×{BOUNDS[row['ratio_bound']]}{show_number(row['ratio'])}"
    if row["ratio_low"] is None:
        return ratio
    interval = ends(row["ratio"], row["ratio_low"], row["ratio_high"], show_number, bound=1.0)
    return f"{ratio} ({interval})"


def _verdict(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in how many seeds a value is on the same side of the baseline's."""
    if row["pairs"] is None or row["pairs"] < 2:
        return ()
    side = "higher" if row["higher"] >= row["lower"] else "lower"
    if row[side] == 0:
        return ()
    mark = " *" if row["differs"] else ""
    return (f"{side} in {row[side]} of {row['pairs']} seeds{mark}",)


def _show(value: float, unit: str) -> str:
    if unit == "s":
        return show_seconds(value)
    if unit == "bit/s":
        return show_rate(value).replace("bit/s", "b/s")
    if value == int(value) and abs(value) < 1e6:
        return show_count(int(value))
    return show_number(value)
