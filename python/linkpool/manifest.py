"""The manifest that ends a published directory: what it holds, and how to tell that it still does.

`manifest.json` is written last. It names each file with its size and SHA-256, the key of what the
directory holds, and ends with a SHA-256 of itself.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "manifest.json"
FORMAT = 1

_NO_MANIFEST = (
    *(ValueError, TypeError, KeyError, AttributeError),
    RecursionError,  # brackets within brackets, a thousand deep
    OverflowError,  # an infinite size
)
"""The errors of a text that is no manifest."""


class DamagedError(ValueError):
    """A directory differs from its manifest; the message names the directory and the file.

    Attributes:
        directory: the directory.
        reason: the damage, beginning with the name of the file.

    """

    def __init__(self, directory: Path, reason: str) -> None:
        """Name the directory and the damage."""
        super().__init__(f"{directory} is damaged: {reason}")
        self.directory = directory
        self.reason = reason


@dataclass(frozen=True)
class Entry:
    """A file as it was when the directory was published: its bytes, and their SHA-256 in hex."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The content of a published directory.

    Attributes:
        key: the key of the content: scenario, seed and simulator of a run.
        files: each file but the manifest itself, by name.

    """

    key: str
    files: dict[str, Entry]

    @classmethod
    def of(cls, directory: Path, key: str) -> "Manifest":
        """Describe the files that a directory holds now."""
        files = sorted(path for path in directory.iterdir() if path.name != NAME)
        return cls(key, {path.name: Entry(path.stat().st_size, _sha256(path)) for path in files})

    @classmethod
    def read(cls, directory: Path) -> "Manifest":
        """Read the manifest of a directory.

        Raises:
            DamagedError: there is none, or it is not as it was written.

        """
        try:
            text = (directory / NAME).read_bytes()
        except OSError as error:
            raise DamagedError(directory, f"{NAME}: {error.strerror or error}") from None
        try:
            content = json.loads(text)
            files = {
                str(name): Entry(int(entry["bytes"]), str(entry["sha256"]))
                for name, entry in content["files"].items()
            }
            found = cls(str(content["key"]), files)
        except _NO_MANIFEST:
            raise DamagedError(directory, f"{NAME} is not a manifest") from None
        if found.as_json() != text:
            raise DamagedError(directory, f"{NAME} is not as linkpool wrote it")
        return found

    def as_json(self) -> bytes:
        """Return the content of `manifest.json`."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "key": self.key,
            "files": {
                name: {"bytes": entry.size, "sha256": entry.sha256}
                for name, entry in self.files.items()
            },
        }
        seal = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return json.dumps({**content, "sha256": seal}, indent=1).encode() + b"\n"

    def check(self, directory: Path, contents: bool) -> None:
        """Check that the directory holds these files, and that none changed its size.

        Args:
            directory: the directory.
            contents: check the SHA-256 of each file too, which reads all of them.

        Raises:
            DamagedError: it does not.

        """
        try:
            found = {path.name: path.lstat() for path in directory.iterdir()}
        except OSError as error:
            raise DamagedError(directory, str(error.strerror or error)) from None
        for name, entry in self.files.items():
            if name not in found:
                raise DamagedError(directory, f"{name} is missing")
            if found[name].st_size != entry.size:
                size = found[name].st_size
                raise DamagedError(directory, f"{name} has {size} bytes instead of {entry.size}")
        strangers = sorted(found.keys() - self.files.keys() - {NAME})
        if strangers:
            raise DamagedError(directory, f"{strangers[0]} is not part of it")
        if contents:
            for name in self.files:
                self.check_file(directory, name)

    def check_file(self, directory: Path, name: str) -> None:
        """Check that one file of the directory is as it was, by its SHA-256.

        Raises:
            DamagedError: it is not, or it was not there.

        """
        if name not in self.files:
            raise DamagedError(directory, f"{name} is not part of it")
        try:
            sha256 = _sha256(directory / name)
        except OSError as error:
            reason = f"{name}: {error.strerror or error}"
            raise DamagedError(directory, reason) from None
        if sha256 != self.files[name].sha256:
            raise DamagedError(directory, f"{name} changed since it was written")


def verify(directory: Path | str, key: str | None = None, contents: bool = True) -> Manifest:
    """Check a published directory against its manifest, and return that.

    Args:
        directory: the directory.
        key: the key that the directory must have; None: any key.
        contents: check the SHA-256 of each file, not only names and sizes.

    Raises:
        DamagedError: the directory differs from its manifest, or has another key.

    """
    directory = Path(directory)
    manifest = Manifest.read(directory)
    if key is not None and manifest.key != key:
        raise DamagedError(directory, f"{NAME} is that of another run")
    manifest.check(directory, contents)
    return manifest


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
