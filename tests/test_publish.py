"""Directories are published whole, or not at all."""

import errno
import fcntl
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE

import pytest

from linkpool.manifest import DamagedError, verify
from linkpool.publish import (
    BusyError,
    Kind,
    NotAResultError,
    abandon,
    is_result,
    publish_file,
    require_replaceable,
    scratch,
)
from linkpool.publish import publish as publish_as

publish = functools.partial(publish_as, key=lambda _: "the key")


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
    out = tmp_path / "very" / "deep" / "result"
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


def test_its_manifest_has_the_key_of_its_content(tmp_path: Path) -> None:
    with publish_as(tmp_path / "r", lambda folder: f"key of {mark_of(folder)}") as partial:
        fill(partial, "größer")
    found = verify(tmp_path / "r", "key of größer")
    assert list(found.files) == ["flows.parquet", "run.json", "scenario.toml"]


def test_all_is_on_the_disk_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file with its manifest, then their directory, and at last the entry of its parent."""
    synced: list[str] = []
    handles: set[int] = set()
    opened, sync, close, rename = os.open, os.fsync, os.close, Path.rename

    def note_open(path: Path, *args: int) -> int:
        handle = opened(path, *args)
        handles.add(handle)
        return handle

    def note_sync(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink().relative_to(tmp_path)))
        sync(handle)

    def note_close(handle: int) -> None:
        handles.discard(handle)
        close(handle)

    def note_rename(path: Path, to: Path) -> Path:
        synced.append(f"{path.name} becomes {to.name}")
        return rename(path, to)

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "close", note_close)
    monkeypatch.setattr(Path, "rename", note_rename)
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    files = ("flows.parquet", "manifest.json", "run.json", "scenario.toml")
    mine = ".r.linkpool-partial"
    assert sorted(synced[:4]) == [f"{mine}/{name}" for name in files]
    assert synced[4:] == [mine, f"{mine} becomes r", "."]
    assert handles == set(), "every handle is closed again"


def test_a_run_of_many_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest tells whether it came through a power cut whole."""

    def wait(_: int) -> None:
        pytest.fail("it waits")

    monkeypatch.setattr(os, "fsync", wait)
    with publish_as(tmp_path / "r", lambda _: "key", durable=False) as partial:
        fill(partial, "new")
    assert sorted(verify(tmp_path / "r", "key").files) == [
        *("flows.parquet", "run.json", "scenario.toml")
    ]
    (tmp_path / "r" / "run.json").write_bytes(b"")  # as such a cut leaves a file
    with pytest.raises(DamagedError, match=r"run\.json"):
        verify(tmp_path / "r", "key")


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


def test_a_run_that_lost_its_directory_says_why_it_failed(tmp_path: Path) -> None:
    """There is nothing to remove then, which is no error of its own."""

    def lose() -> None:
        with publish(tmp_path / "r") as partial:
            partial.rmdir()
            raise RuntimeError("failed")

    with pytest.raises(RuntimeError, match="failed"):
        lose()
    assert names(tmp_path) == []


KILLED = """
import os, sys
from pathlib import Path
from linkpool.publish import publish
with publish(Path(sys.argv[1]), lambda _: "") as partial:
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


@pytest.mark.parametrize("remains", [".dead.linkpool-partial", ".r.linkpool-old"])
def test_remains_that_cannot_be_removed_are_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remains: str
) -> None:
    fill(tmp_path / "r", "old")
    (tmp_path / remains).mkdir()
    rmdir = os.rmdir

    def refuse(path: str | Path, *, dir_fd: int | None = None) -> None:
        if Path(path).name == remains:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
        rmdir(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refuse)
    with publish(tmp_path / "other") as partial:
        fill(partial, "new")
    assert names(tmp_path) == sorted([remains, "other", "r"])


def test_a_rename_that_fails_leaves_the_earlier_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has been moved aside then, to where the next run would find it, and comes back."""
    out = tmp_path / "r"
    fill(out, "old")
    rename = Path.rename
    moved: list[tuple[str, str]] = []

    def fail_later(path: Path, to: Path) -> Path:
        moved.append((path.name, to.name))
        if path.name == ".r.linkpool-partial":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fail_later)
    with pytest.raises(OSError, match="Input/output error"), publish(out) as partial:
        fill(partial, "new")
    assert mark_of(out) == "old"
    assert names(tmp_path) == ["r"]
    assert moved[:3] == [
        ("r", ".r.linkpool-old"),
        (".r.linkpool-partial", "r"),
        (".r.linkpool-old", "r"),
    ]


