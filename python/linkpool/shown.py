"""What a folder shows of its modules: each is loaded when one of its names is used first.

A command that needs one name of a folder then waits for the libraries of one module, not of all.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def shown(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Args:
        package: its `__name__`.
        homes: each name that it shows, and the module that has it.

    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *homes})

    return get, names
