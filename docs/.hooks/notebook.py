"""The page of the notebook: its cells, and beneath each the output that it had when it was run."""

import base64
import json
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

NAME = "notebook"


def on_files(files: Any, config: Any) -> Any:
    """Add the page, beside the notebook itself."""
    path = Path(config.docs_dir) / f"{NAME}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    files.append(File.generated(config, f"{NAME}.md", content=page(notebook)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to the notebook, which GitHub shows, lead to its page."""
    if page.file.src_uri == f"{NAME}.md":
        return markdown
    return markdown.replace(f"]({NAME}.ipynb)", f"]({NAME}.md)")


def page(notebook: Any) -> str:
    """Return a notebook as Markdown."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [_output(output) for output in cell["outputs"]]
    parts.append(f"[The notebook itself]({NAME}.ipynb)")
    return "\n\n".join(parts) + "\n"


def _output(output: Any) -> str:
    """Return what a cell gave, in the richest form that a page can show."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        picture = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        source = f"data:image/svg+xml;base64,{picture}"
        return f'<p><img alt="the figure of this cell" src="{source}"></p>'
    if "text/html" in data:
        # On one line: what is indented would be code to Markdown.
        lines = "".join(data["text/html"]).splitlines()
        return f'<div class="cell-output">{" ".join(line.strip() for line in lines)}</div>'
    text = output.get("text") or data.get("text/plain") or output["traceback"]
    return f"```text\n{''.join(text).rstrip()}\n```"
