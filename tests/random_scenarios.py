"""Random scenarios, small ones: topology, queues, transports, workloads, changes, recording.

Each is drawn from its number alone. What the results must be, `invariants.py` finds by itself.
"""

import random

KINDS = ["many-to-one", "dumbbell", "fat-tree", "leaf-spine", "bcube", "multi-plane", "vl2"]
KINDS += ["dragonfly", "gpu-servers"]
LINK = 'rate = "{rate}"\ndelay = "{delay}"\n'


def topology(draw: random.Random) -> tuple[str, list[str], list[str]]:
    """Return a topology, names of hosts, and directed links between other nodes."""
    rate = draw.choice(["1Gbps", "10Gbps", "25Gbps", "100Gbps"])
    link = LINK.format(rate=rate, delay=draw.choice(["0ns", "100ns", "1us", "20us"]))
    slower = draw.choice(["1Gbps", "5Gbps", rate])
    kind = draw.choice(KINDS)
    keys = {
        "many-to-one": f"senders = {draw.randint(3, 6)}\n",
        "dumbbell": f'pairs = 3\nbottleneck_rate = "{slower}"\n',
        "fat-tree": f"k = 4\nnics = {draw.choice([1, 1, 2])}\n",
        "leaf-spine": f'leaves = 3\nspines = 2\nhosts_per_leaf = 3\nuplink_rate = "{slower}"\n',
        "bcube": "n = 3\nk = 1\n",
        "multi-plane": "planes = 2\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n",
        "vl2": "aggregation_ports = 4\nintermediate_ports = 4\nhosts_per_rack = 2\n",
        "dragonfly": "routers_per_group = 2\nhosts_per_router = 2\ngroups = 3\n",
        "gpu-servers": "groups = 2\nservers_per_group = 2\ngpus = 4\n"
        f"nics = {draw.choice([2, 4])}\npxn = {draw.choice(['true', 'false'])}\nspines = 2\n"
        'nvlink_rate = "40Gbps"\nnvlink_delay = "300ns"\n',
    }[kind]
    hosts = {
        "many-to-one": ["S1", "S2", "R"],
        "dumbbell": ["S1", "S2", "D1", "D3"],
        "gpu-servers": ["g0.0", "g0.1", "g1.1", "g3.2"],
    }.get(kind, ["h0", "h1", "h4", "h5"])
    links = {
        "many-to-one": ["W->R", "S1->W"],
        "dumbbell": ["L->R", "R->L"],
        "fat-tree": ["e0.0->a0.0", "a0.0->c0", "e0.0->h0"],
        "leaf-spine": ["l0->s0", "s1->l2", "l0->h0"],
        "bcube": ["h0->s0.0", "s1.0->h0"],
        "multi-plane": ["l0.0->s0.0", "s1.1->l1.1"],
        "vl2": ["t0->a0", "t0->h0", "h0->t0"],
        "dragonfly": ["r0.0->r0.1", "r0.0->h0", "h1->r0.0"],
        "gpu-servers": ["l0.0->s0", "s1->l1.1", "g0.0->n0.0", "n1.0->g1.1"],
    }[kind]
    return f"[topology.{kind}]\n{keys}{link}", hosts, links


# Classes of data. Transports have the priorities 2, 5 and 1; those of no class share a queue.
CLASSES = [
    "class = [{ priorities = [2], weight = 3, limit = 20 }, { priorities = [5], weight = 1 }]",
    'class = [{ priorities = [2, 7], limit = "30KB", mark = "9KB" }, { priorities = [5] }]',
    "class = [{ priorities = [5, 0], red = { min = 3, max = 9 } }, { priorities = [2] }]",
]
TRIMMING = [
    "class = [{ priorities = [2], limit = 8, trim = true, weight = 2 }]",
    "class = [{ priorities = [2, 3], limit = 4, trim = true }, { priorities = [5], weight = 1 }]",
]


ROCE = (
    "roce",
    "dcqcn",
    "dcqcn-hpcc",
    "timely",
    "hpcc",
    "hpcc-pint",
    "powertcp",
    "roce-dctcp",
    "roce-swift",
)
"""Values of `control` that are of the family RoCE."""


