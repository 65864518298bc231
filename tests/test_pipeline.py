"""From runs to a published directory: named by what determines it, whole or not at all."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest

from fake_core import FakeCore
from linkpool.experiments.amp.incast import Load
from linkpool.identity import digest
from linkpool.manifest import Manifest
from linkpool.publish import BusyError, Kind
from linkpool.result import Result
from linkpool.study.cache import Cache, Entry
from linkpool.study.pipeline import made
from linkpool.study.point import Point

POINTS = [Load("amp", "64KiB", k, "2us").point(1, 2) for k in (2, 3)]
ROWS = Kind("rows", frozenset(), frozenset({"rows.csv", "manifest.json"}))


def count(point: Point, result: Result) -> pl.DataFrame:
    flows: int | float = result.flows.height
    return pl.DataFrame({"flows": [flows if point.keys["k"] == 2 else flows + 0.5]})


def publish_rows(out: Path, named: Sequence[str] = ("rows", "1")) -> tuple[list[Entry], int]:
    cache = Cache(out / "runs")
    entries = [cache.entry(point) for point in POINTS]
    with made(out / "rows", ROWS, named, entries, count, cache, jobs=2) as runs:
        runs.data.write_csv(runs.folder / "rows.csv")
    assert runs.entries == entries
    return entries, runs.cached


def test_the_directory_is_named_by_what_determines_it(fake_core: FakeCore, tmp_path: Path) -> None:
    entries, cached = publish_rows(tmp_path)
    assert (fake_core.runs, cached) == (2, 0)
    key = Manifest.read(tmp_path / "rows").key
    assert key == digest("rows", "1", entries[0].key, entries[1].key)
    _, cached = publish_rows(tmp_path, ("rows", "2"))
    assert (fake_core.runs, cached) == (2, 2)
    assert Manifest.read(tmp_path / "rows").key != key


@pytest.mark.usefixtures("fake_core")
def test_all_runs_wait_for_the_disk_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[list[Path]] = []
    monkeypatch.setattr(os, "sync", lambda: waits.append(sorted((tmp_path / "runs").iterdir())))
    entries, _ = publish_rows(tmp_path)
    assert waits == [sorted(entry.place for entry in entries)]
    publish_rows(tmp_path)
    assert len(waits) == 1, "they were there"


def test_rows_of_whole_and_of_decimal_numbers_are_one_column(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    publish_rows(tmp_path)
    rows = pl.read_csv(tmp_path / "rows" / "rows.csv")
    assert (rows["k"].to_list(), rows["flows"].to_list()) == ([2, 3], [4.0, 6.5])


def test_nothing_is_published_if_the_block_fails(fake_core: FakeCore, tmp_path: Path) -> None:
    publish_rows(tmp_path)
    before = (tmp_path / "rows" / "rows.csv").read_bytes()
    cache = Cache(tmp_path / "runs")
    entries = [cache.entry(POINTS[0])]

    def fail() -> None:
        with made(tmp_path / "rows", ROWS, ("rows",), entries, count, cache) as runs:
            (runs.folder / "rows.csv").write_text("half of it")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (tmp_path / "rows" / "rows.csv").read_bytes() == before


def test_no_scenario_is_read_while_another_process_writes(
    fake_core: FakeCore, tmp_path: Path
) -> None:
    cache = Cache(tmp_path / "runs")

    def never() -> Iterator[Entry]:
        pytest.fail("read")
        yield cache.entry(POINTS[0])

    def second(failed: Callable[[BaseException], None]) -> None:
        try:
            with made(tmp_path / "rows", ROWS, ("rows",), never(), count, cache):
                pass
        except BaseException as error:
            failed(error)

    errors: list[BaseException] = []
    entries = [cache.entry(POINTS[0])]
    with made(tmp_path / "rows", ROWS, ("rows",), entries, count, cache):
        other = threading.Thread(target=second, args=(errors.append,))
        other.start()
        other.join()
    assert [type(error) for error in errors] == [BusyError]
