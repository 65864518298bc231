"""The Python API, with the simulator replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest

import linkpool
from fake_core import FakeCore
from test_cli import INCAST

Scenario = Callable[[str], Path]


def test_run_gives_tables_and_summary(
    scenario: Scenario, fake_core: FakeCore, tmp_path: Path
) -> None:
    result = linkpool.run(scenario(INCAST), out=tmp_path / "out")
    assert result.dir == (tmp_path / "out").resolve()
    assert result.flows.height == 6
    assert result.links.height == 2
    assert result.subflows.height == 24
    assert result.summary.overall.finished == 6
    assert result.run["version"] == "0"
    assert linkpool.Result(result.dir).flows.equals(result.flows)


def test_without_a_directory_the_result_lives_as_long_as_the_object(
    scenario: Scenario, fake_core: FakeCore
) -> None:
    result = linkpool.run(scenario(INCAST))
    where = result.dir
    assert where.is_dir()
    del result
    assert not where.exists()


def test_settings_are_written_as_toml(
    scenario: Scenario, fake_core: FakeCore, tmp_path: Path
) -> None:
    settings: dict[str, str | int | bool] = {
        "queue.mark": 20,
        "transport.amp.suppression": False,
        "queue.non_ect": "drop",
    }
    result = linkpool.run(scenario(INCAST), out=tmp_path / "out", seed=3, set=settings)
    assert result.scenario.splitlines()[:4] == [
        "seed = 3",
        "# queue.mark = 20",
        "# transport.amp.suppression = false",
        "# queue.non_ect = drop",
    ]
    assert linkpool.check(scenario(INCAST), seed=3, set=settings) == result.scenario


def test_progress_is_passed_on(scenario: Scenario, fake_core: FakeCore) -> None:
    seen: list[tuple[float, float, int]] = []
    linkpool.run(scenario(INCAST), progress=lambda *state: seen.append(state))
    assert seen == [(1.0, 2.0, 1000)]


@pytest.mark.parametrize("series", ["queue", "cwnd", "rate"])
def test_a_series_that_was_not_recorded_says_how_to(
    series: str, scenario: Scenario, fake_core: FakeCore
) -> None:
    result = linkpool.run(scenario(INCAST))
    with pytest.raises(linkpool.NotRecordedError, match=rf"`{series} = .*under \[record\]"):
        getattr(result, series)


def test_errors_pass_through(scenario: Scenario, fake_core: FakeCore, tmp_path: Path) -> None:
    with pytest.raises(linkpool.ScenarioError, match="nonsense"):
        linkpool.run(scenario(INCAST), set={"nonsense": 1})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(linkpool.NotAResultError, match="mine"):
        linkpool.run(scenario(INCAST), out=tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        linkpool.run(tmp_path / "none.toml")


@pytest.mark.core
def test_the_text_of_a_scenario_is_no_file() -> None:
    """Otherwise the error would be that its name is too long, with all of the text."""
    text = 'duration = "1ms"\n' + "# more\n" * 100
    with pytest.raises(ValueError, match=r"a text of several lines: write it to a file, or use"):
        linkpool.run(text)
