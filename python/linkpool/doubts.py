"""What makes the numbers of a run doubtful before it is made, as its scenario says."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from linkpool import _core
from linkpool.units import read_quantity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


BY_SWITCHES = ("adaptive", "conga", "drill", "flowlets", "spray")
"""Kinds of routing by which switches choose links, and hash no packet."""
BY_HOSTS = ("plb", "reps", "scatter")
"""Ways of TCP to choose paths by values of packets."""
BY_MARKS = ("dctcp", "fastflow", "mp-rdma", "nscc", "strack")
"""Laws of UET that go by marks."""


def doubts(scenario: str) -> list[str]:
    """Say all of it, a line each.

    Args:
        scenario: a scenario with every default written out.

    """
    document = tomllib.loads(scenario)
    return [
        *short_drains(scenario),
        *untrimmed(scenario),
        *dropped(scenario),
        *unheeded_values(document),
        *unmarked(document),
        *marked_beside_credit(document),
        *short_timeouts(document),
        *narrow_queues(document),
    ]


def short_drains(scenario: str) -> Iterator[str]:
    """Say which transports wait longer for a timeout than flows have to finish in.

    Args:
        scenario: a scenario with every default written out.

    """
    document = tomllib.loads(scenario)
    drain = str(document.get("drain", "0s"))
    workloads = (one for kind in document.get("workload", {}).values() for one in kind)
    if all(one.get("size") == "unlimited" for one in workloads):
        return
    for name, transport in document.get("transport", {}).items():
        least = transport.get("min_rto")
        if least is not None and _core.seconds(drain) < _core.seconds(str(least)):
            yield (
                f"a drain of {drain} is shorter than the min_rto of transport {name}, {least}; a "
                "flow that loses its last segment cannot finish in it"
            )


def untrimmed(scenario: str) -> Iterator[str]:
    """Say of which transports ports that trim drop the packets, as they may not be trimmed.

    Args:
        scenario: a scenario with every default written out.

    """
    document = tomllib.loads(scenario)
    if not any(one.get("discipline") == "trimming" for one in _queues(document)):
        return
    for name, transport in document.get("transport", {}).items():
        for key in ("trimming", "trimmable"):
            if transport.get(key) is False:
                yield (
                    f"ports trim, but drop the packets of transport {name}, as its `{key}` is "
                    f"false; with {key} = true they are trimmed"
                )


def dropped(scenario: str) -> Iterator[str]:
    """Say which transports are NDP where no port trims.

    Args:
        scenario: a scenario with every default written out.

    """
    document = tomllib.loads(scenario)
    if any(
        one.get("discipline") == "trimming" or any(of.get("trim") for of in one.get("class", []))
        for one in _queues(document)
    ):
        return
    for name, transport in document.get("transport", {}).items():
        if transport.get("control") == "ndp":
            yield (
                f"transport {name} is NDP and no port trims, so a full queue drops its packets, "
                f"and each waits for min_rto, {transport['min_rto']}; write discipline = "
                '"trimming" in [queue]'
            )


def unheeded_values(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports choose values of packets where switches do not hash them.

    Args:
        document: a scenario with every default written out.

    """
    routing = document.get("routing", {}).get("kind", "ecmp")
    if routing not in BY_SWITCHES:
        return
    for name, transport in _transports(document):
        values = transport.get("balancer") if transport.get("control") == "uet" else None
        paths = transport.get("paths")
        key, chosen = ("balancer", values) if values else ("paths", paths)
        if values or paths in BY_HOSTS:
            yield (
                f'transport {name} has {key} = "{chosen}", but switches with routing.kind = '
                f'"{routing}" choose links themselves and hash no value of a packet; with kind = '
                '"ecmp" they would'
            )


def unmarked(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports of UET heed marks where no queue marks.

    Args:
        document: a scenario with every default written out.

    """
    if any(map(_marks, _queues(document))):
        return
    for name, transport in _transports(document):
        law = transport.get("sender_law")
        if transport.get("control") == "uet" and law in BY_MARKS:
            yield (
                f"no queue marks, and {law} of transport {name} goes by marks; write mark, or of "
                "queues that trim mark_min and mark_max"
            )


def marked_beside_credit(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports have credit of receivers where links to hosts mark.

    Args:
        document: a scenario with every default written out.

    """
    if not any(_marks(one) and one.get("mark_to_hosts", True) for one in _queues(document)):
        return
    for name, transport in _transports(document):
        if transport.get("receiver_credit"):
            yield (
                f"receivers grant the credit of transport {name}, and links to hosts mark, each "
                "mark with an ACK of its own; uet-htsim has no marks there: mark_to_hosts = false "
                "in [queue]"
            )


def short_timeouts(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports of UET have a timeout below the idle round-trip time.

    Args:
        document: a scenario with every default written out.

    """
    for name, transport in _transports(document):
        rto, base = transport.get("rto"), transport.get("base_rtt")
        if (
            transport.get("control") == "uet"
            and None not in (rto, base)
            and _core.seconds(str(rto)) <= _core.seconds(str(base))
        ):
            yield (
                f"the rto of transport {name}, {rto}, is no more than its base_rtt, {base}: "
                "each packet is sent again; raise rto"
            )


def narrow_queues(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports have packets that no queue that trims has room for.

    Args:
        document: a scenario with every default written out.

    """
    trimming = (one for one in _queues(document) if one.get("discipline") == "trimming")
    limits = [size for one in trimming if (size := _bytes(one.get("limit"))) is not None]
    for name, transport in _transports(document):
        sizes = [_bytes(transport.get(key)) or 0 for key in ("mss", "header")]
        if limits and sum(sizes) > min(limits):
            yield (
                f"a packet of transport {name} has {sum(sizes):,} B, and a queue that trims holds "
                f"{min(limits):,} B: each packet that waits is trimmed; raise limit"
            )


def _bytes(text: object) -> int | None:
    """Read a size; None of what is none, such as a number of packets."""
    value = read_quantity(text) if isinstance(text, str) else None
    return int(value[0]) if value is not None and value[1] == "B" else None


def _transports(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from document.get("transport", {}).items()


def _marks(queue: Mapping[str, Any]) -> bool:
    own = any(queue.get(key) is not None for key in ("mark", "red"))
    trims = queue.get("trimming", {}).get("mark_min") is not None
    return own or trims or any(map(_marks, queue.get("class", [])))


def _queues(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    queue = document.get("queue", {})
    return [queue, *queue.get("layer", {}).values()]
