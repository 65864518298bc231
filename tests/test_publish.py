import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linkpool.publish import (
    NotAResultError,
    is_result,
    publish,
    require_replaceable,
    write_file,
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
    assert names(out) == ["flows.parquet", "run.json", "scenario.toml"]
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


def test_a_run_killed_between_the_two_renames_loses_nothing(tmp_path: Path) -> None:
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()
    out = tmp_path / "r"
    fill(tmp_path / f".r.old-{gone}", "old")
    with pytest.raises(RuntimeError, match="failed"):
        fail(out)
    assert mark_of(out) == "old"
    assert names(tmp_path) == ["r"]


def test_a_run_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / f".r.partial-{os.getpid()}-other"
    fill(other, "other")
    with publish(tmp_path / "r") as partial:
        fill(partial, "new")
    assert other.exists()


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


def test_write_file_replaces(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_file(path, b"one")
    write_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(path.parent) == ["file"]
