"""The one way from runs to a directory: make what is missing, measure all, publish at once.

Users' studies and published experiments take it; what they write of the rows is their own.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from linkpool.cores import cpus
from linkpool.identity import digest
from linkpool.publish import Kind, publish
from linkpool.study.cache import Cache, Entry
from linkpool.study.pool import Measure, Watch, run_entries


@dataclass(frozen=True)
class Made:
    """Runs that are made and measured, and the directory that is to be published.

    Attributes:
        folder: where to write what comes of the runs.
        entries: the runs.
        data: the rows of all runs, in the order of the runs.
        cached: how many runs were there already.

    """

    folder: Path
    entries: list[Entry]
    data: pl.DataFrame
    cached: int


@contextmanager
def made(
    place: Path,
    kind: Kind,
    named: Sequence[str],
    entries: Iterable[Entry],
    measure: Measure,
    cache: Cache,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Iterator[Made]:
    """Make and measure runs; publish what the block writes of them, if it succeeds.

    Args:
        place: the directory to publish.
        kind: the kind of directory; only one of this kind is replaced.
        named: what determines the content of the directory, beside the keys of the runs.
        entries: the runs; read once `place` is claimed.
        measure: returns the rows of a run.
        cache: where the runs are.
        jobs: runs at a time; None: as many as there are cores.
        watch: is told how far the runs are.

    Raises:
        NotAResultError: `place` holds something else.
        BusyError: another process is writing `place`.
        ScenarioError: a scenario of `entries` cannot run.
        RunError: a run failed; those that were made are kept.

    """
    runs: list[Entry] = []
    with publish(place, lambda _: digest(*named, *(run.key for run in runs)), kind) as folder:
        runs += entries
        rows = run_entries(runs, measure, cache, jobs or cpus(), watch)
        if rows.cached < len(runs):
            os.sync()  # their directories have not waited for the disk
        yield Made(folder, runs, rows.data, rows.cached)
