"""Draw a figure and keep its data beside it."""

import io
import re
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Kind, Request
from linkpool.plain import plain
from linkpool.publish import publish_file
from linkpool.ticks import group_thousands

FORMATS = (".svg", ".png", ".pdf")
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}
"""Without the time of drawing: the same data gives the same file."""
NOT_OF_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Characters that names may have, and XML may not."""
HEIGHT = 0.72
"""Of a panel, by its width."""


def plot(kind: Kind, request: Request, out: Path, width: float = look.COLUMN) -> Path:
    """Draw a figure, write its data beside it, and return where the data is.

    Args:
        kind: what to draw.
        request: of what.
        out: the file, of one of the `FORMATS`. The data goes to the same name with `.csv`.
        width: inches.

    Raises:
        FigureError: there is nothing to draw, or no such format.
        NotRecordedError: a time series is needed that the scenario did not ask for.

    """
    require_format(out)
    rows = kind.data(request)
    content = render(kind, rows, out.suffix, width)
    table = out.with_suffix(".csv")
    with publish_file(table) as file:
        rows.write_csv(file)
    _write(out, content)
    return table


def require_format(out: Path) -> None:
    """Raise `FigureError` unless the name of a figure ends in a format."""
    if out.suffix not in FORMATS:
        raise FigureError(f"cannot draw {out}: write a name that ends in {', '.join(FORMATS)}")


def render(kind: Kind, rows: pl.DataFrame, suffix: str, width: float = look.COLUMN) -> bytes:
    """Return the figure as a file of this format."""
    rows = rows.with_columns(pl.col(pl.String).map_elements(plain, pl.String))
    with look.context():
        figure = Figure(figsize=(width, width * HEIGHT), layout="constrained")
        kind.draw(figure, rows)
        return content(figure, suffix)


def save(figure: Figure, out: Path) -> None:
    """Write a figure to a file of one of the `FORMATS`; the same figure gives the same bytes."""
    require_format(out)
    _write(out, content(figure, out.suffix))


def _write(out: Path, content: bytes) -> None:
    with publish_file(out) as file:
        file.write_bytes(content)


def content(figure: Figure, suffix: str) -> bytes:
    """Return a figure as a file of this format."""
    group_thousands(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix[1:], dpi=200, metadata=METADATA[suffix])
    picture = buffer.getvalue()
    return NOT_OF_XML.sub(b"?", picture) if suffix == ".svg" else picture
