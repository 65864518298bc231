"""Study files: what they mean, and what is said of what is wrong in them."""

import re
from pathlib import Path

import pytest

from linkpool.study import Study, StudyError
from linkpool.study.measures import DEFAULT, MEASURES, wanted
from linkpool.study.measuring import COUNTS, SAMPLES
from linkpool.study.points import points_of

WHOLE = """
title = "Which?"
base = "base.toml"
seeds = [3, 5]
measures = ["slowdown.p99", "jain"]
baseline = "amp"

[[arm]]
name = "dctcp"

[[arm]]
name = "amp"
set = { transport.t.control = "amp", transport.t.subflows = 4 }

[vary]
queue.mark = [10, 20]

[[zip]]
duration = ["1ms", "2ms"]
topology.many-to-one.rate = ["1Gbps", "10Gbps"]
"""

BASE = 'duration = "1s"\n'


def parse(text: str) -> Study:
    return Study.parse(text, Path("mine.toml"))


def test_a_study_is_arms_by_variations_by_seeds(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(WHOLE, encoding="utf-8")
    study = Study.load(tmp_path / "mine.toml")
    points = points_of(study)
    assert len(points) == 2 * (2 * 2) * 2
    assert points[0].keys == {
        "arm": "dctcp",
        "queue.mark": 10,
        "duration": "1ms",
        "topology.many-to-one.rate": "1Gbps",
    }
    assert [point.seed for point in points[:3]] == [3, 5, 3]
    assert points[0].file == str(tmp_path / "base.toml")
    assert points[-1].settings == (
        ("transport.t.control", '"amp"'),
        ("transport.t.subflows", "4"),
        ("queue.mark", "20"),
        ("duration", '"2ms"'),
        ("topology.many-to-one.rate", '"10Gbps"'),
    )
    assert (study.name, study.reference) == ("mine", {"arm": "amp"})


def test_what_is_written_is_read_again() -> None:
    study = parse(WHOLE)
    again = Study.parse(study.as_toml(), Path("other.toml"))
    assert again.model_dump() == study.model_dump()
    assert again.name == "mine"


def test_a_study_of_one_arm_needs_no_name_for_it() -> None:
    study = parse('base = "b.toml"\nvary.queue.mark = [1, 2]\nbaseline = { queue.mark = 2 }')
    assert [arm.name for arm in study.arms] == ["base"]
    assert study.reference == {"queue.mark": 2}
    assert study.measures == list(DEFAULT)


def test_the_base_may_stand_in_the_study() -> None:
    (point,) = points_of(parse('[base]\nduration = "1s"\nqueue.mark = 3'))
    assert point.scenario == 'duration = "1s"\n\n[queue]\nmark = 3\n'
    assert point.file == "mine.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.toml: base: is missing"),
        ("base = 3", "mine.toml: base: input should be a valid string"),
        ("seeds = ", "mine.toml: Invalid value"),
        ('base = "b"\nsead = 3', r"mine.toml: sead: unknown key; there are name, title, base, arm"),
        ('base = "b"\n[[arm]]\nset = {}', "mine.toml: arm.0.name: is missing"),
        (
            'base = "b"\n[[arm]]\nname = "a"\nsett = {}',
            "mine.toml: arm.0.sett: unknown key; there are name, base, set",
        ),
        ('base = "b"\nseeds = 0', "mine.toml: seeds: at least one seed"),
        ('base = "b"\nseeds = 100001', "mine.toml: seeds: 100001 seeds; at most 100000"),
        ('base = "b"\nseeds = 9223372036854775808', "9223372036854775808 seeds; at most"),
        (
            'base = "b"\nseeds = 100000\nvary.a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]',
            "mine.toml: 1100000 runs; a study has at most 1000000",
        ),
        ('base = "b"\nseeds = [1, 1]', "mine.toml: seeds: a list of one or more seeds that differ"),
        ('base = "b"\nseeds = [-1]', "mine.toml: seeds: a seed is 0 to"),
        (
            'base = "b"\nmeasures = ["speed"]',
            "mine.toml: measures: no measure 'speed'; there are f",
        ),
        ('base = "b"\nmeasures = ["jain.p99"]', "jain has no statistic 'p99'; it has index"),
        ('base = "b"\nmeasures = ["fct.worst"]', "fct has no statistic 'worst'; it has mean, p50"),
        ('base = "b"\nmeasures = ["fct", "fct"]', "measures: names a measure twice"),
        ('base = "b"\nvary.queue.mark = 3', r"mine.toml: vary: queue.mark: write a list of values"),
        ('base = "b"\nvary.queue.mark = [3, 3]', "queue.mark: a value stands there twice"),
        ('base = "b"\nvary.seed = [3]', "mine.toml: vary: seed does not vary here; write seeds"),
        (
            'base = "b"\n[[zip]]\na = [1]\nb = [1, 2]',
            "zip: lists that go together.* a has 1, b has",
        ),
        (
            'base = "b"\nvary.a = [1]\n[[zip]]\na = [1]',
            "mine.toml: a varies twice, in vary and zip",
        ),
        (
            'base = "b"\nvary.a = [1]\n[[arm]]\nname = "x"\nset.a = 2',
            "mine.toml: a varies, and arm 'x' sets it",
        ),
        (
            'base = "b"\n[[arm]]\nname = "x"\n[[arm]]\nname = "x"',
            "mine.toml: arm: two arms have the name 'x'",
        ),
        ('base = "b"\nbaseline = "x"', "baseline: 'x' is no arm of this study; there are base"),
        ('base = "b"\nbaseline = { q = 1 }', "mine.toml: baseline: q does not vary; arm do"),
        *(
            (f'base = "b"\nname = "{name}"', f"mine.toml: name: '{name}' is a folder of other r")
            for name in ("runs", "Runs", "quick", "from-data")
        ),
        *(
            (f'base = "b"\nname = "{name}"', f"mine.toml: name: '{re.escape(name)}' begins with a")
            for name in (".", "..", ".a.linkpool-old")
        ),
        ('base = "b"\nname = "a/b"', "mine.toml: name: has a / or a control character; leave it"),
        (
            f'base = "b"\nname = "{"😀" * 51}"',
            "mine.toml: name: takes 204 bytes in UTF-8; at most 200, as it names a directory",
        ),
        (
            'duration = "1s"\n[topology]',
            "mine.toml is a scenario, not a study; one run of it: linkpool run .*mine.toml --out",
        ),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse(text)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(StudyError) as error:
        parse("sead = 3\nseeds = 0")
    assert len(str(error.value).splitlines()) == 3


