"""Which runs of an experiment are alike: tests that load scenarios need one of each shape."""

import re
from collections.abc import Iterable

from linkpool.study.point import Point

NUMBER = re.compile(r"\d+(\.\d+)?")


def shape(point: Point) -> frozenset[str]:
    """Return what a scenario says, whatever its numbers and however often it says so."""
    return frozenset(NUMBER.sub("0", point.scenario).splitlines())


def one_per_shape(points: Iterable[Point]) -> list[Point]:
    """Return the first point of each shape."""
    found: dict[frozenset[str], Point] = {}
    for point in points:
        found.setdefault(shape(point), point)
    return list(found.values())
