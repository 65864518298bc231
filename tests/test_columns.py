"""Columns have the meanings and types that the simulator declares, also in the files it writes."""

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.columns import TABLES, Table
from linkpool.experiments import all_experiments
from tables import KINDS

TWO_FLOWS = """
duration = "1ms"
[topology.many-to-one]
senders = 2
rate = "1Gbps"
delay = "1us"
[queue]
limit = 100
[transport.reno]
control = "reno"
[[workload.incast]]
transport = "reno"
senders = 2
receiver = "R"
size = "20KB"
every = "1ms"
"""


PAGE = Path(__file__).parents[1] / "docs" / "results.md"


def rendered(table: Table) -> str:
    """Return a table as docs/results.md has it."""
    lines = [table.rows, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [f"| `{c.name}` | {c.type} | {c.unit} | {c.meaning} |" for c in table.columns]
    return "\n".join([*lines, ""])


def test_the_page_has_the_declared_columns() -> None:
    """`LINKPOOL_UPDATE=1 pytest tests/test_columns.py` writes them there."""
    page = written = PAGE.read_text(encoding="utf-8")
    for table in TABLES.values():
        begin, end = f"<!-- columns of {table.name} -->\n", "<!-- end -->"
        before, found, after = page.partition(begin)
        assert found, f"docs/results.md has no {begin}"
        page = before + begin + rendered(table) + end + after.partition(end)[2]
    if "LINKPOOL_UPDATE" in os.environ:
        PAGE.write_text(page, encoding="utf-8")
        written = page
    assert page == written, "run this test with LINKPOOL_UPDATE=1 and commit docs/results.md"


def test_names_of_columns_are_unique() -> None:
    for table in TABLES.values():
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names)), table.name


def test_every_column_has_a_meaning() -> None:
    tables = [table.columns for table in TABLES.values()]
    tables += [experiment.columns for experiment in all_experiments()]
    assert all(column.meaning for columns in tables for column in columns)
    declared = [column.meaning for table in TABLES.values() for column in table.columns]
    assert all(meaning.endswith(".") and "|" not in meaning for meaning in declared)


def test_types_are_known() -> None:
    assert {c.type for table in TABLES.values() for c in table.columns} <= set(KINDS)


@pytest.mark.core
def test_files_explain_their_columns(scenario: Callable[[str], Path]) -> None:
    result = linkpool.run(scenario(TWO_FLOWS))
    for name in ("flows", "subflows", "links", "workloads"):
        metadata = pl.read_parquet_metadata(result.dir / f"{name}.parquet")
        for column in TABLES[name].columns:
            assert metadata[f"{column.name}.unit"] == column.unit
            assert metadata[f"{column.name}.meaning"] == column.meaning
