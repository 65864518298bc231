"""A kind of figure: how its data is taken from results, and how that data is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from linkpool.study.arms import Arm


class FigureError(ValueError):
    """A figure cannot be drawn from these results; the message names the remedy."""


@dataclass(frozen=True)
class Request:
    """The data to draw.

    Attributes:
        arms: of which results.
        by: the column of `flows` that tells series of one arm apart: `transport` or `label`.
        flows: numbers of flows, for figures over time; empty: that of the largest slowdown.
        links: names of links, for figures of queues; empty: those recorded, at most the
            `MOST_LINES` with the longest queues.
        start: of the time shown, s; None: when the first of what is shown begins.
        end: of the time shown, s; None: when the last of what is shown ends.
        measures: as `fct.p99@all`; `sweep` draws the first, `arms` each. Empty: usual ones.
        trials: of a study that searched, as `Found` has them; None: it did not search.

    """

    arms: Sequence[Arm]
    by: str = "transport"
    flows: Sequence[int] = field(default_factory=tuple)
    links: Sequence[str] = field(default_factory=tuple)
    start: float | None = None
    end: float | None = None
    measures: Sequence[str] = field(default_factory=tuple)
    trials: pl.DataFrame | None = None


MOST_LINES = 7
"""No more lines than there are colours that anyone can tell apart."""


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes:
        name: what a user types; `linkpool plot --help` explains it.
        home: its `Recipe`, as MODULE:NAME; it is loaded when the figure is drawn.
        series: the key of `[record]` that it needs; None: it needs none.
        of_one: it is about one result.
        require: raises `FigureError` if it cannot be drawn of arms with these keys, and of this
            measure, whatever their results are.

    """

    name: str
    home: str
    series: str | None = None
    of_one: bool = False
    require: Callable[[Sequence[Mapping[str, Any]], str | None], None] = lambda _, __: None

    def data(self, request: Request) -> pl.DataFrame:
        """Take the data of the figure from results. It is written beside the figure as CSV."""
        return self._load().data(request)

    def draw(self, figure: Figure, rows: pl.DataFrame) -> None:
        """Draw that data, and nothing else."""
        self._load().draw(figure, rows)

    def _load(self) -> Recipe:
        module, _, name = self.home.partition(":")
        found: Recipe = getattr(import_module(module), name)
        return found


@dataclass(frozen=True)
class Recipe:
    """How the data of a figure is taken from results, and how it is drawn; see `Kind`."""

    data: Callable[[Request], pl.DataFrame]
    draw: Callable[[Figure, pl.DataFrame], None]


def one_arm(request: Request, kind: str) -> Arm:
    """Return the only result that is asked for, for figures of single flows and links."""
    if len(request.arms) != 1:
        names = ", ".join(arm.name for arm in request.arms)
        raise FigureError(f"{kind} is about one result; name one of {names}")
    return request.arms[0]
