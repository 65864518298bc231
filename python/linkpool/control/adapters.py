"""From the arguments of the simulator to those of hooks.

Each adapter is compiled with its hook. It answers 0 or 1, what the hook returned, or -1 if that
raised an exception. `crates/transport/src/control/callbacks.rs` has the same signatures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numba import carray, types

from linkpool.control.congestion import Ack

Adapter: TypeAlias = Callable[[Any, Any], tuple[Any, tuple[Any, ...]]]
"""Takes a compiled hook, and what makes `self`; returns what numba compiles, with its arguments
behind the two pointers to the state."""

_INT, _FLAG, _FLOAT = types.int64, types.uint8, types.float64
RAISED = -1


def of(state: Any) -> dict[str, Adapter]:
    """Return the adapter of each hook; `state` is the type of a state."""
    states = types.CPointer(state)

    def in_ack_event(hook: Any, view: Any) -> Any:
        def call(
            head: Any,
            own: Any,
            at: Any,
            n: int,
            s: int,
            acked: int,
            marked: int,
            ended: int,
            now: int,
        ) -> int:
            try:
                ack = Ack(acked, marked != 0, ended != 0, now)
                return int(hook(view(head, own, n), carray(at, n), s, ack))
            except Exception:
                return RAISED

        return call, (states, _INT, _INT, _INT, _FLAG, _FLAG, _INT)

    def on_states(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, at: Any, n: int, value: int) -> int:
            try:
                return int(hook(view(head, own, n), carray(at, n), value))
            except Exception:
                return RAISED

        return call, (states, _INT, _INT)

    def cong_avoid(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, at: Any, n: int, s: int, acked: float) -> int:
            try:
                hook(view(head, own, n), carray(at, n), s, acked)
                return 0
            except Exception:
                return RAISED

        return call, (states, _INT, _INT, _FLOAT)

    def ssthresh(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, at: Any, n: int, s: int, flight: int, to: Any) -> int:
            try:
                carray(to, 1)[0] = hook(view(head, own, n), carray(at, n), s, flight)
                return 0
            except Exception:
                return RAISED

        return call, (states, _INT, _INT, _INT, types.CPointer(_FLOAT))

    def init(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, n: int, s: int) -> int:
            try:
                hook(view(head, own, n))
                return 0
            except Exception:
                return RAISED

        return call, (_INT, _INT)

    def tell(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, n: int, s: int) -> int:
            try:
                hook(view(head, own, n), s)
                return 0
            except Exception:
                return RAISED

        return call, (_INT, _INT)

    def ask(hook: Any, view: Any) -> Any:
        def call(head: Any, own: Any, n: int, s: int) -> int:
            try:
                return int(hook(view(head, own, n), s))
            except Exception:
                return RAISED

        return call, (_INT, _INT)

    return {
        "init": init,
        "in_ack_event": in_ack_event,
        "cut_after_growth": on_states,
        "cong_avoid": cong_avoid,
        "ssthresh": ssthresh,
        "on_timeout": tell,
        "undo": tell,
        "on_established": tell,
        "on_failed": tell,
        "joins_now": on_states,
        "is_active": ask,
        "needs_ecn_on": ask,
    }
