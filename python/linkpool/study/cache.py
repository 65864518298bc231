"""Runs that were made once are not made again."""

import hashlib
from functools import cache
from pathlib import Path

from linkpool import _core
from linkpool.api import Progress, simulate
from linkpool.publish import is_result
from linkpool.result import Result
from linkpool.study.experiment import Point


class Cache:
    """Results by what determines them: the resolved scenario, the seed and the simulator."""

    def __init__(self, directory: Path) -> None:
        """Keep the results in `directory`, which need not exist."""
        self.directory = directory

    def place(self, point: Point) -> Path:
        """Return where the result of a run is or will be; raises `ScenarioError`."""
        resolved = _core.check(point.scenario, point.name, point.seed, [])
        return self.directory / key(resolved, point.seed, simulator())

    def find(self, point: Point) -> Result | None:
        """Return the result of an earlier run, if there is one."""
        place = self.place(point)
        return Result(place) if is_result(place) else None

    def run(self, point: Point, progress: Progress | None = None, cores: int = 1) -> Result:
        """Make the run, on as many of so many cores as it is worth, and keep its result."""
        place = self.place(point)
        threads = _core.worthwhile_threads(point.scenario, point.name, [], cores)[1]
        return simulate(point.scenario, point.name, place, point.seed, [], progress, threads)


def key(resolved: str, seed: int, version: str) -> str:
    """Return the name of a run's directory."""
    parts = (version, str(seed), resolved)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@cache
def simulator() -> str:
    """Identify the simulator: its version, and its binary, as that may change without one."""
    binary = Path(getattr(_core, "__file__", None) or "")
    digest = hashlib.sha256(binary.read_bytes()).hexdigest() if binary.is_file() else ""
    return f"{_core.__version__} {digest}"
