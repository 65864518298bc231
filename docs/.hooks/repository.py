"""What the documentation site adds to the pages: links into the repository, and the commands."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((\.\.?/[^)#\s]+)((?:#[^)\s]*)?)\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Let links to files of the repository outside the documentation lead to their source."""
    folder = posixpath.dirname(posixpath.join("docs", page.file.src_uri))

    def absolute(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path.startswith("docs/"):
            return link[0]
        if not (ROOT / path).exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {link[1]} is not in the repository")
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({config.repo_url.rstrip('/')}/{kind}/main/{path}{link[2]})"

    return LINK.sub(absolute, markdown)


def on_files(files: Any, config: Any) -> Any:
    """Add the page of commands, which is made of their help."""
    files.append(File.generated(config, "commands.md", content=_commands()))
    return files


def _commands() -> str:
    from linkpool.cli.commands import app
    from linkpool.cli.group import loaded

    text = ["# Commands", "", "`linkpool COMMAND --help` says the same.", ""]
    text += ["Exit codes: [what is stable](stability.md).", ""]
    for name, command in loaded(app).items():
        if "commands" in vars(command):
            text += [f"## {name}", "", command.help or "", ""]
        else:
            text += _command(name, command, 3 if " " in name else 2)
    return "\n".join(text)


def _command(name: str, command: Any, level: int = 2) -> list[str]:
    shown = [p for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
    arguments = [p.metavar or p.name.upper() for p in shown if p.param_type_name == "argument"]
    usage = " ".join(["linkpool", name, *arguments])
    text = [f"{'#' * level} {name}", "", "```text", usage, "```", "", command.help or "", ""]
    if shown:
        text += ["| | |", "|---|---|"]
        for param in shown:
            names = ", ".join(param.opts) if param.param_type_name == "option" else ""
            taken = param.metavar or (
                "" if getattr(param, "is_flag", False) else param.name.upper()
            )
            said = " ".join((getattr(param, "help", "") or "").split()).replace("|", "\\|")
            what = f"{names} {taken}".strip().replace("|", "\\|")
            text.append(f"| `{what}` | {said} |")
        text.append("")
    return text
