"""Write a directory, or a file, beside its place, and move it there whole.

While `out` is written its content is in `.NAME.linkpool-partial` beside it, which the writer holds
locked: whoever dies lets go of the lock, and the next writer beside it removes what is left.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from linkpool import manifest
from linkpool.columns import TABLES
from linkpool.errors import InputError
from linkpool.locks import DirectoryLock, locked
from linkpool.manifest import Manifest

PARTIAL = ".linkpool-partial"
OLD = ".linkpool-old"
SCRATCH = "linkpool-scratch-"
_WRITING: set[Path] = set()
"""The partial directories of this process."""

NEWBORN_S = 60.0
"""A temporary directory this young may be one that its owner has yet to lock."""


class NotAResultError(InputError, ValueError):
    """The directory to write to holds something that linkpool did not write."""


class BusyError(NotAResultError):
    """Another process, or another thread, is writing the same directory."""


@dataclass(frozen=True)
class Kind:
    """A kind of published directory.

    Attributes:
        name: its name in messages.
        required: the files that each has.
        allowed: the files that one may have.
        patterns: names of more files that one may have, with `*` for any characters.

    """

    name: str
    required: frozenset[str]
    allowed: frozenset[str]
    patterns: tuple[str, ...] = ()

    def is_one(self, directory: Path) -> bool:
        """Tell whether a directory has the files of this kind, and no others."""
        if not directory.is_dir():
            return False
        names = {entry.name for entry in directory.iterdir()}
        return self.required <= names and all(map(self.may_have, names))

    def may_have(self, name: str) -> bool:
        """Tell whether such a directory may have a file of this name."""
        return name in self.allowed or any(fnmatchcase(name, one) for one in self.patterns)

    def require_replaceable(self, out: Path) -> None:
        """Raise `NotAResultError` unless `out` is absent, empty or of this kind."""
        if not is_text(out):
            raise NotAResultError(f"{out}: its name is not a text (UTF-8); choose another name")
        _require_no_dangling_link(out)
        if not out.exists() or self.is_one(out):
            return
        if not out.is_dir():
            raise NotAResultError(f"{out} is a file; name a directory for the result")
        strangers = sorted(e.name for e in out.iterdir() if not self.may_have(e.name))
        if strangers:
            raise NotAResultError(
                f"{out} holds {strangers[0]}, which is not part of {self.name}; "
                "name another directory"
            )
        if any(out.iterdir()):
            raise NotAResultError(f"{out} holds an incomplete result; remove it or name another")


REQUIRED = frozenset({"scenario.toml", "run.json", "flows.parquet"})
RESULT_FILES = (
    REQUIRED
    | {"summary.json", "capture.pcapng", manifest.NAME}
    | {f"{table}.parquet" for table in TABLES}
)
RESULT = Kind("a linkpool result", REQUIRED, RESULT_FILES, ("messages.*.csv",))
"""The result of one run."""


def is_result(directory: Path) -> bool:
    """Tell whether the directory is a linkpool result and holds nothing else."""
    return RESULT.is_one(directory)


def require_replaceable(out: Path) -> None:
    """Raise `NotAResultError` unless `out` is absent, empty or a linkpool result."""
    RESULT.require_replaceable(out)


@contextmanager
def publish(
    out: Path, key: Callable[[Path], str], kind: Kind = RESULT, durable: bool = True
) -> Iterator[Path]:
    """Yield an empty directory beside `out`, and rename it to `out` if the block succeeds.

    The manifest is written then, and all is synced to the disk before the rename. What was in
    `out` stays as it is until then. On an exception the new directory is removed. Remains of
    processes that were killed while they wrote to the same parent directory are removed too.

    Args:
        out: the directory to publish.
        key: called with the finished directory; returns the key of its content, for the
            manifest.
        kind: the kind of directory; only a directory of this kind is replaced.
        durable: wait for the disk. Without it a power cut may damage the directory, which its
            manifest shows.

    Raises:
        NotAResultError: `out` holds something else.
        BusyError: somebody else is writing `out`.

    """
    kind.require_replaceable(out)
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = _beside(out, PARTIAL)
    lock = _claim(out, partial)
    try:
        yield partial
        seal(partial, key(partial), durable)
        with locked(out.parent):
            _replace(out, partial, kind)
        if durable:
            _sync(out.parent)
    except BaseException:
        _remove(partial)
        raise
    finally:
        _WRITING.discard(partial)
        lock.release()


@contextmanager
def publish_file(out: Path) -> Iterator[Path]:
    """Yield a path; the file that is written there is moved to `out` if the block succeeds.

    What was in `out` stays as it is until then, whatever ends the process. A device or a pipe is
    written to itself.

    Raises:
        NotAResultError: `out` is a link that leads nowhere.
        BusyError: somebody else is writing `out`.

    """
    _require_no_dangling_link(out)
    if out.exists() and not out.is_file():
        yield out
        return
    out = out.resolve()
    if out.parent in _WRITING:  # that directory is moved to its place whole
        yield out
        return
    partial = _beside(out, PARTIAL)
    lock = _claim(out, partial)
    try:
        file = partial / out.name
        yield file
        _sync(file)
        file.replace(out)
    finally:
        _remove(partial)
        _WRITING.discard(partial)
        lock.release()


def is_text(path: Path) -> bool:
    """Tell whether a path is one that polars can read."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def abandon() -> None:
    """Remove what this process is writing: it is about to end, whatever its threads are doing."""
    for partial in list(_WRITING):
        _remove(partial)


