"""Run a scenario from Python."""

import json
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from linkpool import _core
from linkpool.publish import publish, scratch
from linkpool.result import Result

Value: TypeAlias = "str | int | float | bool"
Progress: TypeAlias = Callable[[float, float, int], "bool | None"]


def run(
    scenario: str | Path,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,  # noqa: A002
    progress: Progress | None = None,
    threads: int | None = None,
) -> Result:
    """Simulate a scenario file.

    Args:
        scenario: path of the TOML file.
        out: directory for the result. An earlier result there is replaced once the new one is
            whole; anything else there is refused. None: a temporary directory that is removed
            with the returned object.
        seed: replaces the scenario's seed.
        set: keys of the scenario to replace, such as `{"queue.mark": 20}`.
        progress: called about ten times a second with the simulated time and its end, both in
            seconds, and the packet-hops so far. An exception from it ends the run.
        threads: of the simulation; the result is the same on any number. None: as many as are
            worthwhile for the size of the fabric.

    Returns:
        The result, with its tables as polars data frames.

    Raises:
        ScenarioError: the scenario cannot run.
        NotAResultError: `out` holds something that linkpool did not write.
        BusyError: another process, or another thread, is writing `out`.

    """
    path = Path(scenario)
    text = path.read_text(encoding="utf-8")
    return simulate(text, str(path), out, seed, overrides(set), progress, threads)


def check(
    scenario: str | Path,
    *,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,  # noqa: A002
) -> str:
    """Return the scenario as it would run, in TOML with every default written out.

    Raises:
        ScenarioError: the scenario cannot run.

    """
    path = Path(scenario)
    return _core.check(path.read_text(encoding="utf-8"), str(path), seed, overrides(set))


def simulate(
    text: str,
    path: str,
    out: str | Path | None,
    seed: int | None,
    overrides: list[tuple[str, str]],
    progress: Progress | None,
    threads: int | None = 1,
) -> Result:
    """Simulate a scenario given as text; `path` is the name that error messages give it."""
    if out is None:
        directory, remove = scratch()
        # Whoever publishes locks the parent of the result; `scratch` holds the lock of `directory`.
        place = directory / "run" / "result"
        try:
            result = simulate(text, path, place, seed, overrides, progress, threads)
        except BaseException:
            remove()
            raise
        weakref.finalize(result, remove)
        return result
    target = Path(out).resolve()
    with publish(target) as partial:
        _core.run(text, path, str(partial), seed, overrides, progress, threads)
        summary = Result(partial).summary.as_dict()
        (partial / "summary.json").write_bytes(json.dumps(summary, indent=1).encode() + b"\n")
    return Result(target)


def overrides(values: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    """Write Python values as `--set` takes them."""
    return [(key, _toml(value)) for key, value in (values or {}).items()]


def _toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
