"""The standard tasks, each a scenario.

docs/performance.md describes the tasks that have a fabric and a transport in their name, so that
other simulators can run them too.
"""

from collections.abc import Callable
from dataclasses import dataclass

TRANSPORTS = {
    "tcp": ("reno", 1),
    "dctcp": ("dctcp", 1),
    "mptcp8": ("lia", 8),
    "mptcp4": ("lia", 4),
}

# On the wire beside the payload, and an ACK.
HEADER = 62
ACK = 42


@dataclass(frozen=True)
class Task:
    """A benchmark: its name, a sentence about it, and its scenario."""

    name: str
    about: str
    scenario: str


def _transport(name: str, control: str, subflows: int, packet: int, *, linux: bool = False) -> str:
    """Return a transport; with `linux`, preset `linux` decides what other simulators lack."""
    lines = [
        f"[transport.{name}]",
        f'control = "{control}"',
        f'mss = "{packet - HEADER}B"',
        f'header = "{HEADER}B"',
        f'ack_size = "{ACK}B"',
        "ack_every = 1",
        f'initial_ssthresh = "{15 * (packet - HEADER)}B"',
        'min_rto = "250ms"',
    ]
    if subflows > 1:
        lines.append(f"subflows = {subflows}")
    if not linux:
        # As in other simulators: no SACKs, subflows take turns, and no buffer limits them.
        lines.append('recovery = "newreno"')
        if subflows > 1:
            lines += ['scheduler = "round-robin"', 'send_buffer = "unlimited"']
    return "\n".join(lines) + "\n"


def _queue(packet: int, mark: int | None) -> str:
    """Return queues of 100 data packets, counted in bytes: an ACK takes the room of its bytes."""
    marking = f'mark = "{mark * packet}B"\n' if mark is not None else ""
    return f'[queue]\nlimit = "{100 * packet}B"\n{marking}'


def _fat_tree(
    k: int, duration: str, packet: int, mark: int | None, rate: str = "10Gbps", delay: str = "1us"
) -> str:
    return (
        f'duration = "{duration}"\n'
        f'[topology.fat-tree]\nk = {k}\nrate = "{rate}"\ndelay = "{delay}"\n' + _queue(packet, mark)
    )


def _permutation(
    k: int, transport: str, packet: int, duration: str, *, linux: bool = False
) -> Task:
    control, subflows = TRANSPORTS[transport]
    scenario = (
        _fat_tree(k, duration, packet, 15 if control == "dctcp" else None)
        + _transport("t", control, subflows, packet, linux=linux)
        + '[[workload.permutation]]\ntransport = "t"\njitter = "50us"\n'
    )
    hosts = k**3 // 4
    about = f"{hosts:,} hosts, permutation, {transport}, packets of {packet:,} B"
    if linux:
        about += ", as in Linux"
    return Task(f"k{k}-{transport}-{packet}" + ("-linux" if linux else ""), about, scenario)


# What stands on ports with service events or on choices that need an order: keys of `[queue]`,
# keys of `[routing]`, further lines of the transport.
_PORTS = {
    "dequeue": ('mark_at = "dequeue"', "", "marks at dequeue"),
    "priority": ('discipline = "priority"', "", "ports with two queues"),
    "trimming": ('discipline = "trimming"', "", "ports that trim"),
    "spray": ("", 'kind = "spray"', "switches that spray packets"),
    "flowlets": ("", 'kind = "flowlets"\ngap = "50us"', "switches that choose by flowlet"),
    "adaptive": ("", 'kind = "adaptive"', "switches that choose by the shortest queue"),
}


def _ports(variant: str, k: int = 8, duration: str = "200ms") -> Task:
    """Return k8-dctcp-9000 with the loss recovery of Linux and other ports or other choices."""
    queue, routing, about = _PORTS[variant]
    task = _permutation(k, "dctcp", 9000, duration, linux=True)
    scenario = task.scenario
    if queue:
        scenario = scenario.replace("[queue]\n", f"[queue]\n{queue}\n")
    if routing:
        scenario = scenario.replace("[queue]\n", f"[routing]\n{routing}\n[queue]\n")
    if variant == "trimming":
        scenario = scenario.replace("ack_every = 1\n", "ack_every = 1\ntrimming = true\n")
    return Task(f"k{k}-dctcp-9000-{variant}", f"{task.about}, {about}", scenario)


def _ndp(k: int = 8, duration: str = "50ms") -> Task:
    scenario = (
        f'duration = "{duration}"\n[topology.fat-tree]\nk = {k}\nrate = "10Gbps"\ndelay = "1us"\n'
        '[queue]\ndiscipline = "trimming"\n[transport.t]\ncontrol = "ndp"\n'
        '[[workload.permutation]]\ntransport = "t"\njitter = "50us"\n'
    )
    about = f"{k**3 // 4:,} hosts, permutation, NDP, packets of 9,000 B"
    return Task(f"k{k}-ndp-9000", about, scenario)


def _incast32() -> Task:
    scenario = (
        'duration = "1s"\n'
        '[topology.many-to-one]\nsenders = 32\nrate = "10Gbps"\ndelay = "1us"\n'
        + _queue(9000, 15)
        + _transport("t", "dctcp", 1, 9000)
        + '[[workload.many-to-one]]\ntransport = "t"\nflows = 32\nreceiver = "R"\n'
    )
    return Task("incast32-dctcp-9000", "32 long flows into one host, dctcp, 9,000 B", scenario)


