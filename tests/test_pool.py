"""Runs of an experiment: cached, in parallel, and stopped when one fails."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fake_core import FakeCore, FakeScenario
from linkpool import _core, identity
from linkpool.experiments.amp.incast import Load
from linkpool.identity import digest, run_key
from linkpool.result import Result
from linkpool.study.cache import Cache
from linkpool.study.pace import Pace
from linkpool.study.point import Point
from linkpool.study.pool import RunError, run_points

SIZES = ("64KiB", "128KiB")
KS = (2, 3)
POINTS = [
    Load("amp", size, k, "2us").point(seed, 2) for size in SIZES for k in KS for seed in (1, 2)
]


def count(point: Point, result: Result) -> pl.DataFrame:
    return pl.DataFrame({"flows": [result.flows.height]})


def test_every_point_is_measured_in_order(fake_core: FakeCore, tmp_path: Path) -> None:
    rows = run_points(POINTS, count, Cache(tmp_path), jobs=3)
    assert [frame["flows"].item() for frame in rows.frames] == [
        2 * int(point.keys["k"]) for point in POINTS
    ]
    assert rows.frames[0].columns == ["delay", "scheme", "size", "k", "seed", "flows"]
    assert fake_core.runs == len(POINTS)


def test_what_was_computed_is_not_computed_again(fake_core: FakeCore, tmp_path: Path) -> None:
    first = run_points(POINTS[:3], count, Cache(tmp_path), jobs=2)
    second = run_points(POINTS, count, Cache(tmp_path), jobs=2)
    assert (first.cached, second.cached) == (0, 3)
    assert fake_core.runs == len(POINTS)


def test_the_name_of_a_run_depends_on_all_that_determines_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario, other = POINTS[0].load(), POINTS[1].load()
    keys = {run_key(scenario), run_key(other), digest("a", "bc"), digest("ab", "c")}
    monkeypatch.setattr(identity, "simulator", lambda: "version 2")
    assert len(keys | {run_key(scenario)}) == 5


def test_the_largest_runs_start_first(fake_core: FakeCore, tmp_path: Path) -> None:
    order: list[float] = []

    def measure(point: Point, result: Result) -> pl.DataFrame:
        order.append(point.cost or 0)
        return count(point, result)

    run_points(POINTS, measure, Cache(tmp_path), jobs=1)
    assert order == sorted(order, reverse=True)


def test_progress_adds_up(fake_core: FakeCore, tmp_path: Path) -> None:
    seen: list[tuple[float, float, int, int, str]] = []
    left: list[float | None] = []

    def watch(*state: Any) -> None:
        seen.append(state[:-1])
        left.append(state[-1]())

    run_points(POINTS, count, Cache(tmp_path), 2, watch)
    assert left[0] is None, "no run has ended"
    assert left[-1] == 0.0
    assert all(some is not None and some >= 0.0 for some in left[4:])
    done = [state[0] for state in seen]
    total = sum(point.cost or 0 for point in POINTS)
    assert done == sorted(done)
    assert done[-1] == pytest.approx(total)
    assert seen[-1][1] == pytest.approx(total)
    assert seen[-1][2:] == (len(POINTS), len(POINTS), "2 at a time")


def test_the_time_that_is_left_follows_from_runs_that_ended() -> None:
    """Another seed of a run takes as long as it did; another run, by its work, as all that ended.

    Two at once: LIA's first seed costs 1 and took 20 s, AMP's costs 2 and took 4 s. Of LIA's
    second, which began at 20 s, 20 s are left; of AMP's second, 4; DCTCP's costs 3, and those that
    ended took 24 s for their 3.
    """
    alike = ["lia", "amp", "lia", "amp", "dctcp"]
    runs = {i: (name, {"lia": 1.0, "amp": 2.0, "dctcp": 3.0}[name]) for i, name in enumerate(alike)}
    pace = Pace(runs, 2)
    pace.end(7, 0.0)  # was made before
    for run in (0, 1):
        pace.begin(run, 0.0)
    assert pace.left(3.0) is None
    pace.end(1, 4.0)
    pace.end(0, 20.0)
    pace.begin(2, 20.0)
    assert pace.left(20.0) == (20 + 4 + 24) / 2
    # At 35 s 5 s of it are left, and the longest is longer than half of all.
    assert pace.left(35.0) == 24.0
    for run, now in ((2, 40.0), (3, 44.0), (4, 60.0)):
        pace.begin(run, now)
        pace.end(run, now)
    assert pace.left(60.0) == 0.0


def test_a_run_that_seemed_to_be_made_does_not_count_in_the_time_that_is_left() -> None:
    """Run 7 was in the cache, but damaged; run 0 is found, as another process has made it."""
    pace = Pace({0: ("lia", 1.0), 1: ("lia", 1.0), 2: ("lia", 2.0)}, 1)
    pace.begin(7, 0.0)
    pace.end(7, 50.0)
    pace.end(0, 50.0)
    assert pace.left(50.0) is None
    pace.begin(1, 50.0)
    pace.end(1, 54.0)
    assert pace.left(54.0) == 8.0


def test_progress_is_of_what_is_to_be_made(fake_core: FakeCore, tmp_path: Path) -> None:
    run_points(POINTS[:2], count, Cache(tmp_path), jobs=1)
    seen: list[tuple[float, float]] = []
    run_points(POINTS, count, Cache(tmp_path), 1, lambda *state: seen.append(state[:2]))
    left = sum(point.cost or 0 for point in POINTS[2:])
    assert seen[-1] == pytest.approx((left, left))


def test_a_drain_is_no_progress(fake_core: FakeCore, tmp_path: Path) -> None:
    """The stand-in tells of half of the duration, long after all flows have started."""
    seen: list[float] = []
    short = replace(POINTS[0], active_s=1e-6, cost=7.0)
    run_points([short], count, Cache(tmp_path), 1, lambda *state: seen.append(state[0]))
    assert max(seen) == 7.0


@pytest.mark.parametrize(("expected", "done"), [(4000.0, 1000.0), (500.0, 500.0)])
def test_a_run_is_done_as_far_as_its_packets_are(
    expected: float,
    done: float,
    fake_core: FakeCore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stand-in tells of 1,000 packet-hops at half of the duration."""
    monkeypatch.setattr(FakeScenario, "expected_hops", lambda _: expected)
    seen: list[float] = []
    point = replace(POINTS[0], cost=None)
    run_points([point], count, Cache(tmp_path), 1, lambda *state: seen.append(state[0]))
    assert seen == [done, expected]


