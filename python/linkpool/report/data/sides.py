"""Arms side by side: measures over their seeds, with intervals, and ratios to the first arm."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from linkpool.figures.source import Arm
from linkpool.report.data.numbers import column
from linkpool.study.measures import ALL, measure
from linkpool.study.statistics import over_seeds

COLUMNS = ["unit", "arm", "mean", "low", "high", "ratio", "ratio_low", "ratio_high"]


def sides(arms: Sequence[Arm], measures: Sequence[str]) -> dict[str, Any] | None:
    """Return these measures of each arm; None: there is one arm."""
    if len(arms) < 2:
        return None
    rows = [
        measure(result, measures).select(
            pl.lit(arm.name).alias("arm"), pl.lit(seed).alias("seed"), pl.all()
        )
        for arm in arms
        for seed, result in enumerate(arm.results)
    ]
    table = over_seeds(pl.concat(rows), ["arm"], {"arm": arms[0].name})
    part = pl.when(pl.col("part") == ALL).then(pl.lit("")).otherwise(", " + pl.col("part"))
    table = table.with_columns(
        measure=pl.col("measure") + " " + pl.col("statistic") + part,
    ).select("measure", *COLUMNS)
    seeds = max(len(arm.results) for arm in arms)
    note = (
        f"Means over {seeds} seeds with 95% t intervals; ratios to {arms[0].name}, paired by seed. "
        "Below, the page shows of each arm the run that has the slowest flow."
        if seeds > 1
        else f"One run each, so there are no intervals; ratios to {arms[0].name}."
    )
    return {
        "note": note,
        "rows": [dict(zip(table.columns, column(r), strict=True)) for r in table.iter_rows()],
    }
