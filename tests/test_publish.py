"""Directories are published whole, or not at all."""

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE

import pytest

from linkpool.publish import (
    BusyError,
    NotAResultError,
    is_result,
    publish,
    require_replaceable,
    scratch,
)


def fill(directory: Path, mark: str) -> None:
    directory.mkdir(exist_ok=True)
    for name in ("scenario.toml", "run.json", "flows.parquet"):
        (directory / name).write_text(mark, encoding="utf-8")


def mark_of(directory: Path) -> str:
    return (directory / "flows.parquet").read_text(encoding="utf-8")


def fail(out: Path) -> None:
    with publish(out) as partial:
        fill(partial, "new")
        raise RuntimeError("failed")


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def test_a_result_appears_whole(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "result"
    with publish(out) as partial:
        fill(partial, "new")
        assert not out.exists()
        assert partial.parent == out.parent
    assert mark_of(out) == "new"
    assert names(out.parent) == ["result"]


def test_a_result_can_be_read_by_others(tmp_path: Path) -> None:
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    (tmp_path / "plain").mkdir()
    assert (tmp_path / "r").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_earlier_result_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "r"
    fill(out, "old")
    (out / "queue.parquet").touch()
    with publish(out) as partial:
        fill(partial, "new")
        assert mark_of(out) == "old"
    assert mark_of(out) == "new"
    assert names(out) == ["flows.parquet", "manifest.json", "run.json", "scenario.toml"]
    assert names(tmp_path) == ["r"]


def test_a_failed_run_leaves_the_earlier_result(tmp_path: Path) -> None:
    out = tmp_path / "r"
    fill(out, "old")
    with pytest.raises(RuntimeError, match="failed"):
        fail(out)
    assert mark_of(out) == "old"
    assert names(tmp_path) == ["r"]


KILLED = """
import os, sys
from pathlib import Path
from linkpool.publish import publish
with publish(Path(sys.argv[1])) as partial:
    (partial / "flows.parquet").write_text("new")
    os.kill(os.getpid(), 9)
"""


def test_a_killed_run_leaves_the_earlier_result(tmp_path: Path) -> None:
    out = tmp_path / "r"
    fill(out, "old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(out)], check=False)
    assert killed.returncode == -9
    assert mark_of(out) == "old"
    assert len(names(tmp_path)) == 2
    with publish(out) as partial:
        fill(partial, "newer")
    assert mark_of(out) == "newer"
    assert names(tmp_path) == ["r"]


def test_whichever_run_comes_next_removes_what_a_killed_run_left(tmp_path: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "r")], check=False)
    assert killed.returncode == -9
    assert names(tmp_path) == [".r.linkpool-partial"]
    with publish(tmp_path / "other") as partial:
        fill(partial, "other")
    assert names(tmp_path) == ["other"]


def test_a_run_killed_between_the_two_renames_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "r"
    fill(tmp_path / ".r.linkpool-old", "old")
    with publish(tmp_path / "other") as partial:
        fill(partial, "other")
    assert mark_of(out) == "old"
    assert names(tmp_path) == ["other", "r"]


def test_a_run_killed_after_the_two_renames_leaves_the_new_result(tmp_path: Path) -> None:
    fill(tmp_path / "r", "new")
    fill(tmp_path / ".r.linkpool-old", "old")
    with publish(tmp_path / "other") as partial:
        fill(partial, "other")
    assert mark_of(tmp_path / "r") == "new"
    assert names(tmp_path) == ["other", "r"]


def test_a_run_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    with publish(tmp_path / "slow") as slow:
        fill(slow, "slow")
        with publish(tmp_path / "r") as partial:
            fill(partial, "new")
        assert names(tmp_path) == [".slow.linkpool-partial", "r"]
    assert mark_of(tmp_path / "slow") == "slow"


def test_what_others_hide_beside_a_result_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".r.partial").mkdir()
    (tmp_path / ".notes.linkpool-partial").write_text("a file", encoding="utf-8")
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    assert names(tmp_path) == [".git", ".notes.linkpool-partial", ".r.partial", "r"]


def write_twice(out: Path) -> None:
    with publish(out) as first:
        fill(first, "first")
        with publish(out) as second:
            fill(second, "second")


