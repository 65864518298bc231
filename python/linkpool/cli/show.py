"""`linkpool show`: the summary of a result."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from linkpool.cli.console import fail, stdout
from linkpool.publish import REQUIRED
from linkpool.result import Result
from linkpool.summary import FctStats, Group, LinkUse, Summary
from linkpool.units import show_number, show_rate, show_seconds

SHOWN_LINKS = 10


def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result of linkpool run.")],
) -> None:
    """Print the statistics of a result."""
    missing = sorted(name for name in REQUIRED if not (directory / name).is_file())
    if missing:
        fail(f"{directory} is not a linkpool result: it has no {missing[0]}")
    print_result(Result(directory), stdout())


def print_result(result: Result, console: Console) -> None:
    """Print the tables of a result's summary."""
    summary = result.summary
    for table in (_flows(summary), _fct(summary), _links(summary)):
        if table.row_count:
            console.print(table)
    console.print(", ".join(f"{key} {_plain(value)}" for key, value in result.run.items()))


def _groups(summary: Summary) -> list[Group]:
    """Return the rows of a table: every group, and all together where there are several."""
    return summary.groups if len(summary.groups) < 2 else [*summary.groups, summary.overall]


def _flows(summary: Summary) -> Table:
    table = _table(
        "flows",
        ("transport", "label"),
        (
            "flows",
            "finished",
            "unfin.",
            "failed",
            "goodput mean",
            "total",
            "Jain",
            "timeouts (max)",
            "retransmits",
            "marked ACKs",
        ),
    )
    for g in _groups(summary):
        table.add_row(
            g.transport or "all",
            g.label or "all",
            str(g.flows),
            str(g.finished),
            str(g.unfinished),
            str(g.failed),
            show_rate(g.goodput_mean_bps),
            show_rate(g.goodput_total_bps),
            "-" if g.jain is None else f"{g.jain:.4f}",
            f"{g.timeouts} ({g.timeouts_max})",
            str(g.retransmits),
            str(g.marked_acks),
        )
    return table


def _fct(summary: Summary) -> Table:
    table = _table(
        "flow completion time, finished flows only",
        ("transport", "label", "counted from"),
        ("finished", "unfin.", "mean", "sd", "p50", "p90", "p99", "max"),
    )
    for g in _groups(summary):
        if g.finished + g.unfinished:
            table.add_row(*_fct_row(g, "first SYN (fct_s)", g.fct))
            established = "SYN-ACK (fct_established_s)"
            table.add_row(*_fct_row(g, established, g.fct_established))
    return table


def _fct_row(group: Group, start: str, fct: FctStats) -> list[str]:
    times = (fct.mean_s, fct.sd_s, fct.p50_s, fct.p90_s, fct.p99_s, fct.max_s)
    names = [group.transport or "all", group.label or "all", start]
    return [*names, str(fct.finished), str(group.unfinished), *map(show_seconds, times)]


def _links(summary: Summary) -> Table:
    table = _table(
        f"busiest links; all ports: {summary.drops} drops, {summary.marks} marks",
        ("link",),
        ("utilisation", "packets", "drops", "marks", "max queue"),
    )
    for use in summary.links[:SHOWN_LINKS]:
        table.add_row(*_link_row(use))
    return table


def _link_row(use: LinkUse) -> list[str]:
    counts = (use.packets, use.drops, use.marks, use.max_queue_pkts)
    return [use.link, f"{use.utilisation:.4f}", *map(str, counts)]


def _table(title: str, names: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _plain(value: object) -> str:
    return show_number(value) if isinstance(value, float) else str(value)
