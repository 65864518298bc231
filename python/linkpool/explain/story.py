"""A flow's life as text."""

from collections import Counter
from dataclasses import dataclass

from linkpool.explain.blocked import Held, blocked
from linkpool.explain.critical import Cause, Chain, Span, breakdown
from linkpool.explain.moments import LONG, TOLD_LOSSES, TOLD_PAUSES, Moment, moments
from linkpool.explain.packets import ROLES
from linkpool.explain.replay import Life, is_end
from linkpool.explain.wires import Wires
from linkpool.units import PS, counted, show_bytes, show_number, show_seconds

BAR = 20
"""Characters of the longest bar."""
SUM = "together: the FCT"
"""The last row of where the time went."""
MOST_LINES = 60
"""Moments that are told one by one."""


@dataclass(frozen=True)
class Story:
    """Why a flow took as long as it did.

    Attributes:
        life: all that happened to it.
        spans: the chain of causes that led to its end, in order of time; empty: it did not finish.
        moments: what is worth telling, in order of time.
        held: how long what held the sender back, ps.

    """

    life: Life
    spans: list[Span]
    moments: list[Moment]
    held: dict[Held, int]

    @property
    def breakdown(self) -> dict[Cause, int]:
        """How long each cause took, ps; they add up to the FCT."""
        return breakdown(self.spans)


def tell(life: Life, wires: Wires) -> Story:
    """Find out why a flow took so long."""
    chain = Chain(life, wires)
    spans = chain.spans() if life.row["end_s"] is not None else []
    return Story(life, spans, moments(life, chain, spans), blocked(life))


def as_text(story: Story) -> str:
    """Return the story in words."""
    parts = [_head(story), _breakdown(story), _held(story), _chronicle(story)]
    if story.life.note:
        parts.append(
            f"Note: {story.life.note}; in the replay the flow began and ended at the same instants."
        )
    return "\n\n".join(part for part in parts if part)


def _head(story: Story) -> str:
    row = story.life.row
    size = (
        "data without end"
        if row["size_bytes"] is None
        else show_bytes(row["size_bytes"], given=True)
    )
    what = (
        f"Flow {story.life.flow}: {size} from {row['src']} to {row['dst']} "
        f"({row['locality']}) by {row['transport']}, begun at {show_seconds(row['start_s'])}."
        f"{_among(story.life)}"
    )
    if row["end_s"] is None:
        ended = "It did not finish; what follows is about its life up to the end of the run."
    else:
        ended = (
            f"It took {show_seconds(row['fct_s'])}, {show_number(row['slowdown'])} times the ideal "
            f"{show_seconds(row['ideal_fct_s'])}."
        )
        most = max(story.breakdown.items(), key=lambda item: item[1], default=None)
        if most is not None:
            share = 100 * most[1] / (story.life.end - story.life.start)
            ended += f" Most of it, {share:.0f}%: {most[0].value}."
    return f"{what}\n{ended}"


def _among(life: Life) -> str:
    """Tell of the connection of a message, and of the data before it."""
    message = life.message
    if message is None:
        return ""
    connection = life.row["connection"]
    if connection == life.flow:
        return "\nIt is the first message of its connection, which stays open."
    ahead, sent = message["begin"] - message["acked"], message["begin"] - message["sent"]
    before = f"bytes {message['begin']} to {message['end'] - 1} of connection {connection}"
    if not ahead:
        return f"\nIt is {before}, which stays open and was idle."
    return (
        f"\nIt is {before}, which stays open; of earlier messages {show_bytes(ahead)} were not "
        f"acknowledged then, and {show_bytes(sent)} not sent."
    )


def _breakdown(story: Story) -> str:
    if not story.spans:
        return ""
    total = story.life.end - story.life.start
    rows = [(cause.value, length) for cause, length in story.breakdown.items()]
    title = "Where the time went, along the chain of causes that led to the last ACK:"
    return "\n".join([title, *_bars([*rows, (SUM, total)], total)])


def _held(story: Story) -> str:
    total = story.life.end - story.life.start
    rows = [(held.value, length) for held, length in story.held.items()]
    return "\n".join(["What kept the sender from sending:", *_bars(rows, total)])


