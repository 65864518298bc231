"""Make the data of an experiment small enough to be kept with the source.

The number of rows stays. As long as the file is too large, numbers get coarser: fewer significant
digits, then bins, and at last bins whose means have fewer digits. In bins each column of numbers is
sorted by itself within its group of rows, and each value is the mean of its neighbours. So means
over a group stay what they are, up to rounding, the largest values too, and a percentile moves
within its bin; but two numbers of one row no longer belong together. Counts of few different
values, such as timeouts, stay exact.
"""

import io
from collections.abc import Callable, Iterator, Sequence

import polars as pl

LIMIT = 200_000
"""Bytes that the data of an experiment may have."""

AS_MEASURED = "as measured"
"""The form of data that is complete."""

DIGITS = (6, 5, 4)
"""Significant digits of numbers, while the data is too large."""

BINS = (2048, 1536, 1024, 768, 512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16)
"""Bins of the rows that agree in all but their numbers, while the data is still too large."""

BINNED = (*((4, bins) for bins in BINS), *((3, bins) for bins in (*BINS, 12, 8)))
"""Significant digits of means over bins, and the bins: fewer digits before very few bins."""

JUMP = 1.25
"""A number is binned apart from those below it if it is more than this times the next smaller."""

COUNTS = 1_000
"""An integer column of more different values is a number that may be binned."""

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
    yield data, AS_MEASURED
    for digits in DIGITS:
        yield _rounded(data, digits), f"{digits} significant digits"
    floats = [name for name, kind in data.schema.items() if kind.is_float()]
    if not floats or SERIES & set(floats):
        return
    integers = [name for name, kind in data.schema.items() if kind.is_integer()]
    numbers = [*floats, *(name for name in integers if data[name].n_unique() > COUNTS)]
    for digits, bins in BINNED:
        how = (
            "in each group of rows each number sorted by itself, "
            f"and then means of neighbours, {bins} at most, of {digits} digits"
        )
        yield _rounded(_binned(data, numbers, bins), digits), how


def _rounded(data: pl.DataFrame, digits: int) -> pl.DataFrame:
    floats = pl.selectors.float()
    return data.with_columns(floats.round_sig_figs(digits))


def _binned(data: pl.DataFrame, numbers: Sequence[str], bins: int) -> pl.DataFrame:
    """Let rows that agree in all but their numbers share the means of this many bins at most.

    Each number has bins of its own: the means of one number over bins of another would say little
    of its distribution. A quarter of the bins have a row each: the largest values, on which a
    standard deviation hangs. Another quarter shares the rest of the largest tenth, in which high
    percentiles are. A bin ends where a number jumps: flows that wait for a timeout are not averaged
    with those that do not.
    """
    exact = [name for name in data.columns if name not in numbers]
    missing = [pl.col(name).is_null().alias(f"no {name}") for name in numbers]
    groups = [*exact, *(f"no {name}" for name in numbers)]
    by_itself = [pl.col(name).sort().over(groups) for name in numbers]
    rows = data.with_columns(missing).sort(*groups).with_columns(by_itself)
    quarter = bins // 4
    from_top = pl.len() - 1 - pl.int_range(pl.len())
    tenth = pl.max_horizontal(pl.len() // 10, quarter)
    upper = (tenth - quarter) // quarter + 1
    lower = (pl.len() - tenth) // (bins - 2 * quarter) + 1
    place = (
        pl.when((pl.len() <= bins) | (from_top < quarter))
        .then(from_top)
        .when(from_top < tenth)
        .then(pl.len() + (from_top - quarter) // upper)
        .otherwise(2 * pl.len() + (from_top - tenth) // lower)
        .over(groups)
    )
    jumps = [
        (pl.col(name) > JUMP * pl.col(name).shift(1)).cum_sum().over(groups).alias(f"jumps {name}")
        for name in numbers
    ]
    means = [
        _mean(name, data.schema[name]).over([*groups, "bin", f"jumps {name}"]) for name in numbers
    ]
    placed = rows.with_columns(place.alias("bin"), *jumps)
    return placed.with_columns(means).select(data.columns)


def _mean(name: str, kind: pl.DataType) -> pl.Expr:
    mean = pl.col(name).mean()
    return mean.round().cast(kind) if kind.is_integer() else mean


def _parquet(data: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    data.write_parquet(buffer, compression="zstd", compression_level=22, statistics=False)
    return buffer.getvalue()
