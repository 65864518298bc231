"""Values of a command line that are read without pydantic.

Typer 0.29 reads every value by pydantic, which takes 0.15 s of a core to load: half of a small run.
Paths, names and plain numbers need none of it. Whatever is another value, or is out of bounds,
typer reads, so that its messages stay as they are.
"""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from typer.core import TyperCommand

INTEGER = re.compile(r"-?[0-9]{1,18}")


class _Quick(NamedTuple):
    """Reads the values of a parameter in typer's place, as far as they are plain."""

    param: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value of the parameter's type, or what typer says of it."""
        if value is None:
            return None
        read = self._read(value)
        if read is not None:
            return read
        param._runtime_param = None  # typer makes its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)

    def _read(self, value: Any) -> Any:
        """Return a value, or None if it is not plain."""
        kind = self.param.type_descriptor.annotation
        if get_origin(kind) is not list:
            return self._one(kind, value)
        if not isinstance(value, (list, tuple)):
            return None
        values = [self._one(get_args(kind)[0], one) for one in value]
        return None if None in values else values

    def _one(self, kind: Any, value: Any) -> Any:
        info = self.param.type_descriptor.parameter_info
        if kind is str and isinstance(value, str):
            return value
        if kind is int and isinstance(value, str) and INTEGER.fullmatch(value):
            low = -float("inf") if info.min is None else info.min
            high = float("inf") if info.max is None else info.max
            return int(value) if low <= int(value) <= high else None
        if kind is Path and isinstance(value, str):
            # Typer refuses a file that is there and cannot be read.
            return Path(value) if not os.path.lexists(value) or os.access(value, os.R_OK) else None
        return None


class QuickParams:
    """A command that reads plain values without pydantic; other versions of typer do so anyway."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with those that typer adds."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "_runtime_param", False) is None and _is_plain(param):
                param._runtime_param = _Quick(param)
        return params


class QuickCommand(QuickParams, TyperCommand):
    """A command of typer that reads plain values without pydantic."""


def _is_plain(param: Any) -> bool:
    """Tell whether typer only converts the values of a parameter, and checks bounds."""
    info = param.type_descriptor.parameter_info
    checks = ("parser", "exists", "writable", "resolve_path", "allow_dash", "clamp")
    return not any(getattr(info, check, None) for check in checks)
