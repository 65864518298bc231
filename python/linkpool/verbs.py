"""What values do by code that stands above them, as `Result.explain` and `Study.run`.

A value imports nothing that is made of it. Its class declares such a method, with its types and its
words, and asks here for the function that does it. The face of the package, which knows all, says
where each is; it is loaded when it is used first.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_homes: dict[str, str] = {}


def attach(homes: Mapping[str, str]) -> None:
    """Say where functions are: by the name of the method, `MODULE:FUNCTION`."""
    _homes.update(homes)


def attached() -> list[str]:
    """Return the names of all methods whose functions are known."""
    return sorted(_homes)


def verb(name: str) -> Callable[..., Any]:
    """Return the function of a method."""
    module, _, path = _homes[name].partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function
