"""A replay is the same run, recorded more; whatever differs is an error."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.publish import seal

pytestmark = pytest.mark.core

INCAST = """
duration = "2ms"
drain = "500ms"
[topology.many-to-one]
senders = 4
rate = "1Gbps"
delay = "5us"
[queue]
limit = 20
mark = 5
[transport.t]
control = "xmp"
subflows = 2
[[workload.incast]]
transport = "t"
senders = 4
receiver = "R"
size = "60KB"
every = "1ms"
[record]
rate = { every = "1ms" }
"""


@pytest.fixture
def result(scenario: Callable[[str], Path], tmp_path: Path) -> linkpool.Result:
    """Run a scenario that records rates."""
    return linkpool.run(scenario(INCAST), out=tmp_path / "first")


def test_the_replay_has_all_that_the_run_had_and_more(result: linkpool.Result) -> None:
    again = result.replay(
        {"cwnd.every": "100us", "queue": {"links": ["W->R"], "every": "50us"}, "capture": {}}
    )
    assert again.flows.equals(result.flows)
    assert again.rate.equals(result.rate)
    assert again.cwnd.height > 0
    assert again.queue["queue_pkts"].max() == 20
    assert (again.dir / "capture.pcapng").stat().st_size > 10_000
    assert not result.has("cwnd"), "the first result stays as it is"


def test_a_series_may_be_recorded_otherwise(result: linkpool.Result) -> None:
    again = result.replay({"rate.every": "0.5ms"})
    assert again.rate.height > result.rate.height


def damage(result: linkpool.Result, key: str) -> None:
    """Change the completion time of a flow, as if another simulator had made the result."""
    flows = result.flows.with_columns(end_s=pl.col("end_s") + 1e-12)
    flows.write_parquet(result.dir / "flows.parquet")
    (result.dir / "manifest.json").unlink()
    seal(result.dir, key)


def test_a_table_that_differs_is_an_error(result: linkpool.Result, tmp_path: Path) -> None:
    damage(result, "0" * 64)
    out = tmp_path / "second"
    with pytest.raises(linkpool.ReplayError, match=r"flows\.parquet of the replay differs") as said:
        linkpool.Result(result.dir).replay({"capture": {}}, out=out)
    assert "another build of linkpool made the result" in str(said.value)
    assert not out.exists(), "nothing is written"


def test_a_result_with_a_column_more_is_replayed(result: linkpool.Result) -> None:
    """As a later version of linkpool may write it (`docs/stability.md`)."""
    file = result.dir / "flows.parquet"
    result.flows.with_columns(newer=1).write_parquet(file)
    (result.dir / "manifest.json").unlink()
    first = linkpool.Result(result.dir)
    with pytest.warns(linkpool.ReplayWarning, match="has no manifest"):
        assert first.replay({"cwnd.every": "100us"}).cwnd.height > 0
    first.flows.with_columns(pl.col("size_bytes") + 1).write_parquet(file)
    with pytest.raises(linkpool.ReplayError, match=r"flows.parquet of the replay differs"):
        linkpool.Result(result.dir).replay({"cwnd.every": "100us"})


def test_another_build_is_named(result: linkpool.Result) -> None:
    (result.dir / "manifest.json").unlink()
    seal(result.dir, "0" * 64)
    with pytest.warns(linkpool.ReplayWarning, match="another build of linkpool"):
        linkpool.Result(result.dir).replay({"capture": {}})


def test_a_wrong_key_is_an_error_of_the_scenario(result: linkpool.Result) -> None:
    with pytest.raises(linkpool.ScenarioError, match="windows"):
        result.replay({"windows.every": "1ms"})


def command(*args: str) -> "subprocess.CompletedProcess[str]":
    """Run `linkpool replay`."""
    return subprocess.run(
        [sys.executable, "-m", "linkpool", "replay", *args],
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_command_writes_a_result(result: linkpool.Result, tmp_path: Path) -> None:
    out = tmp_path / "second"
    said = command(
        str(result.dir), "--record", "cwnd.every=1ms", "--record", "capture", "--out", str(out)
    )
    assert (said.returncode, said.stdout.splitlines()[-1]) == (0, str(out))
    assert linkpool.Result(out).cwnd.height > 0
    assert (out / "capture.pcapng").exists()


def test_the_command_refuses_to_replace_what_it_replays(result: linkpool.Result) -> None:
    said = command(str(result.dir), "--record", "capture", "--out", str(result.dir))
    assert said.returncode == 2
    assert "name another directory" in said.stderr
    shutil.rmtree(result.dir)
