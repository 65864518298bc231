"""Build tables of a result from the few columns that a test is about."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from linkpool import _core
from linkpool.columns import TABLES
from linkpool.summary import Summary

KINDS: dict[str, pl.DataType] = {
    "u32": pl.UInt32(),
    "i32": pl.Int32(),
    "i64": pl.Int64(),
    "f64": pl.Float64(),
    "string": pl.String(),
    "bool": pl.Boolean(),
}
"""The type of a column in a data frame, by its name."""
COUNTS = ("u32", "i64")


def table(name: str, rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    """Return a table: counts that a row leaves out are 0, flags false, all else null."""
    columns = {column.name: column.type for column in TABLES[name].columns}
    unknown = {key for row in rows for key in row} - set(columns)
    assert not unknown, f"{name} has no column {unknown}"
    blank = {
        key: 0 if kind in COUNTS else False if kind == "bool" else None
        for key, kind in columns.items()
    }
    schema = {key: KINDS[kind] for key, kind in columns.items()}
    return pl.DataFrame([{**blank, **row} for row in rows], schema=schema, orient="row")


def finished(
    fct_s: float, handshake_s: float = 0.0, size: int = 1000, **more: object
) -> dict[str, object]:
    """Return a flow that started at 0 and finished, unless `more` says otherwise."""
    end = {
        "transport": "t",
        "label": "incast",
        "control": "dctcp",
        "size_bytes": size,
        "start_s": 0.0,
        "established_s": handshake_s,
        "end_s": fct_s,
        "fct_s": fct_s,
        "fct_established_s": fct_s - handshake_s,
        "active_s": fct_s,
        "acked_bytes": size,
        "goodput_bps": 8 * size / fct_s,
        "measured": True,
        "measured_s": fct_s,
        "measured_bytes": size,
    }
    return {**end, **more}


def unfinished(active_s: float, size: int | None = 1000, **more: object) -> dict[str, object]:
    """Return a flow that did not finish; without a size it is one that never does."""
    flow = {
        "transport": "t",
        "label": "incast",
        "control": "dctcp",
        "size_bytes": size,
        "start_s": 0.0,
        "active_s": active_s,
        "goodput_bps": 0.0,
        "measured": True,
        "measured_s": active_s,
    }
    return {**flow, **more}


def summarise(
    flows: pl.DataFrame,
    links: pl.DataFrame,
    period: tuple[float, float],
    *,
    end_s: float | None = None,
    **more: pl.DataFrame,
) -> Summary:
    """Return the summary of a run with these tables, which ended with the period or at `end_s`."""
    tables = {"workloads": table("workloads", []), "flows": flows, "links": links, **more}
    with tempfile.TemporaryDirectory() as directory:
        for name, frame in tables.items():
            frame.write_parquet(Path(directory) / f"{name}.parquet", compression="snappy")
        text = _core.summarise(directory, period, period[1] if end_s is None else end_s)
    return Summary.parse(text)


def write_result(
    directory: Path,
    flows: pl.DataFrame,
    links: pl.DataFrame | None = None,
    **series: pl.DataFrame,
) -> None:
    """Write a result directory as the simulator does."""
    directory.mkdir(parents=True, exist_ok=True)
    tables = {
        "flows": flows,
        "subflows": table("subflows", []),
        "links": table("links", []) if links is None else links,
        "workloads": table("workloads", []),
        **series,
    }
    for name, frame in tables.items():
        frame.write_parquet(directory / f"{name}.parquet")
    (directory / "scenario.toml").write_text(
        'duration = "1s"\n[measure]\nwarm_up = "0s"\ncut_off = "1s"\n', encoding="utf-8"
    )
    run = {"version": "0", "simulated_s": 1.0}
    (directory / "run.json").write_text(json.dumps(run), encoding="utf-8")
