"""What a scenario means, in a page of text: its fabric, delays, queues, timers and flows."""

from __future__ import annotations

import re
import sys
import textwrap
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from linkpool import _core
from linkpool.doubts import doubts
from linkpool.job_plan import job_plan
from linkpool.offered import TierLoad, remarks
from linkpool.pausing import Headroom, buffers, headrooms, risks
from linkpool.topology.fabric import Fabric
from linkpool.units import counted, show_bytes, show_count, show_number, show_rate, show_seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WIDTH = 80
"""Columns of the page."""

PLURALS = {"host": "hosts", "switch": "switches"}
"""Layers whose names are nouns."""

UNMARKED = ("ndp", "roce", "timely", "hpcc", "hpcc-pint", "powertcp", "roce-swift")
"""Transports beside TCP without ECN."""

TIMERS = ("min_rto", "initial_rto", "syn_timeout")
"""Keys of transports that are waited for after losses."""


@dataclass(frozen=True)
class Way:
    """A shortest path of one class of pairs, without queues.

    Attributes:
        ends: a pair of hosts.
        hops: its links.
        paths: how many shortest paths it has.
        rate_bps: of its slowest link.
        rtt_s: from the first bit of a full segment to the last of its ACK, stored and forwarded
            at each hop.
        bdp: `rate_bps` times `rtt_s`, in full segments as they are on the wire.

    """

    ends: tuple[str, str]
    hops: int
    paths: int
    rate_bps: int
    rtt_s: float
    bdp: float


def ways(fabric: Fabric, data_bytes: int, ack_bytes: int) -> list[Way]:
    """Return a path for each class of pairs of hosts, from the nearest to the farthest.

    Args:
        fabric: the fabric.
        data_bytes: a full segment on the wire.
        ack_bytes: an ACK on the wire.

    """
    numbers = {name: number for number, name in enumerate(fabric.names)}
    links: dict[tuple[int, int], tuple[int, float]] = {}
    for source, target, rate, delay in fabric.links:
        links[source, target] = (rate, delay)
    found = []
    for one in fabric.path_classes()[0]:
        path = _path(fabric, *(numbers[name] for name in one.example))
        there = [links[hop] for hop in pairwise(path)]
        back = [links[hop[::-1]] for hop in pairwise(path)]
        rtt = _one_way(there, data_bytes) + _one_way(back, ack_bytes)
        rate = min(rate for rate, _ in there)
        bdp = rate * rtt / (8 * data_bytes)
        found.append(Way(one.example, one.hops, one.paths, rate, rtt, bdp))
    return found


def _one_way(links: Sequence[tuple[int, float]], size: int) -> float:
    return sum(8 * size / rate + delay for rate, delay in links)


def _path(fabric: Fabric, source: int, target: int) -> list[int]:
    """Return the nodes of a shortest path, ends included.

    It is one from the target to the source, turned round.
    """
    before = {source: source}
    queue = deque([source])
    while target not in before:
        node = queue.popleft()
        for other in fabric.steps_to(node, source):
            if other not in before:
                before[other] = node
                queue.append(other)
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return path[::-1]


def page(scenario: _core.Scenario) -> str:
    """Return what a scenario means, for people."""
    document = tomllib.loads(scenario.toml)
    found, slow = sections(scenario)
    warnings = [*slow, *doubts(scenario.toml), *risks(headrooms(scenario))]
    times, measured = found["times"]
    found["times"] = [f"{document['name']}: {times}", f"{measured}; seed {document['seed']}"]
    said = [
        *remarks([TierLoad(*tier) for tier in scenario.offered_loads()]),
        *(f"warning: {line}" for line in warnings),
    ]
    return "\n\n".join(map(wrapped, [*found.values(), *([said] if said else [])]))


