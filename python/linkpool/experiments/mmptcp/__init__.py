"""Tables and figures of the MMPTCP paper."""
