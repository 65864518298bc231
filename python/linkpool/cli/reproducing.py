"""Run experiments, or take their data from the book, and print the verdicts on their claims."""

from pathlib import Path

from rich.table import Table
from rich.text import Text

from linkpool.book.entry import BookError, read
from linkpool.cli.cluster import connected
from linkpool.cli.console import fail, say, stderr, stdout
from linkpool.cli.progress import watching_runs
from linkpool.cores import cpus
from linkpool.experiments import registry
from linkpool.identity import digest
from linkpool.publish import publish
from linkpool.study.claims import Claim, Verdict
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.extent import Plan, plans
from linkpool.study.pool import RunError
from linkpool.study.registry import Registry, RegistryError
from linkpool.study.remote import Remote
from linkpool.study.reproduce import (
    FILES,
    SET,
    NothingToShortenError,
    analyse,
    reproduce_experiment,
    shorten,
)
from linkpool.units import counted, show_duration

EVERY = "all"
"""Names every experiment."""

COLOURS = {Verdict.REPRODUCED: "green", Verdict.PARTLY: "yellow", Verdict.NOT: "red"}


def reproduce_all(
    ids: list[str],
    folder: Path | None,
    out: Path,
    *,
    seeds: int | None,
    jobs: int | None,
    scale: float,
    quick: bool,
    full: bool,
    from_data: bool,
    book: Path,
    on: str | None,
) -> None:
    """Do what `linkpool reproduce` was asked for, but to list."""
    try:
        known = registry(folder)
        wanted = _wanted(known, ids, quick or full or from_data)
    except RegistryError as error:
        fail(str(error))
    _check_options(seeds, scale, quick, full, from_data)
    if from_data:
        if on is not None:
            fail("--from-data runs nothing: leave out --on")
        _from_data(wanted, book, out / "from-data")
        return
    if seeds is not None:
        wanted = [with_seeds(experiment, seeds) for experiment in wanted]
    try:
        for experiment in wanted:
            shorten(experiment, scale)
    except NothingToShortenError as error:
        fail(str(error))
    with connected(on) as remote:
        if remote is not None:
            stderr().print(f"on {counted(remote.threads, 'thread')} of the workers of {on}")
        if quick or full:
            place = out / "quick" if quick else out
            _all(plans(wanted, place, quick), place, jobs, remote)
            return
        for experiment in wanted:
            _reproduce(experiment, out, jobs, scale, remote)


def _check_options(
    seeds: int | None, scale: float, quick: bool, full: bool, from_data: bool
) -> None:
    """Fail if options were given that exclude each other."""
    if not 0.0 < scale <= 1.0:
        fail(f"--scale {scale:g}: a share of the full length, above 0 and at most 1")
    modes = {"--quick": quick, "--full": full, "--from-data": from_data}
    given = [name for name, value in modes.items() if value]
    if len(given) > 1:
        fail(f"{' and '.join(given)}: one of them")
    if given and (scale != 1.0 or (seeds is not None and given != ["--full"])):
        fail(f"{given[0]} says how much is run: leave out --scale and --seeds")


def _wanted(known: Registry, names: list[str], all_may_be: bool) -> list[Experiment]:
    """Return the experiments named, each once."""
    if not names:
        fail("name an experiment, or see linkpool reproduce --list")
    if EVERY in names:
        if not all_may_be:
            fail(f"{EVERY} takes days: say --quick, --full or --from-data")
        return known.load_all()
    found = dict.fromkeys((name, known.find(name)) for name in names)
    for name, identity in found:
        if identity is None:
            fail(f"no experiment {name!r}; there are {', '.join(known)}")
    return [known.load(i) for i in dict.fromkeys(i for _, i in found if i is not None)]


def _all(found: list[Plan], out: Path, jobs: int | None, remote: Remote | None) -> None:
    """Say how long it will take, reproduce what is missing, and fail at the end if a run failed."""
    cores = jobs or (cpus() if remote is None else remote.threads)
    stderr().print(_estimates(found, cores))
    failed = []
    for plan in found:
        if plan.work.done:
            continue
        try:
            _reproduce(plan.experiment, out, jobs, plan.scale, remote)
        except RunError as error:
            stderr().print(f"{plan.experiment.id}: {error}", soft_wrap=True)
            failed.append(plan.experiment.id)
    if failed:
        fail(f"a run failed in {', '.join(failed)}; the same command tries them again", code=1)


