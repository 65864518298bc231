"""What befalls jobs: what is told before a run, and the time that failures cost, by hand."""

from pathlib import Path

import polars as pl
import pytest

from linkpool.job_plan import job_plan
from linkpool.loading import load
from linkpool.lost import Lost, lost
from linkpool.meaning import page
from linkpool.notices import notices
from linkpool.result import Result
from tables import finished, table, write_result

pytestmark = pytest.mark.core

JOB = """
duration = "100ms"
[topology.many-to-one]
senders = 3
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "reno"
[[workload.training]]
transport = "t"
label = "train"
dp = 4
iterations = 6
start = "20ms"
{more}
"""


def told(tmp_path: Path, more: str) -> list[str]:
    file = tmp_path / "job.toml"
    file.write_text(JOB.format(more=more), encoding="utf-8")
    scenario = load(file, overrides=[])
    lines = job_plan(scenario.toml)
    said = " ".join(page(scenario).split())
    assert all(line in said for line in lines)
    assert ("Jobs" in said) == bool(lines)
    return lines


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("ranks = [3]", "rank 3 computes 2 times as long"),
        ("ranks = [3, 0]", "ranks 3, 0 compute 2 times as long"),
        ("number = 1", "1 rank, drawn once, computes 2 times as long"),
        ("number = 3, from_iteration = 2", "3 ranks, drawn once, compute 2 times as long from"),
        ("ranks = [1], until_iteration = 1", "2 times as long in iteration 0"),
        ("ranks = [1], from_iteration = 1, until_iteration = 4", "in iterations 1 to 3"),
        ("ranks = [1], from_iteration = 2, until_iteration = 4", "in iterations 2 to 3"),
        (
            "probability = 0.25",
            "each rank, in an iteration with probability 0.25, computes 2 times as long",
        ),
    ],
)
def test_stragglers_are_told(keys: str, words: str, tmp_path: Path) -> None:
    [line] = told(tmp_path, f"stragglers = {{ slowdown = 2, {keys} }}")
    assert line.startswith("train: ")
    assert words in line
    assert line.endswith(("long", "on", "0", "3"))


def test_failures_are_told(tmp_path: Path) -> None:
    """Of 100 ms, 80 are left when the job starts: twice its mean time between failures."""
    assert told(tmp_path, "") == []
    more = 'recovery = "3ms", checkpoint_every = 2, checkpoint_time = "5us"'
    [line] = told(tmp_path, f'failures = {{ at = ["1ms", "9ms"], {more} }}')
    assert line == (
        "train: fails 1ms, 9ms after its start, and goes on 3ms later from a checkpoint, which "
        "each rank writes after every 2 iterations in 5us"
    )
    [line] = told(tmp_path, 'failures = { mtbf = "40ms", recovery = "3ms" }')
    assert "fails once in 40ms on average, some 2 times in duration" in line
    assert line.endswith("which each rank writes after each iteration in 0s")


def failed(*rows: tuple[int, int, float, float | None, float | None]) -> pl.DataFrame:
    names = ("restart", "job", "start_s", "end_s", "lost_s")
    rows_by_name = [dict(zip(names, row, strict=True)) for row in rows]
    recovery = [row["lost_s"] and row["lost_s"] / 4 for row in rows_by_name]
    return table(
        "jobs",
        [
            {"label": "train", "recovery_s": of, **row}
            for of, row in zip(recovery, rows_by_name, strict=True)
        ],
    )


def test_time_lost_to_failures_is_added_up(tmp_path: Path) -> None:
    """Rows come by their ends; the last iteration of the job is not the last row."""
    first = [(0, 0, 1.0, 4.0, None), (0, 2, 8.5, 9.0, None), (0, 3, 9.0, None, None)]
    second = [(2, 2, 14.0, 16.0, 5.5), (2, 3, 16.0, 20.0, None)]
    third = [(4, 4, 23.0, 24.0, 3.0), (4, 5, 24.0, 30.0, None)]
    write_result(
        tmp_path / "out",
        table("flows", [finished(1.0)]),
        jobs=failed(*third, *first, *second),
    )
    result = Result(tmp_path / "out")
    assert lost(result) == [Lost("train", 4, 8.5, 8.5 / 4, 29.0)]
    [notice] = notices(result)
    assert notice.startswith(
        "train failed 4 times and went on: 8.5 s of its 29 s were lost, 6.38 s of them to "
        "iterations that were made again or cut off, and 2.12 s to recoveries"
    )


def test_one_failure(tmp_path: Path) -> None:
    """The run ends in the iteration that is made again: it has begun at 7."""
    jobs = failed((0, 0, 1.0, 4.0, None), (0, 1, 4.0, None, None), (1, 1, 7.0, None, 3.0))
    write_result(tmp_path / "out", table("flows", [finished(1.0)]), jobs=jobs)
    assert lost(Result(tmp_path / "out")) == [Lost("train", 1, 3.0, 0.75, 6.0)]
    [notice] = notices(Result(tmp_path / "out"))
    assert notice.startswith("train failed once and went on: 3 s of its 6 s were lost")


def test_jobs_that_do_not_fail_lose_nothing(tmp_path: Path) -> None:
    jobs = failed((0, 0, 0.0, 4.0, None), (0, 1, 4.0, None, None))
    write_result(tmp_path / "out", table("flows", [finished(1.0)]), jobs=jobs)
    assert lost(Result(tmp_path / "out")) == []
