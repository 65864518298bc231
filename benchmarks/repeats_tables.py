"""The tables of docs/reports/2026-11-30-what-repeats.md, from what repeats.py has counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Numbers = Mapping[str, Any]
"""What `measure` of repeats.py returns for a job and a transport."""


def percent(value: float) -> str:
    """Return a share as percent, with a digit below ten."""
    return f"{100 * value:.0f}%" if value >= 0.0995 else f"{100 * value:.2g}%"


def pair(row: Mapping[str, Any], error: str = "error") -> str:
    """Return the gain of a rule and its error."""
    gain = row["speedup"]
    return f"{gain:.3g}, {percent(row[error])}"


def table(
    head: str, rows: Iterable[tuple[str, Iterable[str]]], columns: Iterable[str]
) -> list[str]:
    """Return the lines of a table."""
    names = list(columns)
    lines = [f"| {head} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]


def by_job(
    numbers: Sequence[Numbers],
    jobs: list[str],
    transports: list[str],
    cell: Callable[[Numbers], str],
) -> list[str]:
    """Return a table of a number by job and transport."""
    found = {(n["job"], n["transport"]): cell(n) for n in numbers}
    rows = [(job, [found.get((job, t), "") for t in transports]) for job in jobs]
    return table("job", [row for row in rows if any(row[1])], transports)


def by_rule(numbers: Sequence[Numbers], job: str, transports: list[str], error: str) -> list[str]:
    """Return a table of gains and errors of a job, by rule and transport."""
    found = {
        n["transport"]: {row["rule"]: row for row in n["rules"]}
        for n in numbers
        if n["job"] == job and "rules" in n
    }
    shown = [t for t in transports if t in found]
    names = list(dict.fromkeys(rule for t in shown for rule in found[t]))
    rows = [(name, [pair(found[t][name], error) for t in shown]) for name in names]
    return table("rule", rows, shown)


def by_window(numbers: Sequence[Numbers], job: str, transports: list[str]) -> list[str]:
    """Return what steady rates would skip in a job, the mean error of a flow, and of the end."""
    found = {
        n["transport"]: {(r["rule"], r["window"], r["bound"]): r for r in n["rates"]}
        for n in numbers
        if n["job"] == job and "rates" in n
    }
    shown = [t for t in transports if t in found]
    keys = sorted({key for t in shown for key in found[t]})
    rows = []
    for key in keys:
        rule, window, bound = key
        cells = []
        for t in shown:
            row = found[t][key]
            flow, last = percent(row["mean error of a flow"]), percent(row["error of the last"])
            cells.append(f"{percent(row['share'])}: {flow}, {last}")
        rows.append((f"{rule}, {window}, {bound:.0%}", cells))
    return table("steady: who, intervals, bound", rows, shown)


def extrapolated(ends: list[int], first: int) -> float:
    """Return the relative error of the end of a job if only its first iterations are simulated.

    Those that follow take the mean time of the simulated ones but the first, which opens
    connections.
    """
    period = (ends[first - 1] - ends[0]) / (first - 1)
    return (ends[first - 1] + (len(ends) - first) * period) / ends[-1] - 1


def by_iterations(numbers: Sequence[Numbers], job: str, transports: list[str]) -> list[str]:
    """Return the errors of extrapolation, and the spread of the times of iterations."""
    found = {n["transport"]: n["ends"] for n in numbers if n["job"] == job and "ends" in n}
    shown = [t for t in transports if t in found and len(found[t]["job 0"]) > 2]
    rows = []
    for first in range(2, max((len(found[t]["job 0"]) for t in shown), default=0)):
        worst = {t: max(abs(extrapolated(e, first)) for e in found[t].values()) for t in shown}
        rows.append((f"{first} simulated", [percent(worst[t]) for t in shown]))
    spread = []
    for t in shown:
        periods = [b - a for ends in found[t].values() for a, b in pairwise(ends)]
        spread.append(f"{min(periods) / 1e9:.4g} to {max(periods) / 1e9:.4g}")
    return table("iterations", [*rows, ("one takes, ms", spread)], shown) if shown else []


BOUND = 0.01
"""The error of the job completion time that is wanted."""


def best_group(n: Numbers) -> str:
    """Return the most that a memo of groups gains within the bound, and its error."""
    rows = [r for r in n.get("rules", []) if r["rule"].startswith("group")]
    held = [r for r in rows if r["error"] <= BOUND]
    return pair(max(held, key=lambda r: float(r["speedup"]))) if held else ""


def best_steady(n: Numbers) -> str:
    """Return the most that extrapolation of whole groups gains within the bound, and its errors."""
    rows = [r for r in n.get("rates", []) if r["rule"] == "whole group"]
    errors = ("mean error of a flow", "error of the last")
    held = [r for r in rows if all(r[e] <= BOUND for e in errors)]
    if not held:
        return ""
    row = max(held, key=lambda r: float(r["speedup"]))
    return f"{row['speedup']:.3g}, {percent(max(row[e] for e in errors))}"


def lines(numbers: Sequence[Numbers], jobs: list[str], transports: list[str]) -> list[str]:
    """Return all tables."""
    out: list[str] = []
    counted = [n for n in numbers if "exact" in n]

    def add(title: str, rows: list[str]) -> None:
        if len(rows) > 2:
            out.extend(["", f"**{title}**", "", *rows])

    def each_job(title: str, cell: Callable[[Numbers], str]) -> None:
        add(title, by_job(counted, jobs, transports, cell))

    def exact(n: Numbers, *keys: str) -> str:
        return ", ".join(percent(n["exact"][key]) for key in keys)

    cost = by_job(numbers, jobs, transports, lambda n: f"{n['hops'] / 1e6:.3g}, {n['cpu_s']:.2g}")
    add("Million packet-hops, seconds", cost)
    each_job("Groups: the most within the bound, error", best_group)
    each_job("Steady groups: the most within the bound, error", best_steady)
    each_job("Distinct durations", lambda n: f"{n['exact']['distinct durations']:,}")
    each_job(
        "Duration before; alone by data, with ACKs",
        lambda n: exact(n, "duration before", "alone, data", "alone, acks"),
    )
    for kind in ("data", "acks"):
        each_job(
            f"Picture ({kind}) before; with its duration",
            lambda n, kind=kind: exact(  # type: ignore[misc]
                n, f"picture before, {kind}", f"same duration, {kind}"
            ),
        )
    for block in ("step", "tensor op", "iteration"):
        for kinds in ("", " but for hosts"):
            each_job(
                f"{block}s{kinds}: distinct to 1 ps, 1 us, 10 us",
                lambda n, block=block, kinds=kinds: _distinct(n, block, kinds),  # type: ignore[misc]
            )
    each_job(
        "Groups: number, most work in one, share of those under way in that of a message",
        lambda n: (
            f"{n['groups']['groups']:,}, {percent(n['groups']['work in the largest'])}, "
            f"{percent(n['groups']['share of those under way in a group'])}"
        ),
    )
    for grain in ("1 ps", "1 us", "10 us"):
        each_job(
            f"Groups that came before ({grain}); mean and p99 of the difference",
            lambda n, grain=grain: _again(n, grain),  # type: ignore[misc]
        )
    for job in jobs:
        add(f"{job}: the end by its first iterations", by_iterations(numbers, job, transports))
        for error in ("error", "error of an iteration"):
            add(f"{job}: gain, {error}", by_rule(numbers, job, transports, error))
        add(
            f"{job}: share of bytes; error of a flow, of the end",
            by_window(numbers, job, transports),
        )
    return out


def _distinct(n: Numbers, block: str, kinds: str) -> str:
    counts = n["whole"]
    if f"{block}: number" not in counts:
        return ""
    of = counts[f"{block}: number"]
    each = [counts[f"{block}: distinct{kinds}, {grain}"] for grain in ("1 ps", "1 us", "10 us")]
    return f"{', '.join(f'{e:,}' for e in each)} of {of:,}"


def _again(n: Numbers, grain: str) -> str:
    groups = n["groups"]
    again = groups[f"groups, {grain}: again"]
    if not again:
        return "0"
    mean, most = groups[f"groups, {grain}: mean deviation"], groups[f"groups, {grain}: p99"]
    return f"{percent(again)}: {percent(mean)}, {percent(most)}"
