"""First scenarios and studies, with comments on each line: small ones, or of a user's own files."""

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["scenario", "study"]

FABRICS = {
    "leaf-spine": (
        "32 hosts, 4 leaves, 4 spines",
        """# 8 hosts at each of {size} leaves; up from a leaf fits half of what its hosts can send.
topology.leaf-spine = {{ leaves = {size}, spines = 4, hosts_per_leaf = 8, rate = "10Gbps", \
delay = "1us" }}
""",
        (4, 16, 128),
    ),
    "fat-tree": (
        "16 hosts, k = 4, every path as wide as a host's link",
        """# Its hosts are k^3 / 4: 16 with k = 4, 128 with k = 8, 1,024 with k = 16.
topology.fat-tree = {{ k = {size}, rate = "10Gbps", delay = "1us" }}
""",
        (4, 8, 16),
    ),
    "many-to-one": (
        "16 senders and one receiver at a switch",
        """# One switch: all that happens is in the queue towards the receiver, R.
topology.many-to-one = {{ senders = {size}, rate = "10Gbps", delay = "2us" }}
""",
        (16, 127, 1023),
    ),
}
"""Each fabric: what it is, how a scenario says it, and its sizes: the first, and for a trace with
more hosts those of 128 and 1,024."""

WORKLOADS = {
    "incast": (
        "12 hosts send 64 KB to one at once, every 2 ms",
        """# Every 2 ms, 12 hosts send 64 KB each to one.
[[{base}workload.incast]]
transport = "t"
senders = 12
receiver = {receiver}
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

GRAPHS = (".json", ".graphml", ".topo")
"""Endings of files that may be a fabric."""

TRACES = {
    ".csv": ("trace", "csv"),
    ".jsonl": ("trace", "json-lines"),
    ".ndjson": ("trace", "json-lines"),
    ".parquet": ("trace", "parquet"),
    ".cm": ("trace", "htsim"),
    ".goal": ("program", "goal"),
    ".bin": ("program", "goal-binary"),
    ".et": ("program", "chakra"),
}
"""Endings of files that may be a workload: what kind of workload they are, and the format."""

TRANSPORTS = {
    "dctcp": ("DCTCP: cuts in proportion to marks", 'control = "dctcp"'),
    "reno": ("TCP NewReno: cuts by half on loss", 'control = "reno"'),
    "swift": ("Swift: keeps the delay at a target", 'control = "swift"'),
    "lia": ("MPTCP with linked increases, 4 subflows", 'control = "lia", subflows = 4'),
    "xmp": ("XMP: MPTCP that cuts on marks, 4 subflows", 'control = "xmp", subflows = 4'),
    "amp": ("AMP: XMP for many flows at once, 4 subflows", 'control = "amp", subflows = 4'),
    "ndp": ("NDP: packets over all paths, pulled by receivers", 'control = "ndp"'),
    "nscc": (
        "Ultra Ethernet: packets over all paths, a window by delay and marks (NSCC)",
        'control = "uet", balancer = "reps"',
    ),
    "dcqcn": ("RoCE: a rate by marks (DCQCN), over links that pause", 'control = "dcqcn"'),
}
"""Each transport: what it is, and how a scenario says it."""

QUEUES = {
    "ndp": (
        "A port that is full trims packets to their headers, as NDP needs it.",
        'queue = { discipline = "trimming" }',
    ),
    "nscc": (
        "A port trims above a bandwidth-delay product, 26 KB at 10 Gbit/s and 21 us, and marks\n"
        "# from a fifth of it on, all from four fifths on.",
        'queue.discipline = "trimming"\nqueue.limit = "26KB"\n'
        'queue.trimming = { mark_min = "5200B", mark_max = "20800B" }',
    ),
    "dcqcn": (
        "Switches pause the port before them (PFC) and lose nothing; marks begin at 20 KB.",
        'queue.pfc.buffer = "9MB"\nqueue.red = { min = "20KB", max = "200KB", '
        "max_probability = 0.2, weight = 1, gentle = false }",
    ),
}
"""Of transports that need other queues than TCP: why, and how a scenario says it."""

TCP_TIMERS = 'min_rto = "1ms", syn_timeout = "2ms", initial_rto = "2ms"'
"""Timers of data centres: those of Linux, 200 ms and 1 s, are longer than the whole run."""

MEASURES = {
    "incast": ["fct.mean", "fct.p95@all", "timeouts.total"],
    "websearch": ["slowdown.p99@all", "slowdown.p50", "goodput.mean"],
    "permutation": ["goodput.mean", "jain"],
    "all-reduce": ["jct.mean", "timeouts.total"],
    "trace": ["slowdown.p99@all", "fct.mean", "goodput.mean", "timeouts.total"],
    "program": ["jct.mean", "timeouts.total"],
}
"""What a study measures: of percentiles those for which there are enough flows."""

VARIED = {
    "incast": "workload.incast.0.senders = [4, 8, 12]",
    "websearch": "workload.poisson.0.load = [0.2, 0.4, 0.6]",
    "permutation": 'duration = ["10ms", "20ms"]',
    "all-reduce": 'workload.collective.0.size = ["1MB", "4MB"]',
    "program": 'workload.program.0.placement = ["linear", "random"]',
}
"""A setting that a study may vary, as its file says it."""


def kind_of(workload: str) -> str:
    """Return what kind of workload a file is, by its ending, or the name that is one."""
    return workload if workload in WORKLOADS else TRACES[_ending(workload)][0]


def until(last_s: float) -> str:
    """Return a duration that ends soon after the last flow has started: two digits of it.

    Flows that all start at once still have a millisecond, as rates are means over it.

    >>> until(0.49948), until(0.5), until(0.0), until(1.0), until(12.34)
    ('500ms', '510ms', '1100us', '1100ms', '13s')
    """
    last_us = max(Decimal(repr(last_s)).scaleb(6), Decimal(1000))
    step = Decimal(10) ** (last_us.adjusted() - 1)
    ends = int((last_us // step + 1) * step)
    for unit, size in (("s", 1_000_000), ("ms", 1_000)):
        if ends % size == 0:
            return f"{ends // size}{unit}"
    return f"{ends}us"


def starter(
    kind: Kind,
    fabric: str,
    workload: str,
    transports: Sequence[str],
    duration: str = "1s",
    larger: int = 0,
) -> str:
    """Return the text of a scenario of the first transport, or of a study of all of them.

    Args:
        kind: which of the two.
        fabric: one of `FABRICS`, or a file that ends as one of `GRAPHS` does.
        workload: one of `WORKLOADS`, or a file that ends as one of `TRACES` does.
        transports: of `TRANSPORTS`.
        duration: in which the flows of a file start.
        larger: which of the sizes of a fabric of `FABRICS`.

    """
    if kind == "scenario":
        only = transports[0]
        return "".join(
            [
                f"# A first scenario: {only}, {workload}, {fabric}.\n",
                "# What it means: linkpool check FILE. Every key: docs/scenario.md.\n\n",
                _times(workload, duration),
                _fabric(fabric, larger),
                _queue(only),
                f"\n# {TRANSPORTS[only][0]}.\n",
                "\n".join([*_transport(only), "", ""]),
                _workload(fabric, workload),
            ]
        )
    where = f"a {fabric}" if fabric in FABRICS else fabric
    measures = ", ".join(f'"{name}"' for name in MEASURES[kind_of(workload)])
    return "".join(
        [
            f"# A first study: {', '.join(transports)}; {workload}, {fabric}.\n",
            "# Run it: linkpool study run FILE. Every key: docs/study.md.\n\n",
            f'title = "Which transport suits {workload} on {where}?"\n',
            "# Each arm runs with seeds 1 to 5; intervals in the table are over these.\n",
            "seeds = 5\n",
            "# What is measured in each run; the table has them in this order.\n",
            f"measures = [{measures}]\n",
            *_figure(workload),
            "# A page with all arms is written beside the table.\nreport = true\n\n",
            "# The arms: each has a transport, and the queues that go with it. A port drops above\n"
            "# 100 packets and marks from 20 on (ECN). For NDP and NSCC it trims packets instead,\n"
            "# for DCQCN it pauses the port before it.\n",
            *(_arm(name) for name in transports),
            *_varied(workload),
            *_claim(workload, transports),
            "# The base: what all arms share.\n[base]\n",
            _times(workload, duration),
            _fabric(fabric, larger),
            "\n",
            _workload(fabric, workload, "base."),
        ]
    )


def _figure(workload: str) -> list[str]:
    if kind_of(workload) != "program":
        return []
    return ["# A figure of all measures is written beside the table.\n", 'figures = ["arms"]\n']


def _ending(file: str) -> str:
    return "." + file.rpartition(".")[2]


def _varied(workload: str) -> list[str]:
    """Return a setting to vary, commented out, if the workload has one."""
    varied = VARIED.get(kind_of(workload))
    if varied is None:
        return []
    about = "To compare at several settings, take away the # of the next two lines."
    return [f"# {about}\n# [vary]\n# {varied}\n\n"]


def _times(workload: str, given: str) -> str:
    if workload not in WORKLOADS:
        about = {
            "trace": "Flows start in this time, those that wait for others too; then those under "
            "way\n# may finish for 10 s. Time in which nothing happens costs nothing.",
            "program": "Ranks may go on for both times together: write more if they need longer. "
            "Means such\n# as utilisation are over the first: write about the time of the job.",
        }[kind_of(workload)]
        return f'# {about}\nduration = "{given}"\ndrain = "10s"\n\n'
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
    measure = MEASURES[kind_of(workload)][0]
    side = "above_arm" if measure.startswith("goodput") else "below_arm"
    family = measure.partition(".")[0]
    bound = {"goodput": '"1Gbps"', "slowdown": "6"}.get(family, '"5ms"')
    lines = [
        "What is to hold: if it does not, the command ends with exit code 1.",
        "[[claim]]",
        f'measure = "{measure}"',
        f'arm = "{transports[1]}"',
        f'{side} = "{transports[0]}"  # or a bound, as {side.removesuffix("_arm")} = {bound}',
    ]
    return [*(f"# {line}\n" for line in lines), "\n"]


def _fabric(fabric: str, larger: int) -> str:
    if fabric in FABRICS:
        _, text, sizes = FABRICS[fabric]
        return text.format(size=sizes[larger])
    return (
        "# Hosts, switches and links of a file; linkpool topology FILE draws them.\n"
        f"topology.graph.file = {json.dumps(fabric, ensure_ascii=False)}\n"
    )


def _queue(transport: str) -> str:
    about, queue = QUEUES.get(
        transport,
        (
            "A port drops above 100 packets and marks from 20 on (ECN, the threshold K).",
            "queue = { limit = 100, mark = 20 }",
        ),
    )
    return f"# {about}\n{queue}\n"


def _transport(transport: str) -> list[str]:
    settings = [TRANSPORTS[transport][1], *([] if transport in QUEUES else [TCP_TIMERS])]
    return [f"transport.t.{one}" for one in ", ".join(settings).split(", ")]


def _arm(transport: str) -> str:
    queue = [line for line in _queue(transport).splitlines() if not line.startswith("#")]
    lines = ["[[arm]]", f'name = "{transport}"', *_transport(transport), *queue]
    return "\n".join([*lines[:2], *(f"set.{line}" for line in lines[2:]), "", ""])


def _workload(fabric: str, workload: str, base: str = "") -> str:
    if workload not in WORKLOADS:
        return _of_file(workload, base)
    receiver = '"R"' if fabric == "many-to-one" else '"h0"' if fabric in FABRICS else "0"
    return WORKLOADS[workload][1].format(base=base, receiver=receiver)


def _of_file(file: str, base: str) -> str:
    kind, form = TRACES[_ending(file)]
    about = {
        "trace": "The flows of a file, which start when it says.",
        "program": "The programs of the ranks in a trace. Rank r is on the host with the index r.",
    }[kind]
    # Of Chakra, the files NAME.0.et, NAME.1.et ... are called NAME.
    name = re.sub(r"\.\d+\.et$", "", file)
    text = (
        f"# {about}\n"
        f'[[{base}workload.{kind}]]\ntransport = "t"\n'
        f'file = {json.dumps(name, ensure_ascii=False)}\nformat = "{form}"\n'
    )
    if kind != "program":
        return text
    return text + (
        "# How often each rank does its program; an iteration is one time.\niterations = 1\n\n"
        "# What ranks do over time, which the report draws.\n"
        f"[{base}record]\nranks = true\n"
    )
