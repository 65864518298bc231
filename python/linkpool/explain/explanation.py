"""Why a flow took so long, as an object: in words, as tables, as a picture, in notebooks."""

from collections.abc import Sequence
from functools import cached_property
from html import escape
from pathlib import Path

import polars as pl

from linkpool.explain.replay import replay
from linkpool.explain.story import Story, as_text, tell
from linkpool.explain.wires import Wires
from linkpool.result import Result
from linkpool.units import PS


class Explanation:
    """Where the time of a flow went, as `linkpool explain` says.

    `print` gives it in words; a notebook shows these below a picture.

    Attributes:
        flow: the number of the flow.

    >>> import linkpool
    >>> result = linkpool.run("docs/workloads/incast.toml")
    >>> explanation = result.explain(0)
    >>> str(explanation).splitlines()[0]
    'Flow 0: ...'
    >>> explanation.breakdown.columns
    ['cause', 'time_s', 'share']

    """

    def __init__(self, story: Story) -> None:
        self._story = story
        self.flow = story.life.flow

    @classmethod
    def of(cls, result: Result, flow: int) -> "Explanation":
        """Make the run again up to the end of a flow, with a trace of it.

        Raises:
            ExplainError: there is no such flow, it cannot be traced, or the run is not the same as
                the one recorded.
            ScenarioError: the scenario cannot be read again.

        """
        return cls.all_of(result, [flow])[0]

    @classmethod
    def all_of(cls, result: Result, flows: Sequence[int]) -> "list[Explanation]":
        """Do the same for several flows, for which the run is made again once."""
        wires = Wires(result)
        return [cls(tell(life, wires)) for life in replay(result, flows)]

    @property
    def breakdown(self) -> pl.DataFrame:
        """Where the time went, along the chain of causes that led to the last ACK.

        Columns: `cause`, `time_s`, and its `share` of the completion time. The times add up to the
        completion time. A flow that did not finish has no rows.
        """
        rows = [(cause.value, time) for cause, time in self._story.breakdown.items()]
        return self._shares("cause", rows)

    @property
    def held(self) -> pl.DataFrame:
        """What kept the sender from sending; columns as in `breakdown`, with `reason`."""
        return self._shares("reason", [(why.value, t) for why, t in self._story.held.items()])

    @property
    def moments(self) -> pl.DataFrame:
        """What befell it, in order of time, each marked ACK and each lost packet a row.

        Columns: `time_s` since the first packet, `kind` (`mark`, `cut`, `loss`, `trim`, `pause`,
        `timeout`, `probe`, `recovery`, `suppressed`, `released`, `established`, `wait` or
        `other`), `subflow`, `text`.
        """
        start = self._story.life.start
        rows = [((m.at - start) / PS, m.kind, m.subflow, m.text) for m in self._story.moments]
        schema = {"time_s": pl.Float64, "kind": pl.String, "subflow": pl.Int64, "text": pl.String}
        return pl.DataFrame(rows, schema, orient="row")

    def plot(self, out: str | Path) -> None:
        """Draw the chain of causes and the windows to a file, `.svg`, `.png` or `.pdf`.

        Raises:
            FigureError: there is no such format.

        """
        from linkpool.explain.picture import draw  # here: matplotlib takes long to load

        draw(self._story, Path(out))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Explanation of flow {self.flow}: {self._text.splitlines()[1]}>"

    def _repr_html_(self) -> str:
        """Show the picture and the words in a notebook."""
        from linkpool.explain.picture import render

        picture = render(self._story, ".svg").decode()
        svg = picture[picture.index("<svg") :]
        return f"{svg}<pre>{escape(self._text)}</pre>"

    @cached_property
    def _text(self) -> str:
        return as_text(self._story)

    def _shares(self, name: str, rows: list[tuple[str, int]]) -> pl.DataFrame:
        total = max(self._story.life.end - self._story.life.start, 1)
        table = [(what, time / PS, time / total) for what, time in rows]
        schema = {name: pl.String, "time_s": pl.Float64, "share": pl.Float64}
        return pl.DataFrame(table, schema, orient="row")
