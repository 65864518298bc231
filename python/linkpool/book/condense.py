"""Make the data of an experiment small enough to be kept with the source.

Rows stay, and so does what they mean. As long as the file is too large, numbers get coarser: fewer
significant digits, and then bins, in which each value is the mean of its neighbours by rank. Means
over a group of rows stay what they are, up to rounding, and a percentile moves within its bin.
"""

import io
from collections.abc import Callable, Iterator, Sequence

import polars as pl

LIMIT = 200_000
"""Bytes that the data of an experiment may have."""

DIGITS = (6, 5, 4)
"""Significant digits of numbers, while the data is too large."""

BINS = (2, 4, 8, 16, 32, 64, 128)
"""Rows that share a value, while the data is still too large."""

SERIES = frozenset({"time_s", "start_s", "end_s"})
"""Columns that place a row in time: rows of such data are no sample, and are not binned."""


class TooMuchDataError(ValueError):
    """Data cannot be made small enough; the message says how small it got."""


def condensed(data: pl.DataFrame, good: Callable[[pl.DataFrame], bool]) -> tuple[bytes, str]:
    """Return the data as a Parquet file of at most `LIMIT` bytes, and how it differs.

    Args:
        data: the data.
        good: tells whether coarser data says the same as the data.

    Raises:
        TooMuchDataError: no form of it is both small enough and good.

    """
    least = None
    for form, how in _forms(data):
        content = _parquet(form)
        least = len(content) if least is None else min(least, len(content))
        if len(content) <= LIMIT and good(form):
            return content, how
    raise TooMuchDataError(
        f"{data.height} rows take {least} bytes at least; the limit is {LIMIT}, "
        "with the same verdicts"
    )


def _forms(data: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, str]]:
    yield data, "as measured"
    for digits in DIGITS:
        yield _rounded(data, digits), f"{digits} significant digits"
    floats = [name for name, kind in data.schema.items() if kind.is_float()]
    if not floats or SERIES & set(floats):
        return
    for size in BINS:
        binned = _binned(data, floats, size)
        yield _rounded(binned, DIGITS[-1]), f"means of {size} neighbours by rank, 4 digits"


def _rounded(data: pl.DataFrame, digits: int) -> pl.DataFrame:
    floats = pl.selectors.float()
    return data.with_columns(floats.round_sig_figs(digits))


def _binned(data: pl.DataFrame, floats: Sequence[str], size: int) -> pl.DataFrame:
    """Let rows that agree in all but their numbers share the means of so many neighbours."""
    names = data.columns
    exact = [name for name in names if name not in floats]
    missing = [pl.col(name).is_null().alias(f"no {name}") for name in floats]
    groups = [*exact, *(f"no {name}" for name in floats)]
    data = data.with_columns(missing).sort(*groups, *floats)
    place = pl.int_range(pl.len()).over(groups) // size
    means = [pl.col(name).mean().over([*groups, "bin"]) for name in floats]
    return data.with_columns(place.alias("bin")).with_columns(means).select(names)


def _parquet(data: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    data.write_parquet(buffer, compression="zstd", compression_level=22, statistics=False)
    return buffer.getvalue()
