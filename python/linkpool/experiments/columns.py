"""Columns of the data of experiments, as each paper's file declares them."""

from collections.abc import Mapping, Sequence

import polars as pl

from linkpool.columns import Column
from linkpool.experiments.papers import PAPERS


def columns(folder: str, name: str) -> tuple[Column, ...]:
    """Return the columns of an experiment, or of what several have in common.

    >>> [column.name for column in columns("xmp", "goodputs")]
    ['pattern', 'scheme', 'seed', 'place', 'goodput_bps']
    """
    found: list[Column] = []
    for each in PAPERS[folder].columns[name]:
        found += columns(folder, each) if isinstance(each, str) else [Column(*each)]
    return tuple(found)


KINDS: Mapping[str, type[pl.DataType]] = {
    "u32": pl.UInt32,
    "i32": pl.Int32,
    "i64": pl.Int64,
    "f64": pl.Float64,
    "bool": pl.Boolean,
    "string": pl.String,
}
"""What polars calls the types of columns."""


def nothing(of: Sequence[Column]) -> pl.DataFrame:
    """Return no rows of these columns."""
    return pl.DataFrame(schema={column.name: KINDS[column.type] for column in of})
