"""First scenarios and studies: small ones that run in seconds, with comments on each line."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["scenario", "study"]

FABRICS = {
    "leaf-spine": (
        "32 hosts, 4 leaves, 4 spines",
        """# 8 hosts at each of 4 leaves; up from a leaf fits half of what its hosts can send.
topology.leaf-spine = { leaves = 4, spines = 4, hosts_per_leaf = 8, rate = "10Gbps", delay = "1us" }
""",
    ),
    "fat-tree": (
        "16 hosts, k = 4, every path as wide as a host's link",
        """# 16 hosts in 4 pods; k = 8 has 128 hosts, k = 16 has 1,024.
topology.fat-tree = { k = 4, rate = "10Gbps", delay = "1us" }
""",
    ),
    "many-to-one": (
        "16 senders and one receiver at a switch",
        """# One switch: all that happens is in the queue towards the receiver, R.
topology.many-to-one = { senders = 16, rate = "10Gbps", delay = "2us" }
""",
    ),
}
"""Each fabric: what it is, and how a scenario says it."""

WORKLOADS = {
    "incast": (
        "12 hosts send 64 KB to one at once, every 2 ms",
        """# Every 2 ms, 12 hosts send 64 KB each to one.
[[{base}workload.incast]]
transport = "t"
senders = 12
receiver = "{receiver}"
size = "64KB"
every = "2ms"
""",
    ),
    "websearch": (
        "flows of random sizes start at random, at a load of 0.4",
        """# Flows start at random (Poisson) between random hosts. Their sizes are those of web
# search (Alizadeh et al., SIGCOMM 2010). The load is a share of the rate of hosts' links.
[[{base}workload.poisson]]
transport = "t"
load = 0.4
size = {{ cdf = "websearch_dctcp", interpolation = "linear" }}
""",
    ),
    "permutation": (
        "each host sends to one other as long as the run lasts",
        """# Each host sends to one other, and none receives from two.
[[{base}workload.permutation]]
transport = "t"
""",
    ),
    "all-reduce": (
        "8 hosts add up 4 MB around a ring",
        """# A ring of 8 hosts adds up 4 MB: each step waits for the one before.
