"""Reproduce an experiment: run it, keep its data, draw its figure, judge its claims."""

import io
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from linkpool.cores import cpus
from linkpool.publish import write_file
from linkpool.study import style
from linkpool.study.cache import Cache
from linkpool.study.claims import Claim
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.pool import Watch, run_points


@dataclass(frozen=True)
class Report:
    """What came of a reproduction.

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
) -> Report:
    """Run an experiment and write its data, figure and claims to `out/ID`.

    The runs themselves are kept in `out/runs`, which all experiments share. With a `scale` below 1
    less time is simulated, or fewer seeds; the figure and the claims say so.

    Raises:
        NothingToShortenError: there is a scale, and nothing that it could shorten.

    """
    start = time.monotonic()
    if seeds is not None:
        experiment = with_seeds(experiment, seeds)
    experiment, shortened = shorten(experiment, scale)
    count = experiment.seeds
    points = experiment.points(range(1, count + 1))
    rows = run_points(points, experiment.measure, Cache(out / "runs"), jobs or cpus(), watch)
    data = pl.concat(rows.frames)
    claims, files = analyse(experiment, data, out / experiment.id, shortened)
    seconds = time.monotonic() - start
    return Report(experiment, claims, files, count, len(points), rows.cached, seconds, shortened)


def shorten(experiment: Experiment, scale: float) -> tuple[Experiment, str]:
    """Return the experiment at a scale, and what that runs instead of what ("" at scale 1)."""
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
) -> tuple[list[Claim], list[Path]]:
    """Judge the claims, draw the figure, and write both and the data to `directory`."""
    claims = experiment.claims(data)
    with style.context():
        figure = experiment.draw(data)
        if shortened:
            claims = [replace(c, note=f"{c.note}; shortened: {shortened}") for c in claims]
            style.remark(figure, f"shortened: {shortened}")
        images = {f"figure.{kind}": style.render(figure, kind) for kind in ("svg", "png")}
    table = io.BytesIO()
    data.write_parquet(table)
    contents = {
        **images,
        "data.parquet": table.getvalue(),
        "claims.json": _json(claims),
    }
    for name, content in contents.items():
        write_file(directory / name, content)
    return claims, [directory / name for name in contents]


def _json(claims: Sequence[Claim]) -> bytes:
    text = json.dumps([claim.as_dict() for claim in claims], indent=1, ensure_ascii=False)
    return text.encode() + b"\n"
