"""`linkpool study status`: which runs of a study are made."""

from linkpool.cli.console import RunCode, fail, say
from linkpool.cli.study.common import RESULTS, File, Out, before, load, plan_of
from linkpool.cores import cpus


def status(file: File, out: Out = RESULTS, run_code: RunCode = False) -> None:
    """Say which runs of a study are made, and which are not."""
    study = load(file)
    if study.search is not None:
        fail(f"{file} searches: its runs depend on those before; linkpool study run {file} goes on")
    plan = plan_of(study, out, run_code=run_code)
    missing = {entry.key for entry in plan.missing}
    for line in before(plan, cpus()):
        say(line)
    for entry in plan.entries:
        if entry.key in missing:
            say(f"to make: {entry.point.name}, seed {entry.point.seed}")