[[{base}workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
ranks = 8
size = "4MB"
""",
    ),
}
"""Each workload: what it is, and how a scenario says it."""

TRANSPORTS = {
    "dctcp": ("DCTCP: cuts in proportion to marks", 'control = "dctcp"'),
    "reno": ("TCP NewReno: cuts by half on loss", 'control = "reno"'),
    "swift": ("Swift: keeps the delay at a target", 'control = "swift"'),
    "lia": ("MPTCP with linked increases, 4 subflows", 'control = "lia", subflows = 4'),
    "xmp": ("XMP: MPTCP that cuts on marks, 4 subflows", 'control = "xmp", subflows = 4'),
    "amp": ("AMP: XMP for many flows at once, 4 subflows", 'control = "amp", subflows = 4'),
    "ndp": ("NDP: packets over all paths, pulled by receivers", 'control = "ndp"'),
}
"""Each transport: what it is, and how a scenario says it."""

TCP_TIMERS = 'min_rto = "1ms", syn_timeout = "2ms", initial_rto = "2ms"'
"""Timers of data centres: those of Linux, 200 ms and 1 s, are longer than the whole run."""

MEASURES = {
    "incast": ["fct.mean", "fct.p95@all", "timeouts.total"],
    "websearch": ["slowdown.p99@all", "slowdown.p50", "goodput.mean"],
    "permutation": ["goodput.mean", "jain"],
    "all-reduce": ["jct.mean", "timeouts.total"],
}
"""What a study measures: of percentiles those for which there are enough flows."""

VARIED = {
    "incast": "workload.incast.0.senders = [4, 8, 12]",
    "websearch": "workload.poisson.0.load = [0.2, 0.4, 0.6]",
    "permutation": 'duration = ["10ms", "20ms"]',
    "all-reduce": 'workload.collective.0.size = ["1MB", "4MB"]',
}
"""A setting that a study may vary, as its file says it."""


def starter(kind: Kind, fabric: str, workload: str, transports: Sequence[str]) -> str:
    """Return the text of a scenario of the first transport, or of a study of all of them."""
    if kind == "scenario":
        only = transports[0]
        return "".join(
            [
                f"# A first scenario: {only}, {workload}, {fabric}.\n",
                "# What it means: linkpool check FILE. Every key: docs/scenario.md.\n\n",
                _times(workload),
                _fabric(fabric),
                _queue(only),
                f"\n# {TRANSPORTS[only][0]}.\n",
                "\n".join([*_transport(only), "", ""]),
                _workload(fabric, workload),
            ]
        )
    measures = ", ".join(f'"{name}"' for name in MEASURES[workload])
    return "".join(
        [
            f"# A first study: {', '.join(transports)}; {workload}, {fabric}.\n",
            "# Run it: linkpool study run FILE. Every key: docs/study.md.\n\n",
            f'title = "Which transport suits {workload} on a {fabric}?"\n',
            "# Each arm runs with seeds 1 to 5; intervals in the table are over these.\n",
            "seeds = 5\n",
            "# What is measured in each run; the table has them in this order.\n",
            f"measures = [{measures}]\n",
            "# A page with all arms is written beside the table.\nreport = true\n\n",
            "# The arms: each has a transport, and the queues that go with it. A port drops above\n"
            "# 100 packets and marks from 20 on (ECN); NDP's ports trim packets instead.\n",
            *(_arm(name) for name in transports),
            "# To compare at several settings, take away the # of the next two lines.\n",
            f"# [vary]\n# {VARIED[workload]}\n\n",
            *_claim(workload, transports),
            "# The base: what all arms share.\n[base]\n",
            _times(workload),
            _fabric(fabric),
            "\n",
            _workload(fabric, workload, "base."),
        ]
    )


def _times(workload: str) -> str:
    # Web search at this load starts five flows a millisecond on the fat-tree; a p99 needs 100.
    duration, drain = (50, 100) if workload == "websearch" else (10, 50)
    return (
        f"# Flows start for {duration} ms; then those under way may finish for {drain} ms.\n"
        f'duration = "{duration}ms"\ndrain = "{drain}ms"\n\n'
    )


def _claim(workload: str, transports: Sequence[str]) -> list[str]:
    """Return a claim, commented out, of a study that compares."""
    if len(transports) < 2:
        return []
    side = "above_arm" if MEASURES[workload][0].startswith("goodput") else "below_arm"
    lines = [
        "What is to hold: if it does not, the command ends with exit code 1.",
        "[[claim]]",
        f'measure = "{MEASURES[workload][0]}"',
        f'arm = "{transports[1]}"',
        f'{side} = "{transports[0]}"',
    ]
    return [*(f"# {line}\n" for line in lines), "\n"]


def _fabric(fabric: str) -> str:
    return FABRICS[fabric][1]


def _queue(transport: str) -> str:
    if transport == "ndp":
        return "# A port that is full trims packets to their headers, as NDP needs it.\n" + (
            'queue = { discipline = "trimming" }\n'
        )
    return (
        "# A port drops above 100 packets and marks from 20 on (ECN, the threshold K).\n"
        "queue = { limit = 100, mark = 20 }\n"
    )


def _transport(transport: str) -> list[str]:
    settings = [TRANSPORTS[transport][1], *([] if transport == "ndp" else [TCP_TIMERS])]
    return [f"transport.t.{one}" for one in ", ".join(settings).split(", ")]


def _arm(transport: str) -> str:
    queue = _queue(transport).splitlines()[1]
    lines = ["[[arm]]", f'name = "{transport}"', *_transport(transport), queue]
    return "\n".join([*lines[:2], *(f"set.{line}" for line in lines[2:]), "", ""])


def _workload(fabric: str, workload: str, base: str = "") -> str:
    receiver = "R" if fabric == "many-to-one" else "h0"
    return WORKLOADS[workload][1].format(base=base, receiver=receiver)