def sections(scenario: _core.Scenario) -> tuple[dict[str, list[str]], list[str]]:
    """Return what a scenario means by what it is about, and what will be slow in it."""
    document = tomllib.loads(scenario.toml)
    plan = scenario.plan()
    fabric = Fabric(plan)
    found = {"times": list(_times(document)), "fabric": list(_fabric(fabric))}
    slow = list[str]()
    for (name, payload, beside), of in zip(
        plan["transports"], document["transport"].values(), strict=True
    ):
        ack = _bytes(of.get("ack_size"))
        known = ways(fabric, payload + beside, beside if ack is None else ack)
        found[f"transport {name}"] = [
            *_transport(name, of, payload, beside, document),
            *_ways(known, payload + beside),
            *_marks(document["queue"], of, known, payload + beside),
        ]
        slow += _swift(name, of, known)
        slow += _ndp(name, of, (payload + beside, document["queue"]), fabric)
    found["queue"] = list(_queues(document["queue"], fabric, plan))
    pausing = headrooms(scenario)
    if pausing:
        found["pauses"] = [
            *_pausing(document["queue"], pausing),
            *(f"  {line}" for line in buffers(scenario)),
            *(f"  {line}" for line in _slow(document)),
        ]
    if "nic" in document:
        found["adapters"] = [_adapters(document["nic"])]
    found["flows"] = list(_flows(document, plan))
    jobs = job_plan(scenario.toml)
    if jobs:
        found["jobs"] = ["Jobs", *jobs]
    return found, slow


def wrapped(lines: Sequence[str]) -> str:
    """Return lines of which sentences that are too long are broken; rows of a table stay whole."""
    return "\n".join(
        line if line.startswith("  ") else textwrap.fill(line, WIDTH, subsequent_indent="  ")
        for line in lines
    )


def _times(document: Mapping[str, Any]) -> Iterator[str]:
    measure = document["measure"]
    duration, drain = document["duration"], document["drain"]
    yield f"flows start for {duration}, and may finish for {drain} more"
    yield f"measured are flows that start from {measure['warm_up']} to {measure['cut_off']}"


def _fabric(fabric: Fabric) -> Iterator[str]:
    counts = fabric.nodes_by_layer()
    yield "Fabric: " + ", ".join(
        f"{show_count(count)} {PLURALS.get(layer, layer) if count > 1 else layer}"
        for layer, count in counts.items()
    )
    rows = [
        (
            f"{cables.ends[0]} to {cables.ends[1]}",
            f"{counted(cables.number, 'cable')} of {show_rate(float(cables.rate_bps), given=True)}",
            show_seconds(cables.delay_s, given=True),
        )
        for cables in fabric.cables()
    ]
    yield from _table(("", "", "delay"), rows)


def _transport(
    name: str, of: Mapping[str, Any], payload: int, beside: int, document: Mapping[str, Any]
) -> Iterator[str]:
    count = of.get("subflows", 1)
    subflows = f", {count} subflows" if count != 1 else ""
    what = of.get("control") or of.get("family") or "-"
    yield (
        f"Transport {name}: {what}{subflows}; a full segment carries {payload} B in "
        f"{payload + beside} B on the wire"
    )
    if of.get("control") == "uet":
        yield from _uet(of)
    duration = _core.seconds(document["duration"])
    for key in TIMERS:
        if key in of:
            time = _core.seconds(of[key])
            share = show_number(time / duration) if duration else "-"
            yield f"  {key} {of[key]}: {share} times the duration"


def _uet(of: Mapping[str, Any]) -> Iterator[str]:
    """Say what sets the window of a transport of Ultra Ethernet, and what it measures time by."""
    law, credit = of["sender_law"], "credit of the receiver"
    window = f"a window by {law}" + (f", and {credit}" if of["receiver_credit"] else "")
    sleek = "; losses found by SLEEK" if of["sleek"] else ""
    trims = "may be trimmed" if of["trimmable"] else "are never trimmed"
    yield (
        f"  {credit if law == 'none' else window}; {of['balancer']} over "
        f"{counted(of['entropies'], 'value')}; packets {trims}{sleek}"
    )
    base, rto = (_core.seconds(str(of[key])) for key in ("base_rtt", "rto"))
    yield f"  base RTT {show_seconds(base)}, rto {show_seconds(rto)}"


