"""Put data, program and style into one page."""

import base64
import gzip
import html
import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from linkpool import _core
from linkpool.publish import publish_file
from linkpool.report.data.answers import answers
from linkpool.report.data.result import result_data
from linkpool.report.data.sides import sides
from linkpool.study.arms import Arm
from linkpool.study.comparison import COMPARED
from linkpool.study.found import Found
from linkpool.study.model import Study
from linkpool.study.result import FRONT_ALT

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="linkpool {version}">
<title>linkpool: {title}</title>
<style>{style}</style>
</head>
<body>
<main id="app"><p class="loading">Reading the results</p></main>
<script type="text/plain" id="data">{data}</script>
<script>{program}</script>
</body>
</html>
"""


def write_report(
    arms: Sequence[Arm],
    out: Path,
    flows: Sequence[int] = (),
    trace: int | None = 0,
    study: Study | None = None,
    stage: Callable[[str], None] = lambda _: None,
    found: Found | None = None,
) -> int:
    """Write the page about these arms, and return its size in bytes.

    Args:
        arms: each by its result that has the slowest flow.
        out: the file.
        flows: numbers of flows that are traced in any case.
        trace: how many of the slowest flows of each arm are traced, which makes the run again;
            None: some, if the run was quick.
        study: whose arms they are: its title and measures are on the page.
        stage: is told, in a line, what is done that takes a while.
        found: what the study found, if it searched.

    """
    title = ", ".join(arm.name for arm in arms)
    if study is not None:
        title = study.title or study.name
    content = {
        "version": _core.__version__,
        "title": title,
        "answers": [] if study is None else answers(study, arms, found),
        "figure": None if found is None else {"source": found.image, "name": FRONT_ALT},
        "results": [result_data(arm, flows, trace, stage) for arm in arms],
        "study": sides(
            arms,
            COMPARED if study is None else study.measures,
            None if study is None else study.reference,
        ),
    }
    page = render(title, content)
    with publish_file(out) as file:
        file.write_bytes(page)
    return len(page)


def render(title: str, content: dict[str, Any]) -> bytes:
    """Return the page; the same content gives the same bytes."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    data = base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()
    bundle = files("linkpool.report") / "bundle"
    return _PAGE.format(
        version=_core.__version__,
        title=html.escape(title),
        style=(bundle / "report.css").read_text(encoding="utf-8"),
        program=(bundle / "report.js")
        .read_text(encoding="utf-8")
        .replace("</script", "<\\/script"),
        data=data,
    ).encode()