def _bars(rows: list[tuple[str, int]], total: int) -> list[str]:
    most = max((length for name, length in rows if name != SUM), default=1) or 1
    names = max(len(name) for name, _ in rows)
    return [
        f"  {name:<{names}} {_time(length):>9} {100 * length / max(total, 1):>5.1f}% "
        f"{'█' * round(BAR * length / most) if name != SUM else ''}".rstrip()
        for name, length in rows
    ]


def _time(ps: int) -> str:
    return show_seconds(ps / PS)


def _chronicle(story: Story) -> str:
    """Tell moments one by one, marks and many losses by their number."""
    marks = [m for m in story.moments if m.kind == "mark"]
    cuts = [m for m in story.moments if m.kind == "cut"]
    later_cuts = {m for i, m in enumerate(cuts) if m.subflow in {c.subflow for c in cuts[:i]}}
    losses = [m for m in story.moments if m.kind == "loss"]
    trims = [m for m in story.moments if m.kind == "trim"]
    pauses = [m for m in story.moments if m.kind == "pause"]
    short = {
        m
        for m in story.moments
        if m.kind == "wait" and _length(story, m) < min(LONG, _tenth(story))
    }
    told = [
        m
        for m in story.moments
        if m.kind != "mark"
        and m
        not in {
            *short,
            *later_cuts,
            *losses[TOLD_LOSSES:],
            *trims[TOLD_LOSSES:],
            *pauses[TOLD_PAUSES:],
        }
    ]
    lines = [f"  +{_time(m.at - story.life.start):>9}  {m.text}" for m in told[:MOST_LINES]]
    left = Counter(m.kind for m in told[MOST_LINES:])
    if left:
        lines.append("  and " + ", ".join(f"{n} of kind {kind}" for kind, n in left.items()))
    if losses[TOLD_LOSSES:]:
        lines.append(f"  and {counted(len(losses) - TOLD_LOSSES, 'more packet')} lost")
    if trims[TOLD_LOSSES:]:
        lines.append(f"  and {counted(len(trims) - TOLD_LOSSES, 'more packet')} trimmed")
    if pauses[TOLD_PAUSES:]:
        lines.append(f"  and {counted(len(pauses) - TOLD_PAUSES, 'more pause')}")
    if marks:
        first, last = (_time(m.at - story.life.start) for m in (marks[0], marks[-1]))
        lines.append(
            f"  {counted(len(marks), 'ACK')} echoed marks, the first at +{first}, the last at "
            f"+{last}; they cut windows {counted(len(cuts), 'time')}"
        )
    given = story.life.message
    is_new = given is None or story.life.row["connection"] == story.life.flow
    first = "the first SYN" if story.life.opens["phases"] else "its begin"
    opening = "it is given to its connection"
    if is_new:
        opening = "the first SYN is sent" if story.life.opens["phases"] else "it begins"
    if story.life.is_pulled:
        opening = _first_window(story.life)
    lines.insert(0, f"  +{_time(0):>9}  {opening}")
    if story.life.row["end_s"] is not None:
        end = _time(story.life.end - story.life.start)
        lines.append(f"  +{end:>9}  the last data is acknowledged")
    elif not any(is_end(e, story.life.flow) for e in story.life.events):
        end = _time(story.life.end - story.life.start)
        lines.append(f"  +{end:>9}  the run ends")
    first = "the first packet" if story.life.is_pulled else first
    first = first if is_new else "it was given to its connection"
    return "\n".join([f"Its life, in time since {first}:", *lines])


def _first_window(life: Life) -> str:
    """Tell what a sender does without being asked, and what it was asked for by PULLs."""
    sent = Counter(e.at for e in life.events if e.what == "sent" and e["kind"] == "data")
    pulls = sum(e.what == "arrived" and ROLES.get(e["kind"]) == "grant" for e in life.events)
    return (
        f"the first window, {counted(sent[life.start], 'packet')}, is sent without being asked "
        f"for; later {counted(pulls, 'PULL')} came, and {counted(sent.total(), 'packet')} left "
        "in all"
    )


def _length(story: Story, moment: Moment) -> int:
    return next(
        (
            s.end - s.start
            for s in story.spans
            if s.start == moment.at and s.subflow == moment.subflow
        ),
        0,
    )


def _tenth(story: Story) -> int:
    """Return a tenth of the flow's life, ps."""
    return (story.life.end - story.life.start) // 10
