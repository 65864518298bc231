"""How much work an experiment means, and which share of it fits into two minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

from fake_core import FakeCore, FakeScenario
from linkpool import cores
from linkpool.experiments import published
from linkpool.experiments.amp.shift import Shift
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.extent import HOPS, expected_seconds, plans, quick_scale, work_of
from linkpool.study.point import Point
from linkpool.study.reproduce import reproduce_experiment

SECOND = cores.HOPS_PER_S
"""Packet-hops of a second."""


@dataclass(frozen=True)
class Toy(Experiment):
    """Two runs for each seed, and one that all seeds share."""

    columns: ClassVar = ()
    seeds: int
    cost: float | None = None
    id: str = "toy"
    title: str = "a toy"
    paper: str = "none"

    def points(self, seeds: Sequence[int]) -> list[Point]:
        of_seeds = [(arm, seed) for seed in seeds for arm in "ab"]
        return [
            Point({"arm": arm}, 'duration = "1s"\n[workload]\n', seed, cost=self.cost)
            for arm, seed in [*of_seeds, ("c", seeds[0])]
        ]

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        raise NotImplementedError


def toy(seeds: int, cost: float | None = None) -> Toy:
    return Toy(seeds, cost)


@pytest.fixture(autouse=True)
def a_second_each(fake_core: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each scenario expect the packet-hops of a second."""
    monkeypatch.setattr(FakeScenario, "expected_hops", lambda _: SECOND)


def test_each_run_takes_what_is_expected_or_less_if_the_experiment_says_so() -> None:
    """With 10 seeds there are 21 runs."""
    assert expected_seconds(toy(10)) == pytest.approx(21.0)
    assert expected_seconds(toy(10, SECOND / HOPS / 2)) == pytest.approx(10.5)
    assert expected_seconds(toy(10, SECOND)) == pytest.approx(21.0)


@pytest.mark.parametrize(
    ("seeds", "share"),
    [
        (59, 1.0),  # 119 s
        (60, 0.5),  # 121 s
        (118, 0.5),  # 237 s, and 119 s with 59 seeds
        (120, 0.2),  # 241 s, 121 s with 60 seeds, 49 s with 24
        (1000, 0.05),  # 401 s with 200 seeds, 201 s with 100, 101 s with 50
    ],
)
def test_the_largest_share_is_taken_that_fits(seeds: int, share: float) -> None:
    assert quick_scale(toy(seeds), 120.0) == share


def test_where_no_share_fits_the_smallest_that_shortens_is_taken() -> None:
    """Three seeds become two and one; the three runs of one seed take 3 s."""
    assert quick_scale(toy(3), 1.0) == 0.2
    assert quick_scale(toy(1), 1.0) == 1.0


@dataclass(frozen=True)
class Coarse(Toy):
    """Has a power of ten seeds when it is shortened."""

    def shortened(self, scale: float) -> Coarse:
        return Coarse(10 ** floor(log10(self.seeds * scale)))


def test_a_share_that_shortens_no_more_is_passed_over() -> None:
    """Of 1,000 seeds a half, a fifth and a tenth are 100 seeds, 201 s; a twentieth is 10, 21 s."""
    assert quick_scale(Coarse(1000), 210.0) == 0.5
    assert quick_scale(Coarse(1000), 30.0) == 0.05


def test_a_plan_says_what_is_left_of_an_experiment(tmp_path: Path) -> None:
    [full] = plans([toy(60)], tmp_path, quick=False)
    assert (full.scale, full.extent, full.work.runs) == (1.0, "60 seeds", 121)
    [quick] = plans([toy(60)], tmp_path, quick=True)
    assert (quick.scale, quick.extent) == (0.5, "30 seeds instead of 60 seeds")
    work = quick.work
    assert (work.runs, work.missing, work.seconds, work.done) == (61, 61, 61.0, False)


def test_only_data_of_just_these_runs_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "render", lambda _figure, kind: kind.encode())
    one, two = with_seeds(Shift.named("A-fig6"), 1), with_seeds(Shift.named("A-fig6"), 2)
    reproduce_experiment(one, tmp_path, jobs=1)
    made, more = work_of(one, tmp_path), work_of(two, tmp_path)
    assert (made.missing, made.seconds, made.done) == (0, 0.0, True)
    assert (more.missing, more.done) == (more.runs - made.runs, False)
    assert more.missing > 0


@pytest.mark.parametrize(
    ("name", "scale", "seeds", "duration_s"),
    [
        ("M-tab1", 0.5, 2, 20.0),  # 2.5 of 5 seeds
        ("M-tab1", 0.1, 1, 10.0),  # half of a seed: half of 20 s
        ("M-tab1", 0.0173, 1, 1.7),  # 1.73 s, in steps of 0.1 s
        ("M-tab1", 0.001, 1, 1.0),
        ("M-tab6", 0.0173, 1, 2.0),  # in steps of 1 s
        ("M-tab7", 0.01, 1, 4.0),  # a fifth of one of 20 seeds
        ("M-tab7", 0.0001, 1, 0.5),  # a burst
        ("T-ec2", 0.01, 1, 0.9),
        ("T-ec2", 0.00001, 1, 0.004),
    ],
)
def test_long_runs_are_shortened_by_seeds_and_then_by_time(
    name: str, scale: float, seeds: int, duration_s: float
) -> None:
    short = published().load(name).shortened(scale)
    assert short.seeds == seeds
    assert short.extent() == f"{duration_s:g} s of {seeds} seed{'s' if seeds > 1 else ''}"
