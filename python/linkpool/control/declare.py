"""What an algorithm declares: a class with parameters, state and hooks, and its name.

A declaration is read from the class once, when it is decorated; each error names the class and
what would be right.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any, TypeAlias, TypeVar, cast

Scalar: TypeAlias = "bool | int | float"
C = TypeVar("C")
S = TypeVar("S", bool, int, float)

HOOKS: Mapping[str, tuple[str, ...]] = {
    "init": ("self",),
    "in_ack_event": ("self", "states", "s", "ack"),
    "cut_after_growth": ("self", "states", "s"),
    "cong_avoid": ("self", "states", "s", "acked"),
    "ssthresh": ("self", "states", "s", "flight"),
    "on_timeout": ("self", "s"),
    "undo": ("self", "s"),
    "on_established": ("self", "s"),
    "on_failed": ("self", "s"),
    "joins_now": ("self", "states", "sent"),
    "is_active": ("self", "s"),
    "needs_ecn_on": ("self", "s"),
}
"""The hooks and their arguments."""

REQUIRED = ("in_ack_event", "cong_avoid")

MARK = "__linkpool_control__"
"""The attribute of a class that holds its declaration."""


class ControlError(ValueError):
    """An algorithm cannot be used; the message names the file, function, line, and the remedy."""


@dataclass(frozen=True)
class Parameter:
    """A key of transports with this algorithm; see `parameter`."""

    default: Scalar
    paper_2013: Scalar
    least: float
    above: float
    most: float
    below: float
    doc: str

    def message(self) -> str:
        """Say which values are right."""
        low = f"above {self.above:g}" if self.above > -math.inf else f"at least {self.least:g}"
        high = f"below {self.below:g}" if self.below < math.inf else f"at most {self.most:g}"
        bounds = [low] if max(self.above, self.least) > -math.inf else []
        bounds += [high] if min(self.below, self.most) < math.inf else []
        return "{} is out of bounds; it must be " + (" and ".join(bounds) or "a finite number")


@dataclass(frozen=True)
class Counter:
    """State that is reported to the results; see `counter`."""


@dataclass(frozen=True)
class Declaration:
    """An algorithm, as its class declares it."""

    name: str
    about: str
    source: str
    ecn: bool
    parameters: Mapping[str, Parameter]
    state: Mapping[str, Scalar]
    counters: tuple[str, ...]
    subflow: Mapping[str, Scalar]
    hooks: Mapping[str, FunctionType]


def parameter(
    default: S,
    *,
    paper_2013: S | None = None,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
    doc: str = "",
) -> S:
    """Declare a parameter of an algorithm: a key of the transports that use it.

    Args:
        default: its default, which also says whether it is a float, an int or a bool.
        paper_2013: the default of `preset = "paper-2013"`; None: the same.
        least: the least value that is right.
        above: the value must be above this.
        most: the largest value that is right.
        below: the value must be below this.
        doc: its meaning.

    """
    other = default if paper_2013 is None else paper_2013
    return cast(S, Parameter(default, other, least, above, most, below, doc))


def counter() -> int:
    """Declare an int, 0 at first, that the results report for each flow, in the table `metrics`."""
    return cast(int, Counter())


def control(
    name: str, *, about: str = "", source: str = "", ecn: bool = True
) -> Callable[[type[C]], type[C]]:
    """Declare the class below as a congestion control algorithm.

    Args:
        name: its name in scenarios.
        about: how it works, in a sentence.
        source: where it is defined: a paper, an RFC.
        ecn: are its packets ECN-capable?

    Raises:
        ControlError: the class is no algorithm.

    """

    def declare(cls: type[C]) -> type[C]:
        setattr(cls, MARK, _declaration(cls, name, about, source, ecn))
        return cls

    return declare


def declaration_of(value: object) -> Declaration | None:
    """Return the declaration of a class, or None if it is no algorithm."""
    return vars(value).get(MARK) if isinstance(value, type) else None


def connection(cls: type, subflows: int = 1, **parameters: Scalar) -> Any:
    """Return the state of a new connection, to test hooks as plain Python functions.

    >>> from linkpool.control import CongestionState, connection, control, parameter, slow_start
    >>> @control("scalable")
    ... class Scalable:
    ...     growth = parameter(0.01, above=0.0)
    ...     def in_ack_event(self, states, s, ack):
    ...         return False
    ...     def cong_avoid(self, states, s, acked):
    ...         if not slow_start(states[s], acked):
    ...             states[s].cwnd += self.growth * acked
    >>> states = [CongestionState(cwnd=80.0)]
    >>> connection(Scalable, growth=0.5).cong_avoid(states, 0, 1.0)
    >>> states[0].cwnd
    80.5

    """
    declared = declaration_of(cls)
    if declared is None:
        raise ControlError(f"{cls.__name__} is no algorithm; decorate it with @control(...)")
    unknown = sorted(parameters.keys() - declared.parameters.keys())
    if unknown:
        raise ControlError(f"{cls.__name__} has no parameter {unknown[0]}")
    values = {key: one.default for key, one in declared.parameters.items()}
    made = cls()
    for key, value in {**values, **declared.state, **parameters}.items():
        setattr(made, key, value)
    made.subflows = [SimpleNamespace(**declared.subflow) for _ in range(subflows)]
    if "init" in declared.hooks:
        made.init()
    return made


def _declaration(cls: type, name: str, about: str, source: str, ecn: bool) -> Declaration:
    parameters: dict[str, Parameter] = {}
    state: dict[str, Scalar] = {}
    counters: list[str] = []
    subflow: dict[str, Scalar] = {}
    hooks: dict[str, FunctionType] = {}

    def refuse(key: str, why: str) -> ControlError:
        return ControlError(f"class {cls.__name__}: {key} {why}")

    for key, value in vars(cls).items():
        if key.startswith("__"):
            continue
        if key == "Subflow" and isinstance(value, type):
            subflow = {k: _scalar(f"Subflow.{k}", v, refuse) for k, v in _own(value)}
        elif key == "subflows":
            raise refuse(key, "is the state of the subflows, which class Subflow declares")
        elif isinstance(value, FunctionType):
            hooks[key] = _hook(key, value, refuse)
        elif isinstance(value, Parameter):
            parameters[key] = _parameter(key, value, refuse)
        elif isinstance(value, Counter):
            state[key] = 0
            counters.append(key)
        else:
            state[key] = _scalar(key, value, refuse)
    for key in REQUIRED:
        if key not in hooks:
            raise refuse(key, f"is missing; write def {key}({', '.join(HOOKS[key])})")
    return Declaration(name, about, source, ecn, parameters, state, tuple(counters), subflow, hooks)


Refuse: TypeAlias = Callable[[str, str], ControlError]


def _own(cls: type) -> list[tuple[str, object]]:
    return [(key, value) for key, value in vars(cls).items() if not key.startswith("__")]


def _scalar(key: str, value: object, refuse: Refuse) -> Scalar:
    if not isinstance(value, bool | int | float):
        raise refuse(key, f"is {type(value).__name__}; state is True or False, an int or a float")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise refuse(key, "does not fit into 64 bits")
    return value


def _parameter(key: str, value: Parameter, refuse: Refuse) -> Parameter:
    kind = type(_scalar(key, value.default, refuse))
    if type(value.paper_2013) is not kind:
        raise refuse(key, "has defaults of two types; write both as float, int or bool")
    for default in (value.default, value.paper_2013):
        low = value.least <= default and (value.above < default or value.above == -math.inf)
        high = default <= value.most and (default < value.below or value.below == math.inf)
        if not (low and high and math.isfinite(default)):
            raise refuse(key, f"has the default {value.message().format(default)}")
    return value


def _hook(key: str, value: FunctionType, refuse: Refuse) -> FunctionType:
    if key not in HOOKS:
        known = ", ".join(HOOKS)
        raise refuse(
            key, f"is no hook; there are {known}; write a helper as a function outside the class"
        )
    found = tuple(inspect.signature(value).parameters)
    if len(found) != len(HOOKS[key]):
        raise refuse(key, f"takes {', '.join(found)}; write def {key}({', '.join(HOOKS[key])})")
    return value
