"""The tables and columns of a result, as the simulator declares them beside its rows."""

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
