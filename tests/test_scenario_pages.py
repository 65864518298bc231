"""Each example of the pages about scenario files is one, with what it leaves out."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linkpool import Scenario, _core
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.core

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLOCK = re.compile(r"^```toml\n(.*?)^```", re.M | re.S)
EXAMPLES = [
    pytest.param(page, text, id=f"{page.stem}-{i}")
    for page in [DOCS / "scenario.md", *sorted((DOCS / "scenario").glob("*.md"))]
    for i, text in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]

FAT_TREE = {"fat-tree": {"k": 8, "rate": "10Gbps", "delay": "1us"}}
TRIANGLE = {
    "triangle": {
        "bottleneck_rates": ["1Gbps", "1Gbps", "1Gbps"],
        "bottleneck_delays": ["1ms", "1ms", "1ms"],
        "rate": "10Gbps",
        "delay": "1us",
    }
}
DRAGONFLY = {
    "dragonfly": {
        **{"routers_per_group": 4, "hosts_per_router": 2, "global_ports": 2},
        **{"rate": "10Gbps", "delay": "1us"},
    }
}
"""Fabrics that have what an example names."""


def lacking(text: str) -> dict[str, Any]:
    """Return what an example leaves out, in a fabric that has what it names."""
    found = tomllib.loads(text)
    all_of: dict[str, Any] = {"duration": "100s", "topology": FAT_TREE}
    if "A3<->B3" in text or '"C2"' in text:
        all_of["topology"] = TRIANGLE
        flow = {"transport": "t", "from": "S1", "to": "D1", "size": "1MB"}
        all_of["workload"] = {"flow": [flow]}
    if found.get("routing", {}).get("kind") == "valiant":
        all_of["topology"] = DRAGONFLY
    if "slow_host" in found:
        all_of["queue"] = {"pfc": {"buffer": "4MB"}}
    flows = (one for kind in found.get("workload", {}).values() for one in kind)
    named = sorted({str(one["transport"]) for one in flows}) or ["t"]
    control = {"control": "lia", "subflows": 2} if '"C2"' in text else {"control": "dctcp"}
    all_of["transport"] = dict.fromkeys(named, control)
    first = next(iter(found.get("transport", all_of["transport"])))
    workload = {"permutation": [{"transport": first, "size": "1MB"}]}
    return {
        key: value for key, value in ({"workload": workload} | all_of).items() if key not in found
    }


@pytest.mark.parametrize(("page", "text"), EXAMPLES)
def test_an_example_is_a_good_scenario(page: Path, text: str) -> None:
    scenario = Scenario.of(**(tomllib.loads(text) | lacking(text)))
    scenario.check()


def test_what_an_example_lacks_does_not_hide_what_is_wrong() -> None:
    wrong = '[transport.t]\ncontrol = "dctcp"\npaths = "disjunct"\n'
    with pytest.raises(ValueError, match=r"transport\.t\.paths"):
        Scenario.of(**(tomllib.loads(wrong) | lacking(wrong))).check()


def _floats(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Give the place of each number with a point."""
    if isinstance(value, float):
        yield at
    elif isinstance(value, dict | list):
        within = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in within:
            yield from _floats(inner, (*at, key))


@pytest.mark.parametrize("control", [None, "amp", "dctcp", "swift", "uet", "dcqcn", "hpcc-pint"])
def test_a_number_that_is_not_finite_is_one_error(control: str | None) -> None:
    """What is compared with NaN is neither right nor wrong, and brought errors of other keys."""
    places: set[tuple[str | int, ...]] = set()
    for file in sorted(DOCS.rglob("*.toml")) if control is None else [DOCS / "incast.toml"]:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        if "topology" not in given or "controls" in given:
            continue  # not a scenario, or code that is not run here
        if control is not None:
            given["transport"] = {"t": {"control": control}}
        if control == "uet":
            given["queue"] = {"discipline": "trimming"}
        as_run = _core.check(dumps(given), str(file), 1, [])
        for at in _floats(tomllib.loads(as_run)):
            kind = (*at[:1], *at[2:]) if at[0] == "transport" else at
            if kind in places:
                continue
            places.add(kind)
            key = ".".join(map(str, at))
            for word in ("nan", "inf", "-inf"):
                with pytest.raises(_core.ScenarioError) as error:
                    _core.check(as_run, str(file), 1, [(key, word)])
                ((_, _, blamed, message),) = error.value.errors
                assert blamed == key
                assert message.startswith(f"expected a finite number, found {word} (from --set ")
    assert len(places) > (10 if control is None else 0)
