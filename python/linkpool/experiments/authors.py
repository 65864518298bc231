"""Faults of the implementation that the authors of AMP and MMPTCP published, by what they concern.

`docs/authors-implementation.md` says what each does, and which published figures they explain.
"""

HANDSHAKE_FAULTS = ("join-syn-once", "join-stall", "fin-reset")
"""Of the handshakes of further subflows: flows never end."""

ACK_FAULTS = ("held-unacknowledged", "no-data-ack", "fin-timeouts", "dupacks-kept")
"""Of acknowledgments: a flow has chains of timeouts while the network is idle."""

FAULTS = (*HANDSHAKE_FAULTS, *ACK_FAULTS)
"""All of them."""