def _ways(known: Sequence[Way], wire: int) -> Iterator[str]:
    rows = [
        (
            f"{way.ends[0]} and {way.ends[1]}",
            str(way.hops),
            str(way.paths),
            show_rate(float(way.rate_bps), given=True),
            show_seconds(way.rtt_s),
            f"{show_number(way.bdp)} packets",
            show_bytes(way.bdp * wire),
        )
        for way in known
    ]
    headings = ("pairs such as", "hops", "paths", "slowest link", "RTT", "BDP", "")
    yield from _table(headings, rows)


def _marks(
    queue: Mapping[str, Any], of: Mapping[str, Any], known: Sequence[Way], wire: int
) -> Iterator[str]:
    """Compare the marking threshold with the largest bandwidth-delay product."""
    written, most = queue.get("mark"), max((way.bdp for way in known), default=0.0)
    size = _bytes(written)
    mark = size / wire if size is not None else written
    if mark is not None and not _heeds_marks(of):
        yield f"  {of['control']} does not heed marks: its packets are not ECN-capable"
        return
    if not isinstance(mark, (int, float)) or not most:
        return
    shown = counted(written, "packet") if isinstance(written, int) else written
    yield f"  K, {shown}, is {show_number(mark / most)} of the largest BDP"
    beta = of.get("beta")
    if of.get("control") == "dctcp":
        # Alizadeh et al., SIGCOMM 2010, equation 13.
        yield from _enough(mark, most / 7, "DCTCP", "BDP / 7")
    elif isinstance(beta, (int, float)) and beta > 1:
        # AMP, 2017, section 4: (BDP + K) / beta <= K.
        yield from _enough(mark, most / (beta - 1), f"beta = {beta:g}", f"BDP / {beta - 1:g}")


def _heeds_marks(of: Mapping[str, Any]) -> bool:
    """Say whether the packets of a transport are ECN-capable."""
    if of["control"] in UNMARKED:
        return False
    # All of TCP have `recovery`; `accept_ecn` have those that send ECN-capable packets.
    return "recovery" not in of or of.get("accept_ecn") is True


def _swift(name: str, of: Mapping[str, Any], known: Sequence[Way]) -> Iterator[str]:
    """Compare Swift's target of a large window with the least round-trip time (section 3.5)."""
    if of.get("control") not in ("swift", "roce-swift"):
        return
    base, hop = (_core.seconds(str(of[key])) for key in ("swift_base_target", "swift_hop"))
    slow = [way for way in known if base + (way.hops - 1) * hop <= way.rtt_s]
    if slow:
        way = max(slow, key=lambda way: way.rtt_s)
        target = show_seconds(base + (way.hops - 1) * hop)
        yield (
            f"the target of transport {name} over {way.hops} links, {target}, is no more than the "
            f"idle round-trip time, {show_seconds(way.rtt_s)}, which Swift takes for a queue: it "
            "hardly sends; raise swift_base_target"
        )


def _ndp(
    name: str, of: Mapping[str, Any], at_port: tuple[int, Mapping[str, Any]], fabric: Fabric
) -> Iterator[str]:
    """Compare NDP's timeout with the time in which a port serves full queues."""
    wire, queue = at_port
    if of.get("control") != "ndp" or queue.get("discipline") != "trimming":
        return
    limit, trimming = queue["limit"], queue["trimming"]
    data = limit * wire if isinstance(limit, int) else _bytes(limit)
    headers, header = _bytes(trimming["headers"]), _bytes(of["ack_size"])
    if data is None or headers is None or header is None:
        return
    # `share` headers, then a packet of data, and so on until none is left.
    between = headers / header / trimming["share"] * wire
    slowest = min(rate for _, _, rate, _ in fabric.links)
    full = 8 * (data + headers + between) / slowest
    if _core.seconds(str(of["min_rto"])) < full:
        yield (
            f"the min_rto of transport {name}, {of['min_rto']}, is shorter than the "
            f"{show_seconds(full)} in which {show_rate(float(slowest), given=True)} serves the "
            "full queues of a port: packets that wait there are sent again; raise min_rto"
        )


