"""Figures from Python: of results and studies, shown in notebooks or written to files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Request
from linkpool.figures.kinds import KINDS
from linkpool.figures.plot import plot as write
from linkpool.figures.plot import render
from linkpool.result import Result
from linkpool.study.arms import arms_of, measures_of, trials_of
from linkpool.study.result import StudyResult

Source: TypeAlias = "Result | StudyResult | str | Path"


@dataclass(frozen=True)
class Drawing:
    """A figure, which notebooks show.

    Attributes:
        svg: the figure.
        data: what is drawn.

    """

    svg: str = field(repr=False)
    data: pl.DataFrame = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


def plot(
    sources: "Source | Sequence[Source]",
    kind: str,
    out: str | Path | None = None,
    *,
    by: Literal["transport", "label"] = "transport",
    flows: Sequence[int] = (),
    links: Sequence[str] = (),
    start: float | None = None,
    end: float | None = None,
    measure: str | None = None,
    width: float = look.COLUMN,
) -> Drawing:
    """Draw a figure of results, as `linkpool plot` does.

    Args:
        sources: results of runs or of studies, or their directories.
        kind: the kind of figure, such as `slowdown`; `linkpool plot --help` explains each.
        out: a file to write, `.svg`, `.png` or `.pdf`, with the data beside it as CSV; None: none.
        by: the column of `flows` that tells series of one arm apart.
        flows: numbers of flows, for figures over time.
        links: names of links, for figures of queues.
        start: of the time shown, s.
        end: of the time shown, s.
        measure: what `sweep` and `arms` draw, such as `slowdown.p50`; None: the study's first, and
            all of the study.
        width: inches.

    Raises:
        FigureError: there is no such kind or format, or nothing to draw.
        NotRecordedError: a time series is needed that the scenario did not ask for.

    >>> import linkpool
    >>> result = linkpool.run("docs/workloads/incast.toml")
    >>> drawing = linkpool.plot(result, "fct-cdf")
    >>> drawing.svg.startswith("<?xml"), drawing.data.height > 0
    (True, True)

    """
    if kind not in KINDS:
        raise FigureError(f"no kind of figure is named {kind!r}; there are {', '.join(KINDS)}")
    several = [sources] if isinstance(sources, Result | StudyResult | str | Path) else sources
    paths = [one.dir if isinstance(one, Result | StudyResult) else Path(one) for one in several]
    chosen = [measure] if measure else measures_of(paths)
    request = Request(arms_of(paths), by, flows, links, start, end, chosen, trials_of(paths))
    if out is not None:
        write(KINDS[kind], request, Path(out), width)
    rows = KINDS[kind].data(request)
    return Drawing(render(KINDS[kind], rows, ".svg", width).decode(), rows)
