"""The cache of runs: what is not exactly as it was written is not used."""

import random
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fake_core import FakeCore, replace_core
from linkpool import manifest
from linkpool.api import Progress
from linkpool.experiments.amp.incast import Load
from linkpool.manifest import DamagedError, verify
from linkpool.publish import BusyError
from linkpool.result import Result
from linkpool.study.cache import Cache, Entry
from linkpool.study.point import Point
from linkpool.study.pool import Rows, run_points

MINE, OTHER = (Load("amp", "64KiB", k, "2us").point(1, 2) for k in (2, 3))


def rows_of(point: Point, result: Result) -> pl.DataFrame:
    return result.flows.select("flow", "fct_s")


class Study:
    """A cache with two runs in it, and what it said."""

    def __init__(self, folder: Path, first: Rows | None = None) -> None:
        self.notices: list[str] = []
        self.cache = Cache(folder, self.notices.append)
        self.first = first or self.run()
        self.mine, self.other = (self.cache.entry(point) for point in (MINE, OTHER))

    def run(self) -> Rows:
        return run_points([MINE, OTHER], rows_of, self.cache, jobs=2)

    def aside(self) -> list[str]:
        folder = self.cache.directory / "damaged"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Make the two runs, which each test copies."""
    with pytest.MonkeyPatch.context() as patch:
        replace_core(patch)
        return Study(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def study(fake_core: FakeCore, made: Study, tmp_path: Path) -> Study:
    shutil.copytree(made.cache.directory, tmp_path / "runs")
    return Study(tmp_path / "runs", made.first)


def test_what_is_whole_is_used(study: Study) -> None:
    again = study.run()
    assert again.cached == 2
    assert all(a.equals(b) for a, b in zip(again.frames, study.first.frames, strict=True))
    assert study.notices == study.aside() == []


def copy(name: str) -> Callable[[Entry, Entry], None]:
    def do(mine: Entry, other: Entry) -> None:
        shutil.copy(other.place / name, mine.place / name)

    return do


def remove(name: str) -> Callable[[Entry, Entry], None]:
    return lambda mine, _: (mine.place / name).unlink()


def write(name: str, content: bytes) -> Callable[[Entry, Entry], None]:
    def do(mine: Entry, _: Entry) -> None:
        (mine.place / name).write_bytes(content)

    return do


def truncate(mine: Entry, _: Entry) -> None:
    table = mine.place / "flows.parquet"
    table.write_bytes(table.read_bytes()[:-1])


def same_size(mine: Entry, other: Entry) -> None:
    """Put another run's table there, cut to this one's size."""
    size = (mine.place / "flows.parquet").stat().st_size
    content = (other.place / "flows.parquet").read_bytes()
    (mine.place / "flows.parquet").write_bytes(content[:size].ljust(size, b"\0"))


def whole_directory(mine: Entry, other: Entry) -> None:
    shutil.rmtree(mine.place)
    shutil.copytree(other.place, mine.place)


def a_file_instead(mine: Entry, _: Entry) -> None:
    shutil.rmtree(mine.place)
    mine.place.write_bytes(b"")


def a_directory_instead(mine: Entry, _: Entry) -> None:
    (mine.place / "flows.parquet").unlink()
    (mine.place / "flows.parquet").mkdir()


def nothing_inside(mine: Entry, _: Entry) -> None:
    shutil.rmtree(mine.place)
    mine.place.mkdir()


DAMAGE: dict[str, tuple[Callable[[Entry, Entry], None], str]] = {
    "foreign table": (copy("flows.parquet"), "flows.parquet"),
    "foreign table of this size": (same_size, "flows.parquet changed since"),
    "foreign scenario": (copy("scenario.toml"), "scenario.toml changed since"),
    "foreign manifest": (copy("manifest.json"), "manifest.json is that of another run"),
    "foreign directory": (whole_directory, "manifest.json is that of another run"),
    "empty run.json": (write("run.json", b""), "run.json has 0 bytes instead of"),
    "missing table": (remove("subflows.parquet"), "subflows.parquet is missing"),
    "truncated table": (truncate, "flows.parquet has"),
    "missing manifest": (remove("manifest.json"), "manifest.json: No such file"),
    "empty manifest": (write("manifest.json", b""), "manifest.json is not a manifest"),
    "manifest of something else": (write("manifest.json", b"[1]"), "manifest.json is not a man"),
    "file too many": (write("notes.txt", b"mine"), "notes.txt is not part of it"),
    "directory for a table": (a_directory_instead, "flows.parquet"),
    "file for the directory": (a_file_instead, "manifest.json: Not a directory"),
    "empty directory": (nothing_inside, "manifest.json: No such file"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_damaged_is_named_set_aside_and_made_again(
    study: Study, fake_core: FakeCore, kind: str
) -> None:
    damage, reason = DAMAGE[kind]
    damage(study.mine, study.other)
    before = fake_core.runs
    again = study.run()
    assert (again.cached, fake_core.runs - before) == (1, 1)
    assert all(a.equals(b) for a, b in zip(again.frames, study.first.frames, strict=True))
    assert study.aside() == [f"{study.mine.place.name}.1"]
    (notice,) = study.notices
    assert f"cached run of {MINE.name}, seed 1, is damaged and is made again: {reason}" in notice
    assert notice.endswith(f"damaged/{study.mine.place.name}.1")
    assert study.run().cached == 2


def test_the_damaged_are_kept_apart(study: Study) -> None:
    for _ in range(3):
        truncate(study.mine, study.other)
        study.run()
    assert study.aside() == [f"{study.mine.place.name}.{n}" for n in (1, 2, 3)]


def test_any_flipped_bit_is_found(study: Study, rng: random.Random) -> None:
    for path in sorted(study.mine.place.iterdir()):
        content = path.read_bytes()
        for bit in rng.sample(range(8 * len(content)), min(20, 8 * len(content))):
            flipped = bytearray(content)
            flipped[bit // 8] ^= 1 << bit % 8
            path.write_bytes(flipped)
            with pytest.raises(DamagedError, match=path.name):
                verify(study.mine.place, study.mine.key)
        path.write_bytes(content)
    verify(study.mine.place, study.mine.key)


def test_without_contents_sizes_are_checked_only(study: Study) -> None:
    path = study.mine.place / "run.json"
    content = path.read_bytes()
    path.write_bytes(b"x" * len(content))
    verify(study.mine.place, study.mine.key, contents=False)
    path.write_bytes(content + b"x")
    with pytest.raises(DamagedError, match=r"run.json has \d+ bytes instead of \d+"):
        verify(study.mine.place, study.mine.key, contents=False)


def test_a_manifest_says_what_it_covers(study: Study) -> None:
    found = manifest.Manifest.read(study.mine.place)
    names = {path.name for path in study.mine.place.iterdir()}
    assert names == found.files.keys() | {"manifest.json"}
    assert found.key == study.mine.key
    assert found.files["run.json"].size == (study.mine.place / "run.json").stat().st_size


def test_a_run_that_another_makes_is_waited_for(study: Study, fake_core: FakeCore) -> None:
    """The other is a thread here; locks are told apart by open file, not by process."""
    shutil.rmtree(study.mine.place)
    other = Cache(study.cache.directory)
    waits: list[float] = []

    def while_it_runs() -> None:
        fake_core.before_run = lambda: None

        def stop_waiting(*state: float) -> None:
            waits.append(state[0])
            raise InterruptedError

        with pytest.raises(InterruptedError):
            other.run(study.mine, stop_waiting)

    fake_core.before_run = while_it_runs
    assert study.run().cached == 1
    assert waits == [0.0]
    assert other.find(study.mine) is not None


def test_a_run_that_is_made_is_kept_at_its_place(fake_core: FakeCore, tmp_path: Path) -> None:
    """With what was asked of it: progress, and threads for its share of the cores."""
    fake_core.hosts = 300
    cache = Cache(tmp_path / "runs")
    entry = cache.entry(MINE)
    assert not cache.has(entry)
    assert cache.find(entry) is None
    seen: list[tuple[float, float, int]] = []
    result = cache.run(entry, lambda *state: seen.append(state), cores=3)
    assert cache.has(entry)
    assert result == cache.find(entry) == Result(entry.place)
    assert entry.place == tmp_path / "runs" / entry.key[:32]
    assert entry.key == verify(entry.place).key
    assert seen == [(1.0, 2.0, 1000)]
    cache.run(entry)
    assert fake_core.threads == [3, 1]


def test_the_work_of_a_run_is_what_its_point_says_or_its_scenario(fake_core: FakeCore) -> None:
    cache = Cache(Path("runs"))
    said = cache.entry(replace(MINE, cost=7.0, active_s=0.5))
    assert (said.cost, said.active_s) == (7.0, 0.5)
    unsaid = cache.entry(replace(MINE, cost=None, active_s=None))
    assert (unsaid.cost, unsaid.active_s) == (len(MINE.scenario), 2.0)
    assert said.point.seed == MINE.seed
    assert said.key == unsaid.key == cache.entry(MINE).key
    assert said.scenario.toml.startswith("seed = 1\n")


def test_damage_needs_nobody_who_is_told(study: Study) -> None:
    truncate(study.mine, study.other)
    silent = Cache(study.cache.directory)
    assert silent.find(study.mine) is None
    assert silent.find(study.other) == Result(study.other.place)
    assert study.aside() == [f"{study.mine.place.name}.1"]
    assert study.notices == []


def test_what_another_process_set_aside_first_is_not_told_again(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    truncate(study.mine, study.other)

    def be_late(path: Path, _: Path) -> Path:
        shutil.rmtree(path)
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "rename", be_late)
    assert study.cache.find(study.mine) is None
    assert study.notices == study.aside() == []


def test_the_result_of_another_is_taken_when_it_comes(
    study: Study, fake_core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two looks find nothing, at intervals; then it is there. Nobody has to ask for progress."""
    away = study.mine.place.rename(study.cache.directory / "away")
    slept: list[float] = []
    told: list[tuple[float, float, int]] = []

    def busy(entry: Entry, progress: Progress | None, threads: int) -> Result:
        raise BusyError(f"{entry.place} is being written")

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) % 3 == 0:
            away.rename(study.mine.place)

    monkeypatch.setattr(time, "sleep", sleep)
    waiting = Cache(study.cache.directory, make=busy)
    found = waiting.run(study.mine, lambda *state: told.append(state))
    assert found == Result(study.mine.place)
    assert slept == [0.1] * 3
    assert told == [(0.0, study.mine.active_s, 0)] * 3
    study.mine.place.rename(away)
    assert waiting.run(study.mine) == found
    assert len(slept) == 6
