"""What a failure costs: measures of runs whose cables fail, and studies of named failures."""

import hashlib
from pathlib import Path

import pytest

import linkpool
from linkpool.cli import app
from linkpool.study.measuring import measure
from linkpool.study.model import Study

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]

BED = """
duration = "30ms"
measure = { warm_up = "2ms" }
topology.dumbbell = { pairs = 1, rate = "10Gbps", delay = "1us" }
queue = { limit = 100, mark = 20 }
transport.t = { control = "dctcp", min_rto = "1ms", rto_above_srtt = false }
record.rate = { every = "100us" }

[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
"""


def values(tmp_path: Path, more: str) -> dict[str, float]:
    (tmp_path / "bed.toml").write_text(BED + more, encoding="utf-8")
    result = linkpool.run(tmp_path / "bed.toml", out=tmp_path / "result")
    table = measure(result, ["silence.max", "goodput_kept.mean", "failure"])
    rows = table.select("measure", "statistic", "value").iter_rows()
    return {f"{name}.{of}": value for name, of, value in rows}


def test_a_cable_that_fails_for_ten_milliseconds(tmp_path: Path) -> None:
    """The timer of 1 ms doubles: it expires 1, 3, 7 and 15 ms after the failure.

    The last time the cable works again. So of 20 ms after the failure 15 are silent.
    """
    change = '[[change]]\nat = "10ms"\nuntil = "20ms"\nlinks = ["L->R"]\nstate = "down"\n'
    seen = values(tmp_path, '[routing]\nreconverge = "never"\n' + change)
    assert seen["silence.max"] == pytest.approx(15e-3, abs=2e-4)
    assert seen["goodput_kept.mean"] == pytest.approx(0.25, abs=0.01)
    assert seen["failure.lost"] == pytest.approx(0.75, abs=0.01)
    assert seen["failure.hit"] == 1.0


def test_a_cable_at_a_tenth_of_its_rate(tmp_path: Path) -> None:
    """Nothing is silent, nine tenths are lost; at six tenths of its rate no flow is hit."""
    change = '[[change]]\nat = "16ms"\nlinks = ["L->R"]\nrate_factor = '
    seen = values(tmp_path, change + "0.1\n")
    assert seen["silence.max"] <= 4e-4
    assert seen["failure.lost"] == pytest.approx(0.9, abs=0.02)
    assert seen["failure.hit"] == 1.0
    seen = values(tmp_path, change + "0.6\n")
    assert seen["failure.lost"] == pytest.approx(0.4, abs=0.02)
    assert seen["failure.hit"] == 0.0


def test_names_stand_for_what_goes_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table of a zip with `name` has that alone, and one without has all keys."""
    (tmp_path / "bed.toml").write_text(BED, encoding="utf-8")
    change = '[{ at = "16ms", links = ["L->R"], rate_factor = %s }]'
    named = f"""
base = "bed.toml"
measures = ["failure"]
figures = ["sweep"]
[[zip]]
name = ["slow", "slower"]
change = [{change % 0.5}, {change % 0.1}]
"""

    def shown(text: str) -> str:
        (tmp_path / "study.toml").write_text(text, encoding="utf-8")
        out = ["--out", str(tmp_path / "results")]
        app(["study", "run", str(tmp_path / "study.toml"), *out], standalone_mode=False)
        return capsys.readouterr().out.partition("failure hit")[0].rpartition("make, about")[2]

    assert "slow  slower" in shown(named)
    assert "rate_factor" not in shown(named)
    assert (tmp_path / "results" / "study" / "figure-sweep.svg").exists()
    assert "rate_factor" in shown(named.replace('name = ["slow", "slower"]\n', ""))


def test_the_study_of_failures_is_good() -> None:
    """Its file has seven transports and three failures, and its page shows it."""
    file = ROOT / "docs" / "cookbook" / "failures.toml"
    study = Study.load(file)
    assert len(study.arms) == 7
    assert len(list(study.variations())) == 3
    page = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
    assert f"```toml\n{file.read_text(encoding='utf-8')}```" in page
    for arm in study.arms:
        assert f"| {arm.name} |" in page


def test_the_study_of_iterations_is_good() -> None:
    """Its file has five transports, its page shows it, and both bases run the same program."""
    cookbook = ROOT / "docs" / "cookbook"
    study = Study.load(cookbook / "iterations.toml")
    assert len(study.arms) == 5
    page = (ROOT / "docs" / "iterations.md").read_text(encoding="utf-8")
    shown = (cookbook / "iterations.toml").read_text(encoding="utf-8")
    assert f"```toml\n{shown}```" in page
    for arm in study.arms:
        assert f" {arm.name} |" in page
    ndp = linkpool.check(cookbook / "iterations-ndp.toml")
    goal = (cookbook / "all-reduce.goal").read_bytes()
    assert hashlib.sha256(goal).hexdigest() in ndp
    assert goal.count(b": send ") == 1792
