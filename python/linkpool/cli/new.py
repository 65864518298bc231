"""`linkpool new`: a first scenario, or a first study, that runs as it is written."""

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from linkpool import _core
from linkpool.cli.console import fail, say
from linkpool.publish import publish_file
from linkpool.starter import (
    FABRICS,
    GRAPHS,
    TRACES,
    TRANSPORTS,
    WORKLOADS,
    Kind,
    kind_of,
    starter,
    until,
)


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
        str | None,
        typer.Option(
            "--fabric",
            metavar="NAME|FILE",
            help=f"{', '.join(FABRICS)}, or a graph: a file that ends in {', '.join(GRAPHS)}.",
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME|FILE",
            help=f"{', '.join(WORKLOADS)}, or a trace: a file that ends in {', '.join(TRACES)}.",
        ),
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
    what = "Which fabric? One of these, or a file with a graph."
    fabrics = {name: about for name, (about, *_) in FABRICS.items()}
    fabric = _chosen("--fabric", what, fabrics, fabric, GRAPHS)
    what = "Which workload? One of these, or a file with a trace."
    workload = _chosen("--workload", what, _abouts(WORKLOADS), workload, TRACES)
    known = _abouts(TRANSPORTS)
    names = [_chosen("--transport", "", known, name) for name in transports or []]
    if not names:
        what = "Which transports, with commas between?" if kind == "study" else "Which transport?"
        names = _several(what, known, kind)
    names = list(dict.fromkeys(names))
    if kind == "scenario" and len(names) > 1:
        fail("a scenario of this command has one transport; --kind study compares several")
    fabric, workload = (_beside(file, name) for name in (fabric, workload))
    duration, larger = _fitting(file, fabric, workload, names[0])
    text = starter(kind, fabric, workload, names, duration, larger)
    with publish_file(file) as place:
        place.write_text(text, encoding="utf-8")
    say(file)
    say(f"what it means: linkpool check {file}")
    if kind == "study":
        say(f"run it: linkpool study run {file}")
    else:
        say(f"run it: linkpool run {file} --out results/{file.stem}")


def _beside(file: Path, named: str) -> str:
    """Return how `file` names another file, as scenarios do: relative to its own folder."""
    if named in FABRICS or named in WORKLOADS:
        return named
    return os.path.relpath(named, file.parent)


def _fitting(file: Path, fabric: str, workload: str, transport: str) -> tuple[str, int]:
    """Read what a user's own files say.

    Returns:
        a duration in which the flows of a trace start, and the size of a fabric of `FABRICS` that
        has its hosts.

    """
    if fabric in FABRICS and workload in WORKLOADS:
        return "", 0  # the duration is the starter's
    # A run is at most 1,000,000 s long, with its drain.
    is_trace = kind_of(workload) == "trace"
    asked = "900000s" if is_trace else "1s"
    sizes = len(FABRICS[fabric][2]) if fabric in FABRICS else 1
    first: _core.ScenarioError | None = None
    for larger in range(sizes):
        text = starter("scenario", fabric, workload, [transport], asked, larger)
        try:
            scenario = _core.load(text, str(file), None, [], False)
        except _core.ScenarioError as error:
            first = first or error  # of the fabric that was asked for
            continue
        if not is_trace:
            return asked, larger
        return _span(file.parent / workload, scenario.plan()["flows"]), larger
    return fail(f"no {file} is written: {first}")


def _span(trace: Path, flows: Sequence[tuple[Any, ...]]) -> str:
    """Return a duration in which the flows of a trace start."""
    last = max((start for _, _, _, start, _ in flows), default=0.0)
    # A flow that waits for others starts when these have ended, which is known by a run only.
    return until(last + 1.0 if _has_waiting(trace) else last)


def _has_waiting(trace: Path) -> bool:
    """Tell whether flows of a trace may wait for others: by a column, or a word of htsim."""
    if trace.suffix == ".parquet":
        return "after" in pl.scan_parquet(trace).collect_schema()
    word = "trigger" if trace.suffix == ".cm" else "after"
    return word in trace.read_text(encoding="utf-8")


def _abouts(known: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    return {name: about for name, (about, _) in known.items()}


def _chosen(
    option: str,
    question: str,
    known: Mapping[str, str],
    given: str | None,
    endings: Collection[str] = (),
) -> str:
    """Return what an option says, or ask for it: a name, or a file with one of the endings."""
    if given is None:
        return _ask(option, question, known, lambda said: _wrong(said, known, endings))
    if wrong := _wrong(given, known, endings):
        fail(f"{option} {wrong}")
    return given


def _wrong(given: str, known: Mapping[str, str], endings: Collection[str]) -> str:
    """Say what is wrong with a name, or a file with one of the endings; "": nothing."""
    if given in known:
        return ""
    if Path(given).suffix not in endings:
        files = f", and files that end in {', '.join(endings)}" if endings else ""
        return f"{given}: there are {', '.join(known)}{files}"
    return "" if Path(given).is_file() else f"{given}: there is no such file"


def _several(question: str, known: Mapping[str, str], kind: str) -> list[str]:
    def names(said: str) -> list[str]:
        return [name.strip() for name in said.split(",")] if kind == "study" else [said]

    def wrong(said: str) -> str:
        return next(filter(None, (_wrong(name, known, ()) for name in names(said))), "")

    return names(_ask("--transport", question, known, wrong))


def on_terminal() -> bool:
    """Tell whether somebody can answer."""
    return sys.stdin.isatty()


def _ask(option: str, question: str, known: Mapping[str, str], wrong: Callable[[str], str]) -> str:
    """Ask a question whose first answer is the default, until there is nothing wrong with it."""
    if not on_terminal():
        fail(f"say {option} NAME, as there is no terminal to ask at: {', '.join(known)}")
    width = max(map(len, known))
    say(question)
    for name, about in known.items():
        say(f"  {name.ljust(width)}  {about}")
    while True:
        answer: str = typer.prompt("", default=next(iter(known)), prompt_suffix="> ").strip()
        if not (said := wrong(answer)):
            return answer
        say(said)
