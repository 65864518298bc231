"""What a study means, for people: what its arms share, and what differs between them."""

from collections.abc import Iterator, Sequence

from linkpool.meaning import sections, wrapped
from linkpool.study.cache import Entry
from linkpool.study.cautions import listed
from linkpool.study.point import Point

MOST = 48
"""No more combinations of an arm and settings are looked at: a page is to be read."""


def pages(entries: Sequence[Entry]) -> Iterator[str]:
    """Give paragraphs about the scenarios of a study's runs: those of all arms, then the others."""
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.point.name, entry)
    shown = list(first.values())[:MOST]
    points = [entry.point for entry in shown]
    if len(shown) < len(first):
        yield f"of the {len(first)} combinations of an arm and settings these are the first {MOST}"
    # By what a paragraph is about: each text of it, with the runs of which it is true.
    about: dict[str, dict[str, list[Point]]] = {}
    warned: dict[str, list[Point]] = {}
    for entry in shown:
        paragraphs, slow = sections(entry.scenario)
        for name, lines in paragraphs.items():
            about.setdefault(name, {}).setdefault(wrapped(lines), []).append(entry.point)
        for line in slow:
            warned.setdefault(line, []).append(entry.point)
    differ = []
    for texts in about.values():
        for text, who in texts.items():
            if len(who) == len(points):
                yield text
            else:
                differ.append(f"{listed(who, points)}:\n{text}")
    if differ:
        yield "What differs:"
        yield from differ
    if warned:
        lines = [f"{listed(who, points)}: warning: {line}" for line, who in warned.items()]
        yield wrapped(lines)
