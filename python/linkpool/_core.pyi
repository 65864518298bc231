"""The simulator, compiled from the Rust workspace."""

from collections.abc import Callable
from typing import Any, TypedDict

__version__: str
ISSUES: str
"""Where bugs are reported."""

class ScenarioError(ValueError):
    """A scenario that cannot run; `str()` of it is what to print."""

    errors: list[tuple[str, int | None, str, str]]
    """One (file, line, key, message) for each thing wrong."""

class SimulationError(RuntimeError):
    """A run that could not go on."""

class InternalError(RuntimeError):
    """A bug in linkpool; `str()` of it says where to report it, and with what."""

class Estimate(TypedDict):
    """What a run will need, about: what for, and how many bytes."""

    memory: list[tuple[str, float]]
    disk: list[tuple[str, float]]

class Scenario:
    """A scenario that was read and checked. A signal, such as Ctrl-C, ends each of its methods."""

    @property
    def toml(self) -> str:
        """The scenario with every default written out."""
    def identity(self) -> str:
        """Return a text that is the same for all scenarios that mean the same run.

        It is `toml` without the title, and without the places of files whose SHA-256 it has.
        """
    def files(self) -> list[tuple[str, str, list[str]]]:
        """Return the files that `toml` names: the key, what stands there, the paths that are read.

        The paths begin with what stands there.
        """
    @property
    def duration_s(self) -> float:
        """The simulated time in which flows start, in seconds."""
    @property
    def hosts(self) -> int:
        """How many hosts it has."""
    def threads(self, threads: int) -> int:
        """Return how many threads its run has, of those that it may have."""
    def worthwhile_threads(self, cores: int) -> int:
        """Return how many threads its run is worth on so many cores."""
    def estimate(self) -> Estimate:
        """Estimate what its run will need."""
    def expected_hops(self) -> float:
        """Estimate how many packets will cross a link, ACKs too: the work of its run."""
    def offered_loads(self) -> list[tuple[str, str, float, float]]:
        """Return what its workloads with a rate of arrivals offer to each tier; none without them.

        Of a tier: the layers that its links lead from and to, the load, and that of the busiest
        link. A load is payload over the capacity of the links.
        """
    def headrooms(self) -> list[tuple[str, str, int, float, int, int, int, bool]]:
        """Return kinds of links to switches whose ports pause their neighbours; none without pfc.

        Of a kind: the layers that it leads from and to, bit/s, the delay in seconds, how many there
        are, the headroom that is needed, and the headroom that there is, in bytes.
        """
    def pause_buffers(self) -> list[tuple[str, int, int]]:
        """Return layers of switches whose ports pause: name, buffer, and what is set aside, bytes.

        Set aside are headroom and reserves, at the switch of the layer with the most.
        """
    def run(
        self,
        out_dir: str,
        progress: Callable[[float, float, int], bool | None] | None = None,
        threads: int | None = 1,
    ) -> dict[str, object]:
        """Simulate it and write its tables to `out_dir`.

        On any number of `threads` the tables are the same; None: as many as are worthwhile.

        `progress` is called about ten times a second with the simulated time and its end, in
        seconds, and the packet-hops so far.
        """
    def plan(self) -> Plan:
        """Return its fabric and its flows."""
    def perfetto(
        self, flows: list[tuple[int, int]], path: str
    ) -> list[tuple[int, int, int | None]]:
        """Simulate it until these flows have ended; write what happened to them for Perfetto.

        If the scenario records ranks, what these do, too, to the end of the run.

        A flow is its number and that of its connection. Return the number of each flow that
        started, when it began, and when its last data was acknowledged (None: never), in
        picoseconds. Raises `ValueError` as `trace` does.
        """

    def trace(self, flows: list[tuple[int, int]]) -> str:
        """Simulate it until these flows have ended; return what happened to them as JSON.

        A flow is its number and that of its connection.
        It is a list of objects, in order of time; `crates/sim/src/trace/row.rs` explains them.
        Raises `ValueError` where the trace cannot see what hosts send.
        """
    def measure(self, threads: int) -> dict[str, float]:
        """Simulate it, write nothing, and return what it cost."""

