"""The tables and columns of a result, as the simulator declares them beside its rows."""

import json
import re
from dataclasses import dataclass

from linkpool import _core


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: in the file.
        type: u32, i64, f64, bool or string; any column may hold nulls.
        unit: empty for numbers without one.
        meaning: of a value, and of null.

    """

    name: str
    type: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """One table of a result.

    Attributes:
        name: its file is `NAME.parquet`.
        rows: the meaning of its rows, and their order.
        lacking: why a result may lack it, as a clause; None: every result has it.
        columns: in the order of the file.

    """

    name: str
    rows: str
    lacking: str | None
    columns: tuple[Column, ...]


TABLES: dict[str, Table] = {
    name: Table(name, rows, lacking, tuple(Column(*column) for column in columns))
    for name, rows, lacking, columns in _core.tables()
}


def nodes_of(path: str) -> list[str]:
    """Return the names of the nodes of a `path` in `subflows`.

    >>> nodes_of('S1 W "New York"')
    ['S1', 'W', 'New York']

    """
    words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', path)
    return [json.loads(word) if word.startswith('"') else word for word in words]
