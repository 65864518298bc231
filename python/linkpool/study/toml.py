"""Scenarios as dictionaries, and as TOML."""

from collections.abc import Mapping
from typing import TypeAlias

import tomli_w

Scalar: TypeAlias = "str | int | float | bool"
Value: TypeAlias = "Scalar | list[Value] | Mapping[str, Value]"
Table: TypeAlias = "Mapping[str, Value]"


def dumps(document: Table) -> str:
    """Write a document; dictionaries become tables, lists of dictionaries arrays of tables."""
    return tomli_w.dumps(document)
