"""Studies that search: the front by hand, what is required, the cache, the figure."""

from __future__ import annotations

import base64
import gzip
import json
import random
from math import exp
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from linkpool.cli.commands import app
from linkpool.starter import starter
from linkpool.study import Study, StudyError, StudyResult
from linkpool.study.measuring import SCHEMA
from linkpool.study.race import is_worse, looks
from linkpool.study.search import Trial, _measured, front, lost, search, table_of
from linkpool.study.space import Search

ROOT = Path(__file__).resolve().parent.parent
INCAST = ROOT / "docs/workloads/incast.toml"


def trial(number: int, fct: float | None, goodput: float, **more: Any) -> Trial:
    values = {"fct.mean": fct, "goodput.mean": goodput}
    given: dict[str, Any] = {"settings": {"k": number}, "open": frozenset(), "excess": []}
    return Trial(number, values=values, **{**given, **more})


def content_of(page: Path) -> dict[str, Any]:
    """Read what a page of `linkpool report` shows."""
    text = page.read_text(encoding="utf-8")
    data = text.partition('id="data">')[2].partition("</script>")[0]
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(data)))
    return found


BOTH = Search(space={"k": [1, 2]}, minimise="fct.mean", maximise="goodput.mean")


def test_the_front_is_what_nothing_is_better_than() -> None:
    trials = [
        trial(0, 2.0, 5.0),
        trial(1, 1.0, 4.0),
        trial(2, 2.0, 4.9),  # beaten by 0
        trial(3, 3.0, 9.0),
        trial(4, 1.0, 4.0),  # as good as 1
        trial(5, 1.0, 4.0, settings={"k": 1}),  # the same settings as 1
        trial(6, 0.1, 99.0, excess=[0.1]),  # does not meet what is required
        trial(7, 0.1, 99.0, open=frozenset({"fct.mean"})),  # its FCT is at least that
        trial(8, None, 99.0, lacks={"fct.mean": "no run has a value of fct.mean"}),
        trial(9, 0.1, 99.0, why="cannot run"),
        trial(10, 5.0, 10.0, open=frozenset({"goodput.mean"})),  # at least as large
    ]
    assert [one.number for one in front(BOTH, trials)] == [1, 4, 0, 3, 10]
    of_one = Search(space={"k": [1, 2]}, minimise="fct.mean")
    assert [one.number for one in front(of_one, trials[:4])] == [1]
    assert front(BOTH, trials[6:10]) == []
    assert trial(11, 1.0, 1.0, excess=[0.0]).is_feasible(), "what is required is met exactly"
    table = table_of(BOTH, trials, front(BOTH, trials))
    assert table.filter("front")["trial"].to_list() == [0, 1, 3, 4, 10]
    assert table.filter(~pl.col("feasible"))["trial"].to_list() == [6, 9]


def test_a_trial_that_was_stopped_is_not_on_the_front() -> None:
    trials = [trial(0, 2.0, 5.0), trial(1, 1.0, 9.0, seeds=2, stopped="worse than trial 0")]
    assert [one.number for one in front(BOTH, trials)] == [0]
    rows = table_of(BOTH, trials, trials[:1]).select("trial", "seeds", "stopped", "front").rows()
    assert rows == [(0, 0, "", True), (1, 2, "worse than trial 0", False)]


def test_unfinished_flows_lose_a_race_only_where_that_is_certain() -> None:
    good, bad = {1: 1.0, 2: 1.0}, {1: 2.0, 2: 2.0}
    rival = trial(3, 1.0, 2.0, by_seed={"fct.mean": good, "goodput.mean": bad})
    mine = {"fct.mean": bad, "goodput.mean": good}
    assert lost(BOTH, trial(4, 2.0, 1.0, by_seed=mine), [rival], 1) == "worse than trial 3"
    # Its FCT is at least that: it will not be on the front, whatever the rest of its seeds.
    some = trial(5, 0.1, 9.0, open=frozenset({"fct.mean"}))
    assert lost(BOTH, some, [], 1) == "unfinished flows leave fct.mean open"
    # Its goodput is at least that: it may be larger.
    some = trial(6, 2.0, 1.0, by_seed=mine, open=frozenset({"goodput.mean"}))
    assert lost(BOTH, some, [rival], 1) == ""