def test_a_failure_names_the_run_and_stops_the_others(fake_core: FakeCore, tmp_path: Path) -> None:
    fake_core.fail_on = "3 flows of 128KiB"
    with pytest.raises(RunError, match=r"size 128KiB, k 3, seed 1: the fake was told to fail"):
        run_points(POINTS, count, Cache(tmp_path), jobs=1)
    assert fake_core.runs < len(POINTS)


def test_after_a_failure_the_rest_goes_on_where_it_stopped(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    fake_core.fail_on = "2 flows of 64KiB"
    with pytest.raises(RunError):
        run_points(POINTS, count, Cache(tmp_path), jobs=1)
    fake_core.fail_on, before = None, fake_core.runs
    run_points(POINTS, count, Cache(tmp_path), jobs=1)
    assert fake_core.runs - before == 2


def test_runs_go_on_at_the_same_time(fake_core: FakeCore, tmp_path: Path) -> None:
    # If they did not, the test would hang: a guard, not a measure.
    together = threading.Barrier(2, timeout=600)

    def meet() -> None:
        together.wait()

    fake_core.before_run = meet
    run_points(POINTS[:2], count, Cache(tmp_path), jobs=2)


def test_a_lone_run_gets_the_threads_that_its_fabric_is_worth(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    fake_core.hosts = 300
    run_points(POINTS[:1], count, Cache(tmp_path / "lone"), jobs=8)
    run_points(POINTS, count, Cache(tmp_path / "many"), jobs=8)
    assert fake_core.threads == [4] + [1] * len(POINTS)


def test_an_error_in_a_scenario_is_raised_as_it_is(
    fake_core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise _core.ScenarioError("no such key")

    monkeypatch.setattr(_core, "load", refuse)
    with pytest.raises(_core.ScenarioError, match="no such key"):
        run_points(POINTS, count, Cache(tmp_path), jobs=1)
