"""`linkpool new`: a first scenario, or a first study, that runs as it is written."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import fail, say
from linkpool.publish import publish_file
from linkpool.starter import FABRICS, TRANSPORTS, WORKLOADS, Kind, starter


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The file to write.")],
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            metavar="scenario|study",
            help="One run, or several transports and seeds compared.",
        ),
    ] = None,
    fabric: Annotated[
        str | None, typer.Option("--fabric", metavar="NAME", help=f"{', '.join(FABRICS)}.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="NAME", help=f"{', '.join(WORKLOADS)}.")
    ] = None,
    transports: Annotated[
        list[str] | None,
        typer.Option(
            "--transport",
            metavar="NAME",
            help=f"{', '.join(TRANSPORTS)} (repeatable in a study).",
        ),
    ] = None,
) -> None:
    """Write a scenario or a study with comments, which runs as it is.

    What no option says is asked for. A file that is there is not replaced.
    """
    if file.suffix != ".toml":
        fail(f"cannot write {file}: write a name that ends in .toml")
    if file.exists():
        fail(f"{file} is there; name another file, or remove it")
    if not file.absolute().parent.is_dir():
        fail(f"cannot write {file}: there is no folder {file.parent}; make it, or name another")
    kinds: dict[str, str] = {
        "scenario": "one run",
        "study": "transports and seeds compared, with confidence",
    }
    kind = "study" if _chosen("--kind", "What is it?", kinds, kind) == "study" else "scenario"
    fabric = _chosen("--fabric", "Which fabric?", _abouts(FABRICS), fabric)
    workload = _chosen("--workload", "Which workload?", _abouts(WORKLOADS), workload)
    known = _abouts(TRANSPORTS)
    names = [_chosen("--transport", "", known, name) for name in transports or []]
    if not names:
        what = "Which transports, with commas between?" if kind == "study" else "Which transport?"
        names = _several(what, known, kind)
    names = list(dict.fromkeys(names))
    if kind == "scenario" and len(names) > 1:
        fail("a scenario of this command has one transport; --kind study compares several")
    text = starter(kind, fabric, workload, names)
    with publish_file(file) as place:
        place.write_text(text, encoding="utf-8")
    say(file)
    if kind == "study":
        say(f"run it: linkpool study run {file}")
    else:
        say(f"what it means: linkpool check {file}")
        say(f"run it: linkpool run {file} --out results/{file.stem}")


def _abouts(known: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    return {name: about for name, (about, _) in known.items()}


def _chosen(option: str, question: str, known: Mapping[str, str], given: str | None) -> str:
    """Return what an option says, or ask for it."""
    if given is None:
        given = _ask(option, question, known)
    if given not in known:
        fail(f"{option} {given}: there are {', '.join(known)}")
    return given


def _several(question: str, known: Mapping[str, str], kind: str) -> list[str]:
    said = _ask("--transport", question, known)
    names = [name.strip() for name in said.split(",")] if kind == "study" else [said]
    return [_chosen("--transport", "", known, name) for name in names]


def on_terminal() -> bool:
    """Tell whether somebody can answer."""
    return sys.stdin.isatty()


def _ask(option: str, question: str, known: Mapping[str, str]) -> str:
    """Ask a question whose first answer is the default."""
    if not on_terminal():
        fail(f"say {option} NAME, as there is no terminal to ask at: {', '.join(known)}")
    width = max(map(len, known))
    say(question)
    for name, about in known.items():
        say(f"  {name.ljust(width)}  {about}")
    answer: str = typer.prompt("", default=next(iter(known)), prompt_suffix="> ")
    return answer.strip()
