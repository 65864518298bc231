"""The benchmark tasks: scenarios that run, and series that differ in one thing."""

import json
import re
import runpy
import shlex
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import linkpool.bench.measure as measure_module
import linkpool.bench.speed_up as speed_up_module
from linkpool import _core, cli, run
from linkpool.bench.beside import BesideError, Pair, Side, mean_ratio, run_other
from linkpool.bench.speed_up import Pair as ThreadPair
from linkpool.bench.speed_up import counts_up_to
from linkpool.bench.tasks import Task, all_tasks, series, speed_up, tasks


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_is_a_scenario(name: str) -> None:
    _core.check(all_tasks()[name].scenario, name, None, [])


def test_linux_s_scheduler_and_send_buffer_cost_goodput(tmp_path: Path) -> None:
    """MPTCP has htsim's goodput with the keys that htsim has, not with the preset `linux`.

    At 10 ms, in the start, the difference is largest (0.79 times); at 30 ms it is 0.93
    (docs/reports/2026-11-28-tcp-beside-others.md).
    """
    file = tmp_path / "task.toml"
    file.write_text(tasks()["k8-mptcp8-9000-linux"].scenario)
    as_htsim = {"transport.t.scheduler": "round-robin", "transport.t.send_buffer": "unlimited"}
    acked = [
        run(file, set={"duration": "10ms", **keys}).flows["acked_bytes"].sum()
        for keys in ({}, as_htsim)
    ]
    share_of_line = [8 * float(total) / 0.01 / 10e9 / 128 for total in acked]
    assert share_of_line == pytest.approx([0.610, 0.776], abs=0.02)


def test_a_count_that_rises_is_named() -> None:
    count = Path(__file__).parents[1] / "benchmarks" / "count.py"
    dearer_by = runpy.run_path(str(count))["dearer_by"]
    before = {"per hop, a": 300.0, "per hop, b": 300.0, "per ACK, c": 600.0, "gone": 1.0}
    now = {"per hop, a": 306.0, "per hop, b": 306.1, "per ACK, c": 500.0, "new": 900.0}
    assert dearer_by(now, before, 2) == ["per hop, b"]


def test_names_tell_tasks_apart() -> None:
    assert len(all_tasks()) == len(tasks()) + len(series()) + len(
        speed_up().keys() - tasks().keys()
    )
    assert all(tasks()[name] == task for name, task in speed_up().items() if name in tasks())


def test_rates_send_for_as_many_packet_times() -> None:
    found = []
    for name, task in series().items():
        if name.startswith("rate-"):
            milliseconds = re.search(r'duration = "(\d+)ms"', task.scenario)
            assert milliseconds is not None
            found.append(int(milliseconds.group(1)) * int(name.removeprefix("rate-")))
    assert set(found) == {2000}


def test_queues_and_slow_start_are_in_bytes_of_data_packets() -> None:
    scenario = tasks()["k8-dctcp-1500"].scenario
    assert 'limit = "150000B"' in scenario
    assert 'mark = "22500B"' in scenario
    assert 'initial_ssthresh = "21570B"' in scenario  # 15 x (1,500 - 62)


def command(prints: str) -> str:
    return shlex.join([sys.executable, "-c", f"print('first line'); print({prints!r})"])


def test_the_other_command_is_read_by_its_last_line() -> None:
    said = '{"hops": 3e6, "user_s": 1.5, "goodput_over_line_rate": 0.5, "more": 1}'
    side = run_other(command(said))
    assert side == Side(3e6, 1.5, 0.5)
    assert side.hops_per_second == 2e6


@pytest.mark.parametrize(
    ("prints", "why"),
    [
        ("", "must be a JSON object"),
        ("12", "must be a JSON object"),
        ('{"hops": 1}', "must be a JSON object"),
        ('{"hops": 1, "user_s": 0, "goodput_over_line_rate": 1}', "user_s = 0; it must be above"),
        ('{"hops": NaN, "user_s": 1, "goodput_over_line_rate": 1}', "hops = nan; it must be above"),
    ],
)
def test_another_output_is_an_error(prints: str, why: str) -> None:
    with pytest.raises(BesideError, match=why):
        run_other(command(prints))


def test_a_command_that_fails_is_named() -> None:
    with pytest.raises(BesideError, match="exit code 3"):
        run_other(shlex.join([sys.executable, "-c", "raise SystemExit(3)"]))
    with pytest.raises(BesideError, match="cannot run `no-such-simulator`"):
        run_other("no-such-simulator")


def test_the_mean_ratio_is_geometric() -> None:
    other = Side(1e6, 1.0, 0.5)
    found = [Pair(other, Side(2e6, 1.0, 0.5)), Pair(other, Side(8e6, 1.0, 0.5))]
    assert [pair.ratio for pair in found] == [2.0, 8.0]
    assert mean_ratio(found) == pytest.approx(4.0)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `linkpool bench` and return its exit code."""
    monkeypatch.setattr("sys.argv", ["linkpool", "bench", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0)


@pytest.mark.core
def test_beside_prints_a_ratio_for_each_pair(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = command('{"hops": 1e6, "user_s": 1, "goodput_over_line_rate": 0.9}')
    assert call(monkeypatch, "sparse-incast", "--pairs", "2", "--beside", other, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["task"] for row in rows] == ["sparse-incast"] * 2
    for row in rows:
        ours = row["ours"]["hops"] / row["ours"]["user_s"]
        assert row["ratio"] == pytest.approx(ours / 1e6)


@pytest.mark.core
def test_pairs_before_a_failure_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A command that works once."""
    said = '{"hops": 1e6, "user_s": 1, "goodput_over_line_rate": 0.9}'
    once = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).mkdir(); print({said!r})"
    other = shlex.join([sys.executable, "-c", once])
    assert call(monkeypatch, "sparse-incast", "--pairs", "3", "--beside", other, "--json") == 2
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)) == 1
    assert "exit code 1" in printed.err


