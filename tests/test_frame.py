"""The frame of a figure, and the settings by which an experiment is judged and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes

from linkpool import Result
from linkpool.columns import Column
from linkpool.study import Experiment, Ledger, Point, each, under
from linkpool.study.frame import Frame, Panel

DATA = pl.DataFrame({"mark": [5, 20, 20], "fct_s": [1.0, 2.0, 4.0]})


def bars(axes: Axes, data: pl.DataFrame) -> None:
    """Draw the values, and a line for the legend."""
    axes.plot(data["fct_s"], label="FCT")


@dataclass(frozen=True)
class Plain(Experiment):
    """Claims and figure of all rows together."""

    id: str = "T-plain"
    title: str = "a test"
    paper: str = "none"
    seeds: int = 1
    columns: ClassVar[tuple[Column, ...]] = ()

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return no run."""
        return []

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return no row."""
        return DATA.clear()

    def frame(self) -> Frame:
        """Return two panels."""
        left = Panel(bars, "K = {}", "flow", "FCT (s), {}", from_zero=True)
        return Frame([left, Panel(bars, "", "x", "y")], self.title)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the mean."""
        mean = data["fct_s"].mean()
        value = mean if isinstance(mean, float) else None
        ledger.add("mean", "the mean", "1 s", f"{value}", under(value, 1.0))


@dataclass(frozen=True)
class Split(Plain):
    """The same at each threshold."""

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the thresholds; one has no row."""
        return each("mark", (5, 20, 80))


def test_claims_are_judged_by_the_rows_of_each_setting() -> None:
    found = [(c.id, c.measured, c.verdict.value) for c in Split().claims(DATA)]
    assert found == [
        ("T-plain.mean@5", "1.0", "reproduced"),
        ("T-plain.mean@20", "3.0", "not"),
        ("T-plain.mean@80", "None", "not"),
    ]


@dataclass(frozen=True)
class Whole(Split):
    """A figure and a claim of all thresholds, too."""

    def frame(self) -> Frame:
        """Return one panel."""
        return Frame([Panel(bars, "all{}")], self.title, together=True)

    def judge_together(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the number of values."""
        ledger.add("count", "values", "3", f"{data.height}", under(data.height, 3.0))


def test_claims_of_all_settings_come_after_those_of_each() -> None:
    claims = Whole().claims(DATA)
    assert [c.id for c in claims[:-1]] == [c.id for c in Split().claims(DATA)]
    assert (claims[-1].id, claims[-1].measured) == ("T-plain.count", "3")


def test_panels_of_all_settings_together_see_all_rows() -> None:
    (axes,) = Whole().draw(DATA).axes
    assert axes.get_title() == "all"
    (line,) = axes.get_lines()
    assert list(np.asarray(line.get_ydata())) == [1.0, 2.0, 4.0]


def test_without_settings_all_rows_are_judged_together() -> None:
    claims = Plain().claims(DATA)
    assert [(c.id, c.measured) for c in claims] == [("T-plain.mean", f"{7 / 3}")]


def test_a_row_of_panels_for_each_setting() -> None:
    figure = Split().draw(DATA)
    axes = figure.axes
    assert len(axes) == 6
    assert figure.get_suptitle() == "T-plain: a test"
    assert [at.get_title() for at in axes] == ["K = 5", "", "K = 20", "", "K = 80", ""]
    assert [at.get_xlabel() for at in axes] == ["", "", "", "", "flow", "x"]
    # The panels of a row share the y axis, so the first one names it.
    assert [at.get_ylabel() for at in axes[::2]] == ["FCT (s), 5", "FCT (s), 20", "FCT (s), 80"]
    assert [at.get_ylabel() for at in axes[1::2]] == ["", "", ""]
    assert [np.size(at.get_lines()[0].get_ydata()) for at in axes] == [1, 1, 2, 2, 0, 0]
    assert axes[0].get_ylim()[0] == 0.0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["FCT"]


@pytest.mark.parametrize(("columns", "shape"), [(0, (1, 2)), (1, (2, 1))])
def test_panels_stand_in_so_many_columns(columns: int, shape: tuple[int, int]) -> None:
    frame = Frame([Panel(bars, x="a"), Panel(bars, x="b")], "t", sharey=False, columns=columns)
    figure = frame.draw("T", {"": DATA})
    spec = figure.axes[0].get_subplotspec()
    assert spec is not None
    assert spec.get_gridspec().get_geometry() == shape
    assert [at.get_xlabel() for at in figure.axes] == ["a", "b"]


def test_panels_with_axes_of_their_own_name_them_all() -> None:
    frame = Frame([Panel(bars, y="a"), Panel(bars, y="b")], "t", sharey=False, legend=0)
    figure = frame.draw("T", {"": DATA})
    assert [at.get_ylabel() for at in figure.axes] == ["a", "b"]
    assert not figure.legends


def test_an_experiment_without_figure_and_claims_says_so() -> None:
    class Bare(Plain):
        frame, judge = Experiment.frame, Experiment.judge

    with pytest.raises(NotImplementedError, match="T-plain has neither a frame nor a figure"):
        Bare().draw(DATA)
    with pytest.raises(NotImplementedError, match="T-plain has neither claims nor a judge"):
        Bare().claims(DATA)
