"""Scenarios in Python: from a file, a text, a dictionary and typed objects, all the same."""

import pickle
from pathlib import Path

import pytest

from linkpool import Arm, Scenario, ScenarioError, settings
from linkpool.settings import CLASSES, Incast, ManyToOne, Queue, Transport, document
from linkpool.study.points import points_of

pytestmark = pytest.mark.core

TEXT = """
duration = "1ms"
drain = "1s"
[topology.many-to-one]
senders = 3
rate = "10Gbps"
delay = "2us"
[queue]
limit = 100
mark = 10
[transport.t]
control = "amp"
subflows = 2
[[workload.incast]]
transport = "t"
senders = 3
receiver = "R"
size = "20KB"
bursts = 1
"""


def built() -> Scenario:
    return Scenario.of(
        duration="1ms",
        drain="1s",
        topology=ManyToOne(senders=3, rate="10Gbps", delay="2us"),
        queue=Queue(limit=100, mark=10),
        transport={"t": Transport(control="amp", subflows=2)},
        workload=[Incast(transport="t", senders=3, receiver="R", size="20KB", bursts=1)],
    )


def test_every_way_gives_the_same_scenario(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(TEXT, encoding="utf-8")
    expected = Scenario(TEXT).check()
    assert Scenario.load(file).check() == expected
    assert built().check() == expected
    plain = document({"topology": {"many-to-one": {"senders": 3}}})
    assert plain == {"topology": {"many-to-one": {"senders": 3}}}


def test_it_runs_and_can_be_changed() -> None:
    result = built().run(seed=7)
    assert result.summary.overall.finished == 3
    assert "seed = 7" in result.scenario
    other = built().set({"queue.mark": 20, "workload.incast.0.senders": 2})
    assert other.run().summary.overall.flows == 2
    assert "mark = 20" in other.check()
    assert pickle.loads(pickle.dumps(other)) == other
    assert "<table>" in result._repr_html_()


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sender'"):
        Incast(transport="t", receiver="R", size="20KB", sender=3)
    with pytest.raises(TypeError, match=r"missing .* 'rate'"):
        ManyToOne(senders=3, delay="2us")
    with pytest.raises(TypeError, match=r"workload: .* is no workload"):
        Scenario.of(workload=[Queue(limit=1)])
    with pytest.raises(ScenarioError, match=r"transport.t.control"):
        built().set({"transport.t.control": "ampp"}).check()


def test_the_objects_are_those_of_the_schema() -> None:
    assert set(dir(settings)) >= {"FatTree", "Poisson", "Trace", "Queue", "Transport"}
    assert settings.Flow(transport="t", from_="S1", to="R").from_ == "S1"
    assert document(settings.Flow(transport="t", from_="S1", to="R"))["from"] == "S1"
    for name, one in CLASSES.items():
        assert one.__doc__, name
    assert "Number of senders" in str(Incast.__doc__)
    with pytest.raises(AttributeError, match="no attribute 'FatTreeX'"):
        _ = settings.FatTreeX


def test_a_study_of_it_keeps_its_settings() -> None:
    study = (
        built()
        .set({"queue.mark": 15})
        .study(arms=[Arm(name="one"), Arm(name="four", set={"transport.t.subflows": 4})], seeds=2)
    )
    points = points_of(study)
    assert [point.keys["arm"] for point in points] == ["one", "one", "four", "four"]
    assert points[0].settings == (("queue.mark", "15"),)
    assert points[-1].settings == (("queue.mark", "15"), ("transport.t.subflows", "4"))