def _remove(partial: Path) -> None:
    """Remove a partial directory that a thread may still be writing to.

    Under its new name, that thread makes no further files in it.
    """
    gone = partial.with_name(f".{os.urandom(8).hex()}{PARTIAL}")
    try:
        partial.rename(gone)
    except FileNotFoundError:
        return
    except OSError:
        gone = partial
    _WRITING.add(gone)
    shutil.rmtree(gone, ignore_errors=True)
    _WRITING.discard(gone)


def _require_no_dangling_link(out: Path) -> None:
    """Raise `NotAResultError` if `out` is a link that leads nowhere: who made it says where to."""
    if out.is_symlink() and not out.exists():
        raise NotAResultError(
            f"{out} is a link to {out.readlink()}, which does not exist; remove it, or name "
            "another place"
        )


def seal(directory: Path, key: str, durable: bool = True) -> None:
    """Write the manifest of a directory, and sync its files and itself to the disk."""
    content = Manifest.of(directory, key).as_json()
    (directory / manifest.NAME).write_bytes(content)
    if not durable:
        return
    for path in directory.iterdir():
        _sync(path)
    _sync(directory)


def scratch() -> tuple[Path, Callable[[], None]]:
    """Return a new temporary directory, and a function that removes it.

    Temporary directories that killed processes of the same user left behind are removed.
    """
    import tempfile  # here, as runs with a place need none of it

    parent = Path(tempfile.gettempdir())
    for path in parent.glob(f"{SCRATCH}*"):
        try:
            if path.stat().st_uid == os.getuid() and _age(path) > NEWBORN_S:
                _remove_if_abandoned(path)
        except OSError:
            continue  # somebody else removed it
    directory = Path(tempfile.mkdtemp(prefix=SCRATCH))
    lock = DirectoryLock(directory)

    def remove() -> None:
        shutil.rmtree(directory, ignore_errors=True)
        lock.release()

    return directory, remove


def _beside(out: Path, suffix: str) -> Path:
    return out.with_name(f".{out.name}{suffix}")


def _claim(out: Path, partial: Path) -> DirectoryLock:
    with locked(out.parent) as parent:
        if parent.works:
            _sweep(out.parent)
        try:
            partial.mkdir()
            _WRITING.add(partial)
        except FileExistsError:
            remedy = "" if parent.works else f", or remove {partial} if nobody is"
            raise BusyError(
                f"another linkpool is writing {out}; wait for it or name another directory{remedy}"
            ) from None
        except OSError as error:
            error.filename = str(out)  # what the user has named
            raise
        return DirectoryLock(partial)


def _replace(out: Path, partial: Path, kind: Kind) -> None:
    """Move `partial` to `out`; the caller holds the lock of their parent directory."""
    if not out.exists():
        partial.rename(out)
        return
    kind.require_replaceable(out)
    old = _beside(out, OLD)
    out.rename(old)
    try:
        partial.rename(out)
    except BaseException:
        old.rename(out)
        raise
    shutil.rmtree(old)


def _sweep(parent: Path) -> None:
    """Restore or remove directories of dead processes; the caller holds the lock of `parent`."""
    for name in os.listdir(parent):  # noqa: PTH208 - many names, few of them ours
        if not name.startswith("."):
            continue
        path = parent / name
        if name.endswith(PARTIAL):
            _remove_if_abandoned(path)
        elif name.endswith(OLD) and path.is_dir() and not path.is_symlink():
            # Whoever replaces a directory holds the lock of its parent: this one is dead.
            out = parent / name[1 : -len(OLD)]
            if out.exists():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.rename(out)


def _remove_if_abandoned(path: Path) -> None:
    try:
        lock = DirectoryLock(path)
    except OSError:
        return  # in use, or no directory
    if lock.works:
        shutil.rmtree(path, ignore_errors=True)
    lock.release()


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
