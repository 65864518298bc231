"""Advisory locks on directories: a process holds them until it ends or dies."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 10.0
"""How long `locked` waits: a process holds such a lock for milliseconds."""

_BUSY = (errno.EWOULDBLOCK, errno.EACCES)


class LockedError(OSError):
    """A directory stays locked by another program."""


class DirectoryLock:
    """An exclusive `flock` on a directory, or nothing where the file system has no such locks.

    Attributes:
        works: does the file system have locks? If not, they do not show whether a process lives.

    """

    def __init__(self, directory: Path) -> None:
        """Lock a directory.

        Raises:
            BlockingIOError: somebody else holds the lock.
            OSError: the directory cannot be opened.

        """
        self._handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.works = True
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                self.release()
                raise BlockingIOError(error.errno, error.strerror, str(directory)) from None
            self.works = False

    def release(self) -> None:
        """Let go of the lock; a second call does nothing."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


@contextmanager
def locked(directory: Path) -> Iterator[DirectoryLock]:
    """Hold the lock of a directory for a short block; wait for it for up to `PATIENCE_S`.

    Raises:
        LockedError: somebody else holds it all the time.

    """
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            lock = DirectoryLock(directory)
            break
        except BlockingIOError:
            if time.monotonic() > end:
                raise LockedError(f"{directory} is locked by another program") from None
            time.sleep(0.01)
    try:
        yield lock
    finally:
        lock.release()
