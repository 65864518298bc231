"""The parts of a scenario that a seed varies, which a study names before it runs."""

from collections.abc import Mapping, Sequence
from typing import Any

DRAWN = {
    "permutation": "who sends to whom",
    "poisson": "arrivals and hosts",
    "random": "who sends to whom",
    "hotspot": "who sends to whom",
    "staggered": "who sends to whom",
    "partition-aggregate": "clients and servers",
}
"""The random parts of a workload of each kind, whatever its settings."""


def varied(scenario: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the parts of a scenario's runs that other seeds change, and the parts that stay.

    >>> base = {"workload": {"trace": [{"file": "flows.csv"}]}}
    >>> changed, same = varied(base)
    >>> changed
    ['hashes by which paths are chosen', 'the order of packets that meet at one instant']
    >>> same
    ['the fabric', 'hosts, sizes and starts of trace']

    """
    changed = ["hashes by which paths are chosen", "the order of packets that meet at one instant"]
    same = ["the fabric"]
    routing = scenario.get("routing")
    if isinstance(routing, Mapping) and routing.get("kind", "ecmp") not in ("ecmp", "two-level"):
        changed[0] = "random choices of paths"
    if scenario.get("roles"):
        changed.append("which hosts have which role")
    workloads = scenario.get("workload")
    for kind, tables in (workloads if isinstance(workloads, Mapping) else {}).items():
        drawn = [DRAWN[kind]] if kind in DRAWN else []
        drawn += _drawn(tables if isinstance(tables, Sequence) else [])
        if kind == "inference":
            drawn += _drawn_requests(tables if isinstance(tables, Sequence) else [])
        if drawn:
            changed.append(f"{' and '.join(drawn)} of {kind}")
        else:
            same.append(f"hosts, sizes and starts of {kind}")
    if scenario.get("change"):
        losses = any(kind in str(scenario["change"]) for kind in ("loss", "bit_errors"))
        changed += ["which packets are lost on the wire"] if losses else []
        tables = scenario["change"] if isinstance(scenario["change"], Sequence) else []
        chosen = any("count" in table or table.get("share", 1) not in (0, 1) for table in tables)
        (changed if chosen else same).append("which links change")
        same.append("when links change")
    return changed, same


def _drawn_requests(tables: Sequence[Any]) -> list[str]:
    found = ["arrivals"] if any("requests_per_second" in table for table in tables) else []
    lengths = ("prompt_tokens", "output_tokens")
    if any(isinstance(table.get(key), Mapping) for table in tables for key in lengths):
        found.append("lengths")
    if any("experts" in table for table in tables):
        found.append("choices of experts")
    return found


def _drawn(tables: Sequence[Any]) -> list[str]:
    found = []
    if any(isinstance(table.get("size"), Mapping) for table in tables):
        found.append("sizes")
    if any("jitter" in table for table in tables):
        found.append("starts")
    if any(table.get("placement") == "random" for table in tables):
        found.append("hosts of ranks")
    slow = [table.get("stragglers") for table in tables]
    if any(isinstance(one, Mapping) and ("number" in one or "probability" in one) for one in slow):
        found.append("stragglers")
    fails = [table.get("failures") for table in tables]
    if any(isinstance(one, Mapping) and "mtbf" in one for one in fails):
        found.append("failures")
    return found
