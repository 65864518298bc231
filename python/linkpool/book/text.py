"""Parts of pages in Markdown: cells of tables, sections of other pages, amounts."""

import re
import textwrap
from collections.abc import Sequence

from linkpool.study.claims import Claim, Verdict

MARKS = {Verdict.REPRODUCED: "✓", Verdict.PARTLY: "~", Verdict.NOT: "✗"}
"""How tables mark a verdict."""

WIDTH = 120
"""Columns of a line of prose."""

LINK = re.compile(r"\]\(([^)\s]+)\)")


def cell(text: str) -> str:
    """Write a text into a cell of a table.

    >>> cell("3 < 9")
    '3 &lt; 9'
    """
    return text.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


def prose(text: str) -> str:
    """Break a paragraph into lines."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def row(cells: Sequence[str]) -> str:
    """Write a row of a table."""
    return f"| {' | '.join(cells)} |"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a table."""
    return [row(headings), row(["---"] * len(headings)), *map(row, rows)]


def count(claims: Sequence[Claim], verdict: Verdict) -> int:
    """Return how many claims have a verdict."""
    return sum(claim.verdict is verdict for claim in claims)


def seeds(verdicts: Sequence[Verdict]) -> str:
    """Write how many single seeds give each verdict.

    >>> seeds([Verdict.PARTLY, Verdict.REPRODUCED, Verdict.REPRODUCED])
    '2 ✓ 1 ~'
    """
    counts = {verdict: sum(one is verdict for one in verdicts) for verdict in Verdict}
    return " ".join(f"{count} {MARKS[verdict]}" for verdict, count in counts.items() if count)


def tally(claims: Sequence[Claim], name: str = "claims", confirmed: str = "reproduced") -> str:
    """Write how many claims have each verdict.

    >>> from linkpool.study.claims import Claim, Verdict
    >>> tally([Claim("A-fig2.a", "t", "p", "m", Verdict.PARTLY, "n")])
    '0 of 1 claims reproduced, 1 partly, 0 not'
    """
    reproduced, partly, missed = (count(claims, verdict) for verdict in Verdict)
    return f"{reproduced} of {len(claims)} {name} {confirmed}, {partly} partly, {missed} not"


def section(page: str, heading: str) -> str:
    """Return the text below a heading of a page, up to the next one; empty if there is none."""
    found = re.search(rf"^## {re.escape(heading)}:[^\n]*\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    return found[1].strip() if found else ""


def around_table(text: str) -> tuple[str, str]:
    """Return what stands before the table of claims of a section, and what stands after it.

    >>> lines = ["A.", "", "| claim | criterion |", "|---|---|", "| b | c |", "", "D."]
    >>> around_table(chr(10).join(lines))
    ('A.', 'D.')
    """
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith("| claim |")), len(lines))
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    return "\n".join(lines[:start]).strip(), "\n".join(lines[end:]).strip()


def moved(text: str, page: str) -> str:
    """Return a text of `docs/experiments/PAGE` for a page of the folder beside it."""

    def link(found: re.Match[str]) -> str:
        target = found[1]
        if target.startswith("#"):
            return f"](../experiments/{page}{target})"
        if target.startswith("../") or ":" in target:
            return found[0]
        return f"](../experiments/{target})"

    return LINK.sub(link, text)