def queue(draw: random.Random, pulls: bool) -> str:
    """Return the queue of each port; `pulls`: one that trims."""
    if pulls:
        headers = draw.choice(["", f"\ntrimming = {{ headers = {draw.choice([4, 50])} }}"])
        return f'[queue]\ndiscipline = "trimming"\nlimit = {draw.choice([4, 8])}{headers}\n'
    limit = draw.choice(["5", "20", "100", '"9000B"', '"60KB"'])
    mark = draw.choice(["", "mark = 3\n", 'mark = "4500B"\n'])
    if mark == 'mark = "4500B"\n' and limit == "5":
        mark = "mark = 3\n"
    at = 'mark_at = "dequeue"\n' if mark and draw.random() < 0.3 else ""
    more = draw.choice(["", "", 'discipline = "priority"\n', "count_in_service = true\n"])
    if draw.random() < 0.15:
        return '[queue]\nmark = 5\nshared_buffer = { size = "60KB" }\n'
    return f"[queue]\nlimit = {limit}\n{mark}{at}{more}"


PLAIN = ["reno", "dctcp", "cubic"]
SEVERAL = ["lia", "olia", "balia", "xmp", "amp", "mmptcp"]


def uet(draw: random.Random, name: str) -> str:
    """Return a transport of UET, for queues that trim."""
    more = draw.choice(
        [
            "",
            "receiver_credit = true\n",
            'receiver_credit = true\nsender_law = "none"\n',
            "subflows = 2\n",
            'balancer = "reps"\nmss = "1000B"\n',
            'ack_bytes = "1B"\n',
            'balancer = "mp-rdma"\nsender_law = "mp-rdma"\n',
            'sender_law = "strack"\n',
            'sender_law = "strack-htsim"\n',
        ]
    )
    return f'[transport.{name}]\ncontrol = "uet"\n{more}'


def transport(draw: random.Random, name: str, pulls: bool) -> str:
    """Return a transport."""
    if pulls:
        window = draw.choice([2, 12, 30])
        return f'[transport.{name}]\ncontrol = "ndp"\ninitial_window = {window}\nmin_rto = "5ms"\n'
    if draw.random() < 0.15:
        control = draw.choice(ROCE)
        more = draw.choice(["", "reorder_window = 8\n", 'retransmission = "selective"\n'])
        return (
            f'[transport.{name}]\ncontrol = "{control}"\nmin_rto = "1ms"\nwindow = "30KB"\n{more}'
        )
    several = draw.random() < 0.5
    control = draw.choice(SEVERAL if several else PLAIN)
    lines = [f'control = "{control}"']
    if control == "mmptcp":
        lines.append(f'switch_bytes = "{draw.choice([10, 50])}KB"')
    if several:
        lines.append(f"subflows = {draw.randint(2, 4)}")
        if draw.random() < 0.3:
            lines.append('paths = "distinct"')
    lines.append(f"ack_every = {draw.choice([1, 2])}")
    lines.append(f'min_rto = "{draw.choice(["1ms", "10ms", "200ms"])}"')
    if draw.random() < 0.4:
        lines.append(f'recovery = "{draw.choice(["newreno", "sack", "rack"])}"')
    if draw.random() < 0.2:
        lines.append('preset = "paper-2013"')
    has_buffer = draw.random() < 0.2
    if has_buffer:
        lines.append(f'receive_buffer = "{draw.choice([9000, 50_000])}B"')
    if several and draw.random() < 0.4:
        scheduler = draw.choice(["round-robin", "lowest-rtt", "ecf", "redundant", "blest"])
        if scheduler == "blest" and not has_buffer:
            lines.append('receive_buffer = "60KB"')
        lines.append(f'scheduler = "{scheduler}"')
    if draw.random() < 0.2:
        lines.append(f'mss = "{draw.choice([500, 1000, 8948])}B"')
    return "\n".join([f"[transport.{name}]", *lines, ""])


def workload(draw: random.Random, name: str, hosts: list[str], label: str) -> str:
    """Return a workload of some flows of a transport."""
    size = draw.choice(["1B", "1000B", "3KB", "20KB", "100KB", "100KB"])
    start = f'start = "{draw.choice([0, 0, 150])}us"\n'
    kind = draw.choice(["flow", "incast", "permutation", "stride", "hotspot", "partition"])
    if kind == "partition":
        body = 'servers = 2\nchains = 2\nrequest = "500B"\nanswer = "2KB"\n'
        kind, size = "partition-aggregate", ""
    elif kind == "flow":
        source, target = draw.sample(hosts, 2)
        body = f'from = "{source}"\nto = "{target}"\ncount = {draw.randint(1, 4)}\n'
    elif kind == "incast":
        body = f'senders = {draw.randint(2, 3)}\nreceiver = "{hosts[-1]}"\nbursts = 1\n'
    else:
        body = f'jitter = "{draw.choice([0, 100])}us"\n'
        body += {"stride": "step = 1\n", "hotspot": f'flows = 6\nhosts = ["{hosts[-1]}"]\n'}.get(
            kind, ""
        )
        if kind == "hotspot":
            body += "share = 0.5\n"
    of = f'size = "{size}"\n' if size else ""
    return f'[[workload.{kind}]]\nlabel = "{label}"\ntransport = "{name}"\n{of}{start}{body}'


