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
from linkpool.study.remarks import counts_of, equal_runs, remarks
from linkpool.study.statistics import over_seeds

COLUMNS = ["measure", "unit", "arm", "mean", "low", "high", "at_least", "ratio"]
"""What the chart needs; `cell` has the texts of the table."""


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
    keys = [ARM]
    if reference is not None:
        keys = list(arms[0].keys)
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
    to = {ARM: arms[0].name} if reference is None else reference
    comparison = Comparison(over_seeds(data, keys, to), tuple(keys), to)
    statistics = comparison.shown
    names = pl.Series(ARM, [name_of(row) for row in statistics.select(keys).iter_rows(named=True)])
    part = pl.when(pl.col("part") == ALL).then(pl.lit("")).otherwise(", " + pl.col("part"))
    table = statistics.with_columns(names).with_columns(
        measure=pl.col("measure") + " " + pl.col("statistic") + part,
    )
    seeds = max(len(arm.results) for arm in arms)
    runs = [(arm.name, counts_of(result)) for arm in arms for result in arm.results]
    # The page does not show how many values a row is of.
    marks = [line for line in comparison.notes() if not line.startswith("n: ")]
    below = ["below, the page shows of each arm the run that has the slowest flow"] * (seeds > 1)
    equal = equal_runs({arm.name: arm.results for arm in arms})
    notes = (*comparison.legend(seeds), *marks, *remarks(runs), *equal, *below)
    chart = [column(row) for row in table.select(COLUMNS).iter_rows()]
    cells = [comparison.cell(row)._asdict() for row in statistics.iter_rows(named=True)]
    return {
        "notes": [f"{_capital(line)}." for line in notes],
        "rows": [
            {**dict(zip(COLUMNS, numbers, strict=True)), "cell": cell}
            for numbers, cell in zip(chart, cells, strict=True)
        ],
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
