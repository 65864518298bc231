"""All experiments, with the simulator replaced: points, data, figures and claims fit together."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import rtoml
from matplotlib.figure import Figure

from fake_core import FakeCore
from linkpool import _core, experiments
from linkpool.experiments.papers import PAPERS, QUESTIONS
from linkpool.manifest import verify
from linkpool.study import style
from linkpool.study.claims import Claim, Ledger
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.reproduce import (
    ANALYSED,
    FILES,
    NothingToShortenError,
    analyse,
    reproduce_experiment,
    shorten,
)
from shapes import one_per_shape
from tables import KINDS

ALL = experiments.all_experiments()
SMALL: dict[str, Any] = {
    "bursts": 2,
    "duration_s": 0.02,
    "sizes": ("64KiB", "128KiB", "1MiB"),
    "ks": (10, 30),
    "gammas": (1, 2, 3),
    "taus": (5, 6),
    "dctcp": (4, 8),
    "k": 4,
    "subflows": (1, 8, 16),
    "large": (3, 1),
    "workloads": ("half",),
    "degrees": (0, 60),
    "loads": (10, 70),
    "thresholds_kb": (100, 1024),
}


ONE_DELAY = {"A-fig3", "A-fig12", "A-fig13", "A-fig14"}
"""Without the paper's Figure 1 topology, for which the text gives two."""


def small(experiment: Experiment) -> Experiment:
    """Return the experiment with less of everything that it can have less of."""
    names = {field.name for field in fields(experiment)}  # type: ignore[arg-type]
    changes = {name: value for name, value in SMALL.items() if name in names}
    if experiment.id == "A-fig2":
        del changes["sizes"]
    if experiment.id.startswith("T-") or experiment.id == "M-tab6":
        changes["duration_s"] = 2.0
    found: Experiment = replace(experiment, **changes)  # type: ignore[type-var]
    return found


def by_id(experiment: Experiment) -> str:
    return experiment.id


