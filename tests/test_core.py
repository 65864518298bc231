"""The package with the simulator itself."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.columns import TABLES
from linkpool.experiments.amp import incast, shift
from linkpool.study.reproduce import reproduce_experiment
from tables import KINDS
from test_cli import INCAST

pytestmark = pytest.mark.core

Scenario = Callable[[str], Path]

FABRIC = """
[topology.many-to-one]
senders = 4
rate = "10Gbps"
delay = "2us"
[queue]
limit = 100
mark = 10
"""
SHORT = INCAST + FABRIC
RECORDED = (
    SHORT
    + """
[record]
queue = { links = ["W->R"], every = "10us", until = "2ms" }
cwnd = { every = "10us", until = "2ms" }
rate = { every = "100us", until = "2ms" }
rtt = { every = "1ps", until = "2ms" }
counters = { every = "0.5ms", until = "2ms" }
"""
)
# Every table has rows: also those of jobs, requests, changed links, and the loads of tiers.
FULL = (
    RECORDED
    + """
[[workload.poisson]]
transport = "amp"
size = "1KB"
flows_per_second = 5000
[[workload.partition-aggregate]]
transport = "amp"
servers = 2
answer = "4KB"
[[change]]
at = "1ms"
links = ["W->R"]
limit = 90
[[workload.training]]
transport = "amp"
tp = 2
micro_batches = 1
layers = 1
forward = "10us"
backward = "20us"
tensor = "10KB"
[[workload.inference]]
transport = "amp"
prefill = 1
decode = 2
requests_per_second = 2000
prefill_time_per_token = "1us"
kv_per_token = "1KB"
decode_time = "100us"
prompt_tokens = 100
output_tokens = 3
experts = { number = 4, dispatch = "1KB" }
"""
)
LONG = (
    """
