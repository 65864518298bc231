"""Flows over time: windows and goodputs of subflows, of the flows that a reader will ask for."""

from typing import Any

import polars as pl

from linkpool.figures.thin import extremes
from linkpool.report.data.numbers import column
from linkpool.result import Result
from linkpool.unfinished import so_far

MOST = 60
"""Flows with lanes: half of them the slowest, the others spread evenly by number."""
SAMPLES = 600
"""Of a subflow, about."""


def chosen(result: Result, asked: list[int]) -> tuple[list[int], int]:
    """Return the flows that get lanes, and how many were recorded; `asked` flows come first."""
    tables = [name for name in ("cwnd", "rate") if result.has(name)]
    if not tables:
        return asked, 0
    sampled = pl.concat([result.scan(name).select("flow") for name in tables]).unique()
    recorded = (
        so_far(result.scan("flows"))
        .select("flow", "slowdown", "active_s")
        .join(sampled, on="flow", how="semi")
        .collect()
        .sort("slowdown", "active_s", "flow", descending=[True, True, False], nulls_last=False)
    )
    everyone = recorded["flow"].to_list()
    if len(everyone) <= MOST:
        return everyone, len(everyone)
    slowest = everyone[: MOST // 2]
    rest = sorted(set(everyone) - set(slowest))
    step = len(rest) / (MOST - len(slowest))
    spread = [rest[int(i * step)] for i in range(MOST - len(slowest))]
    return list(dict.fromkeys([*asked, *slowest, *spread])), len(everyone)


def lanes(result: Result, flows: list[int]) -> dict[str, Any]:
    """Return, by flow, its windows, goodputs and times of suppression."""
    found: dict[str, Any] = {}
    if result.has("cwnd"):
        for (flow, subflow), of in _samples(result, "cwnd", "cwnd_pkts", flows):
            lane = _flow(found, flow)
            lane["cwnd"][subflow] = _points(of, "cwnd_pkts")
        for (flow, subflow), spans in _suppressed(result, flows).items():
            _flow(found, flow)["suppressed"][subflow] = spans
    if result.has("rate"):
        for (flow, subflow), of in _samples(result, "rate", "goodput_bps", flows):
            _flow(found, flow)["rate"][subflow] = _points(of, "goodput_bps")
    return found


def _flow(found: dict[str, Any], flow: int) -> Any:
    return found.setdefault(str(flow), {"cwnd": {}, "rate": {}, "suppressed": {}})


def _samples(result: Result, table: str, value: str, flows: list[int]) -> Any:
    rows = result.scan(table).filter(pl.col("flow").is_in(flows)).collect()
    line = pl.struct("flow", "subflow").rank("dense").cast(pl.Int64)
    rows = rows.sort("flow", "subflow", "time_s").with_columns(__line=line)
    thinned = extremes(rows, "__line", "time_s", value, SAMPLES)
    return thinned.group_by("flow", "subflow", maintain_order=True)


def _points(rows: pl.DataFrame, value: str) -> list[list[Any]]:
    return [column(rows["time_s"], 10), column(rows[value], 4)]


def _suppressed(result: Result, flows: list[int]) -> dict[tuple[int, int], list[list[float]]]:
    """Return, by flow and subflow, from when to when it sent no new data, as the samples tell."""
    rows = (
        result.scan("cwnd")
        .filter(pl.col("flow").is_in(flows))
        .sort("flow", "subflow", "time_s")
        .with_columns(run=pl.struct("flow", "subflow", "suppressed").rle_id())
        .group_by("run", "flow", "subflow", "suppressed", maintain_order=True)
        .agg(start=pl.col("time_s").first(), end=pl.col("time_s").last())
        .filter("suppressed")
        .collect()
    )
    spans: dict[tuple[int, int], list[list[float]]] = {}
    for flow, subflow, start, end in rows.select("flow", "subflow", "start", "end").iter_rows():
        spans.setdefault((flow, subflow), []).append([start, end])
    return spans