def test_every_experiment_is_documented() -> None:
    assert len(ALL) == len(experiments.EXPERIMENTS) > 30
    docs = Path(__file__).parents[1] / "docs"
    index = (docs / "experiments.md").read_text(encoding="utf-8")
    for experiment in ALL:
        paper = type(experiment).__module__.split(".")[2]
        page = (docs / "experiments" / f"{paper}.md").read_text(encoding="utf-8")
        assert f"## {experiment.id}:" in page
        assert re.search(rf"\b{experiment.id}\b", index)


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_a_quantity_is_either_declared_or_code(experiment: Experiment) -> None:
    declared = experiments.EXPERIMENTS[experiment.id].quantities
    coded = {*experiment.terms, *(name.replace("_", "-") for name in dir(experiment))}  # type: ignore[attr-defined]
    assert not coded & {*declared}


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_lists_show_what_an_experiment_says_of_itself(experiment: Experiment) -> None:
    assert experiments.EXPERIMENTS[experiment.id].runs == experiment.runs()


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_points_are_distinct_and_valid(experiment: Experiment) -> None:
    """All that is looked at in their scenarios, as writing and reading them takes seconds."""
    points = [replace(point, source=point.scenario) for point in experiment.points([1, 2])]
    texts = {(point.name, point.seed): point.scenario for point in points}
    assert len(set(zip(texts.values(), (seed for _, seed in texts), strict=True))) == len(points)
    assert len({(point.name, point.seed) for point in points}) == len(points)
    for point in points:
        assert (point.cost or 0) > 0
        assert (point.active_s or 0) > 0
    first = {point.name: point for point in experiment.points([1])}
    assert {(name, 1) for name in first} == {key for key in texts if key[1] == 1}
    for point in one_per_shape(point for point in points if point.seed == 1):
        assert first[point.name].scenario == point.scenario
        # The paper of NDP is of 2017, and open questions are of today.
        if experiment.id[0] not in "NQ":
            transports = rtoml.loads(point.scenario)["transport"].values()
            assert all(transport["preset"] == "paper-2013" for transport in transports)
        as_run = _core.check(point.scenario, "scenario.toml", None, [])
        assert _core.check(as_run, "again.toml", None, []) == as_run


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_a_reproduction_gives_data_figure_and_claims(
    experiment: Experiment,
    fake_core: FakeCore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that is looked at in one reproduction, as drawing takes seconds."""
    drawn: list[Figure] = []
    draw = type(experiment).draw

    def draw_and_keep(self: Experiment, data: pl.DataFrame) -> Figure:
        drawn.append(draw(self, data))
        return drawn[-1]

    monkeypatch.setattr(type(experiment), "draw", draw_and_keep)
    # A file of it takes as long as all else: a long test writes those of all.
    monkeypatch.setattr(style, "render", lambda _figure, kind: f"a figure as {kind}".encode())
    fake_core.summarises = False  # no experiment reads it
    if experiment.id == "Q-trimming":
        # Its largest incasts have 1,500 and 3,000 flows, whose text takes half a second to read.
        all_settings: dict[str, str] = experiment.settings  # type: ignore[attr-defined]
        settings = {name: of for name, of in all_settings.items() if int(of.replace(",", "")) < 512}
        monkeypatch.setattr(type(experiment), "settings", settings)
    report = reproduce_experiment(small(experiment), tmp_path, seeds=2, jobs=2)
    where = tmp_path / experiment.id
    assert {path.name for path in where.iterdir()} == {*FILES, "manifest.json"}
    verify(where)
    assert (where / "figure.svg").read_bytes() == b"a figure as svg"
    data = pl.read_parquet(where / "data.parquet")
    assert dict(data.schema) == {c.name: KINDS[c.type] for c in experiment.columns}
    claims = json.loads((where / "claims.json").read_text(encoding="utf-8"))
    assert claims == [claim.as_dict() for claim in report.claims]
    check_claims(experiment, claims)
    (figure,) = drawn
    check_limits(figure)


@pytest.mark.long
@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_its_figure_can_be_written(
    experiment: Experiment, fake_core: FakeCore, tmp_path: Path
) -> None:
    reproduce_experiment(small(experiment), tmp_path, seeds=2, jobs=2)
    where = tmp_path / experiment.id
    assert b"</svg>" in (where / "figure.svg").read_bytes()
    assert (where / "figure.png").read_bytes().startswith(b"\x89PNG")


FIELDS = ["id", "text", "paper", "measured", "verdict", "note", "single_seeds"]


def check_claims(experiment: Experiment, claims: list[dict[str, str]]) -> None:
    """Check that claims are complete, and judged at both delays where there are two."""
    assert len({claim["id"] for claim in claims}) == len(claims) > 0
    names: dict[str, set[str]] = {}
    for claim in claims:
        assert list(claim) == FIELDS
        assert len(claim["single_seeds"]) == (2 if experiment.of_single_seeds else 0)
        assert claim["id"].startswith(f"{experiment.id}.")
        assert claim["verdict"] in ("reproduced", "partly", "not")
        assert all(claim[name] for name in FIELDS if name != "single_seeds")
        assert "None" not in claim["measured"]
        assert "nan" not in claim["measured"]
        name, _, setting = claim["id"].partition("@")
        names.setdefault(setting, set()).add(name)
    if experiment.id[0] == "A" and experiment.id not in ONE_DELAY:
        assert names.keys() == {"2us", "5.6us"}
        assert names["2us"] == names["5.6us"]


def check_limits(figure: Figure) -> None:
    """Check that all that is drawn is within the axes."""
    for axes in figure.axes:
        low, high = axes.get_ylim()
        for line in axes.get_lines():
            y = np.asarray(line.get_ydata(), dtype=float)
            y = y[np.isfinite(y)]
            assert (y <= high).all()
            assert axes.get_yscale() == "log" or (y >= low).all()


def test_the_same_data_gives_the_same_files(fake_core: FakeCore, tmp_path: Path) -> None:
    experiment = small(ALL[0])
    reproduce_experiment(experiment, tmp_path, seeds=1, jobs=1)
    where = tmp_path / experiment.id
    assert (where / "figure.png").read_bytes().startswith(b"\x89PNG")
    data = pl.read_parquet(where / "data.parquet")
    again = tmp_path / "again"
    again.mkdir()
    analyse(experiment, data, again)
    for name in ANALYSED:
        assert (again / name).read_bytes() == (where / name).read_bytes()


def test_experiments_share_runs(fake_core: FakeCore, tmp_path: Path) -> None:
    fig2, fig8 = (small(e) for e in ALL if e.id in ("A-fig2", "A-fig8"))
    first = reproduce_experiment(fig8, tmp_path, seeds=1, jobs=2)
    second = reproduce_experiment(fig2, tmp_path, seeds=1, jobs=2)
    assert first.cached == 0
    assert second.cached == second.runs


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_without_data_nothing_is_reproduced(experiment: Experiment) -> None:
    assert {claim.verdict.value for claim in without_data(experiment)} == {"not"}


def without_data(experiment: Experiment) -> list[Claim]:
    empty = pl.DataFrame(schema={c.name: KINDS[c.type] for c in experiment.columns})
    return experiment.claims(empty)


@pytest.mark.parametrize("paper", sorted(PAPERS.keys() - {QUESTIONS}))
def test_each_claim_that_a_paper_states_is_judged(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of its table that no code judges would say what nobody holds."""
    judged = set()
    judge = Ledger.judge

    def note(self: Ledger, name: str, /, *rest: Any, **words: object) -> None:
        judged.add(name)
        judge(self, name, *rest, **words)

    monkeypatch.setattr(Ledger, "judge", note)
    stated: set[str] = set()
    for one in ALL:
        if one.id in PAPERS[paper].experiments:
            stated |= experiments.EXPERIMENTS[one.id].claims.keys()
            without_data(one)
    assert judged == stated


@pytest.mark.parametrize("experiment", ALL, ids=by_id)
def test_a_shortened_experiment_does_less_on_the_same_fabric(experiment: Experiment) -> None:
    experiment = with_seeds(experiment, min(experiment.seeds, 2))
    short, remark = shorten(experiment, 0.5)
    assert remark == f"{short.extent()} instead of {experiment.extent()}"
    points = experiment.points(range(1, experiment.seeds + 1))
    less = short.points(range(1, short.seeds + 1))
    assert (experiment.runs(), short.runs()) == (len(points), len(less))
    assert sum(p.cost or 0 for p in less) < 0.9 * sum(p.cost or 0 for p in points)
    full = {p.name: p for p in points}
    for p in one_per_shape(less):
        topology = rtoml.loads(full[p.name].scenario)["topology"]
        assert rtoml.loads(p.scenario)["topology"] == topology


def test_figure_and_claims_say_that_they_are_shortened(fake_core: FakeCore, tmp_path: Path) -> None:
    report = reproduce_experiment(small(ALL[0]), tmp_path, jobs=2, scale=0.4)
    assert report.seeds == 2
    assert report.shortened == "2 seeds instead of 5 seeds"
    claims = json.loads((tmp_path / "A-fig2" / "claims.json").read_text(encoding="utf-8"))
    assert all(c["note"].endswith("; shortened: 2 seeds instead of 5 seeds") for c in claims)
    data = pl.read_parquet(tmp_path / "A-fig2" / "data.parquet")
    whole = tmp_path / "whole"
    whole.mkdir()
    analyse(small(ALL[0]), data, whole)
    shortened = (tmp_path / "A-fig2" / "figure.svg").read_bytes()
    assert (whole / "figure.svg").read_bytes() != shortened


def test_what_cannot_be_shortened_is_not() -> None:
    assert shorten(ALL[0], 1.0) == (ALL[0], "")
    with pytest.raises(NothingToShortenError, match="it runs 5 seeds"):
        shorten(ALL[0], 0.99)
