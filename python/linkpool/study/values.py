"""What the tables of a study call the values of its varied keys."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from linkpool.loading import inline

Shown: TypeAlias = "str | int | float"


def names_of(table: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Shown]]:
    """Return what tables call each value of each key, by the value as TOML.

    >>> names_of({"queue.mark": [10, 2.5]})
    {'queue.mark': {'10': 10.0, '2.5': 2.5}}

    """
    return {
        key: dict(zip(map(inline, values), shown(values), strict=True))
        for key, values in table.items()
    }


def shown(values: Sequence[Any]) -> list[Shown]:
    """Return the values of a varied key as the tables have them, all of one type.

    Numbers and texts are as they are; else, and where both are there, they are written as TOML.

    >>> shown([10, 2.5]), shown(["10Gbps", "auto"]), shown([True, 3]), shown([["1Gbps"]])
    ([10.0, 2.5], ['10Gbps', 'auto'], ['true', '3'], ['["1Gbps"]'])

    """
    kinds = {type(value) for value in values}
    if kinds <= {int} or kinds <= {str}:
        return list(values)
    if kinds <= {int, float}:
        return [float(value) for value in values]
    return [value if isinstance(value, str) else inline(value) for value in values]


def key_name(key: str) -> str:
    """Name a key of a scenario as tables and figures do: of a workload by its kind.

    Two keys never have the same name.

    >>> [key_name(f"workload.{key}") for key in ("poisson.0.load", "flow.2.size")]
    ['poisson load', 'flow.2 size']

    """
    found = _OF_WORKLOAD.fullmatch(key)
    if found is None:
        return key
    kind, number, rest = found.groups()
    return f"{kind} {rest}" if number == "0" else f"{kind}.{number} {rest}"


_OF_WORKLOAD = re.compile(r"workload\.([^.]+)\.(0|[1-9][0-9]*)\.(.+)")
