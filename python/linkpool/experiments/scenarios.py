"""Scenarios of papers: tables of `scenarios.toml`, in which words in braces stand for values."""

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from linkpool.study.toml import Table, Value

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def scenario(folder: str, name: str, /, **words: "Value | None") -> dict[str, Any]:
    """Return a scenario of a paper with its words in place.

    A text that is one word in braces becomes its value, be it a number or a table; without a value
    (None) its key is left out. Other texts, and keys, have the words in them. A transport that is
    `like` one of `transports.toml` has the settings of that one, too.

    >>> scenario("xmp", "X-fig6", beta=4)["name"]
    'XMP, four flows on one link, beta = 4'
    """
    found = filled(read(folder, "scenarios")[name], words)
    for name, own in found.get("transport", {}).items():
        found["transport"][name] = transport(folder, own) if "like" in own else own
    return found


def filled(table: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario, or a part of one, with its words in place as `scenario` does."""
    found: dict[str, Any] = _filled(table, words)
    return found


def transport(folder: str, own: str | Mapping[str, Any], /, **keys: Value) -> Table:
    """Return a transport of `transports.toml`, or one that is `like` one of these.

    >>> transport("ndp", {"like": "ndp", "min_rto": "1ms"}, initial_window=20)
    {'control': 'ndp', 'min_rto': '1ms', 'initial_window': 20}
    """
    settings = dict(read(folder, "transports")[own] if isinstance(own, str) else own)
    like = settings.pop("like", None)
    return {**(transport(folder, like) if like else {}), **settings, **keys}


@cache
def read(folder: str, name: str) -> dict[str, Any]:
    """Read a file of a folder."""
    file = Path(__file__).parent / folder / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _filled(value: Any, words: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        whole = re.fullmatch(r"\{(\w+)\}", value)
        return words[whole[1]] if whole else value.format(**words)
    if isinstance(value, list):
        return [_filled(each, words) for each in value]
    if isinstance(value, dict):
        filled = {key.format(**words): _filled(each, words) for key, each in value.items()}
        return {key: each for key, each in filled.items() if each is not None}
    return value
