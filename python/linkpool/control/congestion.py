"""A subflow as hooks see it, the information of an ACK, and what many algorithms do with them.

These are the functions of `crates/transport/src/congestion.rs` and `control/mod.rs`, to the digit.
Hooks may call them: they are compiled with the hooks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Ack(NamedTuple):
    """The information of an ACK.

    Attributes:
        acked: packets that it acknowledges; 0 for a duplicate.
        marked: it echoes a mark.
        round_ended: it is the first beyond the byte that was next to be sent when the round began.
        now: when it came, in picoseconds.

    """

    acked: int
    marked: bool = False
    round_ended: bool = False
    now: int = 0


@dataclass
class CongestionState:
    """The congestion state of a subflow; hooks may set the first two, and `cut_until`.

    Attributes:
        cwnd: congestion window, packets, with fractions.
        ssthresh: slow start threshold, packets; infinite: unlimited.
        srtt: smoothed RTT, picoseconds; 0 before the first sample.
        snd_una: first byte not acknowledged.
        snd_nxt: next byte to be sent.
        cut_until: the window has been cut; a further mark cuts it only once this byte and more is
            acknowledged.
        established: the handshake is done and the subflow has not failed.
        in_recovery: in fast recovery.

    """

    cwnd: float
    ssthresh: float = 2.0
    srtt: float = 100e6
    snd_una: int = 1
    snd_nxt: int = 1
    cut_until: int = 0
    established: bool = True
    in_recovery: bool = False


def first_mark_of_window(state: CongestionState) -> bool:
    """Tell whether this marked ACK is the first of a window of data; if so, the next one begins.

    RFC 8257, section 3.3: at most one cut per window of data.
    """
    first = state.snd_una > state.cut_until
    if first:
        state.cut_until = state.snd_nxt
    return first


def cut_to(state: CongestionState, cwnd: float) -> None:
    """Cut the window to `cwnd` packets, and leave slow start."""
    state.cwnd = cwnd
    state.ssthresh = cwnd


def in_slow_start(state: CongestionState) -> bool:
    """Tell whether the subflow is in slow start (RFC 5681, section 3.1)."""
    return state.cwnd < state.ssthresh


def slow_start(state: CongestionState, acked: float) -> bool:
    """Grow the window by a packet for each packet acknowledged, if it is in slow start.

    Returns False, and does nothing, if slow start is over.
    """
    slow = in_slow_start(state)
    if slow:
        state.cwnd += acked
    return slow


def reno_growth(state: CongestionState, acked: float) -> None:
    """Grow the window as a standard TCP: by a packet a round (RFC 5681, equation 3)."""
    if not slow_start(state, acked):
        state.cwnd += acked / state.cwnd


def coupled_window(state: CongestionState) -> float:
    """Return the window that a coupled increase sees: in recovery it is inflated, so ssthresh."""
    if state.in_recovery:
        return state.ssthresh
    return state.cwnd


def total_window(states: Sequence[CongestionState]) -> float:
    """Return w_total: the windows of all established subflows, as a coupled increase sees them."""
    total = 0.0
    for state in states:
        if state.established:
            total += coupled_window(state)
    return total


def is_coupled(state: CongestionState) -> bool:
    """Tell whether it can be compared with others: established, and its RTT known."""
    return state.established and state.srtt > 0.0


def rate(state: CongestionState) -> float:
    """Return the packets per picosecond of a subflow whose RTT is known."""
    return coupled_window(state) / state.srtt
