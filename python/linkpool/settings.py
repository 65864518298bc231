"""The tables of a scenario as typed objects, one class per table of the JSON Schema.

    from linkpool.settings import Incast, ManyToOne, Queue, Transport

The classes are made of the schema when this module is loaded, so they have exactly the keys of
scenario files: `help(Incast)` lists them with their meanings and defaults. A key that is a word of
Python has `_` behind it (`from_`). What is not given is left to its default. `document` turns
objects into what a TOML file says.
"""

import json
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

from linkpool import _core


@dataclass(frozen=True)
class Settings:
    """A table of a scenario; the classes of this module derive from it.

    Attributes:
        kind: the name of its table under `topology` or `workload`, such as `many-to-one`; "": it
            is of neither.

    """

    kind: ClassVar[str] = ""


_SCHEMA: dict[str, Any] = json.loads(_core.schema())
_DEFINITIONS: dict[str, dict[str, Any]] = _SCHEMA["$defs"]
_TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}
_ABSENT: Any = None


def document(value: Any) -> Any:
    """Return objects as the dictionaries, lists and values that a TOML file would hold.

    Workloads may be a list of objects of any kinds, and a topology is an object.

    >>> from linkpool.settings import Queue
    >>> document({"queue": Queue(limit=100, mark=10), "duration": "1s"})
    {'queue': {'limit': 100, 'mark': 10}, 'duration': '1s'}

    """
    if isinstance(value, Settings):
        named = ((_key(one.name), getattr(value, one.name)) for one in fields(value))
        return {key: document(own) for key, own in named if own is not _ABSENT}
    if isinstance(value, Mapping):
        return {key: _section(key, part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [document(part) for part in value]
    return value


def _section(key: str, value: Any) -> Any:
    """Return the content of a table, with the kinds that objects stand for as keys."""
    if key == "topology" and isinstance(value, Settings):
        return {value.kind: document(value)}
    if key == "workload" and isinstance(value, Sequence):
        kinds: dict[str, list[Any]] = {}
        for one in value:
            if not isinstance(one, Settings) or not one.kind:
                raise TypeError(f"workload: {one!r} is no workload; write for example Incast(...)")
            kinds.setdefault(one.kind, []).append(document(one))
        return kinds
    return document(value)


def _key(name: str) -> str:
    """Return the key of an attribute: `from` of `from_`."""
    return name.removesuffix("_") if keyword.iskeyword(name.removesuffix("_")) else name


def _attribute(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def _type(schema: Mapping[str, Any]) -> Any:
    """Return the type of a value for its signature; the simulator checks the value itself."""
    reference = schema.get("$ref", "").rpartition("/")[2]
    if reference:
        target = _DEFINITIONS[reference]
        return reference if "properties" in target else _type(target)
    if "anyOf" in schema:
        return Any
    if schema.get("type") == "array":
        return list
    return _TYPES.get(str(schema.get("type")), Any)


def _class(name: str, schema: Mapping[str, Any], kind: str) -> type[Settings]:
    required = schema.get("required", [])
    lines = [str(schema.get("description", name)), "", "Attributes:"]
    members: list[Any] = []
    for key, of_key in schema["properties"].items():
        attribute, hint = _attribute(key), _type(of_key)
        lines.append(f"    {attribute}: {of_key.get('description', '')}")
        if key in required:
            members.append((attribute, hint, field(kw_only=True)))
        else:
            members.append((attribute, hint, field(default=_ABSENT, kw_only=True)))
    namespace = {"__doc__": "\n".join(lines), "__module__": __name__, "kind": kind}
    return make_dataclass(name, members, bases=(Settings,), namespace=namespace, frozen=True)


def _kinds() -> dict[str, str]:
    """Return the kind of each definition that is a topology or a workload."""
    topologies = _SCHEMA["properties"]["topology"]["properties"].items()
    workloads = _SCHEMA["properties"]["workload"]["properties"].items()
    refs = [(kind, schema["$ref"]) for kind, schema in topologies]
    refs += [(kind, schema["items"]["$ref"]) for kind, schema in workloads]
    return {reference.rpartition("/")[2]: kind for kind, reference in refs}


CLASSES: dict[str, type[Settings]] = {
    name: _class(name, schema, _kinds().get(name, ""))
    for name, schema in _DEFINITIONS.items()
    if "properties" in schema
}
"""Every class of this module by its name."""


def __getattr__(name: str) -> Any:
    try:
        return CLASSES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted([*CLASSES, "CLASSES", "Settings", "document"])
