"""Reproduce an experiment: run it, keep its data, draw its figure, judge its claims."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from linkpool import _core, manifest
from linkpool.identity import binary
from linkpool.publish import Kind
from linkpool.result import Result
from linkpool.study import record
from linkpool.study.cache import CACHE, Cache, Make, Notice
from linkpool.study.claims import Claim
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.judge import judge
from linkpool.study.own import own_code, require_columns
from linkpool.study.pipeline import made
from linkpool.study.pool import Watch
from linkpool.study.record import Record
from linkpool.study.result import DATA

ANALYSED = ("figure.svg", "figure.png", DATA, "claims.json")
"""The files that follow from the data alone."""

FILES = (*ANALYSED, record.NAME)
"""The files that a reproduction writes, beside its manifest."""

SET = Kind("a reproduction", frozenset(), frozenset({*FILES, manifest.NAME}))
"""Data, figure and claims of an experiment; any of them may be missing in an older one."""


@dataclass(frozen=True)
class Report:
    """The outcome of a reproduction.

    Attributes:
        experiment: the experiment.
        claims: its claims, judged.
        files: the figure, data and claims as written.
        seeds: seeds 1 to this were run.
        runs: number of runs.
        cached: how many of them had been made before.
        seconds: wall time.
        shortened: what was run instead of what, if `--scale` cut it; else empty.

    """

    experiment: Experiment
    claims: list[Claim]
    files: list[Path]
    seeds: int
    runs: int
    cached: int
    seconds: float
    shortened: str


class NothingToShortenError(ValueError):
    """An experiment was to be run at a scale that leaves it as it is."""


def reproduce_experiment(
    experiment: Experiment,
    out: Path,
    seeds: int | None = None,
    jobs: int | None = None,
    watch: Watch | None = None,
    scale: float = 1.0,
    notice: Notice | None = None,
    make: Make | None = None,
) -> Report:
    """Run an experiment and write its data, figure and claims to `out/ID`, all at once.

    The runs themselves are kept in `out/runs`, which all experiments share. With a `scale` below 1
    less time is simulated, or fewer seeds; the figure and the claims say so. `notice` is told
    which cached runs were damaged. `make` makes the runs; without it, this process does.

    Raises:
        NothingToShortenError: there is a scale, and nothing that it could shorten.
        NotAResultError: `out/ID` holds something that linkpool did not write.
        BusyError: another process is reproducing the same experiment to the same place.
        RunError: a run failed.
        OwnCodeError: the code of the experiment, which is not linkpool's, failed.

    """
    start = time.monotonic()
    require_columns(experiment)
    if seeds is not None:
        experiment = with_seeds(experiment, seeds)
    of_seeds = experiment.seeds
    experiment, shortened = shorten(experiment, scale)
    count = experiment.seeds
    place = out / experiment.id
    cache = Cache(out / CACHE, notice, make)
    points = experiment.points(range(1, count + 1))
    entries = (cache.entry(point) for point in points)
    with made(
        place, SET, (experiment.id,), entries, experiment.measure, cache, jobs, watch
    ) as runs:
        cpu_s, hops = record.cost(Result(entry.place) for entry in runs.entries)
        Record(
            experiment.id,
            _core.__version__,
            binary(),
            count,
            of_seeds,
            scale,
            len(points),
            experiment.extent(),
            shortened,
            round(cpu_s, 1),
            hops,
        ).write(runs.folder)
        claims = analyse(experiment, runs.data, runs.folder, shortened)
    files = [place / name for name in FILES]
    seconds = time.monotonic() - start
    return Report(experiment, claims, files, count, len(points), runs.cached, seconds, shortened)


def shorten(experiment: Experiment, scale: float) -> tuple[Experiment, str]:
    """Return the experiment at a scale, and a sentence about the change ("" at scale 1)."""
    if scale == 1.0:
        return experiment, ""
    short = experiment.shortened(scale)
    if short.extent() == experiment.extent():
        raise NothingToShortenError(
            f"{experiment.id} cannot be shortened to {scale:g}: it runs {experiment.extent()}"
        )
    return short, f"{short.extent()} instead of {experiment.extent()}"


def analyse(
    experiment: Experiment, data: pl.DataFrame, directory: Path, shortened: str = ""
) -> list[Claim]:
    """Judge the claims, draw the figure, and write both and the data to `directory`."""
    from linkpool.study import style  # here, as matplotlib takes a second to load

    with own_code(experiment, "claims"):
        claims = judge(experiment, data)
    with style.context():
        with own_code(experiment, "figure"):
            figure = experiment.draw(data)
        if shortened:
            claims = [replace(c, note=f"{c.note}; shortened: {shortened}") for c in claims]
            style.remark(figure, f"shortened: {shortened}")
        for kind in ("svg", "png"):
            (directory / f"figure.{kind}").write_bytes(style.render(figure, kind))
            figure.set_layout_engine("none")  # the places stay, and need not be found again
    data.write_parquet(directory / DATA)
    (directory / "claims.json").write_bytes(_json(claims))
    return claims


def _json(claims: Sequence[Claim]) -> bytes:
    text = json.dumps([claim.as_dict() for claim in claims], indent=1, ensure_ascii=False)
    return text.encode() + b"\n"
