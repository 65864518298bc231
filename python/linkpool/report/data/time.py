"""The whole run over time: links as a strip of heat, failures, goodput."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.report.data.numbers import column, rounded
from linkpool.result import Result

MOST_LINKS = 48
"""Rows of the strip: links that changed, then those paused, then those that carried most."""
INTERVALS = 600
"""Columns of the strip, and points of the goodput, at most."""


def active_end(result: Result) -> float:
    """Return when the last flow ended, or the run did."""
    ends = result.scan("flows").select((pl.col("start_s") + pl.col("active_s")).max()).collect()
    return float(ends.item() or result.period[1])


def heat(result: Result, end: float) -> dict[str, Any] | None:
    """Return what links did by interval: utilisation in per cent, drops, and per cent paused.

    None: nothing was recorded.
    """
    if not result.has("counters"):
        return None
    counters = result.scan("counters").filter(pl.col("time_s") <= end * 1.02 + 1e-9)
    every = counters.select(pl.col("time_s").unique().sort()).collect()["time_s"]
    if every.is_empty():
        return None
    changed = set(failures(result)["link"]) if result.has("changes") else set()
    traffic = (
        counters.group_by("link")
        .agg(pl.col("bytes").sum(), paused=pl.col("paused_s").sum() > 0)
        .collect()
    )
    total = traffic.height
    order = traffic.with_columns(changed=pl.col("link").is_in(list(changed))).sort(
        "changed", "paused", "bytes", "link", descending=[True, True, True, False]
    )
    links = order["link"].head(MOST_LINKS).to_list()
    bins = min(INTERVALS, every.len())
    per = -(-every.len() // bins)
    index = pl.col("time_s").replace_strict(
        every, pl.Series(np.arange(every.len()) // per), return_dtype=pl.Int64
    )
    cells = (
        counters.filter(pl.col("link").is_in(links))
        .group_by("link", index.alias("bin"))
        .agg(
            pl.col("utilisation").mean(),
            (pl.col("drops") + pl.col("drops_down") + pl.col("drops_loss")).sum().alias("lost"),
            pl.col("paused_s").sum(),
        )
        .collect()
    )
    width = int(cells["bin"].max() or 0) + 1  # type: ignore[arg-type]
    row = {link: i for i, link in enumerate(sorted(links))}
    used = np.full((len(links), width), -1, np.int64)
    lost = np.zeros((len(links), width), np.int64)
    held = np.zeros((len(links), width))
    for link, at, utilisation, drops, paused in cells.iter_rows():
        used[row[link], at] = -1 if utilisation is None else round(100 * utilisation)
        lost[row[link], at] = drops
        held[row[link], at] = paused
    edges = [0.0, *every.gather(np.minimum((np.arange(width) + 1) * per, every.len()) - 1)]
    if every.len() > 1:
        edges[0] = max(0.0, every[0] - (every[1] - every[0]))
    # A pause is shown, however short.
    share = np.minimum(np.ceil(100 * held / np.diff(edges) - 1e-6), 100).astype(np.int64)
    return {
        "links": sorted(links),
        "of": total,
        "edges": column(edges, 10),
        "used": used.tolist(),
        "lost": [[int(i), int(j), int(lost[i, j])] for i, j in np.argwhere(lost)],
        "paused": [[int(i), int(j), int(share[i, j])] for i, j in np.argwhere(share)],
    }


def failures(result: Result) -> pl.DataFrame:
    """Return when links were down, or slower than in the topology.

    Columns: `link`, `state` ("down" or "slow"), `start_s`, and `end_s`, null: to the end.
    """
    slow = pl.col("value") < pl.col("rate_bps")
    changes = (
        result.changes.filter(pl.col("change").is_in(["down", "up", "rate"]))
        .join(result.links.select("link", "rate_bps"), on="link", how="left", maintain_order="left")
        .with_columns(of_rate=pl.col("change") == "rate")
        .with_columns(
            state=pl.when("of_rate")
            .then(pl.when(slow).then(pl.lit("slow")))
            .when(change="down")
            .then(pl.lit("down"))
        )
        .sort("link", "time_s", maintain_order=True)
    )
    after = pl.col("time_s").shift(-1).over("link", "of_rate")
    return (
        changes.with_columns(end_s=after)
        .filter(pl.col("state").is_not_null())
        .select("link", "state", start_s="time_s", end_s="end_s")
    )


def goodput(result: Result, end: float) -> dict[str, Any]:
    """Return the goodput of all flows by transport: measured where rates were recorded.

    Otherwise the payload of each flow is spread evenly over its life, which `spread` says.
    """
    width = end / INTERVALS
    flows = (
        result.scan("flows")
        .select("flow", "transport", "start_s", "active_s", "acked_bytes")
        .collect()
    )
    recorded = result.has("rate") and _all_recorded(result, flows)
    series: dict[str, npt.NDArray[np.float64]] = {}
    if recorded:
        rates = result.scan("rate").sort("flow", "subflow", "time_s").collect()
        step = _step(rates)
        width = max(width, step)
        rates = rates.join(flows.select("flow", "transport", "start_s"), on="flow")
        before = pl.col("time_s").shift(1).over("flow", "subflow")
        begin = pl.coalesce(before, pl.max_horizontal("start_s", pl.col("time_s") - step))
        rates = rates.with_columns(begin=begin)
        for (transport,), of in rates.group_by("transport", maintain_order=True):
            start, until = of["begin"].to_numpy(), of["time_s"].to_numpy()
            series[str(transport)] = _spread(start, until, of["goodput_bps"].to_numpy(), width, end)
    else:
        for (transport,), of in flows.group_by("transport", maintain_order=True):
            start, active = of["start_s"].to_numpy(), of["active_s"].to_numpy()
            rate = 8.0 * of["acked_bytes"].to_numpy() / np.maximum(active, 1e-12)
            series[str(transport)] = _spread(start, start + active, rate, width, end)
    times = (np.arange(max((v.size for v in series.values()), default=0)) + 0.5) * width
    return {
        "spread": not recorded,
        "step": rounded(width),
        "t": column(times.tolist(), 8),
        "series": {name: column(values.tolist(), 4) for name, values in series.items()},
    }


def _all_recorded(result: Result, flows: pl.DataFrame) -> bool:
    """Tell whether the rates cover all flows: together they carried the data of all flows."""
    labels = result.scan("rate").select(pl.col("flow").n_unique()).collect().item()
    return bool(labels >= 0.9 * flows.height)


def _step(rates: pl.DataFrame) -> float:
    steps = rates.select((pl.col("time_s").diff().over("flow", "subflow")).alias("d"))["d"]
    return float(steps.max() or 1e-3)  # type: ignore[arg-type]


def _spread(
    begin: npt.NDArray[np.float64],
    end: npt.NDArray[np.float64],
    rate: npt.NDArray[np.float64],
    width: float,
    until: float,
) -> npt.NDArray[np.float64]:
    """Return the mean of a sum of rates, each from begin to end, in intervals of a width."""
    bins = max(int(np.ceil(until / width)), 1)
    # The integral of the sum up to each edge, by adding slopes where they begin and end.
    edges = np.arange(bins + 1) * width
    total = np.zeros(bins + 1)
    order = np.concatenate([begin, end])
    slope = np.concatenate([rate, -rate])
    by_time = np.argsort(order, kind="stable")
    at, change = order[by_time], slope[by_time]
    level = np.cumsum(change)
    reached = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(at))]) if at.size else at
    last = np.searchsorted(at, edges, side="right") - 1
    inside = last >= 0
    if at.size:
        total[inside] = reached[last[inside]] + level[last[inside]] * (
            edges[inside] - at[last[inside]]
        )
    return np.maximum(np.diff(total) / width, 0.0)
