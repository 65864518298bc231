"""`linkpool show`: the summary of a result."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from linkpool.cli.console import fail, say, stdout
from linkpool.notices import notices
from linkpool.offered import remarks
from linkpool.result import Result, ResultError
from linkpool.summary import FctStats, Group, Slowdowns, Summary, size_class
from linkpool.units import show_bytes, show_count, show_number, show_rate, show_seconds

SHOWN_LINKS = 10
JCT = ("mean_s", "p50_s", "p90_s", "p99_s", "max_s")
NAME_WIDTH = 38
GROUP_WIDTH = 16
GROUP_NAMES = "transport\nalgorithm\nlabel"

Cell = Callable[[Group], str]

FLOW_ROWS: list[tuple[str, Cell]] = [
    ("flows", lambda g: show_count(g.flows)),
    ("left out (warm-up, cut-off)", lambda g: show_count(g.left_out)),
    ("finished", lambda g: show_count(g.finished)),
    ("unfinished", lambda g: show_count(g.unfinished)),
    ("without a size, never finish", lambda g: show_count(g.unlimited)),
    ("given up (failed)", lambda g: show_count(g.failed)),
    ("goodput of a flow, mean", lambda g: show_rate(g.goodput_mean_bps)),
    ("  carried by its subflows, mean", lambda g: show_rate(g.subflow_goodput_mean_bps)),
    ("Jain's index of goodputs", lambda g: "-" if g.jain is None else f"{g.jain:.4f}"),
    ("delivered in the measured period", lambda g: show_rate(g.delivered_bps)),
    ("  over the access links' rate", lambda g: _four(g.delivered_load)),
    ("offered load (sizes, over the same)", lambda g: _four(g.offered_load)),
    ("data segments", lambda g: show_count(g.segments)),
    ("retransmitted", lambda g: show_count(g.retransmits)),
    ("timeouts", lambda g: show_count(g.timeouts)),
    ("timeouts of the worst flow", lambda g: show_count(g.timeouts_max)),
    ("marked ACKs", lambda g: show_count(g.marked_acks)),
    ("suppressions (AMP)", lambda g: show_count(g.suppressions)),
]

FCT_KINDS: list[tuple[str, Callable[[Group], FctStats]]] = [
    ("FCT from the first SYN (fct_s)", lambda g: g.fct),
    ("FCT from the SYN-ACK (fct_established_s)", lambda g: g.fct_established),
]

FCT_ROWS: list[tuple[str, Callable[[FctStats], str]]] = [
    ("mean", lambda f: f.shown("mean_s", show_seconds)),
    ("standard deviation", lambda f: show_seconds(f.sd_s)),
    ("median", lambda f: f.shown("p50_s", show_seconds)),
    ("90th percentile", lambda f: f.shown("p90_s", show_seconds)),
    ("99th percentile", lambda f: f.shown("p99_s", show_seconds)),
    ("largest", lambda f: f.shown("max_s", show_seconds)),
]

SLOWDOWN_ROWS: list[tuple[str, Callable[[Slowdowns], str]]] = [
    ("flows", lambda s: show_count(_count(s))),
    ("median", lambda s: s.shown("p50", show_number)),
    ("99th percentile", lambda s: s.shown("p99", show_number)),
]


def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A result of linkpool run.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print it as JSON, as summary.json has it.")
    ] = False,
) -> None:
    """Print the statistics of a result."""
    result = require_result(directory)
    if as_json:
        say(json.dumps(as_dict(result), indent=1))
    else:
        print_result(result, stdout())


def as_dict(result: Result) -> dict[str, Any]:
    """Return what `show` prints of a result as plain values: its summary, and beside that its run.

    Keys are those of `summary.json`, and `notes`, `offered` and `run`.
    """
    offered = [{"tier": t.name, "load": t.load, "busiest": t.busiest} for t in result.offered]
    return {
        **result.summary.as_dict(),
        "notes": notices(result),
        "offered": offered,
        "run": result.run,
    }


def require_result(directory: Path, run_code: bool = False) -> Result:
    """Return a result that is whole, of this version of linkpool, and summarised, or leave."""
    result = Result(directory, run_code=run_code)
    try:
        result.check()
        result.summary  # noqa: B018 - computed here, where a damaged table is a message
    except ResultError as error:
        fail(str(error))
    return result


def print_result(result: Result, console: Console) -> None:
    """Print the tables of a result's summary."""
    summary = result.summary
    console.print(f"measured period: {period(summary)}")
    for notice in notices(result):
        console.print(f"note: {notice}")
    groups = summary.groups if len(summary.groups) < 2 else [*summary.groups, summary.overall]
    _print_groups(groups, console)
    console.print(_workloads(summary))
    for line in remarks(result.offered):
        console.print(f"{line}\n", soft_wrap=True)
    if summary.jobs:
        console.print(_jobs(summary))
    if summary.requests:
        console.print(_requests(summary))
    if summary.rtts:
        console.print(_rtts(summary))
    console.print(_layers(summary))
    console.print(_links(summary))
    console.print(", ".join(f"{key} {_plain(value)}" for key, value in result.run.items()))


