"""Scenarios of papers: tables with words in braces, and the values that take their places."""

from pathlib import Path
from typing import Any

import pytest

from linkpool import experiments
from linkpool.experiments import scenarios
from linkpool.experiments.questions.question import Setup
from linkpool.experiments.scenarios import scenario

TABLES = """
[one]
name = "{k} flows of {size}"
limit = "{limit}"
topology.dumbbell = { pairs = "{k}", rate = "10Gbps" }
transport."{scheme}" = "{transport}"
workload.flow = [{ transport = "{scheme}", size = "{size}" }, { transport = "other" }]
record = "{record}"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the folder of a paper that has such tables."""
    monkeypatch.setattr(scenarios, "__file__", str(tmp_path / "scenarios.py"))
    scenarios.read.cache_clear()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scenarios.toml").write_text(TABLES, encoding="utf-8")
    return "mine"


def test_a_word_alone_becomes_its_value_and_one_in_a_text_its_text(folder: str) -> None:
    words: dict[str, Any] = {
        "k": 3,
        "size": "64KiB",
        "limit": 1.5,
        "scheme": "amp",
        "record": {"a": 1},
    }
    found = scenario(folder, "one", transport={"control": "amp"}, **words)
    assert found == {
        "name": "3 flows of 64KiB",
        "limit": 1.5,
        "topology": {"dumbbell": {"pairs": 3, "rate": "10Gbps"}},
        "transport": {"amp": {"control": "amp"}},
        "workload": {"flow": [{"transport": "amp", "size": "64KiB"}, {"transport": "other"}]},
        "record": {"a": 1},
    }
    assert list(found) == ["name", "limit", "topology", "transport", "workload", "record"]


def test_a_key_without_a_value_is_left_out(folder: str) -> None:
    words: dict[str, Any] = {"k": 3, "size": None, "limit": 0, "scheme": "amp", "record": None}
    found = scenario(folder, "one", transport={}, **words)
    assert "record" not in found
    assert found["limit"] == 0
    assert found["transport"] == {"amp": {}}
    assert found["workload"]["flow"][0] == {"transport": "amp"}


def test_a_word_that_is_missing_is_an_error(folder: str) -> None:
    with pytest.raises(KeyError, match="size"):
        scenario(folder, "one", k=3)


def test_every_table_is_some_experiment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()
    read = scenarios.read

    def note(folder: str, name: str) -> dict[str, Any]:
        class Asked(dict[str, Any]):
            def __getitem__(self, table: str) -> Any:
                asked.add((f"{folder}/{name}", table))
                return super().__getitem__(table)

        return Asked(read(folder, name))

    monkeypatch.setattr(scenarios, "read", note)
    Setup.read.__func__.cache_clear()  # type: ignore[attr-defined]
    for one in experiments.all_experiments():
        known: set[tuple[str, str | int | float]] = set()
        for point in one.points([1]):
            if not point.keys.items() <= known:  # each value of each key once, as runs are many
                known |= point.keys.items()
                assert point.scenario
    home = Path(scenarios.__file__).parent
    for kind in ("scenarios", "transports"):
        folders = [file.parent.name for file in home.glob(f"*/{kind}.toml")]
        declared = {(f"{f}/{kind}", table) for f in folders for table in read(f, kind)}
        assert {each for each in asked if each[0].endswith(kind)} == declared
