"""Draw the pictures of docs/workloads from runs of its scenarios.

    python benchmarks/workloads.py [NAME ...] [--out DIR]

Names are those of the pages; without one, all are drawn. Most are traffic matrices; where it
matters when flows start, they are time-lines, and where paths change, rates over time.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import linkpool
from linkpool import _core
from linkpool.result import Result
from linkpool.study import style

PAGES = Path(__file__).parents[1] / "docs" / "workloads"

TIMELINES = {
    "collective",
    "flow",
    "incast",
    "inference",
    "partition-aggregate",
    "program",
    "repeat",
    "session",
    "trace",
    "training",
}

RATES = {"placement"}

COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7"]


def matrix(flows: pl.DataFrame, hosts: list[str]) -> Figure:
    """Draw what each host has delivered to each other; white is nothing."""
    sums = flows.group_by("src", "dst").agg(pl.col("acked_bytes").sum())
    sent = np.zeros((len(hosts), len(hosts)))
    for src, dst, acked in sums.iter_rows():
        sent[hosts.index(src), hosts.index(dst)] = acked / 1e3
    some = sent[sent > 0]
    # By decades where a linear scale would show the largest alone.
    wide = some.max() > 30 * some.min()
    scale = LogNorm(some.min(), some.max()) if wide else Normalize(0, some.max())
    figure = Figure(figsize=(4.6, 3.8), layout="constrained")
    axes = figure.add_subplot()
    cells = np.ma.masked_equal(sent, 0)
    image = axes.imshow(cells, cmap=mpl.colormaps["viridis_r"], norm=scale)
    axes.set_xticks(range(len(hosts)), hosts, rotation=90, fontsize=7)
    axes.set_yticks(range(len(hosts)), hosts, fontsize=7)
    axes.set_xticks(np.arange(len(hosts) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(hosts) + 1) - 0.5, minor=True)
    axes.grid(visible=False, which="major")
    axes.grid(visible=True, which="minor", color="#dddddd", linewidth=0.5)
    axes.tick_params(which="both", length=0)
    axes.set(xlabel="to", ylabel="from")
    figure.colorbar(image, ax=axes, label="payload delivered (KB)")
    return figure


def timeline(flows: pl.DataFrame, hosts: list[str]) -> Figure:
    """Draw each flow from start to end beside its sender, and in it where it goes."""
    groups = ("label", "burst", "job")
    by = next((column for column in groups if flows[column].n_unique() > 1), "label")
    values = flows.sort("start_s")[by].unique(maintain_order=True).to_list()
    ends = pl.coalesce("end_s", pl.col("start_s") + pl.col("active_s"))
    bars = flows.select("src", "dst", by, pl.col("start_s") * 1e3, ends * 1e3)
    rows = _rows(bars, hosts)
    span = max(end for bars_of_row in rows for *_, end in bars_of_row)
    figure = Figure(figsize=(6.4, max(2.2, 0.9 + 0.17 * len(rows))), layout="constrained")
    axes = figure.add_subplot()
    for y, bars_of_row in enumerate(rows):
        for _, dst, value, start, end in bars_of_row:
            colour = COLOURS[values.index(value) % len(COLOURS)]
            axes.barh(y, end - start, 0.8, start, color=colour, edgecolor="white", linewidth=0.5)
            if end - start > 0.03 * span:
                axes.text((start + end) / 2, y, dst, ha="center", va="center", fontsize=6)
    axes.set_yticks(range(len(rows)), [row[0][0] for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="time (ms)", ylabel="from", xlim=(0, None))
    names = [f"{value}" if by == "label" else f"{by} {value}" for value in values]
    handles = [Patch(color=COLOURS[i % len(COLOURS)], label=name) for i, name in enumerate(names)]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    return figure


def rates(flows: pl.DataFrame, series: pl.DataFrame, hosts: list[str]) -> Figure:
    """Draw what each host gets for what it sends, over time."""
    by_sender = series.join(flows.select("flow", "src"), on="flow").pivot(
        "src", index="time_s", values="goodput_bps", aggregate_function="sum"
    )
    table = by_sender.sort("time_s")
    rows = [host for host in hosts if host in table.columns]
    figure = Figure(figsize=(6.4, 0.6 + 0.15 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    edges = [0.0, *(table["time_s"] * 1e3)]
    got = table.select(rows).to_numpy().T / 1e9
    image = axes.pcolormesh(
        edges, np.arange(len(rows) + 1) - 0.5, got, cmap=mpl.colormaps["viridis_r"], vmin=0
    )
    axes.set_yticks(range(len(rows)), rows, fontsize=7)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set(xlabel="time (ms)", ylabel="from")
    figure.colorbar(image, ax=axes, label="goodput (Gbit/s)")
    return figure


Bar = tuple[str, str, "str | int", float, float]
"""From, to, group, start and end in ms."""


def _rows(bars: pl.DataFrame, hosts: list[str]) -> list[list[Bar]]:
    """Give each sender as many rows as it has flows at a time."""
    rows: dict[str, list[list[Bar]]] = {host: [] for host in hosts}
    for bar in bars.sort("start_s", maintain_order=True).iter_rows():
        own = rows[bar[0]]
        free = (row for row in own if row[-1][4] <= bar[3])
        row = next(free, None)
        if row is None:
            own.append(row := [])
        row.append(bar)
    return [row for own in rows.values() for row in own]


def draw(name: str, out: Path) -> None:
    """Run the scenario of a page and draw its flows."""
    scenario = PAGES / f"{name}.toml"
    program = scenario.with_suffix(".py")
    if program.exists():
        directory = Path(tempfile.mkdtemp()) / name
        subprocess.run([sys.executable, program, directory], check=True)
        result = Result(directory)
    else:
        result = linkpool.run(scenario)
    plan = _core.plan(scenario.read_text(encoding="utf-8"), str(scenario), None, [])
    hosts = [host for host, _ in plan["nodes"][: plan["hosts"]]]
    flows = result.flows.filter(pl.col("start_s").is_not_null())
    with style.context():
        if name in RATES:
            figure = rates(flows, result.rate, hosts)
        else:
            figure = (timeline if name in TIMELINES else matrix)(flows, hosts)
        (out / f"{name}.png").write_bytes(style.render(figure, "png"))


def main() -> None:
    """Draw those asked for."""
    every = sorted(path.stem for path in PAGES.glob("*.toml"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    parser.add_argument("--out", type=Path, default=PAGES, help="where the pictures go")
    arguments = parser.parse_args()
    for name in arguments.names or every:
        draw(name, arguments.out)


if __name__ == "__main__":
    main()
