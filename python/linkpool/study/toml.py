"""Write nested dictionaries as TOML; only what scenarios need."""

import json
from collections.abc import Mapping
from typing import TypeAlias

Scalar: TypeAlias = "str | int | float | bool"
Value: TypeAlias = "Scalar | list[Value] | Mapping[str, Value]"
Table: TypeAlias = "Mapping[str, Value]"


def dumps(document: Table) -> str:
    """Write a document; dictionaries become tables, lists of dictionaries arrays of tables."""
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(table: Table, path: tuple[str, ...], lines: list[str]) -> None:
    nested = {key: value for key, value in table.items() if _is_nested(value)}
    plain = {key: value for key, value in table.items() if key not in nested}
    if path and (plain or not nested):
        lines += ["", f"[{'.'.join(path)}]"]
    lines += [f"{key} = {_inline(value)}" for key, value in plain.items()]
    for key, value in nested.items():
        if isinstance(value, Mapping):
            _table(value, (*path, key), lines)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, Mapping):
                    lines += ["", f"[[{'.'.join((*path, key))}]]"]
                    lines += [f"{name} = {_inline(entry)}" for name, entry in item.items()]


def _is_nested(value: Value) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping)


def _inline(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    return repr(value)
