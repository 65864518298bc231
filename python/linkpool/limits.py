"""The memory and disk that a run needs and the machine has; the bounds of seeds and threads."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from linkpool import _core
from linkpool.errors import InputError
from linkpool.units import show_bytes

MOST_THREADS = 64
MOST_SEED = 2**63 - 1
MOST_SEEDS = 100_000
"""More seeds than this are a slip of the pen: an interval narrows with their root."""
MOST_RUNS = 1_000_000
"""A study of more runs would not fit into memory before the first of them."""
SHARE_OF_MEMORY = 0.8
SHARE_OF_DISK = 0.9


class TooLargeError(InputError, ValueError):
    """A run would need more memory or disk than the machine has."""


def require_seed(seed: int | None) -> None:
    """Raise `ValueError` unless the seed is one that a scenario can have."""
    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise ValueError(f"seed = {seed}: a seed is 0 to 2^63 - 1")


def require_threads(threads: int | None) -> None:
    """Raise `ValueError` unless a simulation can run on so many threads."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads = {threads}: a simulation runs on 1 to {MOST_THREADS} threads")


def require_room(scenario: _core.Scenario, out: Path) -> None:
    """Raise `TooLargeError` if the run is estimated to need more than there is.

    `out` is a directory, or will be one, on the disk that is written to.
    """
    needs = scenario.estimate()
    _require("memory", needs["memory"], SHARE_OF_MEMORY, memory_available())
    _require("disk", needs["disk"], SHARE_OF_DISK, disk_available(out))


def _require(
    what: str, needs: Iterable[tuple[str, float]], share: float, available: float | None
) -> None:
    needs = sorted(needs, key=lambda need: need[1], reverse=True)
    total = sum(size for _, size in needs)
    if available is None or total <= share * available:
        return
    cause, size = needs[0]
    raise TooLargeError(
        f"this run needs about {show_bytes(total)} of {what}, {show_bytes(size)} of it for "
        f"{cause}, and {show_bytes(available)} are free; make the scenario smaller, "
        "or run it all the same with --ignore-estimate (in Python, ignore_estimate=True)"
    )


def memory_available() -> float | None:
    """Return the bytes of memory that this process may still use; None: not known here."""
    limits = [_meminfo(), _cgroup()]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def _meminfo() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return None


def _cgroup() -> float | None:
    """Return the memory that a container's control group has left (version 2)."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0.0, float(limit) - used)


def disk_available(path: Path) -> float | None:
    """Return the bytes that are free on the disk of `path`, or of the first parent that exists."""
    path = path.resolve()
    for place in (path, *path.parents):
        if place.exists():
            return float(shutil.disk_usage(place).free)
    return None