def test_among_many_others_the_remains_are_found(tmp_path: Path) -> None:
    others = [f"{n}" for n in range(20)] + [f".{n}" for n in range(20)]
    for name in others:
        (tmp_path / name).touch()
    for n in range(20):
        (tmp_path / f".dead{n}.linkpool-partial").mkdir()
        fill(tmp_path / f".lost{n}.linkpool-old", "old")
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    assert names(tmp_path) == sorted([*others, *(f"lost{n}" for n in range(20)), "r"])


def test_a_file_with_the_name_of_an_old_result_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    (tmp_path / ".notes.linkpool-old").write_text("a file", encoding="utf-8")
    (tmp_path / ".more.linkpool-old").write_text("another", encoding="utf-8")
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    assert names(tmp_path) == [".more.linkpool-old", ".notes.linkpool-old", "notes", "r"]


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


def test_where_nothing_can_be_locked_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the writer lives is not known there: nothing of another is removed."""

    def cannot(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", cannot)
    partial, other = (tmp_path / f".{name}.linkpool-partial" for name in ("r", "s"))
    partial.mkdir()
    other.mkdir()
    with pytest.raises(BusyError) as error, publish(tmp_path / "r"):
        pytest.fail("must not start")
    assert str(error.value) == (
        f"another linkpool is writing {tmp_path / 'r'}; wait for it or name another directory, "
        f"or remove {partial} if nobody is"
    )
    assert names(tmp_path) == [partial.name, other.name]


def test_where_locks_work_the_message_names_no_directory_to_remove(tmp_path: Path) -> None:
    with publish(tmp_path / "r") as partial:
        fill(partial, "first")
        with pytest.raises(BusyError, match=r"/r; wait for it or name another directory$"):
            fail(tmp_path / "r")


HOLD = """
import sys
from pathlib import Path
from linkpool.publish import publish
with publish(Path(sys.argv[1]), lambda _: "") as partial:
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


def test_a_temporary_result_is_empty_and_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    one, remove = scratch()
    other, _ = scratch()
    assert names(one) == names(other) == []
    assert one.name.startswith("linkpool-scratch-")
    (one / "table").touch()
    remove()
    assert names(tmp_path) == [other.name]
    remove()  # a second time there is nothing to do


def test_temporary_directories_of_others_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another user, and all where nothing can be locked; a file in between is no obstacle."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for n in range(10):
        (tmp_path / f"linkpool-scratch-link{n}").symlink_to("nowhere")
    dead = [tmp_path / f"linkpool-scratch-{n}" for n in range(10)]
    for path in dead:
        path.mkdir()
        os.utime(path, (0, 0))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    _, remove = scratch()
    assert all(path.exists() for path in dead)
    remove()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def cannot(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", cannot)
    _, remove = scratch()
    assert all(path.exists() for path in dead)
    remove()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    _, remove = scratch()
    assert not any(path.exists() for path in dead)
    remove()


SHEETS = Kind(
    "a set of sheets", frozenset({"index"}), frozenset({"index"}), ("sheet-*.svg", "*.csv")
)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ([], None),
        (["index"], None),
        (["index", "sheet-1.svg", "sheet-.svg", "x.csv"], None),
        (["sheet-1.svg"], "holds an incomplete result; remove it or name another"),
        (["index", "sheet-1.png", "a.svg"], "holds a.svg, which is not part of a set of sheets; "),
        (["index", "Sheet-1.svg"], "holds Sheet-1.svg, which is not part of a set of sheets; "),
    ],
)
def test_what_may_be_replaced(tmp_path: Path, held: list[str], message: str | None) -> None:
    (tmp_path / "r").mkdir()
    for name in held:
        (tmp_path / "r" / name).touch()
    assert SHEETS.is_one(tmp_path / "r") == (message is None and held != [])
    if message is None:
        SHEETS.require_replaceable(tmp_path / "r")
        return
    with pytest.raises(NotAResultError) as error:
        SHEETS.require_replaceable(tmp_path / "r")
    assert str(error.value).startswith(f"{tmp_path / 'r'} {message}")
    assert str(error.value).endswith("name another directory" if ";" in message[-2:] else message)


