"""What the commands about a study share: its file, its plan, and what is said of that."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import cannot_read, fail, warn
from linkpool.study.cache import Make
from linkpool.study.cautions import cautions
from linkpool.study.expect import expected_seconds
from linkpool.study.model import Study
from linkpool.study.plan import Plan
from linkpool.study.points import documents
from linkpool.study.seeds import varied
from linkpool.units import counted, show_count

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The study.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory of all results.")]
RESULTS = Path("results")


def load(file: Path) -> Study:
    """Read a study, or print its errors and exit."""
    try:
        return Study.load(file)
    except OSError as error:
        fail(cannot_read(file, error))


def plan_of(study: Study, out: Path, make: Make | None = None, run_code: bool = True) -> Plan:
    """Read and check the scenario of every run; damaged runs are named on standard error."""
    return Plan.of(study, out, warn, make, run_code)


def before(plan: Plan, jobs: int) -> list[str]:
    """Say how many runs there are, about how long they take, and what seeds vary."""
    study, missing = plan.study, plan.missing
    total, made = len(plan.entries), len(plan.entries) - len(missing)
    lines = [f"{study.name}: {counted(total, 'run')} ({study.extent}); {show_count(made)} made"]
    if missing:
        seconds = expected_seconds(plan, jobs)
        lines[0] += (
            f", {show_count(len(missing))} to make, about {_long(seconds)} on "
            f"{counted(jobs, 'core')}"
        )
        lines[0] += " if little is sent again"
    said = [varied(document) for document in documents(study)]
    for what, i in (("a seed varies", 0), ("a seed does not vary", 1)):
        lines.append(f"{what}: {'; '.join(dict.fromkeys(one for s in said for one in s[i]))}")
    return [*lines, *cautions(plan.entries)]


def _long(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