def _enough(mark: float, least: float, what: str, how: str) -> Iterator[str]:
    short = "" if mark >= least else ": one flow alone leaves its link idle at times"
    yield f"  {what} fills a link with K of {how} or more, {show_number(least)} packets{short}"


def _queues(queue: Mapping[str, Any], fabric: Fabric, plan: _core.Plan) -> Iterator[str]:
    parts = [str(queue.get("discipline", "fifo"))]
    if "shared_buffer" in queue:
        parts.append("a buffer for all ports of a switch")
    elif "limit" in queue:
        parts.append(_limit(queue["limit"], fabric, plan))
    parts.append(_marking(queue))
    if "class" in queue:
        parts[0] = f"{len(queue['class'])} classes of data"
    yield "Queue of a port: " + "; ".join(parts)
    yield from map(_class, queue.get("class", []))
    if queue.get("layer"):
        yield f"  with other settings at {', '.join(queue['layer'])}"


def _limit(limit: int | str, fabric: Fabric, plan: _core.Plan) -> str:
    """Say how long a full queue takes over the slowest link."""
    wire = max(payload + beside for _, payload, beside in plan["transports"])
    size = limit * wire if isinstance(limit, int) else _bytes(limit)
    shown = counted(limit, "packet") if isinstance(limit, int) else limit
    if size is None:
        return f"limit {limit}"
    slowest = min(rate for _, _, rate, _ in fabric.links)
    rate, full = show_rate(float(slowest), given=True), show_seconds(8 * size / slowest)
    return f"{shown}, which {rate} sends in {full}"


def _class(of: Mapping[str, Any]) -> str:
    """Say what a class of data has of its own."""
    order = f"weight {of['weight']}" if of.get("weight") else "strict priority"
    parts = [
        order,
        "lossless" if of.get("lossless") else f"limit {of['limit']}" if of.get("limit") else "",
    ]
    parts += [
        _marking(of) if of.get("mark") or of.get("red") else "",
        "trims" if of.get("trim") else "",
    ]
    return f"  priority {', '.join(map(str, of['priorities']))}: {'; '.join(filter(None, parts))}"


def _marking(queue: Mapping[str, Any]) -> str:
    mark, trimming = queue.get("mark"), queue.get("trimming") or {}
    if isinstance(mark, int):
        return f"marks from {mark} packets on"
    if mark is not None:
        return f"marks from {mark} on"
    if trimming.get("mark_min") is not None:
        return f"marks between {trimming['mark_min']} and {trimming['mark_max']}"
    return "RED" if "red" in queue else "no marks"


def _pausing(queue: Mapping[str, Any], kinds: Sequence[Headroom]) -> Iterator[str]:
    pfc, priorities = queue["pfc"], queue.get("discipline") == "priority"
    lossless = [name for name in ("high", "low") if pfc.get(name) and (priorities or name == "low")]
    of = f"{' and '.join(lossless)} priority" if priorities else "all data"
    if "class" in queue:
        numbers = [one["priorities"][0] for one in queue["class"] if one.get("lossless")]
        of = f"data of priority {' and '.join(map(str, sorted(numbers)))}"
    at = pfc.get("xoff") or f"{pfc['alpha']:g} of what is free of the shared buffer"
    yield (f"Priority flow control: {of} is lossless; a link is paused at {at}")
    yield (
        f"  a pause holds back all packets of its priority on a link, whoever sends them, for "
        f"{pfc['quanta']} quanta of 512 bits; its frame is repeated after {pfc['refresh']:g} of "
        "that"
    )
    rows = [
        (
            f"{kind.layer} to {kind.to_layer}",
            f"{counted(kind.links, 'link')} of {show_rate(float(kind.rate_bps), given=True)}",
            show_seconds(kind.delay_s, given=True),
            f"{kind.needed_bytes} B",
            f"{kind.bytes} B",
        )
        for kind in kinds
    ]
    yield from _table(("", "", "delay", "comes until a pause holds", "headroom"), rows)


