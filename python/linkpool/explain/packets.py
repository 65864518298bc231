"""What a packet in a trace is known by, at both ends."""

from collections.abc import Mapping
from typing import Any

from linkpool import _core

GOES_ON = ("trimmed", "returned")
"""Losses of the payload only: the header arrives, at the receiver or back at the sender."""

ROLES = _core.packet_kinds()
"""What each kind of packet without data is for, by its name in the trace."""


def key_of(packet: Mapping[str, Any], to: str) -> tuple[object, ...]:
    """Return what a packet to an end keeps on its way, though it may be trimmed or sent back."""
    kind = packet["kind"]
    if kind in ("header", "returned"):
        kind, to = "data", "receiver"
    return to, packet["subflow"], kind, packet["seq"], packet["ack"], packet["payload"]


def other_end(end: str) -> str:
    """Return the other end of a connection."""
    return "receiver" if end == "sender" else "sender"