def _estimates(found: list[Plan], cores: int) -> Table:
    seconds = sum(plan.work.seconds for plan in found)
    title = f"at most {show_duration(seconds / cores)} on {counted(cores, 'core')}; "
    title += "Ctrl-C and the same command go on where it stopped"
    listing = Table(title=title, title_justify="left")
    for heading in ("id", "extent"):
        listing.add_column(heading, overflow="fold")
    for heading in ("runs to make", "of one core, about"):
        listing.add_column(heading, justify="right")
    for plan in found:
        work = plan.work
        left = "done" if work.done else f"{work.missing} of {work.runs}"
        of_core = "" if work.done else show_duration(work.seconds)
        listing.add_row(plan.experiment.id, plan.extent, left, of_core)
    return listing


def _from_data(wanted: list[Experiment], book: Path, out: Path) -> None:
    """Draw and judge what the book has of each experiment."""
    try:
        for experiment in wanted:
            entry = read(experiment, book)
            with publish(out / experiment.id, lambda _: digest("from data"), SET) as partial_place:
                claims = analyse(entry.experiment, entry.data, partial_place, entry.cut)
                entry.record.write(partial_place)
            stdout().print(_claims(experiment, claims))
            stdout().print(
                f"from the data of {counted(entry.record.runs, 'run')} by version "
                f"{entry.record.version}; {entry.record.extent}; data {entry.form}"
            )
            for name in FILES:
                say(out / experiment.id / name)
    except BookError as error:
        fail(str(error))


def _reproduce(
    experiment: Experiment, out: Path, jobs: int | None, scale: float, remote: Remote | None
) -> None:
    with watching_runs(experiment.id) as (watch, line):
        report = reproduce_experiment(
            experiment,
            out,
            jobs=jobs or (cpus() if remote is None else min(remote.threads, experiment.runs())),
            watch=watch,
            scale=scale,
            notice=line,
            make=None if remote is None else remote.make,
        )
    console = stdout()
    console.print(_claims(report.experiment, report.claims))
    runs = f"{counted(report.runs, 'run')}, {report.cached} of them from the cache"
    console.print(f"{runs}, {report.seconds:.0f} s; seeds 1 to {report.seeds}")
    if report.shortened:
        console.print(f"shortened: {report.shortened}")
    console.print("each claim's criterion is in claims.json and docs/experiments\n")
    for path in report.files:
        say(path)


def _claims(experiment: Experiment, claims: list[Claim]) -> Table:
    """Return a row per claim, with a column for each setting that it was judged at."""
    rows: dict[str, dict[str, Claim]] = {}
    for claim in claims:
        name, _, setting = claim.id.removeprefix(f"{experiment.id}.").partition("@")
        rows.setdefault(name, {})[setting] = claim
    settings = list(dict.fromkeys(setting for row in rows.values() for setting in row))
    table = Table(
        title=f"{experiment.id}: {experiment.title}",
        title_justify="left",
        show_lines=True,
        expand=True,
    )
    table.add_column("claim", no_wrap=True)
    for heading, ratio in (("text", 5), ("paper", 2)):
        table.add_column(heading, overflow="fold", ratio=ratio)
    for setting in settings:
        is_delay = setting.endswith("us")
        heading = f"at {setting} links" if is_delay else setting or "measured"
        table.add_column(heading, overflow="fold", ratio=4)
    for name, row in rows.items():
        first = next(iter(row.values()))
        table.add_row(name, first.text, first.paper, *(_cell(row.get(s)) for s in settings))
    return table


def _cell(claim: Claim | None) -> Text:
    if claim is None:
        return Text("-")
    verdict = (claim.verdict.value, COLOURS[claim.verdict])
    alone = claim.single_seeds
    agree = alone.count(claim.verdict)
    chance = f" ({agree} of {len(alone)} seeds alone)" if agree < len(alone) else ""
    return Text.assemble(verdict, chance, ": ", claim.measured)
