"""Of a study the run with the slowest flow, for commands that show one run."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from linkpool.cli.console import fail, say

OfArm: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--arm",
        metavar="NAME",
        help="Of a study: of this arm, as its table calls it. Default: the slowest.",
    ),
]


def run_of(directory: Path, name: str | None) -> Path:
    """Return the directory itself, or of a study that of the run with the slowest flow."""
    from linkpool.study.arms import arms_of, slowest_run
    from linkpool.study.result import is_study

    if not is_study(directory):
        if name is not None:
            fail(f"--arm is about a study, and {directory} is not the result of one")
        return directory
    arms = arms_of([directory])
    if name is not None and name not in (known := [arm.name for arm in arms]):
        fail(f"--arm: {directory} has no arm {name!r}; it has {', '.join(map(repr, known))}")
    chosen = [arm for arm in arms if name in (None, arm.name)]
    found = slowest_run(result for arm in chosen for result in arm.results)
    (of,) = (arm for arm in chosen if found in arm.results)
    place, here = found.dir.resolve(), Path.cwd()
    shown = place.relative_to(here) if place.is_relative_to(here) else place
    say(f"the run with the slowest flow is that of {of.name}, seed {found.seed}: {shown}")
    return found.dir
