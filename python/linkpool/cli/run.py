"""`linkpool run`: simulate one scenario."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from linkpool import _core, api
from linkpool.cli.console import fail, stderr, stdout
from linkpool.cli.show import print_result
from linkpool.cores import cpus, explain
from linkpool.publish import require_replaceable
from linkpool.units import parse_seconds, show_seconds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The scenario.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory of the result.")],
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Replaces the scenario's seed.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a key, as in queue.mark=20 (repeatable)."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads", min=1, max=64, help="Default: one per 64 hosts, up to all cores."
        ),
    ] = None,
) -> None:
    """Simulate a scenario and write its tables; they are the same on any number of threads."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {file}: {getattr(error, 'strerror', None) or error}")
    overrides = [override(setting) for setting in settings or []]
    require_replaceable(out)
    try:
        active = _active_seconds(_core.check(text, str(file), seed, overrides))
        with _bar() as bar:
            hosts, worth = _core.worthwhile_threads(text, str(file), overrides, cpus())
            name = f"{file.name} {explain(hosts, worth, cpus(), threads)}"
            task = bar.add_task(name, total=active, done=_done(0.0, active, 0))

            def watch(now: float, end: float, hops: int) -> None:
                bar.update(task, completed=min(now, active), done=_done(now, end, hops))

            result = api.simulate(text, str(file), out, seed, overrides, watch, threads or worth)
            bar.update(task, completed=active)
    except _core.ScenarioError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write {out}: {error.strerror or error}")
    print_result(result, stdout())
    print(f"\n{out}")


def override(setting: str) -> tuple[str, str]:
    """Read a setting as `--set` takes it."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        fail(f"--set {setting}: write it as KEY=VALUE, as in --set queue.mark=20")
    return key.strip(), value.strip()


def _active_seconds(resolved: str) -> float:
    """Return the time in which flows start: what follows it is mostly idle and takes no time."""
    return parse_seconds(str(tomllib.loads(resolved)["duration"]))


def _done(now: float, end: float, hops: int) -> str:
    simulated = f"{show_seconds(now)} of {show_seconds(end)} simulated"
    return f"{simulated}, {hops / 1e6:.1f} M packet-hops"


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=stderr(),
    )
