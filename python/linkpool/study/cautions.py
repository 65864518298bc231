"""What a plan says of its runs: keys kept of the base, drains too short, loads that are offered."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from linkpool import _core
from linkpool.doubts import doubts
from linkpool.offered import TierLoad, remarks
from linkpool.pausing import droppers, headrooms, risks
from linkpool.study.cache import Entry
from linkpool.study.model import ARM, BASE_ARM, flatten, name_of
from linkpool.study.point import Keys, Point
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Settings: TypeAlias = "tuple[tuple[str, str], ...]"

LISTED = 12
"""More arms than these are not named one by one."""


def cautions(entries: Sequence[Entry]) -> list[str]:
    """Return what the reader of a plan should know before the runs are made, each thing once."""
    first: dict[str, Entry] = {}
    for entry in entries:
        first.setdefault(entry.point.name, entry)
    said: dict[str, list[Point]] = {}
    loads: dict[str, list[str]] = {}
    risky: dict[str, list[str]] = {}
    reader = _Reader()
    for entry in first.values():
        scenario = entry.scenario
        document = tomllib.loads(scenario.toml)
        # In a large fabric it takes a while to find what passes where.
        offering = _tables(document, "topology", "workload")
        if offering not in loads:
            loads[offering] = remarks([TierLoad(*tier) for tier in scenario.offered_loads()])
        pausing = _tables(document, "topology", "queue", "transport")
        if pausing not in risky:
            risky[pausing] = [*risks(headrooms(scenario)), *droppers(document)]
        lines = [*reader.kept(entry), *doubts(scenario.toml), *loads[offering]]
        for line in [*lines, *risky[pausing]]:
            said.setdefault(line, []).append(entry.point)
    points = [entry.point for entry in first.values()]
    return [f"{listed(who, points)}: {line}" for line, who in said.items()]


def _tables(document: Mapping[str, Any], *names: str) -> str:
    """Return tables on which what is said depends: scenarios that share them are judged once."""
    return dumps({name: document[name] for name in names if name in document})


_MISSING = object()


class _Reader:
    """Reads variants of scenarios, each once: to read a long trace takes a while."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str, Settings], dict[str, Any] | None] = {}

    def kept(self, entry: Entry) -> Iterator[str]:
        """Say what a run keeps of the base whose default its settings change.

        Settings merge with the tables of the base: a key of the base stays unless it is set, though
        its default may depend on what is set. Keys that stand beside a key that is set are looked
        at.
        """
        point = entry.point
        base = flatten(tomllib.loads(point.scenario))
        names = [name for name, _ in point.settings]
        tables = {name.rpartition(".")[0] for name in names} - {""}
        beside = [name for name in base if name.rpartition(".")[0] in tables and name not in names]
        asked = flatten(tomllib.loads(entry.scenario.toml)) if beside else {}
        for name in beside:
            here = self._default(point, point.settings, name, beside)
            without = asked.get(name, _MISSING), self._default(point, (), name, beside)
            if here is not _MISSING and here not in without:
                yield f"{name} = {base[name]} of the base is kept; the default there is {here}"

    def _default(self, point: Point, settings: Settings, name: str, beside: Sequence[str]) -> Any:
        """Return what a key is without the base's, or `_MISSING`.

        A default may not go with the keys that stand beside it: then without these, too.
        """
        base = tomllib.loads(point.scenario)
        table = name.rpartition(".")[0]
        for left_out in ([name], [one for one in beside if one.rpartition(".")[0] == table]):
            without: Mapping[str, Any] = base
            for one in left_out:
                without = _without(without, one)
            found = self._resolved(dumps(without), point, settings)
            if found is not None and name in found:
                return found[name]
        return _MISSING

    def _resolved(self, text: str, point: Point, settings: Settings) -> dict[str, Any] | None:
        """Return a scenario with every default written out; None: it cannot run."""
        what = (text, point.file or point.name, settings)
        if what not in self._read:
            try:
                found = _core.check(*what[:2], point.seed, list(settings))
                self._read[what] = flatten(tomllib.loads(found))
            except _core.ScenarioError:
                self._read[what] = None
        return self._read[what]


def _without(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table without a key, which is dotted where it stands in a table of it."""
    head, _, rest = name.partition(".")
    if not rest:
        return {key: value for key, value in table.items() if key != head}
    return {
        key: _without(value, rest) if key == head and isinstance(value, Mapping) else value
        for key, value in table.items()
    }


def listed(who: Sequence[Point], of: Sequence[Point]) -> str:
    """Name the runs of which something is said: by what they have in common, if no other has it."""
    if len(who) == len(of) > 1:
        return "each arm"
    common = dict(set.intersection(*(set(point.keys.items()) for point in who)))
    ordered = {key: value for key, value in who[0].keys.items() if key in common}
    if ordered and sum(ordered.items() <= point.keys.items() for point in of) == len(who):
        return _name(ordered)
    names = [_name(point.keys) for point in who]
    if len(names) > LISTED:
        return f"{len(names)} of {len(of)} arms, of which {names[0]}"
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _name(keys: Keys) -> str:
    return "the base" if keys in ({}, {ARM: BASE_ARM}) else name_of(keys)