duration = "1000s"
[transport.dctcp]
control = "dctcp"
[[workload.flow]]
transport = "dctcp"
from = "S1"
to = "R"
"""
    + FABRIC
)


TREE = """
duration = "20ms"
[topology.fat-tree]
k = 4
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
mark = 10
[transport.amp]
control = "amp"
subflows = 4
"""


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the installed command line."""
    program = [sys.executable, "-c", "from linkpool.cli import main; main()"]
    return subprocess.run(
        [*program, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_the_schema_is_a_json_schema() -> None:
    schema = json.loads(linkpool.schema())
    assert "$schema" in schema
    assert {"topology", "queue", "transport", "workload", "record"} <= set(schema["properties"])


@pytest.mark.parametrize(
    ("old", "new", "key", "line"),
    [
        ("subflows = 4", "subflows = 0", "subflows", 6),
        ("subflows = 4", "subflow = 4", "subflow", 6),
        ('control = "amp"', 'control = "tahoe"', "control", 5),
        ('size = "64KiB"', 'size = "64Kbps"', "size", 11),
        ('receiver = "R"', 'receiver = "Q"', "receiver", 10),
    ],
)
def test_an_error_names_file_line_and_key(
    scenario: Scenario, tmp_path: Path, old: str, new: str, key: str, line: int
) -> None:
    path = scenario(SHORT.replace(old, new))
    with pytest.raises(linkpool.ScenarioError) as caught:
        linkpool.run(path, out=tmp_path / "out")
    error = caught.value
    assert isinstance(error, ValueError)
    assert any(
        (file, at) == (str(path), line) and key in where and message
        for file, at, where, message in error.errors
    )
    printed = command("run", path, "--out", tmp_path / "out")
    assert printed.returncode == 2
    assert printed.stdout == ""
    assert printed.stderr.strip() == str(error).strip()
    assert f"{path}:{line}" in printed.stderr
    assert "Traceback" not in printed.stderr
    assert not (tmp_path / "out").exists()


def test_a_setting_that_does_not_exist_is_an_error(scenario: Scenario, tmp_path: Path) -> None:
    printed = command("run", scenario(SHORT), "--out", tmp_path / "o", "--set", "queue.marks=3")
    assert printed.returncode == 2
    assert "marks" in printed.stderr


def test_run_and_show(scenario: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = command("run", scenario(SHORT), "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "flows.parquet",
        "links.parquet",
        "manifest.json",
        "metrics.parquet",
        "run.json",
        "scenario.toml",
        "subflows.parquet",
        "summary.json",
        "workloads.parquet",
    ]
    shown = command("show", out)
    assert shown.returncode == 0
    assert ran.stdout.startswith(shown.stdout)
    assert "W->R" in shown.stdout


def test_tables_are_as_documented(scenario: Scenario) -> None:
    # In a hundredth of its time all tables have rows; in all of it there are 200,000 flows.
    full = linkpool.run(scenario(FULL), set={"duration": "20ms", "record.ranks": True})
    # Links do not change where ports pause, so no scenario has every table.
    pfc = {"buffer": "1MB", "xoff": "5KB", "reserve": "0B"}
    pausing = linkpool.run(scenario(SHORT), set={"queue.pfc": pfc, "record.pauses": {}})
    served = linkpool.run(
        Path(__file__).parent.parent / "docs" / "workloads" / "inference.toml",
        set={"duration": "2ms", "record.steps": True},
    )
    for name, declared in TABLES.items():
        of = pausing if name.startswith("pause") else served if name == "decode_steps" else full
        table: pl.DataFrame = getattr(of, name)
        assert dict(table.schema) == {c.name: KINDS[c.type] for c in declared.columns}, name
        assert table.height > 0


def test_flows_are_consistent(scenario: Scenario) -> None:
    flows = linkpool.run(scenario(SHORT)).flows
    assert flows.height == 6
    assert flows["end_s"].null_count() == 0
    assert (flows["acked_bytes"] == 64 * 1024).all()
    assert (flows["burst"].unique().sort() == pl.Series([0, 1], dtype=pl.Int64)).all()
    for left, right in (
        (flows["fct_s"], flows["end_s"] - flows["start_s"]),
        (flows["fct_established_s"], flows["end_s"] - flows["established_s"]),
        (flows["goodput_bps"], 8 * flows["acked_bytes"] / flows["active_s"]),
    ):
        assert left.to_list() == pytest.approx(right.to_list(), rel=1e-9)
    wire_s = 8 * 64 * 1024 / 10e9
    assert (flows["fct_established_s"] > wire_s).all()


def test_settings_and_seed_take_effect(scenario: Scenario) -> None:
    path = scenario(SHORT)
    usual = linkpool.run(path)
    unmarked = linkpool.run(path, set={"queue.mark": 100, "duration": "1s"}, seed=5)
    assert usual.flows.height == 2 * unmarked.flows.height
    assert usual.summary.marks > 0
    assert unmarked.summary.marks == 0
    assert "seed = 5" in unmarked.scenario


def test_the_scenario_as_run_gives_the_same_bytes(scenario: Scenario, tmp_path: Path) -> None:
    settings: dict[str, str | int] = {"transport.amp.gamma": 3, "transport.amp.join_jitter": "49us"}
    first = linkpool.run(scenario(RECORDED), out=tmp_path / "1", seed=7, set=settings)
    again = linkpool.run(first.dir / "scenario.toml", out=tmp_path / "2")
    names = sorted(path.name for path in first.dir.iterdir())
    assert names == sorted(path.name for path in again.dir.iterdir())
    for name in names:
        # What the run took differs, and so does its hash.
        if name not in ("run.json", "manifest.json"):
            assert (first.dir / name).read_bytes() == (again.dir / name).read_bytes(), name


def test_the_tables_do_not_depend_on_the_number_of_threads(
    scenario: Scenario, tmp_path: Path
) -> None:
    text = TREE + '[[workload.permutation]]\ntransport = "amp"\nsize = "1MB"\njitter = "50us"\n'
    one, two = (
        linkpool.run(scenario(text), out=tmp_path / str(n), threads=n, seed=3) for n in (1, 2)
    )
    assert one.flows.height == 16
    for name in ("flows", "subflows", "links"):
        table = f"{name}.parquet"
        assert (one.dir / table).read_bytes() == (two.dir / table).read_bytes(), name


def test_progress_moves_on_to_the_end(scenario: Scenario) -> None:
    seen: list[tuple[float, float, int]] = []
    path = scenario(LONG)
    linkpool.run(path, set={"duration": "2s"}, progress=lambda *state: seen.append(state))
    assert seen
    assert [now for now, _, _ in seen] == sorted(now for now, _, _ in seen)
    assert all(0 <= now <= end == 2.0 for now, end, _ in seen)
    assert seen[-1][2] > 0


def test_an_exception_in_progress_ends_the_run(scenario: Scenario, tmp_path: Path) -> None:
    calls = []

    def stop(now: float, end: float, hops: int) -> None:
        calls.append((now, end))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        linkpool.run(scenario(LONG), out=tmp_path / "results" / "out", progress=stop)
    [(now, end)] = calls
    assert now < end
    assert list((tmp_path / "results").iterdir()) == []


def test_ctrl_c_ends_the_command(scenario: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "results" / "out"
    # Where a shell runs the tests in the background, Python starts with Ctrl-C ignored.
    heed = "from signal import *; signal(SIGINT, default_int_handler)"
    program = [sys.executable, "-c", f"{heed}; from linkpool.cli import main; main()"]
    with subprocess.Popen(
        [*program, "run", str(scenario(LONG)), "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while not list(out.parent.glob(".out.linkpool-partial")):
                assert process.poll() is None, "it ended before it was interrupted"
                time.sleep(0.05)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert list(out.parent.iterdir()) == []


def test_single_path_incast_hardly_depends_on_the_seed() -> None:
    """Only the order of packets of one instant is random: it moved the mean by 2% at the most."""
    point = next(
        p for p in incast.Incast.named("A-fig2").points([1]) if p.keys["scheme"] == "dctcp"
    )
    small = point.scenario.replace('duration = "20s"', 'duration = "2s"')
    assert small != point.scenario
    path = Path(point.name)
    results = [_run_text(small, path.name, seed) for seed in (1, 2)]
    one, other = (float(result.flows["fct_established_s"].to_numpy().mean()) for result in results)
    assert one == pytest.approx(other, rel=0.05)


def test_multipath_incast_depends_on_the_seed() -> None:
    point = next(p for p in incast.Incast.named("A-fig2").points([1]) if p.keys["scheme"] == "xmp")
    small = point.scenario.replace('duration = "20s"', 'duration = "2s"')
    tables = [_run_text(small, point.name, seed).flows for seed in (1, 2)]
    assert not tables[0].equals(tables[1])


def _run_text(text: str, name: str, seed: int) -> linkpool.Result:
    from linkpool.api import simulate

    return simulate(text, name, None, seed, [], None)


def test_a_small_figure_2(tmp_path: Path) -> None:
    small = replace(incast.Incast.named("A-fig2"), bursts=2, ks=(10, 30))
    report = reproduce_experiment(small, tmp_path, seeds=2, jobs=2)
    data = pl.read_parquet(tmp_path / "A-fig2" / "data.parquet")
    runs_of = {"dctcp": 1, "dcm": 2, "xmp": 2}
    for (scheme, k, _), rows in data.group_by("scheme", "k", "delay"):
        assert rows.height == runs_of[str(scheme)] * 2 * int(str(k))
    assert report.cached == 0
    means = (
        data.filter(pl.col("k") == 30).group_by("scheme").agg(pl.col("fct_established_s").mean())
    )
    fct = dict(means.iter_rows())
    assert 0.5e-3 < fct["dctcp"] < 10e-3
    assert fct["xmp"] > 10 * fct["dctcp"]
    assert fct["dcm"] > 10 * fct["dctcp"]
    again = reproduce_experiment(small, tmp_path, seeds=2, jobs=2)
    assert again.cached == again.runs
    assert again.claims == report.claims


@pytest.mark.long
def test_a_small_figure_6(tmp_path: Path) -> None:
    small = replace(shift.Shift.named("A-fig6"), delays=("2us",))
    reproduce_experiment(small, tmp_path, seeds=1, jobs=2)
    data = pl.read_parquet(tmp_path / "A-fig6" / "data.parquet")
    assert sorted(data["path"].unique()) == ["lower", "upper"]
    first = data.filter(pl.col("time_s") < 2.0).group_by("path").agg(pl.col("cwnd_pkts").mean())
    last = data.filter(pl.col("time_s") > 2.009).group_by("path").agg(pl.col("cwnd_pkts").mean())
    before, after = dict(first.iter_rows()), dict(last.iter_rows())
    assert before["upper"] > before["lower"]
    assert after["lower"] > after["upper"]