def test_a_base_that_is_not_there_is_named(tmp_path: Path) -> None:
    study = Study.parse('base = "b.toml"', tmp_path / "mine.toml")
    with pytest.raises(StudyError, match=r"mine.toml: base: cannot read .*b.toml: No such file"):
        points_of(study)


def test_a_measure_of_what_is_not_recorded_is_refused() -> None:
    text = 'measures = ["queue.p99"]\n[base]\nduration = "1s"'
    with pytest.raises(
        StudyError, match=r"queue.p99 needs \[record.queue\] in the scenario of arm"
    ):
        points_of(parse(text))
    assert points_of(parse(f'{text}\nrecord.queue = {{ links = ["a->b"] }}'))
    text += '\n[[arm]]\nname = "x"\nset.record.queue.every = "1ms"'
    assert points_of(parse(text))


def test_every_measure_has_a_name_that_finds_it() -> None:
    for name, measure in MEASURES.items():
        assert wanted(name).measure is measure
        for statistic in measure.statistics:
            assert wanted(f"{name}.{statistic}").statistics == (statistic,)


def test_every_measure_that_is_declared_can_be_taken() -> None:
    assert set(SAMPLES) == {name for name, measure in MEASURES.items() if measure.is_sample}
    assert set(COUNTS) == set(MEASURES) - set(SAMPLES)
