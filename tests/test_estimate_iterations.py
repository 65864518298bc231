"""Completion times of jobs from their first iterations."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkpool import _core, cli
from linkpool.api import simulate_loaded
from linkpool.cli.override import override
from linkpool.estimate import OutsideError, estimate_iterations
from linkpool.estimate.cost import Cost
from linkpool.estimate.iterations import ends_of, extrapolated, has_iterations, has_trend

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOTHING = Cost(0, 0.0)
EARLY = [3.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0]
"""Of 7 s together; not in the mean."""

JOB = """
seed = 3
duration = "1s"
[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
[queue]
limit = "2MB"
mark = "200KB"
[transport.t]
control = "dctcp"
min_rto = "1ms"
[[workload.training]]
transport = "t"
tp = 2
pp = 2
dp = 2
iterations = 60
micro_batches = 2
forward = "100us"
backward = "200us"
activations = "50KB"
gradients = "400KB"
"""


def loaded(text: str, *settings: str) -> _core.Scenario:
    """Read a scenario, with other values of some keys."""
    return _core.load(text, "test.toml", None, [override(one) for one in settings])


def test_an_extrapolation_by_hand() -> None:
    """Seven iterations of 7 s from 10 s on, then 1, 2, 3, 2, 3, 4 s; 7 are left.

    The mean is 2.5. Batches are 1.5, 2.5 and 3.5, with a variance of 1, twice which is more than
    the 1.1 of single iterations. t(2) = 4.302653, and the sum of 7 has 2 (49 / 6 + 7).
    """
    ends = 10.0 + np.cumsum([*EARLY, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0])
    found = extrapolated(10.0, ends, 20, NOTHING)
    assert (found.total, found.simulated, found.each_s) == (20, 13, 2.5)
    assert found.jct_s == pytest.approx(22.0 + 7 * 2.5)
    half = 4.302653 * (2.0 * (49 / 6 + 7)) ** 0.5
    assert found.high_s - found.jct_s == pytest.approx(half)
    assert found.jct_s - found.low_s == pytest.approx(half)


def test_single_iterations_that_vary_more_than_batches_count() -> None:
    """Batches of 1 and 3 are all alike; single iterations have a variance of 6 / 5."""
    ends = np.cumsum([*EARLY, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0])
    found = extrapolated(0.0, ends, 14, NOTHING)
    assert found.high_s - found.jct_s == pytest.approx(4.302653 * (1.2 * (1 / 6 + 1)) ** 0.5)


def test_iterations_that_are_all_alike_may_still_drift() -> None:
    found = extrapolated(0.0, np.arange(1.0, 14.0), 113, NOTHING)
    assert (found.low_s, found.jct_s, found.high_s) == pytest.approx((112.25, 113.0, 113.75))


def test_all_iterations_leave_nothing_open() -> None:
    ends = np.cumsum([*EARLY, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0])
    found = extrapolated(0.0, ends, 13, NOTHING)
    assert found.low_s == found.jct_s == found.high_s == 19.0


def test_trends() -> None:
    steps = np.arange(13.0)
    wobble = np.where(steps % 2 == 0, 0.3, -0.3)
    assert has_trend(10.0 + 0.5 * steps + wobble)
    assert has_trend(10.0 - 0.5 * steps + wobble)
    assert not has_trend(10.0 + wobble)
    assert not has_trend(np.full(13, 10.0))


def test_iterations_that_are_simulated_are_those_of_the_whole_job() -> None:
    """The first 13 end as they do in the run of all, and its time lies in the interval."""
    whole = simulate_loaded(loaded(JOB), None, None, threads=1)
    start, ends = ends_of(whole, 60, 1)
    found = estimate_iterations(loaded(JOB), "test.toml", 0.1)
    assert (found.simulated, found.total) == (13, 60)
    assert found.each_s == np.diff(ends[6:13]).mean()
    assert found.low_s <= ends[-1] - start <= found.high_s
    assert found.jct_s == pytest.approx(ends[-1] - start, rel=0.02)
    assert found.cost.packet_hops < whole.run["packet_hops"] / 4


def test_a_narrower_interval_takes_more_iterations_and_all_are_exact() -> None:
    wide, narrow, exact = (
        estimate_iterations(loaded(JOB, "workload.training.0.iterations=30"), "test.toml", within)
        for within in (0.1, 0.003, 1e-9)
    )
    assert wide.simulated == 13
    # Of 30, with 0.75% of what is left: 0.43% with 13, 0.1% with 26.
    assert narrow.simulated == 26
    assert narrow.high_s - narrow.jct_s <= 0.003 * narrow.jct_s
    assert exact.simulated == 30
    assert exact.low_s == exact.high_s
    # 13, 26 and 30 iterations were simulated.
    assert exact.cost.packet_hops == pytest.approx(wide.cost.packet_hops * 69 / 13, rel=0.02)


def test_operations_of_several_groups_end_with_the_last() -> None:
    collective = """
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
ranks = 8
groups = 2
size = "64KB"
iterations = 14
"""
    text = JOB.partition("[[workload")[0] + collective.replace("ranks = 8", "ranks = 4")
    scenario = loaded(text)
    result = simulate_loaded(scenario, None, None, threads=1)
    jobs = result.jobs.sort("job")
    start, ends = ends_of(result, 14, 2)
    assert start == jobs["start_s"].min()
    assert ends.tolist() == [max(jobs["end_s"][2 * i], jobs["end_s"][2 * i + 1]) for i in range(14)]
    assert has_iterations(tomllib.loads(scenario.toml))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("= 60", "= 25"), "workload.training.0.iterations is 25"),
        (
            lambda text: text + 'failures = { at = ["1ms"], recovery = "1ms" }\n',
            "workload.training.0.failures is in the scenario",
        ),
        (
            lambda text: text + "stragglers = { ranks = [1], slowdown = 2, from_iteration = 30 }\n",
            "workload.training.0.stragglers are slow in some iterations",
        ),
        (
            lambda text: text + "stragglers = { ranks = [1], slowdown = 2, until_iteration = 9 }\n",
            "workload.training.0.stragglers are slow in some iterations",
        ),
        (
            lambda text: text + '[[change]]\nat = "1ms"\nlinks = ["l0->s0"]\nrate = "1Gbps"\n',
            "change is in the scenario",
        ),
        (
            lambda text: text + '[[workload.poisson]]\ntransport = "t"\nload = 0.1\nsize = "1KB"\n',
            "workload has 2 workloads",
        ),
        (
            lambda text: text.replace('duration = "1s"', 'duration = "3ms"'),
            "duration is over after",
        ),
    ],
    ids=["few", "failures", "later", "until", "change", "others", "short"],
)
def test_jobs_whose_iterations_are_not_alike_are_refused(
    change: Callable[[str], str], message: str
) -> None:
    with pytest.raises(OutsideError) as error:
        estimate_iterations(loaded(change(JOB)), "test.toml", 0.01)
    assert message in str(error.value)


def test_ranks_that_are_slow_all_the_time_are_estimated() -> None:
    text = JOB + "stragglers = { ranks = [1], slowdown = 2 }\n"
    slow = estimate_iterations(loaded(text), "test.toml", 0.1)
    assert slow.each_s > 1.1 * estimate_iterations(loaded(JOB), "test.toml", 0.1).each_s


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*arguments: object) -> int:
        monkeypatch.setattr("sys.argv", ["linkpool", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return int(caught.value.code or 0)

    (tmp_path / "job.toml").write_text(JOB)
    study = tmp_path / "jobs.toml"
    study.write_text(
        'name = "jobs"\nbase = "job.toml"\nseeds = 2\nmeasures = ["jct.mean"]\n'
        '[[arm]]\nname = "a"\n'
        '[[arm]]\nname = "b"\nset = { transport.t.control = "reno" }\n'
    )
    assert call("estimate", tmp_path / "job.toml", "--within", 0.1, "--beside", 1) == 0
    printed = capsys.readouterr().out
    assert "seed 3: 13 of 60 iterations simulated" in printed
    assert "whole run: " in printed
    assert call("estimate", study, "--within", 0.1, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["arm"], row["seed"]) for row in rows] == [
        (f"arm {arm}", seed) for arm in "ab" for seed in (1, 2)
    ]
    assert sum(row["whole"] is not None for row in rows) == 1
    (beside,) = [row for row in rows if row["whole"]]
    assert beside["whole"]["jct_s"] == pytest.approx(beside["jct_s"], rel=0.05)
    (tmp_path / "job.toml").write_text(JOB.replace("= 60", "= 25"))
    assert call("estimate", tmp_path / "job.toml") == 2
    assert "iterations is 25" in capsys.readouterr().err
