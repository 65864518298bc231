"""Compile the hooks of an algorithm to native functions, by numba.

The memory that hooks see is the simulator's own: congestion states have the layout that
`_core.control_layout` says, and the state of a connection is an array of words, one for each
parameter and variable. The functions check every index. An exception in a hook becomes the answer
-1, which ends the run.
"""

from __future__ import annotations

import builtins
import dis
import math
import re
import sys
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import cfunc, njit, types
from numba.np.numpy_support import from_dtype

from linkpool import _core, control
from linkpool.control import adapters, congestion
from linkpool.control.check import check
from linkpool.control.congestion import Ack
from linkpool.control.declare import HOOKS as HOOK_ARGUMENTS
from linkpool.control.declare import ControlError, Declaration, Parameter, Scalar
from linkpool.control.state import ALONE, WITH_SUBFLOWS, ConnectionType

_OPTIONS: dict[str, Any] = {"boundscheck": True, "error_model": "python"}
_INNER = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_WORD = 8
_NOISE = ("Failed in", "During:", "File ", "<source", "^", "def ", "[")
"""The beginnings of lines that say nothing to users."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_KEPT: list[Any] = []
"""What the simulator may call until the process ends."""

_SIZE, _FIELDS, HOOKS = _core.control_layout()
_FORMATS = {"f": "f8", "i": "i8", "b": "?"}
PATH: Any = from_dtype(
    np.dtype(
        {
            "names": [name for name, _, _ in _FIELDS],
            "formats": [_FORMATS[kind] for _, _, kind in _FIELDS],
            "offsets": [offset for _, offset, _ in _FIELDS],
            "itemsize": _SIZE,
            "aligned": True,
        }
    )
)
_PATHS = types.Array(PATH, 1, "C")
_INT, _FLOAT, _BOOL = types.int64, types.float64, types.boolean
_ADAPTERS = adapters.of(PATH)
_ACK = types.NamedTuple([_INT, _BOOL, _BOOL, _INT], Ack)
_ARGUMENTS: dict[str, Any] = {
    "states": _PATHS,
    "s": _INT,
    "ack": _ACK,
    "acked": _FLOAT,
    "flight": _INT,
    "sent": _INT,
}
_RETURNS: dict[str, Any] = {
    "in_ack_event": _BOOL,
    "cut_after_growth": _BOOL,
    "ssthresh": _FLOAT,
    "joins_now": _BOOL,
    "is_active": _BOOL,
    "needs_ecn_on": _BOOL,
}
"""What hooks return; others return nothing."""


def describe(file: str, declared: Declaration) -> dict[str, Any]:
    """Compile an algorithm of `file`, and return its description for `_core.define_control`.

    Raises:
        ControlError: a hook cannot be compiled; the message names it, and the line.

    """
    values = {key: one.default for key, one in declared.parameters.items()}
    head: dict[str, Scalar] = {**values, **declared.state}
    words = {key: at for at, key in enumerate(head)}
    hooks = _Hooks(file, declared, head)
    return {
        "name": declared.name,
        "sentence": declared.about,
        "source": declared.source,
        "needs_ecn": declared.ecn,
        "parameters": [
            _parameter(key, words[key], one) for key, one in declared.parameters.items()
        ],
        "connection": [_word(value) for value in head.values()],
        "subflow": [_word(value) for value in declared.subflow.values()],
        "counters": [(key, words[key]) for key in declared.counters],
        "addresses": [hooks.address(name) for name in HOOKS],
    }


def _parameter(key: str, word: int, one: Parameter) -> dict[str, Any]:
    return {
        "key": key,
        "doc": one.doc,
        "word": word,
        "defaults": [one.default, one.paper_2013],
        "least": max(one.least, one.above),
        "above": one.above > -math.inf,
        "most": min(one.most, one.below),
        "below": one.most == math.inf,
        "message": one.message(),
    }


def _word(value: Scalar) -> int:
    """Return the word that holds a value."""
    word = np.zeros(1, np.uint64)
    word.view(_kind(value))[0] = value
    return int(word[0])


def _kind(value: Scalar) -> str:
    return {bool: "?", int: "i8", float: "f8"}[type(value)]


def _record(values: Mapping[str, Scalar]) -> Any:
    """Return the type of so many words; there is at least one."""
    held = values or {"_": 0}
    offsets = [at * _WORD for at in range(len(held))]
    formats = [_kind(value) for value in held.values()]
    layout: Any = {"names": list(held), "formats": formats, "offsets": offsets}
    layout |= {"itemsize": _WORD * len(held), "aligned": True}
    return from_dtype(np.dtype(layout))


class _Hooks:
    """The hooks of an algorithm, and the helpers that they call, as numba compiles them."""

    def __init__(self, file: str, declared: Declaration, head: Mapping[str, Scalar]) -> None:
        self._file, self._declared = file, declared
        self._head, self._own = _record(head), _record(declared.subflow)
        self._self = ConnectionType(
            self._head, types.Array(self._own, 1, "C") if declared.subflow else None
        )
        self._short = ((self._own, "subflow"), (self._head, "self"))
        self._natives: dict[object, Any] = {}
        self._namespaces: dict[int, dict[str, Any]] = {}

    def address(self, name: str) -> int:
        """Return the address of a hook; 0: the algorithm lacks it."""
        hook = self._declared.hooks.get(name)
        if hook is None:
            return 0
        try:
            compiled = self._compiled(name, hook)
            view = WITH_SUBFLOWS if self._declared.subflow else ALONE
            call, signature = _ADAPTERS[name](compiled, view)
            head, own = types.CPointer(self._head), types.CPointer(self._own)
            native = cfunc(types.int32(head, own, *signature), **_OPTIONS)(call)
        except ControlError:
            raise
        except Exception as error:  # numba has many, and not all are its own
            raise ControlError(self._explain(name, error)) from None
        _KEPT.append(native)
        return int(native.address)

    def _compiled(self, name: str, hook: FunctionType) -> Any:
        """Compile a hook with its helpers, and check what came of it."""
        compiled = self._native(hook)
        own = (_ARGUMENTS[argument] for argument in HOOK_ARGUMENTS[name][1:])
        arguments = (self._self, *own)
        compiled.compile(arguments)
        for function in self._natives.values():
            check(self._file, function, PATH)
        returned = compiled.overloads[arguments].signature.return_type
        wanted = _RETURNS.get(name, types.none)
        line = hook.__code__.co_firstlineno
        right = returned == wanted or (wanted == _FLOAT and isinstance(returned, types.Number))
        if not right and not (wanted == _BOOL and isinstance(returned, types.Boolean)):
            what = {_BOOL: "a bool", _FLOAT: "a float"}.get(wanted, "nothing")
            raise ControlError(
                f"{self._file}:{line}: {name} returns {returned}; it must return {what} always"
            )
        return compiled

    def _native(self, function: FunctionType) -> Any:
        """Return a function as numba will compile it, with all functions that it names."""
        key = function.__code__
        if key not in self._natives:
            names = self._namespace(function)
            self._require_names(function, names)
            copy = FunctionType(
                key, names, function.__name__, function.__defaults__, function.__closure__
            )
            self._natives[key] = njit(**_INNER)(copy)
            for name in key.co_names:
                if name in names:
                    names[name] = self._in_reach(names[name], function)
        return self._natives[key]

    def _require_names(self, function: FunctionType, names: Mapping[str, Any]) -> None:
        """Raise `ControlError` if it uses a name that is not there; numba would not say where."""
        line = function.__code__.co_firstlineno
        for instruction in dis.get_instructions(function):
            line = _line(instruction) or line
            name = instruction.argval
            used = instruction.opname == "LOAD_GLOBAL"
            if used and name not in names and not hasattr(builtins, name):
                where = f"{self._file}:{line}: {function.__name__}"
                raise ControlError(f"{where} cannot be compiled: {name} is not defined")

    def _explain(self, name: str, error: Exception) -> str:
        """Return the message of the compiler in one line, with the place of the mistake."""
        # numba colours its messages where colorama is installed.
        text, file = _COLOURS.sub("", str(error)), re.escape(self._file)
        # The innermost place comes first.
        place = re.search(rf'(?:File "{file}", line |at {file} \()(\d+)', text)
        line = place[1] if place else getattr(getattr(error, "loc", None), "line", None)
        if isinstance(error, KeyError):
            text = f"there is no field {text}"
            line = self._first_line(error.args[0])
        for kind, short in (
            (self._self, "self"),
            (_PATHS, "states"),
            (PATH, "state"),
            *self._short,
        ):
            text = text.replace(str(kind), short)
        told = [line.strip() for line in text.splitlines()]
        told = [line for line in told if line and not line.startswith(_NOISE)]
        line = line or self._declared.hooks[name].__code__.co_firstlineno
        what = (told or [type(error).__name__])[0][:200]
        return f"{self._file}:{line}: {name} cannot be compiled: {what}"

    def _first_line(self, name: object) -> int | None:
        """Return the line of the first function that uses a name, and where."""
        for native in self._natives.values():
            line = None
            for instruction in dis.get_instructions(native.py_func):
                line = _line(instruction) or line
                if instruction.argval == name:
                    return line
        return None

    def _in_reach(self, value: Any, of: FunctionType) -> Any:
        """Return what a name of a function stands for, with functions of Python compiled."""
        value = getattr(value, "py_func", value)
        if value is control:
            shadow = ModuleType(control.__name__)
            own = {name: self._in_reach(getattr(control, name), of) for name in control.__all__}
            vars(shadow).update(own)
            return shadow
        if isinstance(value, FunctionType) and value.__module__ in (
            of.__module__,
            congestion.__name__,
        ):
            return self._native(value)
        return value

    def _namespace(self, function: FunctionType) -> dict[str, Any]:
        return self._namespaces.setdefault(id(function.__globals__), dict(function.__globals__))


def _line(instruction: dis.Instruction) -> int | None:
    """Return the line of an instruction, if it says so."""
    if sys.version_info >= (3, 11):
        return instruction.positions.lineno if instruction.positions else None
    return instruction.starts_line  # Python 3.10: of the first of a line