def test_each_trial_of_the_front_is_a_chance_to_lose_a_race() -> None:
    """By hand as below: 0.0205 is below 0.05 / 2, and not below 0.05 / 3."""
    of_one = Search(space={"k": [1, 2]}, minimise="fct.mean")
    mine = trial(9, 2.0, 0.0, by_seed={"fct.mean": {1: 2.0, 2: 2.2}})
    ones = [trial(n, 1.0, 0.0, by_seed={"fct.mean": {1: 1.0, 2: 1.0}}) for n in range(3)]
    assert lost(of_one, mine, ones[:1], 2) == "worse than trial 0"
    assert lost(of_one, mine, ones[:2], 1) == "worse than trial 0"
    assert lost(of_one, mine, ones[:1], 3) == ""
    assert lost(of_one, mine, ones, 1) == ""


FCT = [("fct.mean@all", True)]


def worse(mine: list[float], other: list[float], chances: int, **more: Any) -> bool:
    """Compare values by seed, from seed 1 on."""
    objectives = more.get("objectives", FCT)
    values = [{name: dict(enumerate(of, 1)) for name, _ in objectives} for of in (mine, other)]
    return is_worse(values[0], values[1], objectives, chances)


def test_a_race_is_a_t_test_of_logarithms_corrected_for_its_looks() -> None:
    """By hand: logarithms of 2 and 2.2 are 0.741 apart from 0, 15.5 standard errors.

    With one degree of freedom the chance of that is atan(1 / 15.5) / pi = 0.0205.
    """
    assert worse([2.0, 2.2], [1.0, 1.0], 1)
    assert worse([2.0, 2.2], [1.0, 1.0], 2)
    assert not worse([2.0, 2.2], [1.0, 1.0], 3), "0.05 / 3 is below"
    assert worse([20.0, 2.2], [10.0, 1.0], 2), "paired: seeds may differ"
    assert not worse([20.0, 2.2], [1.0, 10.0], 2)
    assert not worse([1.0, 1.0], [2.0, 2.2], 1), "it is better"
    assert not worse([2.0], [1.0], 1), "one seed says nothing"
    assert not worse([2.0, 2.0, 2.0], [1.0, 1.0], 1), "the other lacks a seed"
    assert not worse([2.0, 0.0], [1.0, 1.0], 1), "0 has no logarithm"
    assert worse([2.0, 2.0], [1.0, 1.0], 99), "the same ratio again: no chance"
    assert not worse([2.0, 2.0], [2.0, 2.0], 1)


def test_what_is_not_compared_by_ratios_races_by_differences() -> None:
    """By hand: 0.4, 0.3 and 0.35 are 12.12 standard errors from 0, two degrees of freedom.

    The chance of that is 1/2 - t / (2 sqrt(2 + t^2)) = 0.00337.
    """
    jain = {"objectives": [("jain", False)]}
    assert worse([0.5, 0.6, 0.55], [0.9, 0.9, 0.9], 14, **jain)
    assert not worse([0.5, 0.6, 0.55], [0.9, 0.9, 0.9], 15, **jain)
    assert not worse([0.9, 0.9, 0.9], [0.5, 0.6, 0.55], 1, **jain), "large is good"
    assert worse([5.0, 6.0], [0.0, 0.0], 1, objectives=[("timeouts.total", True)]), "0 is a value"


def test_a_race_is_lost_in_every_objective() -> None:
    objectives = [*FCT, ("jain", False)]
    good, bad = {1: 1.0, 2: 1.0}, {1: 2.0, 2: 2.0}
    mine = {"fct.mean@all": bad, "jain": good}
    assert is_worse(mine, {"fct.mean@all": good, "jain": bad}, objectives, 1)
    assert not is_worse(mine, {"fct.mean@all": good, "jain": good}, objectives, 1)


def test_looks_are_below_all_seeds() -> None:
    assert [looks(n) for n in (1, 2, 3, 4, 5, 9)] == [[], [], [2], [2], [2, 4], [2, 4, 8]]


