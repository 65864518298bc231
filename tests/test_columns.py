"""The columns of the package and those of docs/results.md must be the same."""

import re
from pathlib import Path

import pytest

from linkpool import experiments
from linkpool.columns import TABLES

DOCUMENT = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", DOCUMENT, re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def documented(title: str) -> dict[str, tuple[str, str]]:
    """Return type and meaning of each column of a table in the document."""
    rows = re.findall(r"^\| (`.*?) \|(.*)\|$", section(title), re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    for names, rest in rows:
        kind, _, meaning = (cell.strip() for cell in rest.split("|", 2))
        found |= dict.fromkeys(re.findall(r"`(\w+)`", names), (kind, meaning))
    return found


@pytest.mark.parametrize("table", ["flows", "subflows", "jobs", "workloads", "links", "changes"])
def test_tables_have_the_documented_columns_in_order(table: str) -> None:
    found = documented(table)
    assert list(found) == [column.name for column in TABLES[table]]
    assert {n: kind for n, (kind, _) in found.items()} == {c.name: c.type for c in TABLES[table]}


@pytest.mark.parametrize("table", ["queue", "cwnd", "rate", "rtt", "counters"])
def test_series_have_the_documented_columns_in_order(table: str) -> None:
    match = re.search(rf"^\| `{table}` \| (.*) \|$", section("Time series"), re.MULTILINE)
    assert match is not None
    outside_parentheses = re.sub(r"\([^)]*\)", "", match[1])
    columns = [column.name for column in TABLES[table]]
    assert re.findall(r"`(\w+)`", outside_parentheses) == columns


def test_flows_mean_what_is_documented() -> None:
    found = documented("flows")
    for column in TABLES["flows"]:
        meaning = found[column.name][1].replace("`", "")
        if list(found.values()).count(found[column.name]) == 1:
            assert column.meaning == meaning


def test_every_column_has_a_meaning() -> None:
    tables = [*TABLES.values(), *(e.columns for e in experiments.all_experiments())]
    assert all(column.meaning for columns in tables for column in columns)