class Session:
    """A run that a program drives; `linkpool.Session` explains it.

    An event is when, what (delivered, acked, given up, timer), the number of the message, its
    source, destination, size and tag, and when it was due. A message is its source, destination,
    size, tag, when it is due, and its channel; an answer lacks the source, and is a timer if its
    channel is None. A timer is its host, its tag and when it is due. Times are picoseconds.
    """

    def __init__(
        self,
        scenario: Scenario,
        directory: str | None,
        threads: int | None,
        react: Callable[
            [tuple[int, int, int, int, int, int, int, int]],
            list[tuple[int, int, int, int, int]] | None,
        ]
        | None,
    ) -> None: ...
    @property
    def now(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def lookahead(self) -> int: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def channels(self) -> list[str]: ...
    @property
    def open_messages(self) -> int: ...
    @property
    def open_timers(self) -> int: ...
    def send(self, messages: list[tuple[int, int, int, int, int, int]]) -> list[int]: ...
    def set_timers(self, timers: list[tuple[int, int, int]]) -> None: ...
    def advance_to(self, to: int) -> None: ...
    def step(self, to: int) -> bool: ...
    def drain(self) -> bool: ...
    def poll(self) -> tuple[int, int, int, int, int, int, int, int] | None: ...
    def events(self) -> list[tuple[int, int, int, int, int, int, int, int]]: ...
    def close(self, keep: bool) -> bool:
        """End the run; with `keep` its results are written, if there is a directory.

        Return whether it had not ended.
        """

def load(
    text: str,
    path: str,
    seed: int | None,
    overrides: list[tuple[str, str]],
    run_code: bool = False,
) -> Scenario:
    """Read and check a scenario; raises `ScenarioError`.

    Algorithms in Python that it brings (`controls`) are code, which runs now: with `run_code` only.
    """

def check(text: str, path: str, seed: int | None, overrides: list[tuple[str, str]]) -> str:
    """Return the scenario with every default written out, or raise `ScenarioError`."""

class Plan(TypedDict):
    """What a scenario means before it runs; nodes are numbered, the hosts first."""

    nodes: list[tuple[str, str]]
    """Name and layer of each."""
    hosts: int
    forwarding: list[int]
    """The hosts that pass on what is for others."""
    servers: list[int | None]
    """By node: the number of its server, where servers have several hosts."""
    inner: list[int]
    """Nodes over which hosts of a server reach each other."""
    rails: list[int | None]
    """By host: the rail of its NIC in a server of several hosts."""
    by_rail: bool
    """Do packets leave a server by the rail of their destination?"""
    links: list[tuple[int, int, int, float]]
    """Each direction of each cable: from, to, rate in bit/s, propagation delay in s."""
    flows: list[tuple[int, int, int | None, float, int]]
    """Those whose start is set beforehand: from, to, bytes (None: unlimited), start in s, number
    of the transport."""
    transports: list[tuple[str, int, int]]
    """Name, payload of a full segment and bytes beside it on the wire."""

def plan(text: str, path: str, seed: int | None, overrides: list[tuple[str, str]]) -> Plan:
    """Return the fabric and the flows of a scenario, or raise `ScenarioError`."""

def convert(source: str, target: str) -> None:
    """Write the programs of a GOAL file or a scenario as GOAL, text or binary by its ending.

    Raises ValueError, whose text names the file and the line, if one of both is wrong.
    """

def seconds(text: str) -> float:
    """Read a time with its unit, such as "5.6us", in seconds; raises `ValueError`."""

def measure(text: str, path: str, threads: int) -> dict[str, float]:
    """Simulate a scenario, write nothing, and return what it cost."""

def schema() -> str:
    """Return the JSON Schema of scenario files."""

def control_layout() -> tuple[int, list[tuple[str, int, str]], list[str]]:
    """Return what compiled hooks must know of memory.

    Bytes of a path; name, offset and kind of each of its fields (`f`: float, `i`: int of 64 bits,
    `b`: bool); and the names of the hooks, in the order of their addresses.
    """

def define_control(description: dict[str, object]) -> int:
    """Define an algorithm for as long as the process lives; return its place.

    `linkpool.control.native` makes the description. Addresses must be those of such hooks: the
    simulator calls them.
    """

def check_table(path: str) -> int:
    """Decode a Parquet file, and return the number of its rows; `ValueError`: it is damaged."""

def table_columns(path: str) -> list[tuple[str, str | None]]:
    """Return the name and type of each column of a table; None: one that no table of a run has.

    `ValueError`: it is no Parquet file.
    """

def read_columns(path: str, names: list[str]) -> list[list[Any]]:
    """Return the values of columns of a table, None where there is none.

    `ValueError`: it is damaged, or has no such column.
    """

def read_numbers(path: str, names: list[str]) -> list[bytes]:
    """Return columns of a table as 64-bit floating-point numbers: NaN for none, 1 and 0 for flags.

    `ValueError`: it is damaged, or has no such column of numbers or flags.
    """

def summarise(directory: str, period: tuple[float, float], end_s: float) -> str:
    """Return the summary of a run as JSON, computed from its tables.

    `period` is the measured period, in seconds; jobs that had not finished count as old as they
    were at `end_s`. `ValueError`: a table is missing or damaged.
    """

def families() -> dict[str, str]:
    """Return the families of transports: their names, and their names in sentences."""

def packet_kinds() -> dict[str, str]:
    """Return the kinds of packets without data in traces, and what each is for.

    That is `handshake`, `ack`, `nack`, `grant` (it lets the sender send) or `close`.
    """

def tables() -> list[tuple[str, str, str | None, list[tuple[str, str, str, str]]]]:
    """Return the tables that a result may have.

    Of each: its name, its rows, why a result may lack it (None: every result has it), and name,
    type, unit and meaning of its columns.
    """