def _fig12() -> Task:
    scenario = (
        _fat_tree(8, "50ms", 1462, 10, delay="2us")
        + _transport("long", "amp", 4, 1462)
        + _transport("short", "dctcp", 1, 1462)
        + '[[workload.random]]\ntransport = "long"\nrepeat = "each"\n'
        + 'size = { pareto = { shape = 1.5, mean = "192MB" } }\n'
        + '[[workload.partition-aggregate]]\ntransport = "short"\nservers = 10\nchains = 8\n'
    )
    about = "128 hosts, long AMP flows of 4 subflows beside 8 chains of jobs (AMP, Figure 12)"
    return Task("k8-amp4-fig12", about, scenario)


def _sparse() -> Task:
    scenario = (
        'duration = "1000s"\ndrain = "10s"\n'
        '[topology.many-to-one]\nsenders = 32\nrate = "10Gbps"\ndelay = "1us"\n'
        + _queue(1500, 15)
        + _transport("t", "dctcp", 1, 1500)
        + '[[workload.incast]]\ntransport = "t"\nsenders = 32\nreceiver = "R"\n'
        'size = "128KiB"\nevery = "5s"\n'
    )
    about = "bursts of 32 flows with 5 s of silence between, 1,000 s"
    return Task("sparse-incast", about, scenario)


def _hosts(k: int, duration: str) -> Task:
    task = _permutation(k, "dctcp", 9000, duration)
    return Task(f"hosts-{k**3 // 4}", task.about, task.scenario)


def _rate(gbps: int, duration: str) -> Task:
    scenario = (
        _fat_tree(8, duration, 9000, 65, rate=f"{gbps}Gbps")
        + _transport("t", "dctcp", 1, 9000)
        + '[[workload.permutation]]\ntransport = "t"\njitter = "50us"\n'
    )
    about = f"128 hosts at {gbps} Gbps, permutation, dctcp with K = 65, packets of 9,000 B"
    return Task(f"rate-{gbps}", about, scenario)


_MAKERS: list[Callable[[], Task]] = [
    lambda: _permutation(8, "tcp", 9000, "200ms"),
    lambda: _permutation(8, "dctcp", 9000, "200ms"),
    lambda: _permutation(8, "dctcp", 1500, "50ms"),
    lambda: _permutation(8, "mptcp8", 9000, "200ms"),
    lambda: _permutation(8, "mptcp8", 1500, "50ms"),
    lambda: _permutation(8, "dctcp", 9000, "200ms", linux=True),
    lambda: _permutation(8, "mptcp8", 9000, "200ms", linux=True),
    lambda: _ports("dequeue"),
    lambda: _ports("priority"),
    lambda: _ports("trimming"),
    _ndp,
    lambda: _ports("spray"),
    lambda: _ports("flowlets"),
    lambda: _ports("adaptive"),
    lambda: _permutation(16, "tcp", 9000, "50ms"),
    lambda: _permutation(16, "dctcp", 9000, "50ms"),
    lambda: _permutation(16, "mptcp8", 9000, "50ms"),
    _incast32,
    _fig12,
    lambda: _permutation(32, "dctcp", 9000, "8ms"),
    lambda: _permutation(32, "mptcp4", 9000, "8ms"),
    _sparse,
]


_SERIES: list[Callable[[], Task]] = [
    lambda: _hosts(8, "200ms"),
    lambda: _hosts(12, "100ms"),
    lambda: _hosts(16, "50ms"),
    lambda: _hosts(24, "15ms"),
    lambda: _hosts(32, "8ms"),
    lambda: _rate(10, "200ms"),
    lambda: _rate(40, "50ms"),
    lambda: _rate(100, "20ms"),
    lambda: _rate(200, "10ms"),
    lambda: _rate(400, "5ms"),
]


# What several threads do for: one queue, ports that trim, and choices that need an order.
_SPEED_UP: list[Callable[[], Task]] = [
    lambda: _permutation(8, "dctcp", 9000, "200ms"),
    lambda: _ndp(),
    lambda: _ports("trimming"),
    lambda: _ports("adaptive"),
    lambda: _permutation(16, "dctcp", 9000, "50ms"),
    lambda: _ndp(16, "20ms"),
    lambda: _ports("trimming", 16, "50ms"),
    lambda: _ports("adaptive", 16, "50ms"),
]


def tasks() -> dict[str, Task]:
    """Return the standard tasks by name, in the order of the table."""
    return _by_name(_MAKERS)


def series() -> dict[str, Task]:
    """Return the tasks that show how cost grows: with the fabric, and with the rate of its links.

    In the series of rates all tasks transmit for as many packet times.
    """
    return _by_name(_SERIES)


def speed_up() -> dict[str, Task]:
    """Return the tasks that show what several threads do, some of which are standard tasks."""
    return _by_name(_SPEED_UP)


def all_tasks() -> dict[str, Task]:
    """Return the tasks of all three by name."""
    return tasks() | series() | speed_up()


def _by_name(makers: list[Callable[[], Task]]) -> dict[str, Task]:
    made = [make() for make in makers]
    return {task.name: task for task in made}
