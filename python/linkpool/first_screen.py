"""The first screen of a result in a notebook: the same numbers as on top of `linkpool report`."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from linkpool.summary import Group, Summary
from linkpool.units import show_bytes, show_number, show_rate, show_seconds

CARD = "display:inline-block;vertical-align:top;margin:0 1.6em .8em 0"


def first_screen(
    name: str,
    about: str,
    summary: Summary,
    slowest: Iterable[dict[str, Any]],
    said: Sequence[str],
    place: str,
) -> str:
    """Return a fragment of HTML.

    Args:
        name: of the scenario.
        about: seed and times, in a line.
        summary: of the run.
        slowest: rows of `flows` with `at_least`, the slowest first.
        said: lines about what to look at.
        place: the directory.

    """
    of = summary.overall
    late = f"{of.unfinished:,} did not finish" if of.unfinished else "all with a size finished"
    tail = of.fct.shown("p99_s", show_seconds)
    lost = summary.drops_down + summary.drops_loss
    on_links = f"{lost:,} lost on links, " if lost else ""
    cards = [
        (f"{of.flows:,}", "measured flows", late),
        (
            of.fct.shown("p50_s", show_seconds),
            "median FCT",
            "too few flows for a 99th percentile"
            if of.fct.p99_s is None
            else f"99th percentile {tail}",
        ),
        (
            show_rate(of.goodput_mean_bps),
            "mean goodput of a flow",
            "" if of.jain is None else f"Jain's index {show_number(of.jain)}",
        ),
        (
            f"{of.timeouts:,}",
            "timeouts",
            f"{of.retransmits:,} of {of.segments:,} segments sent again",
        ),
        (f"{summary.drops:,}", "packets dropped", f"{on_links}{summary.marks:,} marked"),
    ]
    shown = "".join(
        f'<div style="{CARD}"><b style="font-size:1.3em">{escape(value)}</b><br>{what}<br>'
        f"<small>{escape(more)}</small></div>"
        for value, what, more in cards
    )
    groups = summary.groups if len(summary.groups) > 1 else []
    lines = "".join(f"<p>{escape(line)}</p>" for line in said)
    return (
        f"<h4>{escape(name)}</h4><p>{escape(about)}</p><div>{shown}</div>{lines}"
        f"{_table('by transport', GROUP, [_group(group) for group in groups])}"
        f"{_table('slowest flows', FLOW, [_flow(flow) for flow in slowest])}"
        f"<p><small>{escape(place)}</small></p>"
    )


GROUP = ("transport", "flows", "unfinished", "FCT mean", "p50", "p99", "goodput", "timeouts")
FLOW = ("flow", "from", "to", "size", "FCT", "slowdown")


def _group(of: Group) -> list[str]:
    times = [of.fct.shown(time, show_seconds) for time in ("mean_s", "p50_s", "p99_s")]
    name = f"{of.transport}, {of.control}, {of.label}"
    rate = show_rate(of.goodput_mean_bps)
    return [name, f"{of.flows:,}", f"{of.unfinished:,}", *times, rate, f"{of.timeouts:,}"]


def _flow(of: dict[str, Any]) -> list[str]:
    bound = "≥ " if of["at_least"] else ""
    return [
        str(of["flow"]),
        str(of["src"]),
        str(of["dst"]),
        show_bytes(of["size_bytes"]),
        bound + show_seconds(of["fct_s"]),
        bound + show_number(of["slowdown"]),
    ]


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table, or nothing without rows."""
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<p>{title}</p><table><tr>{head}</tr>{body}</table>"
