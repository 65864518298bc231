"""What figures and reports are made of: arms, each of one result or of one result per seed."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.result import NotRecordedError, Result
from linkpool.study.model import SEED, name_of
from linkpool.study.result import StudyResult, is_study
from linkpool.units import show_seconds

EACH = (1, 2, 5)
"""Leading digits of the intervals that error messages propose."""


@dataclass(frozen=True)
class Arm:
    """What is compared with others: one result, or several that differ in their seeds only.

    Attributes:
        name: in legends and tables.
        results: at least one.
        keys: of a study: its arm, and what it varies, by the names of its keys.

    """

    name: str
    results: tuple[Result, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)


def arms_of(paths: Sequence[Path], run_code: bool = False) -> list[Arm]:
    """Return an arm for each result directory, and the arms of each directory of a study.

    An arm has the shortest name that tells it from others.

    Args:
        paths: the directories.
        run_code: may the code that the scenarios bring be run, see `Result`?

    Raises:
        ResultError: a directory is no result, or a damaged one.

    """
    arms: list[Arm] = []
    for name, path in zip(short_names(paths), paths, strict=True):
        if is_study(path):
            before = f"{name}: " if len(paths) > 1 else ""
            of_study = arms_of_runs(StudyResult(path, run_code=run_code).results())
            arms += [replace(arm, name=f"{before}{arm.name}") for arm in of_study]
        else:
            arms.append(Arm(name, (Result(path, run_code=run_code),)))
    for arm in arms:
        for result in arm.results:
            result.check()
    return arms


def arms_of_runs(runs: Iterable[tuple[Mapping[str, Any], Result]]) -> list[Arm]:
    """Return an arm for each combination of keys of a study's runs, whatever their seeds."""
    found: dict[str, Arm] = {}
    for keys, result in runs:
        name = name_of(keys)
        arm = found.get(name)
        if arm is None:
            own = {key: value for key, value in keys.items() if key != SEED}
            found[name] = Arm(name, (result,), own)
        else:
            found[name] = replace(arm, results=(*arm.results, result))
    return list(found.values())


def short_names(paths: Sequence[Path]) -> list[str]:
    """Return as many of the last parts of each path as tell all of them apart."""
    resolved = [Path(os.path.realpath(path)) for path in paths]
    for count in range(1, max(len(path.parts) for path in resolved) + 1):
        names = ["/".join(path.parts[-count:]) for path in resolved]
        if len(set(names)) == len(set(resolved)):
            return names
    return [str(path) for path in resolved]


def measured_flows(arms: Sequence[Arm], by: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return the measured flows of all arms, with a column `series`.

    Args:
        arms: whose flows.
        by: a series is an arm and what this column of `flows` says: `transport` or `label`. What
            all have in common is not part of the name.
        columns: of `flows`, to return.

    """
    frames = [
        result.scan("flows")
        .filter("measured")
        .select(pl.lit(arm.name).alias("arm"), by=pl.col(by), **{name: name for name in columns})
        .collect()
        for arm in arms
        for result in arm.results
    ]
    rows: pl.DataFrame = pl.concat(frames)
    several = [name for name in ("arm", "by") if rows[name].n_unique() > 1] or ["by"]
    series = pl.concat_str(several, separator=", ")
    return rows.select(series.alias("series"), *columns)


def recorded(result: Result, table: str, figure: str) -> pl.LazyFrame:
    """Return a time series.

    Raises:
        NotRecordedError: the scenario did not ask for it; the message says how to.

    """
    if result.has(table):
        return result.scan(table)
    directory = result.dir
    raise NotRecordedError(
        f"{figure} needs record.{table}, which {directory}/scenario.toml does not ask for; run it "
        f"again: linkpool run {directory}/scenario.toml --out {directory} "
        f"--set 'record.{table}={_proposed(result, table)}'"
    )


def _proposed(result: Result, table: str) -> str:
    """Return what `[record]` may say: a thousand samples of the measured period or so."""
    start, end = result.period
    step = max((end - start) / 1000, 1e-9)
    ns = next(d * 10**power for power in range(12) for d in EACH if d * 10**power >= step * 1e9)
    every = show_seconds(ns / 1e9).replace(" ", "")
    if table != "queue":
        return f'{{every="{every}"}}'
    longest = result.links.sort("max_queue_pkts", "link", descending=[True, False])["link"][0]
    return f'{{every="{every}", links=["{longest}"]}}'
