"""What figures are drawn from: flows of all arms, and time series."""

from collections.abc import Sequence

import polars as pl

from linkpool.result import NotRecordedError, Result
from linkpool.study.arms import Arm
from linkpool.study.cache import is_cached
from linkpool.units import show_seconds

EACH = (1, 2, 5)
"""Leading digits of the intervals that error messages propose."""


def measured_flows(arms: Sequence[Arm], by: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the measured flows of all arms, with a column `series`.

    Args:
        arms: whose flows.
        by: a series is an arm and what this column of `flows` says: `transport` or `label`. What
            all have in common is not part of the name.
        columns: of `flows`, to return.

    """
    frames = [
        result.scan("flows")
        .filter("measured")
        .select(pl.lit(arm.name).alias("arm"), by=pl.col(by), **{name: name for name in columns})
        .collect()
        for arm in arms
        for result in arm.results
    ]
    rows: pl.DataFrame = pl.concat(frames)
    several = [name for name in ("arm", "by") if rows[name].n_unique() > 1] or ["by"]
    series = pl.concat_str(several, separator=", ")
    return rows.select(series.alias("series"), *columns)


def recorded(result: Result, table: str, figure: str) -> pl.LazyFrame:
    """Return a time series.

    Raises:
        NotRecordedError: the scenario did not ask for it; the message says how to.

    """
    if result.has(table):
        return result.scan(table)
    directory, key, value = result.dir, f"record.{table}", _proposed(result, table)
    lacking = f"{figure} needs {key}, which {directory}/scenario.toml does not ask for"
    again = f"linkpool run {directory}/scenario.toml"
    if is_cached(result):
        # Its directory is named by the key of this very scenario: another would be damage there.
        raise NotRecordedError(
            f"{lacking}; it is a run of a study: write {key} = {value} into the base of the study "
            "(the table [base] of its file, or the file that base names), and run it again: "
            "linkpool study run FILE.toml; or make this run alone again, in a directory of your "
            f"own: {again} --out DIR --set '{key}={value}'"
        )
    raise NotRecordedError(
        f"{lacking}; run it again: {again} --out {directory} --set '{key}={value}'"
    )


def _proposed(result: Result, table: str) -> str:
    """Return what `[record]` may say: a thousand samples of the measured period or so."""
    start, end = result.period
    step = max((end - start) / 1000, 1e-9)
    ns = next(d * 10**power for power in range(12) for d in EACH if d * 10**power >= step * 1e9)
    every = show_seconds(ns / 1e9).replace(" ", "")
    if table != "queue":
        return f'{{every="{every}"}}'
    longest = result.links.sort("max_queue_pkts", "link", descending=[True, False])["link"][0]
    return f'{{every="{every}", links=["{longest}"]}}'
