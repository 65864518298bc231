"""The pages of the book in the menu of the documentation site."""

import re
from collections.abc import Iterable
from pathlib import Path

LINES = re.compile(r"^( +)- book/README\.md\n(?:\1- book/.*\n)*", re.MULTILINE)
"""The index in the menu, and the pages after it."""


def update(site: Path, pages: Iterable[Path]) -> None:
    """Write the pages of the book into the menu, below its index; without an index, nothing."""
    text = site.read_text(encoding="utf-8")
    site.write_text(with_pages(text, [page.name for page in pages]), encoding="utf-8")


def with_pages(text: str, names: Iterable[str]) -> str:
    """Return the configuration of the site with these pages.

    >>> text = "nav:;  - book/README.md;  - book/A.md;".replace(";", chr(10))
    >>> with_pages(text, ["A.md", "B.md"]).split(chr(10))
    ['nav:', '  - book/README.md', '  - book/A.md', '  - book/B.md', '']
    """
    listed = list(names)

    def lines(found: re.Match[str]) -> str:
        return "".join(f"{found[1]}- book/{name}\n" for name in ("README.md", *listed))

    return LINES.sub(lines, text)
