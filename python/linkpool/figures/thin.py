"""Fewer points for the same picture."""

import numpy as np
import numpy.typing as npt
import polars as pl

Values = npt.NDArray[np.float64]


def order_statistics(values: Values, most: int) -> tuple[Values, npt.NDArray[np.int64]]:
    """Return at most so many of the sorted values, evenly by rank, and the rank of each from 1.

    The least and the largest are among them.
    """
    ordered = np.sort(values)
    if ordered.size <= most:
        return ordered, np.arange(1, ordered.size + 1)
    at = np.unique(np.linspace(0, ordered.size - 1, most).round().astype(np.int64))
    return ordered[at], at + 1


def extremes(rows: pl.DataFrame, key: str, time: str, value: str, most: int) -> pl.DataFrame:
    """Keep, of each `key`, the first, last, least and largest sample of each of equal intervals.

    A line through these covers the pixels that a line through all samples does, where an
    interval is a pixel wide (M4, Jugel et al., VLDB 2014). Rows are in order of key and time.

    Args:
        rows: the samples.
        key: the column that tells lines apart.
        time: the column of times.
        value: the column that is drawn.
        most: samples of a line that are kept at most, about.

    """
    if max(rows[key].value_counts()["count"], default=0) <= most:
        return rows.sort(key, time, maintain_order=True)
    times = rows[time].to_numpy()
    start, span = float(times.min()), max(float(np.ptp(times)), 1e-300)
    bins = max(most // 4, 1)
    interval = ((pl.col(time) - start) / span * bins).floor().cast(pl.Int64).clip(0, bins - 1)
    row = pl.col("__row")
    chosen = (
        rows.with_row_index("__row")
        .group_by(key, interval.alias("__bin"))
        .agg(
            row.sort_by(time).first().alias("a"),
            row.sort_by(time).last().alias("b"),
            row.sort_by(value).first().alias("c"),
            row.sort_by(value).last().alias("d"),
        )
    )
    keep: pl.Series = pl.concat([chosen[name] for name in "abcd"])
    return rows.select(pl.all().gather(keep.unique().sort())).sort(key, time, maintain_order=True)