def test_the_second_writer_of_a_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(BusyError, match=r"another linkpool is writing .*/r; wait"):
        write_twice(tmp_path / "r")
    assert names(tmp_path) == []
    with publish(tmp_path / "r") as partial:
        fill(partial, "third")
    assert mark_of(tmp_path / "r") == "third"


HOLD = """
import sys
from pathlib import Path
from linkpool.publish import publish
with publish(Path(sys.argv[1])) as partial:
    print("writing", flush=True)
    sys.stdin.read()
    (partial / "scenario.toml").write_text("other")
"""


def test_a_writer_in_another_process_is_seen_while_it_lives(tmp_path: Path) -> None:
    out = tmp_path / "r"
    program = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(program, stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "writing\n"
        with pytest.raises(BusyError), publish(out):
            pytest.fail("must not start")
        other.communicate("")
    assert other.returncode == 0
    assert names(out) == ["manifest.json", "scenario.toml"]


@pytest.mark.parametrize("point", ["mkdir", "lock", "write", "manifest", "rename"])
def test_a_full_disk_leaves_the_earlier_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    out = tmp_path / "r"
    fill(out, "old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write() -> None:
        with publish(out) as partial:
            fill(partial, "new")
            if point == "write":
                full()

    if point == "mkdir":
        monkeypatch.setattr(Path, "mkdir", full)
    elif point == "lock":
        monkeypatch.setattr(fcntl, "flock", full)
    elif point == "manifest":
        monkeypatch.setattr(os, "fsync", full)
    elif point == "rename":
        monkeypatch.setattr(Path, "rename", full)
    if point == "lock":  # such a file system cannot tell the dead, but can be written
        write()
    else:
        with pytest.raises(OSError, match="No space left"):
            write()
        monkeypatch.undo()
        assert mark_of(out) == "old"
    assert names(tmp_path) == ["r"]


def test_temporary_results_of_the_dead_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, young, stranger = (tmp_path / f"linkpool-{n}" for n in ("scratch-1", "scratch-2", "x"))
    for path in (dead, young, stranger):
        path.mkdir()
    alive, remove_alive = scratch()
    for path in (dead, alive, stranger):
        os.utime(path, (0, 0))
    mine, remove_mine = scratch()
    assert names(tmp_path) == sorted(p.name for p in (alive, mine, young, stranger))
    remove_alive()
    remove_mine()
    assert names(tmp_path) == sorted(p.name for p in (young, stranger))


@pytest.mark.parametrize("stranger", ["notes.txt", ".git", "results"])
def test_a_directory_with_anything_else_is_refused(tmp_path: Path, stranger: str) -> None:
    out = tmp_path / "r"
    fill(out, "old")
    (out / stranger).mkdir()
    with pytest.raises(NotAResultError, match=stranger), publish(out):
        pytest.fail("must not start")
    assert mark_of(out) == "old"


def test_a_file_and_an_incomplete_result_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotAResultError, match="is a file"):
        require_replaceable(tmp_path / "file")
    fill(tmp_path / "part", "x")
    (tmp_path / "part" / "run.json").unlink()
    with pytest.raises(NotAResultError, match="incomplete"):
        require_replaceable(tmp_path / "part")


def test_an_empty_directory_will_do(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    assert mark_of(tmp_path / "r") == "new"


def test_a_directory_that_fills_up_meanwhile_is_not_deleted(tmp_path: Path) -> None:
    out = tmp_path / "r"

    def fill_meanwhile() -> None:
        with publish(out) as partial:
            fill(partial, "new")
            out.mkdir()
            (out / "thesis.tex").touch()

    with pytest.raises(NotAResultError):
        fill_meanwhile()
    assert (out / "thesis.tex").exists()


def test_a_link_to_a_directory_is_followed(tmp_path: Path) -> None:
    fill(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with publish(tmp_path / "link") as partial:
        fill(partial, "new")
    assert (tmp_path / "link").is_symlink()
    assert mark_of(tmp_path / "real") == "new"


def test_is_result(tmp_path: Path) -> None:
    assert not is_result(tmp_path)
    fill(tmp_path / "r", "x")
    assert is_result(tmp_path / "r")
    shutil.copy(tmp_path / "r" / "run.json", tmp_path / "r" / "extra.json")
    assert not is_result(tmp_path / "r")
