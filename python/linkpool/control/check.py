"""What a compiled function must not do although it compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir

from linkpool.control.declare import ControlError

WINDOWS = ("cwnd", "ssthresh", "cut_until")
"""The fields of a state that hooks may set."""

RANDOM = ("random", "numpy.random")


def check(file: str, function: Any, state: Any) -> None:
    """Check every version of a function that numba has compiled; `state` is the type of a state.

    Raises:
        ControlError: it sets what it must not, loses a fraction, or draws random numbers; the
            message has the function and the line.

    """
    for compiled in function.overloads.values():
        annotation = compiled.type_annotation
        for statement in _statements(annotation.blocks):
            why = _wrong(statement, annotation.typemap, annotation.calltypes, state)
            if why:
                name = function.py_func.__name__
                raise ControlError(f"{file}:{statement.loc.line}: {name} {why}")


def _statements(blocks: Any) -> Iterator[Any]:
    for block in blocks.values():
        yield from block.body


def _wrong(statement: Any, kinds: Any, calls: Any, state: Any) -> str | None:
    if isinstance(statement, ir.SetAttr):
        target, value = kinds[statement.target.name], kinds[statement.value.name]
        if target == state and statement.attr not in WINDOWS:
            return f"sets {statement.attr}, which is the sender's; hooks set {', '.join(WINDOWS)}"
        held = calls[statement].args[1]
        if isinstance(held, types.Integer | types.Boolean) and isinstance(value, types.Float):
            return f"stores a float in {statement.attr}, which is {held}; give it a default of 0.0"
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        target = kinds[statement.target.name]
        if getattr(target, "dtype", target) == state or isinstance(target, types.Record):
            return "sets a whole record, or a field by its name as an index; write x.name = value"
    if isinstance(statement, ir.Assign):
        kind = kinds.get(statement.target.name)
        key = getattr(kind, "typing_key", None)
        owner = type(getattr(key, "__self__", None)).__module__
        home = getattr(key, "__module__", None) or owner
        if isinstance(kind, types.Function) and str(home).startswith(RANDOM):
            return "draws random numbers, which no seed determines; leave them out"
    return None
