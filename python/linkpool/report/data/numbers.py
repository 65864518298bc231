"""Numbers as the page keeps them: few digits, and null for missing ones."""

import math
from collections.abc import Iterable
from typing import Any

import polars as pl


def rounded(value: float | None, digits: int = 5) -> float | int | None:
    """Return a number with so many significant digits."""
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def column(values: Iterable[Any], digits: int = 5) -> list[Any]:
    """Return a column, its floating-point numbers rounded."""
    return [rounded(v, digits) if isinstance(v, float) else v for v in values]


def columns(rows: pl.DataFrame, digits: int = 5) -> dict[str, list[Any]]:
    """Return a table by columns."""
    return {name: column(rows[name].to_list(), digits) for name in rows.columns}
