"""Columns of the data of experiments, which `columns.toml` of each paper's folder declares."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

from linkpool.columns import Column

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def columns(folder: str, name: str) -> tuple[Column, ...]:
    """Return the columns of an experiment, or of what several have in common.

    >>> [column.name for column in columns("xmp", "X-tab1")]
    ['pattern', 'scheme', 'seed', 'place', 'goodput_bps']
    """
    found: list[Column] = []
    for each in _read(folder)[name]:
        found += columns(folder, each) if isinstance(each, str) else [Column(*each)]
    return tuple(found)


@cache
def _read(folder: str) -> dict[str, Any]:
    file = Path(__file__).parent / folder / "columns.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
