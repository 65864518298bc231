"""Who uses the cores: one simulation on several threads, or many simulations side by side."""

import os

from linkpool.units import counted

HOPS_PER_S = 1e7
"""Packet-hops of a second on one core, about: large runs of the book had 9 to 15 million."""


def cpus() -> int:
    """Return the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(runs: int, cores: int) -> int:
    """Return how many cores each of so many runs may use: spare ones, if they are few."""
    return max(1, cores // max(1, runs))


def describe(runs: int, cores: int) -> str:
    """Say how so many runs use so many cores."""
    if runs == 0:
        return "all made before"
    each = share(runs, cores)
    if each > 1:
        return f"each on up to {each} threads"
    return f"{min(runs, cores)} at a time"


def explain(hosts: int, worth: int, cores: int, asked: int | None) -> str:
    """Say on how many threads one simulation runs, and why."""
    count = asked or worth
    if asked:
        why = "as asked"
    elif count == cores:
        why = f"{hosts:,} hosts, all cores"
    else:
        why = f"{hosts:,} hosts, one per 64 that send or receive"
    return f"on {counted(count, 'thread')} ({why})"