def test_a_trial_as_good_as_the_best_is_seldom_stopped() -> None:
    """At most in 5% of races, in all looks together; one twice as bad is in most."""
    numbers = random.Random(7)

    def loses(factor: float) -> bool:
        best, mine = ([exp(numbers.gauss(0, 0.2)) for _ in range(10)] for _ in range(2))
        return any(worse([factor * x for x in mine[:n]], best, 3) for n in looks(10))

    stopped = sum(loses(1.0) for _ in range(500))
    assert stopped < 40, "25 and three standard deviations; without correction it is about 65"
    assert sum(loses(2.0) for _ in range(50)) > 45


FILE = f"""
base = "{INCAST}"
measures = ["jain"]
seeds = 2
[search]
%s
"""

GRID = """
sampler = "grid"
minimise = "fct.mean@all"
require = [{ measure = "timeouts.total", below = 1 }]
space.queue.mark = [5, 40]
space."workload.incast.0.senders" = [4, 8]
"""


def write(folder: Path, table: str) -> Path:
    file = folder / "found.toml"
    file.write_text(FILE % table, encoding="utf-8")
    return file


@pytest.mark.core
def test_a_grid_tries_all_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    study = Study.load(write(tmp_path, GRID))
    said: list[Trial] = []

    def stop(one: Trial) -> None:
        said.append(one)
        if len(said) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(study, tmp_path, told=stop)
    made = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert len(made) == 6
    trials, best, result = search(study, tmp_path)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert len(after) == 8
    assert made.items() <= after.items(), "no run is made twice"
    assert trials[:3] == said
    assert [tuple(one.settings.values()) for one in trials] == [(5, 4), (5, 8), (40, 4), (40, 8)]
    # Fewer senders to one link finish sooner.
    fcts = [one.values["fct.mean@all"] for one in trials]
    assert best == [trials[fcts.index(min(value for value in fcts if value is not None))]]
    assert best[0].settings["workload.incast.0.senders"] == 4
    again = StudyResult(result.dir)
    assert [arm.name for arm in again.study.arms] == [best[0].arm]
    assert set(again.data["measure"]) == {"jain", "fct", "timeouts"}
    mean = again.statistics.filter(measure="fct", part="all")["mean"].item()
    assert mean == pytest.approx(best[0].values["fct.mean@all"])
    rows = pl.read_csv(result.dir / "figure-pareto.csv")
    assert rows["trial"].to_list() == [0, 1, 2, 3]
    assert rows.filter("front")["trial"].to_list() == [best[0].number]
    assert b"Pareto front" in (result.dir / "figure-pareto.svg").read_bytes()


RACE = """
race = true
sampler = "grid"
minimise = "fct.mean@all"
space."workload.incast.0.senders" = [4, 8]
space.transport.dctcp.control = ["dctcp", "reno"]
"""


@pytest.mark.core
def test_a_race_makes_fewer_runs_and_finds_the_same(tmp_path: Path) -> None:
    """Twice the senders take twice as long with every seed, so two seeds are enough to see it."""
    file = write(tmp_path, RACE)
    file.write_text(file.read_text().replace("seeds = 2", "seeds = 5"), encoding="utf-8")
    words = ["study", "run", str(file), "--out", str(tmp_path / "out")]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    rows = pl.read_csv(tmp_path / "out" / "found" / "figure-pareto.csv")
    slow = rows.filter(pl.col("workload.incast.0.senders") == 8)
    assert slow["seeds"].to_list() == [2, 2]
    assert all(why.startswith("worse than trial ") for why in slow["stopped"])
    assert "stopped after 2 of 5 seeds: worse than trial 1" in first.stderr
    made = rows["seeds"].sum()
    assert f"which saved {20 - made} runs" in first.stdout
    runs = sorted((tmp_path / "out" / "runs").iterdir())
    assert len(runs) == made
    again = CliRunner().invoke(app, words)
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr), "it is decided again"
    assert sorted((tmp_path / "out" / "runs").iterdir()) == runs
    file.write_text(file.read_text().replace("race = true", ""), encoding="utf-8")
    whole = CliRunner().invoke(app, words)
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 20
    assert "stopped" not in whole.stdout + whole.stderr
    every = pl.read_csv(tmp_path / "out" / "found" / "figure-pareto.csv")
    assert every["seeds"].to_list() == [5] * 4
    assert every.filter("front")["trial"].to_list() == rows.filter("front")["trial"].to_list()
    # Steps of two and more seeds make the mean of all five, each seed once.
    fast = rows.filter(seeds=5).drop("front", "why")
    assert fast.height > 0
    assert (
        every.filter(pl.col("trial").is_in(fast["trial"].to_list()))
        .drop("front", "why")
        .equals(fast)
    )


