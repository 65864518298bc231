"""The identity of a run: the scenario as run, with its seed, and the simulator."""

import hashlib
from functools import cache
from pathlib import Path

from linkpool import _core


def run_key(resolved: str) -> str:
    """Return the key of a run, 64 hex digits; the scenario has its seed and every default."""
    return digest(simulator(), resolved)


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
    binary = Path(getattr(_core, "__file__", None) or "")
    sha256 = hashlib.sha256(binary.read_bytes()).hexdigest() if binary.is_file() else ""
    return f"{_core.__version__} {sha256}"
