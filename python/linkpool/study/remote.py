"""Runs on other machines: a Dask scheduler deals them out, and their results come home over it.

A worker needs the same linkpool. It gets the scenario as it runs, with the files that this names,
simulates it in a temporary directory, and returns the files of the result. They are published here
as those of a run made here, and have the same bytes but for `run.json`, which says what the run
took. Dask gives the runs of a worker that is lost to another one.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkpool import _core, manifest
from linkpool.api import Progress, simulate_loaded
from linkpool.identity import simulator
from linkpool.publish import RESULT, publish
from linkpool.result import Result

if TYPE_CHECKING:
    from linkpool.study.cache import Entry

CONNECT_S = 10
"""How long to wait for the scheduler."""

POLL_S = 0.2
"""Between two looks whether the run is to stop."""


class RemoteError(RuntimeError):
    """Runs cannot be sent to a scheduler; the message says why."""


class Remote:
    """A Dask scheduler that makes the runs of a cache: see `Cache`."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at an address such as `tcp://10.0.0.1:8786`.

        Raises:
            RemoteError: Dask is not installed, the scheduler does not answer, or has no workers.

        """
        try:
            import distributed
        except ImportError:
            raise RemoteError(
                "--on needs Dask: pip install 'linkpool[cluster]', here and on the workers"
            ) from None
        try:
            client: Any = distributed.Client
            self._client = client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise RemoteError(f"no Dask scheduler answers at {address}: {error}") from None
        self.threads = sum(self._client.nthreads().values())
        if self.threads == 0:
            self.close()
            raise RemoteError(
                f"the scheduler at {address} has no workers; start some: dask worker {address}"
            )

    def make(self, entry: Entry, progress: Progress | None, threads: int) -> Result:
        """Make a run there, on one thread, and publish its result here; `Cache` calls this."""
        point = entry.point
        scenario = entry.scenario.toml
        named = {
            key: {part[len(name) :]: Path(part).read_bytes() for part in parts}
            for key, name, parts in entry.scenario.files()
        }
        future: Any = self._client.submit(
            run_there, scenario, point.name, simulator(), named, pure=False, retries=0
        )
        try:
            with publish(entry.place, lambda _: entry.key, durable=False) as partial:
                write_files(partial, self._wait(future, entry, progress))
                # That of the worker names files where they were there.
                (partial / "scenario.toml").write_text(scenario, encoding="utf-8")
        except BaseException:
            future.cancel()
            raise
        return Result(entry.place, run_code=True)

    def close(self) -> None:
        """Leave the scheduler; it and its workers go on."""
        self._client.close()

    def _wait(self, future: Any, entry: Entry, progress: Progress | None) -> dict[str, bytes]:
        """Wait for a run; an exception from `progress` ends the wait."""
        from distributed import KilledWorker

        # Not `future.result(timeout=...)`: `sync` of distributed 2026.8.0 returns an unset variable
        # (UnboundLocalError) if a timeout cancels what it waits for.
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(POLL_S):
            if progress is not None:
                progress(0.0, entry.active_s, 0)
        try:
            files: dict[str, bytes] = future.result()
        except KilledWorker as error:
            raise RemoteError(f"several workers died of this run: {error}") from None
        return files


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write the files that a worker has sent, if all are those of a result.

    Raises:
        RemoteError: one has another name, which may lead elsewhere.

    """
    for name in files:
        if not RESULT.may_have(name):
            raise RemoteError(f"a worker has sent a file {name!r}, which is not part of a result")
    for name, content in files.items():
        (directory / name).write_bytes(content)


def run_there(
    text: str, name: str, mine: str, named: Mapping[str, Mapping[str, bytes]]
) -> dict[str, bytes]:
    """Simulate a scenario on a worker, and return the files of its result.

    Args:
        text: the scenario as it runs.
        name: of the run.
        mine: the simulator of who asks.
        named: by the key that names it, the files that the scenario names: what is behind the
            common begin of their paths, and their content.

    Raises:
        RemoteError: the worker has another linkpool than `mine`, whose results may differ.

    """
    if simulator() != mine:
        raise RemoteError(
            f"a worker has another linkpool ({simulator()[:18]}...) than this machine "
            f"({mine[:18]}...): install the same one there"
        )
    with tempfile.TemporaryDirectory(prefix="linkpool-worker-") as folder:
        places: list[tuple[str, str]] = []
        for key, parts in named.items():
            place = Path(folder) / f"file-{len(places)}"
            for behind, content in parts.items():
                place.with_name(f"{place.name}{behind}").write_bytes(content)
            places.append((key, str(place)))
        scenario = _core.load(text, name, None, places, run_code=True)
        result = simulate_loaded(scenario, Path(folder) / "result", None, threads=1)
        files = (path for path in result.dir.iterdir() if path.name != manifest.NAME)
        return {path.name: path.read_bytes() for path in files}