def _slow(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which hosts pause their neighbours, and why."""
    for slow in document.get("slow_host", []):
        hosts, rate = ", ".join(slow["hosts"]), slow.get("rate")
        takes = f"no more than {rate}" if rate else "nothing"
        storm = "" if rate else ": a storm of pauses, once the buffer is full"
        take = "takes" if len(slow["hosts"]) == 1 else "take"
        yield (
            f"{hosts} {take} {takes} from {slow['from']} until {slow['until']}, with a buffer of "
            f"{slow['buffer']} at each link{storm}"
        )


def _adapters(nic: Mapping[str, Any]) -> str:
    """Say what adapters need for messages and packets, and how much they take."""
    places = nic["send_queue"]
    parts = [
        f"busy for {nic['message_time']} with a message, which has its first packet "
        f"{nic['latency']} later",
        f"busy for {nic['packet_time']} with a packet, and payload at {nic['rate']}",
    ]
    if places != "unlimited":
        parts.append(f"{counted(places, 'message')} of a connection at a time")
    if "receive_buffer" in nic:
        parts.append(
            f"receives at {nic['receive_rate']}, a packet in {nic['receive_packet_time']} or more, "
            f"with a buffer of {nic['receive_buffer']} at each link"
        )
    return "Adapter of a host: " + "; ".join(parts)


def _flows(document: Mapping[str, Any], plan: _core.Plan) -> Iterator[str]:
    yield "Workload"
    rows = []
    for kind, several in document["workload"].items():
        for one in several:
            load = f"load {one['load']:g}" if isinstance(one.get("load"), (int, float)) else ""
            label = one.get("label", kind)
            rows.append((label, kind if kind != label else "", str(one.get("transport", "")), load))
    yield from _table(("label", "kind", "transport", ""), rows)
    known: dict[int, list[int | None]] = defaultdict(list)
    starts: dict[int, list[float]] = defaultdict(list)
    for _, _, size, start, transport in plan["flows"]:
        known[transport].append(size)
        starts[transport].append(start)
    for transport, sizes in known.items():
        sized = [size for size in sizes if size is not None]
        endless = len(sizes) - len(sized)
        parts = []
        if sized:
            flows = counted(len(sized), "flow")
            parts.append(f"{flows} of {show_bytes(sum(sized))} together")
        if endless:
            parts.append(f"{counted(endless, 'flow')} without a size, never done")
        yield f"  known beforehand, by {plan['transports'][transport][0]}: {', '.join(parts)}"
        first, last = min(starts[transport]), max(starts[transport])
        if last > first:
            yield f"    the first starts at {show_seconds(first)}, the last at {show_seconds(last)}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write columns, the first to the left and the others to the right."""
    shown = [headings, *rows] if any(headings) else rows
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield ("  " + "  ".join([first, *(cell for cell in others if cell)])).rstrip()


def _bytes(text: object) -> int | None:
    """Read a size as a resolved scenario writes it, in bytes."""
    found = re.fullmatch(r"(\d+)([KMG]?)(i?)B", text) if isinstance(text, str) else None
    if not found:
        return None
    step = 1024 if found[3] else 1000
    return int(found[1]) * int(step ** " KMG".index(found[2] or " "))
