"""What the documentation site adds to the tables of keys: anchors, and entries for the search."""

import json
import re
from pathlib import Path
from typing import Any

PART = re.compile(r"<!-- (?P<name>[a-z][\w. -]*) -->(?P<rows>.*?)<!-- end -->", re.S)
ROW = re.compile(r"<tr>\n<td><code>(?P<key>[\w.]+)</code></td>(?P<rest>.*?)</tr>", re.S)
TAG = re.compile(r"<[^>]+>")

FOLDERS = ("scenario.md", "scenario/", "topologies/", "workloads/")
"""Where the pages of keys are."""

found: list[dict[str, str]] = []
"""What the search is to find: a key, the place of its row, and what the row says."""


def on_pre_build(**_: Any) -> None:
    """Forget the keys of the build before, if `mkdocs serve` builds again."""
    found.clear()


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Give the row of each key an anchor."""
    if not page.file.src_uri.startswith(FOLDERS):
        return html
    anchors: set[str] = set()
    return PART.sub(lambda part: _anchored(part, page, anchors), html)


def _anchored(part: re.Match[str], page: Any, anchors: set[str]) -> str:
    table = _table(part["name"], page.file.src_uri)

    def row(match: re.Match[str]) -> str:
        key = match["key"]
        # A page may have two tables with a key of one name.
        anchor = key if key not in anchors else f"{part['name']}.{key}".replace(" ", "-")
        anchors.add(anchor)
        said = " ".join(TAG.sub(" ", match["rest"]).split())
        place = f"{page.url}#{anchor}"
        found.append({"location": place, "title": f"{key} of {table}", "text": said})
        return f'<tr id="{anchor}">\n<td><code>{key}</code></td>{match["rest"]}</tr>'

    return ROW.sub(row, part[0])


def _table(name: str, page: str) -> str:
    """Return how a scenario writes the table of a part."""
    if "." in name:
        brackets = ("[", "]") if name.startswith("topology") else ("[[", "]]")
        return name.join(brackets)
    of = {
        "scenario.md": "a scenario",
        "transport settings": "[transport.NAME]",
        "change": "[[change]]",
        "slow_host": "[[slow_host]]",
    }
    of["workload keys"] = "all workloads"
    return of.get(page) or of.get(name) or f"[{name.split()[0]}]"


def on_post_build(config: Any, **_: Any) -> None:
    """Add the keys to what the search of the site knows."""
    path = Path(config.site_dir) / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] += found
    path.write_text(json.dumps(index, separators=(",", ":"), sort_keys=True), encoding="utf-8")
