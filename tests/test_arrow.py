"""Tables go to other libraries through Arrow's C interface: the same memory, not a copy."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool

pytestmark = pytest.mark.core

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")

SCENARIO = """
duration = "1ms"
drain = "1s"
[topology.many-to-one]
senders = 4
rate = "1Gbps"
delay = "5us"
[queue]
limit = 20
[transport.t]
control = "lia"
subflows = 2
[[workload.incast]]
transport = "t"
senders = 4
receiver = "R"
size = "30KB"
every = "1ms"
[record]
cwnd = { every = "100us" }
"""


@pytest.fixture
def result(scenario: Callable[[str], Path]) -> linkpool.Result:
    """Run a small incast."""
    return linkpool.run(scenario(SCENARIO))


@pytest.mark.parametrize("table", ["flows", "subflows", "links", "workloads", "cwnd"])
def test_pyarrow_takes_every_column(result: linkpool.Result, table: str) -> None:
    frame = getattr(result, table)
    taken = pa.table(frame)
    assert taken.column_names == frame.columns
    assert taken.to_pylist() == frame.to_dicts()


def test_numbers_are_not_copied(result: linkpool.Result) -> None:
    flows = result.flows.rechunk()
    first, second = (pa.table(flows) for _ in range(2))
    numbers = [name for name, kind in flows.schema.items() if kind.is_numeric()]
    assert len(numbers) > 10
    for name in numbers:
        addresses = {
            chunk.buffers()[1].address for table in (first, second) for chunk in table[name].chunks
        }
        assert len(addresses) == 1, f"{name}: both tables are views of one memory"
        view = flows[name].to_arrow()
        assert view.buffers()[1].address in addresses


def test_duckdb_queries_a_table(result: linkpool.Result) -> None:
    flows = result.flows
    [(count, most)] = duckdb.sql("select count(*), max(fct_s) from flows").fetchall()
    assert (count, most) == (flows.height, flows["fct_s"].max())


def test_polars_takes_back_what_it_gave(result: linkpool.Result) -> None:
    assert pl.DataFrame(pa.table(result.flows)).equals(result.flows)
