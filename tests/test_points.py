"""From a study to its runs: which base an arm has, and what is said of a base that cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkpool.study import Plan, Study, StudyError
from linkpool.study.points import arms_of, documents, points_of

BASE = """
duration = "1ms"
[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
[[workload.many-to-one]]
transport = "t"
flows = 2
receiver = "R"
size = "10KB"
"""

ARMS = """
base = "base.toml"
seeds = 2
[[arm]]
name = "a"
[[arm]]
name = "b"
base = "other.toml"
[[arm]]
name = "c"
[vary]
queue.mark = [10, 20]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two bases and a study of both."""
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "other.toml").write_text(BASE.replace("10KB", "20KB"), encoding="utf-8")
    (tmp_path / "s.toml").write_text(ARMS, encoding="utf-8")
    return tmp_path


def test_an_arm_has_the_base_of_the_study_or_its_own(folder: Path) -> None:
    study = Study.load(folder / "s.toml")
    points = points_of(study)
    files = [(point.keys["arm"], point.file) for point in points if point.seed == 1]
    of_arms = [("a", "base.toml"), ("b", "other.toml"), ("c", "base.toml")]
    assert files == [(arm, str(folder / file)) for arm, file in of_arms for _ in range(2)]
    assert {"20KB" in point.scenario for point in points if point.keys["arm"] == "b"} == {True}
    assert {"20KB" in point.scenario for point in points if point.keys["arm"] != "b"} == {False}
    sizes = [document["workload"]["many-to-one"][0]["size"] for document in documents(study)]
    assert sizes == ["10KB", "20KB"], "each base once"
    keys = [{"arm": arm, "queue.mark": mark} for arm in "abc" for mark in (10, 20)]
    assert arms_of(study) == keys
    assert [point.keys for point in points if point.seed == 2] == keys, "in the order of the runs"


def test_a_base_that_cannot_be_read_is_named_with_its_arm(folder: Path) -> None:
    (folder / "other.toml").unlink()
    with pytest.raises(StudyError, match=r"s.toml: arm 'b': base: cannot read .*other.toml: No su"):
        points_of(Study.load(folder / "s.toml"))
    (folder / "other.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StudyError, match=r"other.toml: it is not a text file \(UTF-8\)"):
        points_of(Study.load(folder / "s.toml"))


@pytest.mark.core
def test_what_is_wrong_in_a_base_is_said_with_its_place(folder: Path) -> None:
    """A base of its own has a file and lines; one in the study has keys that begin with `base`."""
    (folder / "other.toml").write_text("queue.limits = 3\n" + BASE, encoding="utf-8")
    with pytest.raises(StudyError) as error:
        Plan.of(Study.load(folder / "s.toml"), folder)
    first, second = str(error.value).splitlines()[:2]
    assert first.endswith("s.toml: the run of arm b, queue.mark 10, seed 1:")
    assert "other.toml:1" in second
    assert "limits" in second
    (folder / "other.toml").write_text("queue = {\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"the run of arm b, queue.mark 10, seed 1:\n.*other.toml"):
        Plan.of(Study.load(folder / "s.toml"), folder)
    inside = "[base.queue]\nlimits = 3\n"
    for table in BASE.strip().split("\n[")[1:]:
        head, _, rest = table.partition("]")
        inside += f"{'[[' if head[0] == '[' else '['}base.{head.lstrip('[')}]{rest}\n"
    study = Study.parse(f"base.duration = '1ms'\n{inside}", folder / "own.toml")
    with pytest.raises(StudyError) as error:
        Plan.of(study, folder)
    first, second = str(error.value).splitlines()[:2]
    assert first.endswith("own.toml: the run of arm base, seed 1:")
    assert second.startswith("base.queue.limits: unknown key")


def test_one_of_several_tables_is_enough_and_no_other_name_is() -> None:
    text = 'measures = ["jct.mean"]\n[base]\nduration = "1s"\n'
    for table in ("partition-aggregate", "collective", "training"):
        assert points_of(Study.parse(f"{text}[[base.workload.{table}]]\nlabel = 'x'", Path("s")))
    with pytest.raises(StudyError, match=r"jct.mean needs \[workload.partition-aggregate\] or"):
        points_of(Study.parse(f"{text}[[base.workload.collectives]]\nlabel = 'x'", Path("s")))
