"""Congestion control algorithms in Python: plain functions that numba compiles to native hooks.

    from linkpool.control import Ack, control, parameter

    @control("my-control", about="one packet a round, half on a mark", source="a page of ours")
    class MyControl:
        cwnd_min = parameter(2.0, least=1.0, doc="Floor of the window after a mark, packets.")

        def in_ack_event(self, states, s, ack): ...
        def cong_avoid(self, states, s, acked): ...

A scenario names the file, `controls = ["my_control.py"]`, and its transports the algorithm,
`control = "my-control"`. `docs/python-algorithm.md` tells all of it. This package does not load
numba: whoever tests hooks as plain Python, or imports them, does not need it.
"""

from linkpool.control.congestion import (
    Ack,
    CongestionState,
    coupled_window,
    cut_to,
    first_mark_of_window,
    in_slow_start,
    is_coupled,
    rate,
    reno_growth,
    slow_start,
    total_window,
)
from linkpool.control.declare import ControlError, connection, control, counter, parameter

__all__ = [
    "Ack",
    "CongestionState",
    "ControlError",
    "connection",
    "control",
    "counter",
    "coupled_window",
    "cut_to",
    "first_mark_of_window",
    "in_slow_start",
    "is_coupled",
    "parameter",
    "rate",
    "reno_growth",
    "slow_start",
    "total_window",
]