def period(of: Summary) -> str:
    """Say from when to when statistics are measured."""
    start, end = (show_seconds(at, given=True) for at in (of.period_start_s, of.period_end_s))
    return f"{start} to {end}"


def _print_groups(groups: list[Group], console: Console) -> None:
    """Print a column for each group, in as many tables as the width asks for."""
    at_once = max((console.width - NAME_WIDTH) // GROUP_WIDTH, 1)
    for i in range(0, len(groups), at_once):
        console.print(_groups(groups[i : i + at_once]))
    if any(g.unfinished for g in groups):
        console.print(
            "unfinished flows count as old as they were when the run ended; ≥: at least so much"
        )


def _groups(groups: list[Group]) -> Table:
    """Return a table with a column for each group."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(GROUP_NAMES, overflow="fold")
    for g in groups:
        names = [name for name in (g.transport, g.control, g.label) if name]
        table.add_column("\n".join(names) or "all", justify="right", overflow="fold")
    for name, cell in FLOW_ROWS:
        table.add_row(name, *(cell(g) for g in groups))
    if any(g.finished + g.unfinished for g in groups):
        for kind, of_group in FCT_KINDS:
            table.add_section()
            table.add_row(kind)
            for name, value in FCT_ROWS:
                table.add_row(f"  {name}", *(value(of_group(g)) for g in groups))
        table.add_section()
        table.add_row("slowdown (FCT / ideal)")
        for i, size in enumerate(groups[0].slowdowns):
            if any(_count(g.slowdowns[i]) for g in groups):
                table.add_row(f"  {size_class(size.above_bytes, size.upto_bytes)}")
                for name, of_class in SLOWDOWN_ROWS:
                    table.add_row(f"    {name}", *(of_class(g.slowdowns[i]) for g in groups))
    return table


def _count(of: Slowdowns) -> int:
    return of.finished + of.unfinished


def _workloads(summary: Summary) -> Table:
    cut = any(of.not_started for of in summary.workloads)
    table = Table(title="workloads", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("label", overflow="fold")
    headings = ("kind", "transport", "sizes", "interpolation", "mean size", "load asked for")
    for heading in (*headings, "flows not started") if cut else headings:
        table.add_column(heading, justify="right")
    for of in summary.workloads:
        mean = (
            "-"
            if of.mean_bytes is None
            else show_bytes(of.mean_bytes, given=of.mean_bytes.is_integer())
        )
        names = (of.kind, of.transport, of.sizes, of.interpolation or "-")
        not_started = (show_count(of.not_started or 0),) if cut else ()
        table.add_row(of.label, *names, mean, _four(of.load), *not_started)
    return table


def _rtts(summary: Summary) -> Table:
    title = "round-trip times"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("transport", overflow="fold")
    for heading in ("hosts", "samples", "mean", "median", "90th", "99th", "largest"):
        table.add_column(heading, justify="right")
    for of in summary.rtts:
        times = (of.mean_s, of.p50_s, of.p90_s, of.p99_s, of.max_s)
        table.add_row(of.transport, of.locality, show_count(of.samples), *map(show_seconds, times))
    return table


def _jobs(summary: Summary) -> Table:
    table = Table(title="jobs", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("label", overflow="fold")
    cut = any(of.not_started for of in summary.jobs)
    counted = ("kind", "left out", "jobs", "finished")
    headings = ("mean JCT", "median", "90th", "99th", "largest")
    for heading in (*counted, *headings, "flows not started") if cut else (*counted, *headings):
        table.add_column(heading, justify="right")
    for of in summary.jobs:
        times = (of.jct.shown(name, show_seconds, "jobs") for name in JCT)
        counts = map(show_count, (of.left_out, of.jobs, of.jct.finished))
        not_started = (show_count(of.not_started),) if cut else ()
        table.add_row(of.label, of.kind, *counts, *times, *not_started)
    return table


def _requests(summary: Summary) -> Table:
    title = "requests: time to first token (TTFT), time per output token behind it (TPOT)"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("label", overflow="fold")
    headings = ("left out", "requests", "answered", "", "mean", "median", "90th", "99th", "largest")
    for heading in headings:
        table.add_column(heading, justify="right")
    for of in summary.requests:
        counts = tuple(map(show_count, (of.left_out, of.requests, of.answered)))
        for row, (name, times) in enumerate((("TTFT", of.ttft), ("TPOT", of.tpot))):
            first = (of.label, *counts) if row == 0 else ("", "", "", "")
            shown = (times.shown(field, show_seconds, "requests") for field in JCT)
            table.add_row(*first, name, *shown)
    return table


def _layers(summary: Summary) -> Table:
    title = "links by layer: utilisation in the measured period; drops of the whole run"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("from, to", overflow="fold")
    headings = ["links", "mean utilisation", "largest", "dropped", "mean of ports", "marks"]
    faults = summary.drops_down + summary.drops_loss > 0
    for heading in [*headings, "link down", "lost on wire"] if faults else headings:
        table.add_column(heading, justify="right")
    for use in summary.layers:
        table.add_row(
            f"{use.layer}, {use.to_layer}",
            show_count(use.links),
            *(_four(value) for value in (use.utilisation, use.utilisation_max)),
            *(_percent(value) for value in (use.loss, use.loss_mean)),
            show_count(use.marks),
            *((show_count(use.drops_down), show_count(use.drops_loss)) if faults else ()),
        )
    return table


def _four(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{show_number(100 * value)}%"


def _links(summary: Summary) -> Table:
    counts = {
        "drops": summary.drops,
        "lost as links were down": summary.drops_down,
        "lost on the wire": summary.drops_loss,
        "marks": summary.marks,
        "trimmed": summary.trims,
    }
    usual = ("drops", "marks")
    said = ", ".join(f"{show_count(n)} {what}" for what, n in counts.items() if n or what in usual)
    title = f"busiest ports in the measured period; all ports, in the whole run: {said}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("link", overflow="fold")
    for heading in ("utilisation", "packets", "drops", "marks", "longest queue"):
        table.add_column(heading, justify="right")
    for use in summary.links[:SHOWN_LINKS]:
        cells = (use.packets, use.drops, use.marks, use.max_queue_pkts)
        table.add_row(use.link, _four(use.utilisation), *map(show_count, cells))
    return table


def _plain(value: object) -> str:
    if isinstance(value, float):
        return show_number(value)
    return show_count(value) if isinstance(value, int) else str(value)