@pytest.mark.core
def test_what_no_trial_meets_is_said(tmp_path: Path) -> None:
    table = GRID.replace('"timeouts.total", below = 1', '"goodput.mean", above = "400Gbps"')
    file = write(tmp_path, table)
    said = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(tmp_path / "out")])
    assert isinstance(said.exception, StudyError)
    assert "none of 4 trials meets goodput.mean above 400 Gbit/s; the nearest has" in str(
        said.exception
    )


@pytest.mark.core
def test_a_percentile_of_too_few_flows_is_the_reason_and_not_what_is_required(
    tmp_path: Path,
) -> None:
    """Three bursts of 4 or 8 senders have 12 or 24 flows, and a p99 needs 100 (1 / 1%)."""
    table = GRID.replace("fct.mean@all", "slowdown.p99@all").replace("5, 40", "5")
    file = write(tmp_path, table)
    said = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(tmp_path / "out")])
    few = "no run has a value of slowdown.p99@all: p99 needs 100 values, and there are 12"
    assert f"trial 0: {few}; all trials: {tmp_path / 'out' / 'found-trials.csv'}" in str(
        said.exception
    )
    assert "2 of 2 trials meet timeouts.total below 1, but none can be compared" in str(
        said.exception
    )
    lines = said.stderr.splitlines()
    assert [line.count("p99 needs 100 values, and there are ") for line in lines] == [1, 1]
    assert "does not meet what is required" not in said.stderr
    rows = pl.read_csv(tmp_path / "out" / "found-trials.csv")
    assert rows["feasible"].to_list() == [True, True]
    assert rows["front"].to_list() == [False, False]


def test_a_value_that_some_seeds_lack_is_not_the_mean_of_all() -> None:
    """With seeds 1 and 3 there are 100 flows or more, with seed 2 there are 70."""
    of_one = Search(space={"k": [1, 2]}, minimise="fct.p99")
    rows = [
        ("base", seed, "fct", "all", "p99", "s", value, count, 0, False)
        for seed, value, count in ((1, 1.0, 100), (2, None, 70), (3, 1.0, 120))
    ]
    data = pl.DataFrame(rows, {"arm": pl.String, "seed": pl.Int64, **SCHEMA}, orient="row")
    found = _measured(of_one, 0, {"k": 1}, data, 3)
    why = "1 of 3 runs has no value of fct.p99: p99 needs 100 values, and there are 70"
    assert found.lacks == {"fct.p99": why}
    assert not found.is_known(of_one)
    assert found.leaves(of_one) == [why]
    whole = _measured(of_one, 0, {"k": 1}, data.filter(pl.col("seed") != 2), 2)
    assert whole.is_known(of_one)
    assert whole.lacks == {}


@pytest.mark.core
def test_the_reason_of_a_trial_that_cannot_run_is_told_whole(tmp_path: Path) -> None:
    table = """
sampler = "grid"
minimise = "fct.mean@all"
space.transport.dctcp.subflows = [1, 8]
"""
    words = ["study", "run", str(write(tmp_path, table)), "--out", str(tmp_path / "out")]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    [line] = [line for line in said.stderr.splitlines() if line.startswith("trial 1: ")]
    assert "seed 1: " in line
    assert "does not apply to dctcp" in line
    rows = pl.read_csv(tmp_path / "out" / "found" / "figure-pareto.csv")
    assert "does not apply to dctcp" in rows["why"][1]
    # All trials fail: there is no study, and the table of trials is beside it.
    words[2] = str(write(tmp_path, table.replace("1, 8", "8, 4")))
    said = CliRunner().invoke(app, [*words[:-1], str(tmp_path / "none")])
    assert isinstance(said.exception, StudyError)
    rows = pl.read_csv(tmp_path / "none" / "found-trials.csv")
    assert rows["why"].str.contains("does not apply to dctcp").to_list() == [True, True]
    # A trial that is on the front moves the table into the directory of the study.
    words[2] = str(write(tmp_path, table.replace("1, 8", "1, 4")))
    assert CliRunner().invoke(app, [*words[:-1], str(tmp_path / "none")]).exit_code == 0
    assert not (tmp_path / "none" / "found-trials.csv").exists()


