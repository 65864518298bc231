"""The identity of a run: the scenario as run, with its seed, and the simulator."""

import hashlib
from functools import cache
from pathlib import Path

from linkpool import _core


def run_key(scenario: _core.Scenario) -> str:
    """Return the key of a run, 64 hex digits: the same for all that give the same tables.

    The scenario with its seed and every default counts, and the simulator. Its title does not, nor
    where the files are whose SHA-256 it has.
    """
    return digest(simulator(), scenario.identity())


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, in hex; it depends on where each ends."""
    sha256 = hashlib.sha256()
    for part in parts:
        content = part.encode()
        sha256.update(len(content).to_bytes(8, "little"))
        sha256.update(content)
    return sha256.hexdigest()


@cache
def simulator() -> str:
    """Identify the simulator: its version, and its binary, as that may change without one."""
    return f"{_core.__version__} {binary()}"


@cache
def binary() -> str:
    """Return the SHA-256 of the simulator's binary, in hex."""
    file = Path(getattr(_core, "__file__", None) or "")
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