def test_beside_wants_named_tasks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--beside", "true") == 2
    assert "tasks that you name" in capsys.readouterr().err


def test_threads_are_compared_by_powers_of_two_and_all_cores() -> None:
    assert [counts_up_to(most) for most in (1, 2, 3, 8, 24)] == [
        [],
        [2],
        [2, 3],
        [2, 4, 8],
        [2, 4, 8, 16, 24],
    ]


def test_each_run_on_several_threads_has_one_on_one_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = []

    def measured(name: str, threads: int) -> dict[str, Any]:
        ran.append((name, threads))
        return {"hops": len(name), "wall_s": float(len(ran))}

    monkeypatch.setattr(speed_up_module, "measure", measured)
    found = list(speed_up_module.pairs(["a", "bb"], [2, 4], 2))
    round_ = [("a", 1), ("a", 2), ("a", 1), ("a", 4), ("bb", 1), ("bb", 2), ("bb", 1), ("bb", 4)]
    assert ran == round_ * 2
    assert [pair.threads for pair in found] == [2, 4] * 4
    assert [pair.ratio for pair in found[:2]] == [1 / 2, 3 / 4]
    # The same work on any number of threads, or the pair says nothing.
    monkeypatch.setattr(speed_up_module, "measure", lambda _, n: {"hops": 9 + n, "wall_s": 1.0})
    with pytest.raises(
        speed_up_module.ThreadsError, match="10 packet-hops on one thread and 11 on"
    ):
        list(speed_up_module.pairs(["a"], [2], 1))


def test_the_table_of_threads_can_be_pasted() -> None:
    """By hand: ratios 3 / 2, 1 and 4 / 2 have the median 1.5."""
    found = [
        ThreadPair("a", 2, 3.0, 2.0),
        ThreadPair("a", 8, 9.0, 2.0),
        ThreadPair("b", 2, 1.0, 2.0),
        ThreadPair("a", 2, 1.0, 1.0),
        ThreadPair("a", 2, 4.0, 2.0),
    ]
    lines = speed_up_module.markdown(found, datetime(2026, 11, 30, tzinfo=timezone.utc)).split("\n")
    assert lines[:4] == [
        "| task | 2 threads | 8 threads |",
        "|---|---|---|",
        "| a | 1.50 (1.00 to 2.00; 3) | 4.50 (4.50 to 4.50; 1) |",
        "| b | 0.50 (0.50 to 0.50; 1) |  |",
    ]
    assert lines[-1].endswith("30 November 2026.")


SHORT = tasks()["sparse-incast"].scenario.replace("1000s", "10s")
"""Two of its 200 bursts."""


@pytest.mark.core
@pytest.mark.parametrize(("threads", "seconds"), [(1, "user_s"), (2, "wall_s")])
def test_a_task_is_measured_as_its_row_says(
    threads: int,
    seconds: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = {"sparse-incast": Task("sparse-incast", "", SHORT)}
    monkeypatch.setattr(measure_module, "all_tasks", lambda: short)
    measure_module._main("sparse-incast", threads)
    row = json.loads(capsys.readouterr().out)
    assert (row["task"], row["threads"], row["simulated_s"]) == ("sparse-incast", threads, 20.0)
    # 128 KiB in segments of 1,460 B are 90 packets, over two links; some are sent again.
    assert 2 * 32 * 90 <= row["data_packets"] < 2 * 32 * 180
    assert row["hops"] > 2 * row["data_packets"]
    if row[seconds] > 0:
        assert row["hops_per_second"] == round(row["hops"] / row[seconds])
    # Of memory it says more in a process of its own.
    assert row["simulation_bytes"] < row["peak_rss_bytes"]


@pytest.mark.core
def test_a_task_is_measured_in_a_process_of_its_own() -> None:
    row = measure_module.measure("sparse-incast", 1)
    assert (row["task"], row["threads"]) == ("sparse-incast", 1)
    assert 0 < row["simulation_bytes"] < row["peak_rss_bytes"]


@pytest.mark.core
def test_speed_up_runs_a_task_on_one_thread_and_on_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speed_up_module, "measure", lambda *task: _core.measure(SHORT, *task))
    arguments = ["sparse-incast", "--speed-up", "--threads", "2", "--pairs", "1"]
    assert call(monkeypatch, *arguments) == 0
    printed = capsys.readouterr().out
    row = re.search(r"^\| sparse-incast \| ([\d.]+) \(([\d.]+) to ([\d.]+); 1\) \|$", printed, re.M)
    assert row is not None
    assert row.group(1) == row.group(2) == row.group(3)


def test_pairs_of_threads_are_written_as_json() -> None:
    (row,) = speed_up_module.rows([ThreadPair("a", 2, 3.0, 2.0)])
    assert row == {"task": "a", "threads": 2, "one_s": 3.0, "several_s": 2.0, "ratio": 1.5}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--threads", "1"], "leave --threads 1 out"),
        (["--series"], "leave --series and --runs out"),
        (["--runs", "2"], "leave --series and --runs out"),
        (["--beside", "true", "sparse-incast"], "--beside runs tasks that you name"),
    ],
)
def test_speed_up_has_pairs_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    why: str,
) -> None:
    assert call(monkeypatch, "--speed-up", *arguments) == 2
    assert why in capsys.readouterr().err


def test_a_machine_of_one_core_needs_a_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("linkpool.cli.bench.cores", lambda: 1)
    assert call(monkeypatch, "--speed-up") == 2
    assert "say on how many threads" in capsys.readouterr().err
