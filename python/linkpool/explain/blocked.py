"""What kept the sender from sending: each instant of the flow's life has one answer.

A sender sends all that it may whenever something happens to it. So between two things that happen,
what it has not sent is held back by a window or a pacer, or all is sent. A sender of RoCE or UET
tells what it waits for.
"""

from collections import defaultdict
from enum import Enum

from linkpool.explain.packets import ROLES
from linkpool.explain.replay import Event, Life


class Held(Enum):
    """What held the sender back."""

    HANDSHAKE = "the handshake: no subflow was established"
    SUPPRESSED = "the congestion window, with other subflows suppressed"
    WINDOW = "the congestion window"
    PACED = "pacing: the next packet was not due yet"
    EARLIER = "earlier messages on the connection, whose data goes first"
    SEND_BUFFER = "the send buffer"
    RECEIVE_BUFFER = "the receive buffer: the receiver's window offers no more"
    SUBFLOW_WINDOW = "`subflow_window`, the most data in flight on a subflow"
    RATE = "its rate"
    TURN = "its turn at the port of its host, at which other senders send"
    CREDIT = "credit: the receiver grants no more"
    ADAPTER = "the adapter of its host, which takes time for messages and packets"
    PAUSE = "a pause of the port of its host"
    PULL = "no PULL had come: the receiver sets the pace"
    NOTHING = "nothing: all data was sent, and ACKs were awaited"


TOLD = {
    "rate": Held.RATE,
    "credit": Held.CREDIT,
    "turn": Held.TURN,
    "adapter": Held.ADAPTER,
    "pause": Held.PAUSE,
    "window": Held.WINDOW,
}
"""By what a sender says it waits for."""


def blocked(life: Life) -> dict[Held, int]:
    """Return how long each held the sender back, ps; together they are the flow's life."""
    total: dict[Held, int] = defaultdict(int)
    states: dict[int, Event] = {}
    buffer, message = life.opens["buffer"], life.message
    # A segment is sent only where there is room for all of it.
    room = None if buffer is None else buffer - life.opens["mss"]
    on_subflow: dict[int, int] = defaultdict(int)
    begin = reached = acked = 0
    # Without an offer the window of the receiver is unlimited.
    offered: int | None = None
    if message is not None:
        begin, reached, acked = message["begin"], message["sent"], message["acked"]
    at = life.start
    trimmed = _Trimmed()
    waits, sent_to = "acks", 0
    events = life.events[life.first :]
    # After the last event of an unfinished flow, all stays as it is until the run ends.
    for e in [*events, Event(life.end, "end", {})]:
        if e.at > at:
            fits = None if offered is None else offered - life.opens["mss"]
            if offered is not None and life.size is not None and life.size <= offered:
                fits = None  # the rest fits, though it be less than a segment
            held = _held(states, (reached, acked), (begin, life.size), (room, fits))
            if held in (Held.WINDOW, Held.SUPPRESSED):
                held = _instead(held, states, on_subflow, life.opens)
            if life.is_pulled:
                is_all_sent = held is Held.NOTHING and not trimmed.known
                held = Held.NOTHING if is_all_sent else Held.PULL
            if life.tells_waits:
                told = _told(waits, (reached, sent_to), life.message)
                suppressed = told is Held.WINDOW and held is Held.SUPPRESSED
                held = held if suppressed else told
            total[held] += min(e.at, life.end) - at
            at = min(e.at, life.end)
        trimmed.follow(e)
        if e.what == "state":
            states[e["subflow"]] = e
        elif e.what == "acked":
            acked = e["bytes"]
        elif e.what == "offered":
            offered = e["end"]
        elif e.what == "waits":
            waits = e["on"]
        elif e.what == "sent" and e["kind"] == "data":
            # Positions are modulo 2^32; the nearest to what was reached before is meant.
            sent_to = near(e["ack"], reached) + e["payload"]
            reached = max(reached, sent_to)
            of, end = e["subflow"], on_subflow[e["subflow"]]
            on_subflow[of] = max(end, near(e["seq"], end) + e["payload"])
    return {held: total[held] for held in Held if held in total}


def _told(waits: str, sent: tuple[int, int], message: Event | None) -> Held:
    """Return what holds a sender that tells what it waits for; all up to `sent` was sent.

    Of a message that is the data of others before it, and nothing once its own is sent.
    """
    reached, last = sent
    if waits == "acks":
        return Held.NOTHING
    if message is not None and reached < message["begin"]:
        return Held.EARLIER
    if message is not None and last >= message["end"]:
        return Held.NOTHING
    return TOLD[waits]


class _Trimmed:
    """The packets that the sender knows to be trimmed, and has not sent again."""

    def __init__(self) -> None:
        self.known: set[int] = set()
        self._flying: set[int] = set()

    def follow(self, e: Event) -> None:
        """Note what a packet says that was sent, or came to the sender."""
        if e.what == "sent" and e["kind"] == "data":
            self._flying.add(e["seq"])
            self.known.discard(e["seq"])
        elif e.what == "arrived" and e["at_end"] == "sender":
            kind = ROLES.get(e["kind"], e["kind"])
            if kind in ("nack", "returned") and e["seq"] in self._flying:
                self._flying.remove(e["seq"])
                self.known.add(e["seq"])
            elif kind == "ack":
                self._flying.discard(e["seq"])
                self.known.discard(e["seq"])


def near(position: int, to: int) -> int:
    """Return the position that is meant modulo 2^32: the nearest one."""
    behind = (to - position) % (1 << 32)
    return to - behind if behind < 1 << 31 else to + (1 << 32) - behind


def _instead(held: Held, states: dict[int, Event], sent: dict[int, int], opens: Event) -> Held:
    """Return what holds the sender where `held` is the congestion window.

    If a congestion window has room, it is the pacer, `subflow_window` or a buffer that grows.
    """
    if any(state["paced"] and not state["suppressed"] for state in states.values()):
        return Held.PACED
    most, mss = opens["subflow_window"], opens["mss"]
    if most is None and not opens["grows"]:
        return held
    with_room = [
        flight
        for subflow, state in states.items()
        if state["established"]
        and not state["suppressed"]
        and not state["recovering"]
        # A subflow's first byte is number 1.
        and (flight := sent[subflow] - 1 - state["acked"]) <= (int(state["cwnd"]) - 1) * mss
    ]
    if with_room and most is not None and all(flight + mss > most for flight in with_room):
        return Held.SUBFLOW_WINDOW
    return Held.SEND_BUFFER if with_room and opens["grows"] else held


def _held(
    states: dict[int, Event],
    sent: tuple[int, int],
    data: tuple[int, int | None],
    buffers: tuple[int | None, int | None],
) -> Held:
    (reached, acked), (begin, end), (room, fits) = sent, data, buffers
    if not any(state["established"] for state in states.values()):
        return Held.HANDSHAKE
    if end is not None and reached >= end:
        return Held.NOTHING
    if reached < begin:
        return Held.EARLIER
    if room is not None and reached - acked > room:
        return Held.SEND_BUFFER
    if fits is not None and reached > fits:
        return Held.RECEIVE_BUFFER
    if any(state["suppressed"] and state["established"] for state in states.values()):
        return Held.SUPPRESSED
    return Held.WINDOW
