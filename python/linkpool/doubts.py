"""What makes the numbers of a run doubtful before it is made, as its scenario says."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from linkpool import _core

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def doubts(scenario: str) -> list[str]:
    """Say all of it, a line each.

    Args:
        scenario: a scenario with every default written out.

    """
    return [*short_drains(scenario), *untrimmed(scenario), *dropped(scenario)]


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


def _queues(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    queue = document.get("queue", {})
    return [queue, *queue.get("layer", {}).values()]
