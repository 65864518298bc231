"""The moments of a flow's life, in words: what a reader would tell of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from linkpool.explain.blocked import near
from linkpool.explain.critical import Cause, Chain, Span
from linkpool.explain.packets import GOES_ON, ROLES
from linkpool.explain.replay import Event, Life
from linkpool.units import PS, counted, show_number, show_seconds

LONG = PS // 1000
"""Waits for timers from 1 ms on are told even where they did not delay the end."""
TOLD_LOSSES = 12
"""So many losses, and so many trimmed packets, are told one by one; the others are counted."""
TOLD_PAUSES = 6
"""So many pauses are told one by one; the others are counted."""
TOLD_FLOWS = 4
"""Of the flows in a full queue, so many are named."""


@dataclass(frozen=True)
class Moment:
    """Something worth telling.

    Attributes:
        at: ps.
        kind: `mark`, `cut`, `loss`, `trim`, `pause`, `timeout`, `probe`, `recovery`, `suppressed`,
            `released`, `established`, `wait` or `other`.
        subflow: of which subflow.
        text: in words, as a clause.

    """

    at: int
    kind: str
    subflow: int
    text: str


def moments(life: Life, chain: Chain, spans: list[Span]) -> list[Moment]:
    """Return all moments, in order of time; marks one by one too, which stories count."""
    found = [
        *_states(life),
        *_losses(life, chain),
        *_pauses(life),
        *_nacks(life),
        *_waits(life, spans),
    ]
    return sorted(found, key=lambda moment: moment.at)


def _states(life: Life) -> Iterator[Moment]:
    """Tell how the sender's view of its subflows changed."""
    seen: dict[int, Event] = {}
    for e in life.events:
        if e.what != "state":
            continue
        before, s = seen.get(e["subflow"]), e["subflow"]
        seen[s] = e
        if before is None:
            continue

        def grew(name: str, now: Event = e, then: Event = before) -> bool:
            return bool(now[name] > then[name])

        if e["established"] and not before["established"]:
            rtt = f", RTT {show_seconds(e['srtt'])}" if e["srtt"] else ""
            yield Moment(e.at, "established", s, f"subflow {s} is established{rtt}")
        if grew("marked_acks"):
            yield Moment(e.at, "mark", s, "an ACK echoes a mark")
        if grew("cuts"):
            text = f"marks cut the window of subflow {s}, to {_packets(e['cwnd'])}"
            yield Moment(e.at, "cut", s, text)
        if _in_slow_start(before) and not _in_slow_start(e) and e["established"]:
            text = f"slow start of subflow {s} ends at {_packets(e['cwnd'])}"
            yield Moment(e.at, "other", s, text)
        if grew("timeouts"):
            what = "retransmission timeout" if before["established"] else "timeout of the SYN"
            rto = show_seconds(before["rto"] / PS)
            if life.is_pulled:
                text = f"nothing was heard of a packet for {rto}: it is sent again without a PULL"
                yield Moment(e.at, "timeout", s, text)
                continue
            if life.tells_waits:
                text = f"no progress for {rto}: a retransmission timeout"
                yield Moment(e.at, "timeout", s, text)
                continue
            text = f"{what} on subflow {s}, after an RTO of {rto}; window {_windows(before, e)}"
            yield Moment(e.at, "timeout", s, text)
        if grew("probes"):
            yield Moment(e.at, "probe", s, f"subflow {s} sends a tail loss probe")
        if grew("recoveries"):
            window = _windows(before, e)
            yield Moment(e.at, "recovery", s, f"fast recovery on subflow {s}, window {window}")
        if grew("undos"):
            yield Moment(e.at, "other", s, f"nothing was lost: subflow {s} has its window back")
        if e["suppressed"] != before["suppressed"]:
            kind = "suppressed" if e["suppressed"] else "released"
            what = "may not send new data" if e["suppressed"] else "may send new data again"
            yield Moment(e.at, kind, s, f"subflow {s} {what}")


def _in_slow_start(state: Event) -> bool:
    """Tell whether a subflow is in slow start (RFC 5681, section 3.1)."""
    return bool(state["ssthresh"] is None or state["cwnd"] < state["ssthresh"])


def _windows(before: Event, after: Event) -> str:
    return f"from {show_number(before['cwnd'])} to {_packets(after['cwnd'])}"


def _packets(window: float) -> str:
    return f"{show_number(window)} packet{'' if window == 1 else 's'}"


def _pauses(life: Life) -> Iterator[Moment]:
    """Tell of each pause that held packets back, with the reason of the switch."""
    pauses: dict[tuple[str, int, int], list[Event]] = {}
    for e in life.events:
        if e.what == "held":
            key = (e["link"], e["pause"]["priority"], e["pause"]["since"])
            pauses.setdefault(key, []).append(e)
    for (link, priority, since), held in pauses.items():
        source, _, by = link.partition("->")
        of, longest = held[0]["pause"], show_seconds(max(e["paused"] for e in held) / PS)
        packets = "a packet" if len(held) == 1 else f"{len(held)} packets"
        behind = f", most of them for {of['behind']}" if of["behind"] else ""
        text = (
            f"{link} is paused by {by}, because what came from {source} and waited there was above "
            f"its threshold: {of['shared']} B of priority {priority} shared, with a threshold of "
            f"{of['threshold']} B, and {of['headroom']} B of headroom{behind}. {packets} of the "
            f"flow waited while it was paused, for {longest} at the most"
        )
        yield Moment(max(since, life.start), "pause", held[0]["subflow"], text)