def test_an_arm_is_named_by_its_settings_if_they_are_short() -> None:
    def arm(settings: dict[str, Any]) -> str:
        return trial(2, 1.0, 1.0, settings=settings).arm

    assert arm({"queue.mark": 16, "transport.t.subflows": 4}) == "trial 2: mark 16, subflows 4"
    # Two keys that end alike are told apart.
    both = {"queue.limit": 20, "nic.limit": 9}
    assert arm(both) == "trial 2: queue.limit 20, nic.limit 9"
    assert arm({"trace.file": "a/b.csv"}) == "trial 2", "a name has no slash"
    assert arm({"k": "x" * 60}) == "trial 2", "nor more than 60 letters"


TWO = """
sampler = "grid"
minimise = "fct.mean@all"
maximise = "goodput.mean"
require = [{ measure = "goodput.mean", above = "1Mbps" }]
space.queue.mark = [5, 40]
space."workload.incast.0.senders" = [4, 8, 99]
"""


@pytest.mark.core
def test_what_readers_see_first_is_the_front_with_its_settings(tmp_path: Path) -> None:
    file = write(tmp_path, TWO)
    text = file.read_text(encoding="utf-8").replace('measures = ["jain"]', "report = true")
    file.write_text(text, encoding="utf-8")
    words = ["--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["study", "run", str(file), *words]).exit_code == 0
    result = StudyResult(tmp_path / "out" / "found")
    assert result.study.measures == ["fct.mean@all", "goodput.mean"], "those of the search only"
    found = result.found
    assert found is not None
    front = found.trials.filter("front")
    assert front.height == len(result.study.arms)
    number = front["trial"][0]
    mark, senders = front.select("queue.mark", "workload.incast.0.senders").row(0)
    assert f"trial {number}: mark {mark}, senders {senders}" in [a.name for a in result.study.arms]
    assert found.asked() == (
        "search over queue.mark, incast senders for the least fct.mean@all and the largest "
        "goodput.mean, where goodput.mean above 1 Mbit/s; 6 trials × 2 seeds"
    )
    answer = result.answer()
    assert answer[0] == f"on the Pareto front: {front.height} of 6 trials"
    starts = [
        f"trial {row[0]}: queue.mark {row[1]}, incast senders {row[2]}: "
        for row in front.sort("fct.mean@all")
        .select("trial", "queue.mark", "workload.incast.0.senders")
        .iter_rows()
    ]
    assert all(line.startswith(s) for line, s in zip(answer[1:], starts, strict=False))
    assert answer[-1].startswith("of 6 trials 2 could not run (the first: ")
    printed = CliRunner().invoke(app, ["study", "show", str(file), *words]).stdout
    assert printed.index(answer[1]) < printed.index("goodput mean")
    html = result._repr_html_()
    assert html.index(answer[0]) < html.index("data:image/svg+xml;base64,") < html.index("<table")
    page = tmp_path / "page.html"
    for place in (result.dir / "report.html", page):
        if place == page:
            done = CliRunner().invoke(app, ["report", str(result.dir), "--out", str(page)])
            assert done.exit_code == 0, done.output
        content = content_of(place)
        assert content["answers"][:3] == [found.asked(), *answer[:2]]
        assert content["figure"]["source"] == found.image
    assert found.figure == (result.dir / "figure-pareto.svg").read_bytes()
    # The same figure in another format, and the same data.
    picture = tmp_path / "front.svg"
    done = CliRunner().invoke(app, ["plot", str(result.dir), "pareto", "--out", str(picture)])
    assert done.exit_code == 0, done.output
    assert picture.read_bytes() == found.figure
    assert (
        picture.with_suffix(".csv").read_bytes() == (result.dir / "figure-pareto.csv").read_bytes()
    )


@pytest.mark.core
def test_only_a_search_has_a_front(tmp_path: Path) -> None:
    file = tmp_path / "plain.toml"
    text = f'base = "{INCAST}"\nmeasures = ["jain"]\n'
    file.write_text(text, encoding="utf-8")
    words = ["study", "run", str(file), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, words).exit_code == 0
    result = StudyResult(tmp_path / "out" / "plain")
    assert result.found is None
    drawn = CliRunner().invoke(app, ["plot", str(result.dir), "pareto"])
    assert drawn.exit_code == 2
    assert "pareto is of a study that searches" in drawn.stderr
    file.write_text(f'{text}figures = ["pareto"]\n', encoding="utf-8")
    said = CliRunner().invoke(app, words).exception
    assert "figures: pareto is of a study that searches" in str(said)


@pytest.mark.core
def test_the_figures_of_a_search_are_checked_before_any_run(tmp_path: Path) -> None:
    file = write(tmp_path, GRID)
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("seeds = 2", 'seeds = 2\nfigures = ["nonsense"]'), encoding="utf-8"
    )
    with pytest.raises(StudyError, match="no kind of figure 'nonsense'"):
        search(Study.load(file), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    drawn = text.replace("seeds = 2", 'seeds = 1\nfigures = ["pareto"]')
    file.write_text(drawn, encoding="utf-8")
    _, _, result = search(Study.load(file), tmp_path / "out")
    assert (result.dir / "figure-pareto.svg").exists()


@pytest.mark.core
def test_a_lower_bound_does_not_show_that_a_value_is_small_enough(tmp_path: Path) -> None:
    """No flow of 4 MiB ends in 6 ms; each is younger than a second, but may become older."""
    table = """
sampler = "grid"
maximise = "goodput.mean@all"
require = [{ measure = "fct.mean@all", below = "1s" }]
space.queue.mark = [5]
space."workload.incast.0.size" = ["%s"]
"""
    with pytest.raises(StudyError, match=r"none of 1 trial meets fct.mean@all below 1 s"):
        search(Study.load(write(tmp_path, table % "4MiB")), tmp_path)
    [trial], _, _ = search(Study.load(write(tmp_path, table % "128KiB")), tmp_path)
    assert trial.excess[0] < 0.0


@pytest.mark.core
def test_what_is_not_known_is_no_nearer_than_nothing(tmp_path: Path) -> None:
    """Three bursts of 8 MiB take 20 ms: without a drain no flow ends, and their mean age is 4 ms.

    With one they take more than 10 ms.
    """
    table = """
sampler = "grid"
maximise = "goodput.mean@all"
require = [{ measure = "fct.mean@all", below = "10ms" }]
space."workload.incast.0.size" = ["1MiB"]
space.drain = ["0ms", "100ms"]
"""
    with pytest.raises(StudyError, match=r"none of 2 trials meets .*; the nearest has .*100ms"):
        search(Study.load(write(tmp_path, table)), tmp_path)
    # A value that is not there is not above 0.
    table = """
sampler = "grid"
maximise = "goodput.mean@all"
require = [{ measure = "fct.p99@above 10 MB", above = "0s" }]
space."workload.incast.0.senders" = [4, 80]
"""
    with pytest.raises(StudyError, match=r"none of 1 trial meets fct.p99@above 10 MB above 0 s"):
        search(Study.load(write(tmp_path, table)), tmp_path)
    with pytest.raises(StudyError, match=r"(?s)search: no trial can run: .*trial 0.*incast.0"):
        search(Study.load(write(tmp_path, table.replace("4, 80", "80, 90"))), tmp_path)


@pytest.mark.core
def test_what_is_met_by_far_makes_up_for_nothing(tmp_path: Path) -> None:
    """Half the senders have twice the goodput, which is nearer to 400 Gbit/s."""
    table = """
sampler = "grid"
maximise = "jain"
require = [
    { measure = "goodput.mean@all", above = "400Gbps" },
    { measure = "goodput.mean@all", below = "900Gbps" },
    { measure = "goodput.p50@all", below = "900Gbps" },
]
space."workload.incast.0.senders" = [8, 4]
"""
    with pytest.raises(StudyError, match=r"the nearest has workload.incast.0.senders 4"):
        search(Study.load(write(tmp_path, table)), tmp_path)
    _, _, found = search(Study.load(write(tmp_path, table.replace("400Gbps", "1bps"))), tmp_path)
    assert found.study.measures == ["jain", "goodput.mean@all", "goodput.p50@all"], "each once"


@pytest.mark.core
def test_a_sampler_proposes_the_same_trials_again(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    table = """
        trials = 6
        minimise = "fct.mean@all"
        maximise = "goodput.mean"
        require = [{ measure = "goodput.mean", above = "1Mbps" }]
        space.queue.mark = { from = 2, to = 90, log = true }
        space.transport.dctcp.g = { from = 0.01, to = 0.5 }
        space."workload.incast.0.senders" = [4, 8, 99]
    """
    file = write(tmp_path, table)
    words = ["study", "run", str(file), "--out", str(tmp_path / "out")]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    runs = sorted((tmp_path / "out" / "runs").iterdir())
    again = CliRunner().invoke(app, words)
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
    assert sorted((tmp_path / "out" / "runs").iterdir()) == runs
    rows = pl.read_csv(tmp_path / "out" / "found" / "figure-pareto.csv")
    assert rows.height == 6
    assert rows["queue.mark"].is_between(2, 90).all()
    assert rows["queue.mark"].dtype == pl.Int64, "ends are whole, so all are"
    assert rows["transport.dctcp.g"].is_between(0.01, 0.5).all()
    failed = rows.filter(pl.col("workload.incast.0.senders") == 99)
    assert failed["why"].str.contains("senders").all(), "there are 8 hosts that may send"
    status = CliRunner().invoke(app, ["study", "status", str(file)])
    assert status.exit_code == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("space.k = [1]", "search: write what to minimise or maximise"),
        ('minimise = "fct"\nspace.k = [1]', "fct has several statistics; name one"),
        ('minimise = "fct.mean"\nspace.k = [1, 1]', "k: write a list of values that differ"),
        ('minimise = "fct.mean"\nspace.k = { from = 2, to = 1 }', "from is to be below to"),
        ('minimise = "jain"\nspace.k = { from = 0, to = 1, log = true }', "it is above 0"),
        (
            'sampler = "grid"\nminimise = "jain"\nspace.k = { from = 0, to = 1 }',
            "space: k: a grid needs a list of values",
        ),
        (
            'sampler = "grid"\ntrials = 1\nminimise = "jain"\nspace.k = [1, 2]',
            "trials = 1: the grid has 2; leave trials out",
        ),
        (
            'minimise = "jain"\nspace.k = [1]\nrequire = [{ measure = "jain", above_arm = "x" }]',
            "require: write below or above, without arms",
        ),
        ('minimise = "jain"\nspace.k = [1]\n[vary]\nq = [1]', "vary does not go with search"),
    ],
)
def test_wrong_searches_are_errors_of_the_file(table: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        Study.parse(FILE % table)
    assert message in str(caught.value)


@pytest.mark.core
def test_a_search_for_the_time_of_the_one_job_finds_it(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    text = starter("study", "many-to-one", "all-reduce", ["dctcp"]).partition("[[arm]]")[2]
    base = text[text.index("[base]") :]
    head = 'measures = ["jct.mean"]\n[search]\nsampler = "grid"\nminimise = "jct.mean"\n'
    space = 'space.transport.t.mss = ["1448B", "500B"]\n'
    transport = '[base.transport.t]\ncontrol = "dctcp"\n'
    file.write_text(f"{head}{space}{base}{transport}", encoding="utf-8")
    trials, best, _ = search(Study.load(file), tmp_path / "results")
    assert len(trials) == 2
    # Headers of 90 B beside 500 B take longer than beside 1,448 B.
    assert [one.settings for one in best] == [{"transport.t.mss": "1448B"}]
