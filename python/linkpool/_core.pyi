"""The simulator, compiled from the Rust workspace."""

from collections.abc import Callable

__version__: str

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` of it is what to print."""

    errors: list[tuple[str, int | None, str, str]]
    """One (file, line, key, message) for each thing wrong."""

def run(
    text: str,
    path: str,
    out_dir: str,
    seed: int | None,
    overrides: list[tuple[str, str]],
    progress: Callable[[float, float, int], bool | None] | None,
    threads: int | None = 1,
) -> dict[str, object]:
    """Simulate a scenario and write its tables to `out_dir`.

    On any number of `threads` the tables are the same; None: as many as are worthwhile.

    `progress` is called about ten times a second with the simulated time and its end, in seconds,
    and the packet-hops so far.
    """

def check(text: str, path: str, seed: int | None, overrides: list[tuple[str, str]]) -> str:
    """Return the scenario with every default written out, or raise `ScenarioError`."""

def measure(text: str, path: str, threads: int) -> dict[str, float]:
    """Simulate a scenario, write nothing, and return what it cost."""

def schema() -> str:
    """Return the JSON Schema of scenario files."""