def _nacks(life: Life) -> Iterator[Moment]:
    """Tell of each packet that NACKs ask for, where packets have numbers.

    Trimmed packets, which UET's NACKs are about, are told of where they are trimmed.
    """
    trims = any(e.what == "lost" and e["cause"] in GOES_ON for e in life.events)
    if trims or not life.tells_waits:
        return
    told = None
    for e in life.events:
        if e.what == "arrived" and e["at_end"] == "sender" and ROLES.get(e["kind"]) == "nack":
            if e["ack"] != told:
                text = f"a NACK asks for packet {e['ack']}, as {e['seq']} has come without it"
                yield Moment(e.at, "recovery", e["subflow"], text)
            told = e["ack"]


def _losses(life: Life, chain: Chain) -> Iterator[Moment]:
    for e in life.events:
        if e.what == "lost":
            kind = "trim" if e["cause"] in GOES_ON else "loss"
            yield Moment(e.at, kind, e["subflow"], _loss(life, e))


def _loss(life: Life, e: Event) -> str:
    of = "" if life.is_pulled else f" of subflow {e['subflow']}"
    what = f"{e['kind']}{of}"
    if e["kind"] in ("data", "header", "returned"):
        of = "" if life.is_pulled else f" (subflow {e['subflow']})"
        what = f"{_range(life, e)}{of}"
        if e["cause"] == "trimmed":
            return (
                f"{what} trimmed at {e['link']}: the queues held {counted(e['queued'], 'packet')}"
            )
        if e["cause"] == "returned":
            return f"{what} trimmed, and their header sent back: no room for it at {e['link']}"
        if e["kind"] != "data":
            what = f"the header of {what}"
    if e["cause"] == "down":
        return f"{what} lost at {e['link']}, which was down"
    if e["cause"] == "wire":
        return f"{what} lost on the wire {e['link']}"
    if not e["queue"]:
        return f"{what} dropped at {e['link']}, whose queue held {counted(e['queued'], 'packet')}"
    connection = life.row["connection"]
    own = sum(n for flow, n in e["queue"] if flow == connection)
    others = sorted(((n, f) for f, n in e["queue"] if f != connection), reverse=True, key=_first)
    told = [
        f"{n} of flow {f}" if f is not None else f"{n} of flows that are over" for n, f in others
    ]
    rest = sum(n for n, _ in others[TOLD_FLOWS:])
    told = told[:TOLD_FLOWS] + (
        [f"{rest} of {counted(len(others) - TOLD_FLOWS, 'other flow')}"] if rest else []
    )
    held = ", ".join([f"{own} of its own", *told])
    return (
        f"{what} dropped at {e['link']}: the queue held {counted(e['queued'], 'packet')} ({held})"
    )


def _range(life: Life, e: Event) -> str:
    """Name the data of a packet; that of a message by its place in the message."""
    first, message = e["ack"], life.message
    if message is not None:
        position = near(first, message["begin"])
        if not message["begin"] <= position < message["end"]:
            which = "an earlier" if position < message["begin"] else "a later"
            return f"{counted(e['payload'], 'byte')} of {which} message"
        first = position - message["begin"]
    return f"bytes {first} to {first + e['payload'] - 1}"


def _first(pair: tuple[int, object]) -> int:
    return pair[0]


_WAITS = {
    Cause.DELAYED_ACK: "the receiver held back the ACK of a single segment (delayed ACK timer)",
    Cause.RTO: "nothing came, until the retransmission timeout",
    Cause.PTO: "nothing came, until the tail loss probe",
    Cause.REORDERING: "RACK waited whether the segment was only late",
    Cause.SYN_TIMEOUT: "nothing came, until the SYN was repeated",
    Cause.TURN: "the receiver waited for its turn to send a PULL",
    Cause.JOIN: "the sender waited before it opened one more subflow",
    Cause.JOIN_ACK: "the sender waited for an answer to the handshake of one more subflow",
    Cause.READ: "the receiving application read, until there was a window to offer",
    Cause.PROBE: "the window was shut, until the sender asked for it",
    Cause.NEXT_MESSAGE: "the receiver held back an ACK, until data of the next message came",
    Cause.OTHER_TIMER: "the sender waited for a timer",
}


def _waits(life: Life, spans: list[Span]) -> Iterator[Moment]:
    for span in spans:
        told_as_timeout = (life.is_pulled or life.tells_waits) and span.cause is Cause.RTO
        if span.cause in _WAITS and not told_as_timeout:
            length = show_seconds((span.end - span.start) / PS)
            of = "" if life.is_pulled else f" (subflow {span.subflow})"
            text = f"for {length} {_WAITS[span.cause]}{of}"
            yield Moment(span.start, "wait", span.subflow, text)