def test_what_is_no_directory_is_none_of_a_kind(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not SHEETS.is_one(tmp_path / "file")
    assert not SHEETS.is_one(tmp_path / "nothing")
    SHEETS.require_replaceable(tmp_path / "nothing")
    with pytest.raises(NotAResultError, match=r"file is a file; name a directory for the result$"):
        SHEETS.require_replaceable(tmp_path / "file")


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


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    """Who made it in a shared directory would say where the result goes."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "r")
    with pytest.raises(NotAResultError, match=r"link is a link to .*elsewhere/r"):
        fail(tmp_path / "link")
    with (
        pytest.raises(NotAResultError, match=r"link is a link to"),
        publish_file(tmp_path / "link") as file,
    ):
        file.write_text("new", encoding="utf-8")
    assert names(tmp_path) == ["link"]


def test_a_link_to_remains_is_not_followed(tmp_path: Path) -> None:
    fill(tmp_path / "elsewhere", "theirs")
    (tmp_path / ".r.linkpool-old").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".s.linkpool-partial").symlink_to(tmp_path / "elsewhere")
    with publish(tmp_path / "t") as partial:
        fill(partial, "new")
    assert mark_of(tmp_path / "elsewhere") == "theirs"
    assert not (tmp_path / "r").exists()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    out.write_text("old", encoding="utf-8")

    def write(content: str, ending: str) -> None:
        with publish_file(out) as file:
            file.write_text(content, encoding="utf-8")
            assert out.read_text(encoding="utf-8") == "old"
            if ending:
                raise RuntimeError(ending)

    with pytest.raises(RuntimeError, match="stop"):
        write("half", "stop")
    assert (out.read_text(encoding="utf-8"), names(tmp_path)) == ("old", ["page.html"])
    write("new", "")
    assert (out.read_text(encoding="utf-8"), names(tmp_path)) == ("new", ["page.html"])


def test_a_file_behind_a_link_is_replaced_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("real")
    with publish_file(tmp_path / "link") as file:
        file.write_text("new", encoding="utf-8")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text(encoding="utf-8") == "new"
    os.mkfifo(tmp_path / "pipe")
    with publish_file(tmp_path / "pipe") as file:
        assert file == tmp_path / "pipe"
    with publish_file(Path("/dev/null")) as file:
        file.write_text("gone", encoding="utf-8")
    assert Path("/dev/null").is_char_device()


def test_what_is_being_written_is_abandoned_while_a_thread_writes_to_it(tmp_path: Path) -> None:
    """As Ctrl-C does when a run is in compiled code: it cannot make further files then."""

    def interrupted() -> None:
        with publish(tmp_path / "r") as partial:
            fill(partial, "new")
            abandon()
            assert names(tmp_path) == []
            (partial / "late.parquet").write_text("late", encoding="utf-8")

    with pytest.raises(FileNotFoundError):
        interrupted()
    assert names(tmp_path) == []
    with publish(tmp_path / "r") as partial:
        fill(partial, "again")
    assert names(tmp_path) == ["r"]
