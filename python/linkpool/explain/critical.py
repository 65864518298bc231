"""Where the time of a flow went: the chain of causes that led to its end.

The chain is followed backwards. The flow ended as an ACK arrived; the ACK had been sent as a
segment arrived, or a timer passed; the segment had been sent as an earlier ACK arrived, or a timer
passed; and so on to the first SYN. Each link of the chain is a span of time with one cause, and the
spans adjoin: they add up to the completion time, to the picosecond.

Where the receiver asks for each packet, a packet had been sent as a PULL arrived; the PULL had been
sent as the receiver's turn came among those of its host; the receiver had taken its place in that
queue as another packet, or the header of one that was trimmed, arrived; and so on to the first
window.

A sender that tells what it waits for (RoCE, UET) sends a packet when its rate allows it, and its
turn at the port of its host has come; with an adapter that takes time, once that is ready, too. So
it was kept by these since the ACK, the message or the timeout that gave it something to send; in
between it may have sent many packets.

Credit of UET is granted in turns, too, but not one for each packet that comes: a turn of the
receiver waited since the last packet that came to it, or its turn before, whichever was later.

The chain of a message on a connection that stays open may lead to before the message was given to
the connection, by packets of earlier messages. It is cut off there.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from enum import Enum

from linkpool.explain.packets import GOES_ON, ROLES, key_of, other_end
from linkpool.explain.replay import Event, ExplainError, Life, is_end
from linkpool.explain.wires import Wires

SLACK = 20
"""Picoseconds by which rounding at the hops may delay a packet that met no queue."""


class Cause(Enum):
    """Why time passed, in words that go on from "time spent by"."""

    HANDSHAKE = "SYN, SYN-ACK on the way"
    HANDSHAKE_QUEUE = "SYN, SYN-ACK in queues"
    SYN_TIMEOUT = "wait for the SYN timeout"
    DATA = "data on the way"
    HOST_QUEUE = "data in the queue of its own host"
    HOST_PAUSED = "data held back by pauses at its own host"
    QUEUE = "data in queues of switches"
    PAUSED = "data held back by pauses at switches"
    ANY_QUEUE = "data in queues of hosts and switches"
    ANY_PAUSED = "data held back by pauses at hosts and switches"
    ACK = "ACKs on the way"
    ACK_QUEUE = "ACKs in queues"
    DELAYED_ACK = "wait for the delayed ACK timer"
    RATE = "wait for its rate"
    RATE_AGAIN = "wait for its rate, with packets that are sent again"
    PORT = "wait for its turn at the port of its host"
    ADAPTER = "wait for the adapter of its host"
    RTO = "wait for the retransmission timeout (RTO)"
    PTO = "wait for the tail loss probe (PTO)"
    REORDERING = "wait for the RACK reordering timer"
    JOIN = "wait to open a further subflow"
    JOIN_ACK = "wait to repeat the last segment of a further subflow's handshake"
    READ = "wait for the receiving application to read"
    PROBE = "wait to ask for the receiver's window"
    HEADER = "headers of trimmed packets on the way"
    HEADER_QUEUE = "headers of trimmed packets in queues"
    RETURNED = "headers sent back for want of room"
    NACK = "NACKs on the way and in queues"
    REQUEST = "requests to send and probes, on the way and in queues"
    TURN = "PULLs waiting for their turn at the receiving host"
    PULL = "PULLs on the way"
    PULL_QUEUE = "PULLs in queues"
    NEXT_MESSAGE = "wait for the next message, whose data made the receiver acknowledge"
    OTHER_TIMER = "wait for another timer"


@dataclass(frozen=True)
class Span:
    """A part of a flow's time.

    Attributes:
        start: ps.
        end: ps.
        cause: why it passed.
        subflow: on which subflow.

    """

    start: int
    end: int
    cause: Cause
    subflow: int


class Chain:
    """What caused what, of one flow."""

    def __init__(self, life: Life, wires: Wires) -> None:
        """Match what arrived with what was sent."""
        self._life, self._wires = life, wires
        self._events = life.events
        self._sent_of: dict[int, int] = {}
        """By index of an arrival, or a loss, the index of the sending."""
        self._held_at: dict[int, list[Event]] = defaultdict(list)
        """By index of a sending, where pauses held the packet back."""
        self._cause_of: dict[int, int] = {}
        """By index of a sending, the index of what made the end send."""
        waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
        acting: dict[str, int] = {}
        self._again: set[int] = set()
        """Indices of sendings of data that was sent before, where packets have numbers."""
        numbers: set[int] = set()
        self._heard: list[int] = []
        """Indices of arrivals at the receiver: it owes a PULL for each, if it pulls."""
        for i, e in enumerate(self._events):
            if e.what in ("opens", "given"):
                acting["sender"] = i
            elif e.what == "timer":
                acting[e["of"]] = i
            elif e.what == "turn":
                acting["receiver"] = i
            elif e.what == "arrived":
                acting[e["at_end"]] = i
                if e["at_end"] == "receiver":
                    self._heard.append(i)
                self._match(i, waiting[key_of(e.more, e["at_end"])])
            elif e.what == "held":
                on_the_way = waiting[key_of(e.more, e["to"])]
                # A packet passes a link once, and its copies pass it as they were sent.
                for sent in on_the_way:
                    if all(other["link"] != e["link"] for other in self._held_at[sent]):
                        self._held_at[sent].append(e)
                        break
            elif e.what == "lost" and e["cause"] not in GOES_ON:
                self._match(i, waiting[key_of(e.more, e["to"])])
            elif e.what == "sent":
                # What was on the way before the beginning has its cause there.
                self._cause_of[i] = acting.get(e["by"], life.first)
                if _is_data_of_sender(e):
                    if e["seq"] in numbers:
                        self._again.add(i)
                    numbers.add(e["seq"])
                waiting[key_of(e.more, other_end(e["by"]))].append(i)

    def _match(self, i: int, candidates: list[int]) -> None:
        if candidates:
            self._sent_of[i] = candidates.pop(0)

    @property
    def lost_sendings(self) -> dict[int, int]:
        """By index of a loss, the index of the sending; losses at the first port have none."""
        return {i: s for i, s in self._sent_of.items() if self._events[i].what == "lost"}

    def spans(self) -> list[Span]:
        """Return the spans of the chain, in order of time; they adjoin from start to end.

        Raises:
            ExplainError: the flow did not finish.

        """
        of = self._life.flow
        ended = next((i for i, e in enumerate(self._events) if is_end(e, of)), None)
        if ended is None or not self._events[ended]["finished"]:
            raise ExplainError(f"flow {self._life.flow} did not finish, so there is no FCT")
        at = self._before(ended, "sender")
        found: list[Span] = []
        while at > self._life.first:
            at = self._back(at, found)
        start = self._life.start
        within = (replace(span, start=max(span.start, start)) for span in reversed(found))
        return [span for span in within if span.end > span.start]

    def _back(self, at: int, found: list[Span]) -> int:
        """Go from what made an end act to what made the other, or a timer, do so."""
        e = self._events[at]
        if e.what == "arrived" and at in self._sent_of:
            sent = self._sent_of[at]
            self._on_the_way(self._events[sent], e, self._held_at[sent], found)
            return self._before_sending(sent, found)
        if e.what == "given":
            before = self._before(at, "sender")
            found.append(Span(self._events[before].at, e.at, Cause.NEXT_MESSAGE, 0))
            return before
        if e.what == "arrived":
            raise ExplainError("a packet arrived that nobody has sent: please report this")
        if e.what == "turn":
            if self._life.is_pulled:
                before = self._heard[int(self._events[at + 1]["seq"]) - 1]
            else:
                before = next(i for i in range(at - 1, -1, -1) if _may_grant(self._events[i]))
            found.append(Span(self._events[before].at, e.at, Cause.TURN, 0))
            return before
        end, subflow = e["of"], self._subflow(at)
        if end == "sender" and self._life.is_pulled:
            return self._timed_out(at, found)
        cause = self._timer(at, end)
        if cause is Cause.RTO and self._life.tells_waits:
            return self._without_progress(at, found)
        # The reader takes what came on any subflow.
        before = self._before(at, end, None if cause is Cause.READ else subflow)
        if self._events[before].at > e.at:
            raise ExplainError("a cause comes after its effect: please report this")
        found.append(Span(self._events[before].at, e.at, cause, subflow))
        return before

    def _before_sending(self, sent: int, found: list[Span]) -> int:
        """Go from a sending to what made the end act, by what the sender waited for since."""
        if not (self._life.tells_waits and _is_data_of_sender(self._events[sent])):
            return self._cause_of[sent]
        until, begun, again = self._events[sent].at, sent, sent in self._again
        for i in range(sent - 1, self._life.first, -1):
            e = self._events[i]
            if _is_data_of_sender(e):
                again = i in self._again
            if e.what != "waits":
                continue
            cause = WAITS.get(e["on"])
            if cause is None:
                break
            if cause is Cause.RATE and again:
                cause = Cause.RATE_AGAIN
            found.append(Span(e.at, until, cause, 0))
            until, begun = e.at, i
        before = range(begun - 1, self._life.first, -1)
        acts = (i for i in before if _acts(self._events[i], "sender"))
        return next(acts, self._life.first)

    def _without_progress(self, at: int, found: list[Span]) -> int:
        """Go from a timeout to what it counts from: an ACK, a timeout, or a packet that left."""
        timer = self._events[at]
        state = self._state(at, self._subflow(at), -1)
        since = timer.at - (state["rto"] if state is not None else 0)
        for i in range(at - 1, self._life.first, -1):
            e = self._events[i]
            # Other timers are those of its rate.
            if (
                e.at == since
                and _acts(e, "sender")
                and (e.what != "timer" or self._timer(i, "sender") is Cause.RTO)
            ):
                found.append(Span(since, timer.at, Cause.RTO, 0))
                return i
            # UET counts from when a packet was sent, RoCE from when it had left.
            latest = since if self._life.opens["control"] == "uet" else since - 1
            if e.at <= latest and _is_data_of_sender(e):
                found.append(Span(e.at, timer.at, Cause.RTO, 0))
                return self._before_sending(i, found)
        found.append(Span(self._life.start, timer.at, Cause.RTO, 0))
        return self._life.first

    def _timed_out(self, at: int, found: list[Span]) -> int:
        """Go from the timeout of a packet that was asked for to what made the sender send it last.

        If it was new, all that were sent had been trimmed, and nothing of the receiver was heard.
        """
        again = self._events[at + 1]
        same = (
            i
            for i in range(at - 1, -1, -1)
            if (e := self._events[i]).what == "sent"
            and e["kind"] == again.more.get("kind") == "data"
            and e["seq"] == again["seq"]
        )
        sent = next(same, None)
        before = self._before(at, "sender") if sent is None else self._cause_of[sent]
        found.append(Span(self._events[before].at, self._events[at].at, Cause.RTO, 0))
        return before

    def _before(self, at: int, end: str, subflow: int | None = None) -> int:
        """Return what last made an end act before `at`: on the subflow, or by sending on it."""
        for i in range(at - 1, -1, -1):
            e = self._events[i]
            if i <= self._life.first:
                return self._established(at) if subflow else i
            if _acts(e, end) and subflow in (None, e.more.get("subflow")):
                return i
            if e.what == "sent" and e["by"] == end and e["subflow"] == subflow:
                return self._cause_of[i]
        raise ExplainError("something happened before the flow began: please report this")

    def _established(self, at: int) -> int:
        """Return what opened the connection before `at`: with it further subflows may open."""
        for i, e in enumerate(self._events[:at]):
            if e.what == "arrived" and e["kind"] == "SYN-ACK":
                return i
        return self._life.first

    def _timer(self, at: int, end: str) -> Cause:
        """Tell by what an end did when its timer passed, which one it was."""
        next_one = self._events[at + 1]
        sends = next_one["kind"] if next_one.what == "sent" else ""
        if end == "receiver":
            if sends == "SYN-ACK":
                return Cause.SYN_TIMEOUT
            return Cause.READ if self._has_read(at) else Cause.DELAYED_ACK
        if sends == "ACK":
            # RFC 8684, section 3.2: a sender has no other ACK.
            return Cause.JOIN_ACK
        if sends == "data" and not next_one["payload"]:
            return Cause.PROBE  # RFC 9293, section 3.8.6.1
        subflow = self._subflow(at)
        before, after = self._state(at, subflow, -1), self._state(at, subflow, 1)
        if before is None or after is None:
            return Cause.JOIN if sends == "SYN" else Cause.OTHER_TIMER
        if after["timeouts"] > before["timeouts"]:
            return Cause.RTO if before["established"] else Cause.SYN_TIMEOUT
        if after["probes"] > before["probes"]:
            return Cause.PTO
        if self._life.tells_waits:
            return Cause.OTHER_TIMER
        if after["retransmits"] > before["retransmits"]:
            return Cause.REORDERING
        # Pacing is what else lets data go.
        return {"SYN": Cause.JOIN, "data": Cause.RATE}.get(sends, Cause.OTHER_TIMER)

    def _subflow(self, at: int) -> int:
        """Return the subflow of a timer.

        A sender of UET has one timer for the packets of all subflows: it is that of the subflow
        whose packet has timed out, if one has.
        """
        timer = self._events[at]
        later = range(at + 1, len(self._events)) if self._life.tells_waits else ()
        for e in map(self._events.__getitem__, later):
            if e.at > timer.at or e.what in ("arrived", "timer"):
                break
            before = self._state(at, e["subflow"], -1) if e.what == "state" else None
            if before is not None and e["timeouts"] > before["timeouts"]:
                return int(e["subflow"])
        return int(timer["subflow"])

    def _has_read(self, at: int) -> bool:
        """Tell whether the receiver's timer was for its reader, and not for a delayed ACK.

        That would be due so long after the first segment that is not acknowledged.
        """
        opens, timer, waits_since = self._life.opens, self._events[at], None
        if not opens["reads"]:
            return False
        for e in reversed(self._events[:at]):
            if e.what == "sent" and e["by"] == "receiver" and e["subflow"] == timer["subflow"]:
                break
            if (
                e.what == "arrived"
                and e["at_end"] == "receiver"
                and e["kind"] == "data"
                and e["subflow"] == timer["subflow"]
            ):
                waits_since = e.at
        return waits_since is None or timer.at - waits_since != opens["ack_delay"]

    def _state(self, at: int, subflow: int, step: int) -> Event | None:
        """Return the state of a subflow before an event, or after it."""
        i = at + step
        while 0 <= i < len(self._events):
            e = self._events[i]
            if e.what == "state" and e["subflow"] == subflow:
                return e
            if step > 0 and e.at > self._events[at].at:
                return None
            i += step
        return None

    def _on_the_way(
        self, sent: Event, arrived: Event, held: list[Event], found: list[Span]
    ) -> None:
        """Add the spans of a packet's way, the last first: wires, then queues before them.

        Where along its way a packet waited is not known but for its own host with one link: the
        queue of that is what is left of the first hop. Of pauses it is known; they are a part of
        the waits.
        """
        size, subflow = sent["size"], sent["subflow"]
        total = arrived.at - sent.at
        forth = sent["by"] == "sender"
        ends = (self._life.row["src"], self._life.row["dst"])
        source, target = ends if forth else ends[::-1]
        path = self._life.paths.get(subflow)
        if arrived["kind"] == "returned":
            found.append(Span(sent.at, arrived.at, Cause.RETURNED, subflow))
            return
        wires, arrived_size = self._wires, arrived["size"]
        uplink: tuple[str, str] | None
        if path is not None and forth:
            least, uplink = wires.along(path, arrived_size), (path[0], path[1])
        else:
            least = wires.least(source, target, arrived_size)
            uplink = wires.uplink(source)
        in_host = 0
        if uplink is not None:
            # Hosts do not trim, so the packet crossed the first link whole.
            first = wires.hop(*uplink, size)
            least += first - wires.hop(*uplink, arrived_size)
            in_host = sent["next"] - sent.at - first if sent["next"] is not None else 0
        if total - least < SLACK:
            least = total
        in_host = min(max(in_host, 0), total - least)
        in_others = total - least - in_host
        at_host, at_others, on_wire = CAUSES.get(
            ROLES.get(arrived["kind"], arrived["kind"]), CAUSES["handshake"]
        )
        paused_by = Cause.PAUSED
        if uplink is None or wires.hosts_forward:
            at_others = Cause.ANY_QUEUE if at_others is Cause.QUEUE else at_others
            paused_by = Cause.ANY_PAUSED
        paused = sum(e["paused"] for e in held)
        host_paused = sum(e["paused"] for e in held if e["link"].partition("->")[0] == source)
        host_paused = min(host_paused, in_host)
        other_paused = min(paused - host_paused, in_others)
        at = arrived.at
        for length, cause in (
            (least, on_wire),
            (in_others - other_paused, at_others),
            (other_paused, paused_by),
            (in_host - host_paused, at_host),
            (host_paused, Cause.HOST_PAUSED),
        ):
            found.append(Span(at - length, at, cause, subflow))
            at -= length


def breakdown(spans: list[Span]) -> dict[Cause, int]:
    """Return how long each cause took, ps, in order of `Cause`."""
    total: dict[Cause, int] = defaultdict(int)
    for span in spans:
        total[span.cause] += span.end - span.start
    return {cause: total[cause] for cause in Cause if cause in total}


CAUSES: dict[str, tuple[Cause, Cause, Cause]] = {
    "data": (Cause.HOST_QUEUE, Cause.QUEUE, Cause.DATA),
    "header": (Cause.HOST_QUEUE, Cause.HEADER_QUEUE, Cause.HEADER),
    "ack": (Cause.ACK_QUEUE, Cause.ACK_QUEUE, Cause.ACK),
    "congestion": (Cause.ACK_QUEUE, Cause.ACK_QUEUE, Cause.ACK),
    "nack": (Cause.NACK, Cause.NACK, Cause.NACK),
    "grant": (Cause.PULL_QUEUE, Cause.PULL_QUEUE, Cause.PULL),
    "request": (Cause.REQUEST, Cause.REQUEST, Cause.REQUEST),
    "handshake": (Cause.HANDSHAKE_QUEUE, Cause.HANDSHAKE_QUEUE, Cause.HANDSHAKE),
}
"""By what arrived, or its role: in the queue of its own host, in other queues, on the way."""


WAITS = {
    "rate": Cause.RATE,
    "turn": Cause.PORT,
    "adapter": Cause.ADAPTER,
    "pause": Cause.HOST_PAUSED,
}
"""By what a sender says it waits for while it has something to send, and a window for it."""


def _is_data_of_sender(e: Event) -> bool:
    return bool(e.what == "sent" and e["by"] == "sender" and e["kind"] == "data")


def _may_grant(e: Event) -> bool:
    """Tell whether a receiver that grants credit may wait for its turn since this."""
    return e.what == "turn" or _acts(e, "receiver")


def _acts(e: Event, end: str) -> bool:
    """Tell whether something made this end act."""
    if e.what == "arrived":
        return bool(e["at_end"] == end)
    if e.what == "timer":
        return bool(e["of"] == end)
    return e.what in ("opens", "given") and end == "sender"
