"""Studies that search: the front by hand, what is required, the cache, the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from linkpool.cli.commands import app
from linkpool.study import Study, StudyError, StudyResult
from linkpool.study.search import Trial, front, search, table_of
from linkpool.study.space import Search

ROOT = Path(__file__).resolve().parent.parent
INCAST = ROOT / "docs/workloads/incast.toml"


def trial(number: int, fct: float | None, goodput: float, **more: Any) -> Trial:
    values = {"fct.mean": fct, "goodput.mean": goodput}
    given: dict[str, Any] = {"settings": {"k": number}, "open": frozenset(), "excess": []}
    return Trial(number, values=values, **{**given, **more})


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
        trial(8, None, 99.0),
        trial(9, 0.1, 99.0, why="cannot run"),
        trial(10, 5.0, 10.0, open=frozenset({"goodput.mean"})),  # at least as large
    ]
    assert [one.number for one in front(BOTH, trials)] == [1, 4, 0, 3, 10]
    of_one = Search(space={"k": [1, 2]}, minimise="fct.mean")
    assert [one.number for one in front(of_one, trials[:4])] == [1]
    assert front(BOTH, trials[6:10]) == []
    table = table_of(BOTH, trials, front(BOTH, trials))
    assert table.filter("front")["trial"].to_list() == [0, 1, 3, 4, 10]
    assert table.filter(~pl.col("feasible"))["trial"].to_list() == [6, 9]


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
    assert [arm.name for arm in again.study.arms] == [best[0].name]
    assert set(again.data["measure"]) == {"jain", "fct", "timeouts"}
    mean = again.statistics.filter(measure="fct", part="all")["mean"].item()
    assert mean == pytest.approx(best[0].values["fct.mean@all"])
    rows = pl.read_csv(result.dir / "figure-pareto.csv")
    assert rows["trial"].to_list() == [0, 1, 2, 3]
    assert rows.filter("front")["trial"].to_list() == [best[0].number]
    assert b"Pareto front" in (result.dir / "figure-pareto.svg").read_bytes()


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
