"""Write a result beside its place, and move it there whole."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linkpool.columns import TABLES

REQUIRED = frozenset({"scenario.toml", "run.json", "flows.parquet"})
RESULT_FILES = REQUIRED | {"summary.json"} | {f"{table}.parquet" for table in TABLES}


class NotAResultError(ValueError):
    """The directory to write to holds something that linkpool did not write."""


def is_result(directory: Path) -> bool:
    """Tell whether the directory is a linkpool result and holds nothing else."""
    if not directory.is_dir():
        return False
    names = {entry.name for entry in directory.iterdir()}
    return names >= REQUIRED and names <= RESULT_FILES


def require_replaceable(out: Path) -> None:
    """Raise `NotAResultError` unless `out` is absent, empty or a linkpool result."""
    if not out.exists() or is_result(out):
        return
    if not out.is_dir():
        raise NotAResultError(f"{out} is a file; name a directory for the result")
    strangers = sorted(e.name for e in out.iterdir() if e.name not in RESULT_FILES)
    if strangers:
        raise NotAResultError(
            f"{out} holds {strangers[0]}, which is not part of a linkpool result; "
            "name another directory"
        )
    if any(out.iterdir()):
        raise NotAResultError(f"{out} holds an incomplete result; remove it or name another")


@contextmanager
def publish(out: Path) -> Iterator[Path]:
    """Yield an empty directory beside `out`, and rename it to `out` if the block succeeds.

    An earlier result in `out` stays as it is until the new one is whole. On an exception the new
    directory is removed. What a killed process left behind is removed by the next call.
    """
    out = out.resolve()
    require_replaceable(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    _recover(out)
    partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-{os.getpid()}-", dir=out.parent))
    try:
        partial.chmod(0o777 & ~_umask())
        yield partial
        _replace(out, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _replace(out: Path, partial: Path) -> None:
    if not out.exists():
        partial.rename(out)
        return
    require_replaceable(out)
    old = out.with_name(f".{out.name}.old-{os.getpid()}")
    out.rename(old)
    partial.rename(out)
    shutil.rmtree(old)


def _recover(out: Path) -> None:
    """Put back or remove what a process that no longer lives left beside `out`."""
    for stale in out.parent.glob(f".{out.name}.*-*"):
        kind, _, pid = stale.name.removeprefix(f".{out.name}.").partition("-")
        pid = pid.split("-")[0]
        if kind not in ("partial", "old") or not pid.isdecimal() or _alive(int(pid)):
            continue
        if kind == "old" and not out.exists():
            stale.rename(out)
        else:
            shutil.rmtree(stale, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
