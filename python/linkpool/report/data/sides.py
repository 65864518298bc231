"""Arms side by side: measures over their seeds, with intervals, and ratios to one of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from linkpool.report.data.numbers import column
from linkpool.study.arms import Arm
from linkpool.study.comparison import Comparison
from linkpool.study.measures import ALL
from linkpool.study.measuring import measure
from linkpool.study.model import ARM, name_of
from linkpool.study.remarks import counts_of, remarks
from linkpool.study.statistics import over_seeds

COLUMNS = [
    *("unit", "arm", "mean", "low", "high", "at_least", "ratio", "ratio_low", "ratio_high"),
    *("ratio_bound", "pairs", "higher", "lower", "differs", "count", "unfinished", "why"),
]


def sides(
    arms: Sequence[Arm], measures: Sequence[str], reference: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return these measures of each arm; None: there is one arm.

    Args:
        arms: side by side.
        measures: their names.
        reference: what ratios are to, by key of the study that the arms are of; None: they are of
            none, and ratios are to the first.

    """
    if len(arms) < 2:
        return None
    keys, to = [ARM], arms[0].name
    if reference is not None:
        keys = list(arms[0].keys)
        to = name_of(reference) if reference else ""
        to += " at the same settings" if len(reference) < len(keys) else ""
    rows = [
        measure(result, measures).select(
            *(
                pl.lit(value).alias(key)
                for key, value in ({ARM: arm.name} if reference is None else arm.keys).items()
            ),
            pl.lit(seed).alias("seed"),
            pl.all(),
        )
        for arm in arms
        for seed, result in enumerate(arm.results)
    ]
    data = pl.concat(rows, how="vertical_relaxed")
    statistics = over_seeds(data, keys, {ARM: to} if reference is None else reference)
    names = pl.Series(ARM, [name_of(row) for row in statistics.select(keys).iter_rows(named=True)])
    table = statistics.with_columns(names)
    part = pl.when(pl.col("part") == ALL).then(pl.lit("")).otherwise(", " + pl.col("part"))
    table = table.with_columns(
        measure=pl.col("measure") + " " + pl.col("statistic") + part,
    ).select("measure", *COLUMNS)
    seeds = max(len(arm.results) for arm in arms)
    ratios = f"; ratios to {to}" if reference is None or reference else ""
    paired = ", paired by seed" if ratios else ""
    note = (
        f"Means over {seeds} seeds (of completion times and slowdowns: geometric ones) with 95% "
        f"intervals by Student's t (of the logarithms){ratios}{paired}."
        if seeds > 1
        else f"One run each, so there are no intervals{ratios}."
    )
    runs = [(arm.name, counts_of(result)) for arm in arms for result in arm.results]
    # The page does not show how many values a row is of.
    marks = [
        line
        for line in Comparison(statistics, tuple(keys), {}).notes()
        if not line.startswith("n: ")
    ]
    below = ["below, the page shows of each arm the run that has the slowest flow"] * (seeds > 1)
    return {
        "note": note,
        "notes": [f"{_capital(line)}." for line in (*marks, *remarks(runs), *below)],
        "rows": [dict(zip(table.columns, column(r), strict=True)) for r in table.iter_rows()],
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
