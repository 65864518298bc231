"""The simulator, compiled from the Rust workspace."""

from collections.abc import Callable
from typing import TypedDict

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

class Plan(TypedDict):
    """What a scenario means before it runs; nodes are numbered, the hosts first."""

    nodes: list[tuple[str, str]]
    """Name and layer of each."""
    hosts: int
    hosts_forward: bool
    """Do hosts pass on what is for others?"""
    links: list[tuple[int, int, int, float]]
    """Each direction of each cable: from, to, rate in bit/s, propagation delay in s."""
    flows: list[tuple[int, int, int | None, float, int]]
    """Those whose start is set beforehand: from, to, bytes (None: unlimited), start in s, number
    of the transport."""
    transports: list[tuple[str, int, int]]
    """Name, payload of a full segment and bytes beside it on the wire."""

def plan(text: str, path: str, seed: int | None, overrides: list[tuple[str, str]]) -> Plan:
    """Return the fabric and the flows of a scenario, or raise `ScenarioError`."""

def worthwhile_threads(
    text: str, path: str, overrides: list[tuple[str, str]], cores: int
) -> tuple[int, int]:
    """Return the hosts of a scenario, and how many threads its run is worth on so many cores."""

def measure(text: str, path: str, threads: int) -> dict[str, float]:
    """Simulate a scenario, write nothing, and return what it cost."""

def schema() -> str:
    """Return the JSON Schema of scenario files."""
