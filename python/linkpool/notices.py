"""What a reader of a result should know before its numbers are believed."""

from collections.abc import Sequence

from linkpool.lost import lost
from linkpool.result import Result
from linkpool.units import counted, show_seconds

MUCH_SENT_AGAIN = 0.5
"""A run in which more than this share of the segments was sent again is no usual one."""
NAMED = 3
"""So many links are named."""


def notices(result: Result) -> list[str]:
    """Return sentences about a result: what changed without effect, and what is out of the usual.

    Raises:
        ResultError: a table is missing or damaged.

    """
    return [*_sent_again(result), *unmet_changes(result), *_failed_jobs(result)]


def _failed_jobs(result: Result) -> list[str]:
    """Say what jobs lost to failures."""
    return [
        f"{of.label} failed {'once' if of.failures == 1 else f'{of.failures} times'} and went on: "
        f"{show_seconds(of.lost_s)} of its {show_seconds(of.of_s)} were lost, "
        f"{show_seconds(of.lost_s - of.recovery_s)} of them to iterations that were made again or "
        f"cut off, and {show_seconds(of.recovery_s)} to recoveries"
        for of in lost(result)
    ]


def _sent_again(result: Result) -> list[str]:
    of = result.summary.overall
    if of.retransmits <= MUCH_SENT_AGAIN * of.segments:
        return []
    share = 100 * of.retransmits / of.segments
    why = (
        "look at timeouts, and whether min_rto (of UET rto) is shorter than the time in queues"
        if of.timeouts
        else "no timeout did it: switches trimmed packets, or ACKs showed losses"
    )
    return [
        f"{share:.0f}% of all segments were sent again ({of.retransmits} of {of.segments}); {why}"
    ]


def unmet_changes(result: Result) -> list[str]:
    """Name changed links to which no packet came in the whole run."""
    if not result.has("changes"):
        return []
    links, kinds = result.columns("changes", "link", "change")
    changed = dict.fromkeys(link for link in links if link is not None)
    came = ("packets", "drops", "drops_down", "drops_loss")
    counts_of = result.columns("links", "link", *came)
    met = {name for name, *counts in zip(*counts_of, strict=True) if any(counts)}
    unmet = [link for link in changed if link not in met]
    if not unmet:
        return []
    avoided = "routes" in kinds
    why = "no flow took them, or routing avoided them" if avoided else "no flow took them"
    return [
        f"{len(unmet)} of {counted(len(changed), 'changed link')} met no packet in the whole run "
        f"({why}): {_names(unmet)}"
    ]


def _names(links: Sequence[str]) -> str:
    rest = len(links) - NAMED
    return ", ".join(links[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
