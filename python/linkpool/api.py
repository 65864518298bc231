"""Run a scenario from Python."""

import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from linkpool import _core
from linkpool.identity import run_key
from linkpool.limits import require_room, require_threads
from linkpool.loading import Value, load, overrides
from linkpool.publish import publish, scratch
from linkpool.result import Result

Progress: TypeAlias = Callable[[float, float, int], "bool | None"]


def run(
    scenario: str | Path,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,  # noqa: A002
    progress: Progress | None = None,
    threads: int | None = None,
    ignore_estimate: bool = False,
) -> Result:
    """Simulate a scenario file.

    Args:
        scenario: path of the TOML file.
        out: directory for the result. An earlier result there is replaced once the new one is
            whole; anything else there is refused. None: a temporary directory that is removed
            with the returned object.
        seed: replaces the scenario's seed.
        set: keys of the scenario to replace, such as `{"queue.mark": 20}` or
            `{"record.cwnd": {"every": "1ms"}}`.
        progress: called about ten times a second with the simulated time and its end, both in
            seconds, and the packet-hops so far. An exception from it ends the run.
        threads: of the simulation, 1 to 64; the result is the same on any number. None: as many
            as are worthwhile for the size of the fabric.
        ignore_estimate: run it even if it is estimated to need more memory or disk than there is.

    Returns:
        The result, with its tables as polars data frames.

    Raises:
        ScenarioError: the scenario cannot run.
        NotAResultError: `out` holds something that linkpool did not write.
        BusyError: another process, or another thread, is writing `out`.
        TooLargeError: the run would need more memory or disk than there is.
        SimulationError: the run could not go on.

    >>> import linkpool
    >>> result = linkpool.run("docs/workloads/incast.toml", set={"workload.incast.0.senders": 2})
    >>> result.summary.overall.unfinished
    0

    """
    require_threads(threads)
    loaded = load(scenario, seed=seed, overrides=overrides(set), run_code=True)
    return simulate_loaded(loaded, out, progress, threads, ignore_estimate)


def check(
    scenario: str | Path,
    *,
    seed: int | None = None,
    set: Mapping[str, Value] | None = None,  # noqa: A002
    run_code: bool = False,
) -> str:
    """Return the scenario as it would run, in TOML with every default written out.

    Args:
        scenario: path of the TOML file.
        seed: replaces the scenario's seed.
        set: keys of the scenario to replace, as of `run`.
        run_code: run the code in Python that the scenario brings (`controls`), which is needed to
            read it. `run` does so unasked.

    Raises:
        ScenarioError: the scenario cannot run.

    >>> import linkpool
    >>> text = linkpool.check("docs/workloads/incast.toml", set={"queue.mark": 20})
    >>> "mark = 20" in text
    True

    """
    return load(scenario, seed=seed, overrides=overrides(set), run_code=run_code).toml


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
    scenario = _core.load(text, path, seed, overrides, run_code=True)
    return simulate_loaded(scenario, out, progress, threads)


def simulate_loaded(
    scenario: _core.Scenario,
    out: str | Path | None,
    progress: Progress | None,
    threads: int | None,
    ignore_estimate: bool = False,
    check: Callable[[Path], None] = lambda _: None,
    key: str | None = None,
    durable: bool = True,
) -> Result:
    """Simulate a scenario that has been read.

    `check` refuses a result by an exception; `key` is that of the run, None: it is not known yet;
    `durable` is that of `publish`.
    """
    if out is None:
        directory, remove = scratch()
        # `publish` locks the parent of the result; `scratch` holds the lock of `directory`.
        place = directory / "run" / "result"
        try:
            result = simulate_loaded(
                scenario, place, progress, threads, ignore_estimate, check, key, durable=False
            )
        except BaseException:
            remove()
            raise
        weakref.finalize(result, remove)
        return result
    target = Path(out).absolute()
    with publish(target, lambda _: key or run_key(scenario), durable=durable) as partial:
        # Here, as it is known now that there can be a result at this place.
        if not ignore_estimate:
            require_room(scenario, target)
        scenario.run(str(partial), progress, threads)
        check(partial)
    return Result.of_run(target, run_code=True)