def job(draw: random.Random, name: str, hosts: list[str]) -> str:
    """Return a model in training, whose ranks are recorded."""
    ranks = draw.sample(hosts, draw.randint(2, len(hosts)))
    listed = ", ".join(f'"{host}"' for host in ranks)
    keys = [
        f'[[workload.training]]\nlabel = "job"\ntransport = "{name}"\nhosts = [{listed}]',
        f"dp = {len(ranks)}\npersistent = false\niterations = {draw.randint(1, 4)}",
        f'forward = "{draw.choice([0, 7, 90])}us"\ngradients = "{draw.choice([2, 30])}KB"',
    ]
    if draw.random() < 0.5:
        keys.append("stragglers = { probability = 0.4, slowdown = 1.7 }")
    if draw.random() < 0.5:
        every = draw.randint(1, 2)
        when = draw.choice(['at = ["90us", "300us"]', 'mtbf = "200us"'])
        more = f'checkpoint_every = {every}, checkpoint_time = "{draw.choice([0, 20])}us"'
        keys.append(f'failures = {{ {when}, recovery = "50us", {more} }}')
    return "\n".join([*keys, "[record]\nranks = true\n"])


def change(draw: random.Random, links: list[str], has_limit: bool) -> str:
    """Return a change of a cable; none makes a link faster. Has each port a limit of its own?"""
    cable = draw.choice(links).replace("->", "<->")
    what = draw.choice(
        [
            'state = "down"\nat = "100us"\nuntil = "2ms"\n',
            'rate_factor = 0.5\nat = "50us"\n',
            'limit = 3\nat = "50us"\nuntil = "1ms"\n' if has_limit else "loss = 0.1\n",
            "loss = 0.02\n",
            "bit_errors = 1e-6\n",
        ]
    )
    routing = '[routing]\nreconverge = "1ms"\n' if "state" in what else ""
    return f'{routing}[[change]]\nlinks = ["{cable}"]\n{what}'


def scenario(number: str) -> str:
    """Return the scenario of a number."""
    draw = random.Random(number)
    fabric, hosts, links = topology(draw)
    pulls = draw.random() < 0.25
    names = ["t", "u"][: 1 if pulls else draw.randint(1, 2)]
    ports = queue(draw, pulls)
    # Of numbers of their own, so that scenarios without classes stay what they are.
    by_class = random.Random(f"classes of {number}")
    classes = by_class.random() < 0.2
    if classes:
        ports = f"[queue]\nlimit = 40\n{by_class.choice(TRIMMING if pulls else CLASSES)}\n"
    parts = [
        f'seed = {draw.randrange(1 << 30)}\nduration = "1ms"\n',
        f'drain = "{draw.choice([30, 30, 0])}s"\n',
        fabric,
        ports,
    ]
    changed = draw.random() < 0.35
    spreads = not changed and draw.random() < 0.2
    transports = [transport(draw, name, pulls) for name in names]
    if classes:
        priorities = [2, 5] if pulls else by_class.choice([[2, 5], [5, 1]])
        transports = [
            f"{text}priority = {priority}\n"
            for text, priority in zip(transports, priorities, strict=False)
        ]
    # Of numbers of their own, too.
    by_uet = random.Random(f"uet of {number}")
    if pulls and not classes and by_uet.random() < 0.5:
        transports = [uet(by_uet, name) for name in names]
        captures = by_uet.random() < 0.5
    else:
        captures = False
    parts += transports
    parts += [
        workload(draw, draw.choice(names), hosts, label)
        for label in ("a", "b")[: draw.randint(1, 2)]
    ]
    by_job = random.Random(f"jobs of {number}")
    if by_job.random() < 0.3:
        parts.append(job(by_job, by_job.choice(names), hosts))
    parts += ['[routing]\nkind = "spray"\n'] if spreads else []
    has_limit = "shared_buffer" not in ports and not classes
    parts += [change(draw, links, has_limit)] if changed else []
    watched = ", ".join(f'"{link}"' for link in links)
    if draw.random() < 0.4:
        parts.append('[record.counters]\nevery = "50us"\nuntil = "2ms"\n')
    if draw.random() < 0.3:
        parts.append(f'[record.queue]\nlinks = [{watched}]\nevery = "20us"\nuntil = "2ms"\n')
    if (not pulls and draw.random() < 0.3) or captures:
        parts.append(f"[record.capture]\nlinks = [{watched}]\n")
    return "\n".join(parts)
