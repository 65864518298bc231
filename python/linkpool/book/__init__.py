"""The book of results: a page an experiment, with the data from which anybody can judge it again.

`docs/book` holds, for each experiment `ID` that was run, `ID.parquet` (its data), `ID.json` (how it
was made), `ID.png` (the figure) and `ID.md` (the page), an index, and a manifest with checksums.
"""

from pathlib import Path

FOLDER = Path("docs/book")
"""The book of this repository."""
