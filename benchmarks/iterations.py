"""Draw the figure of docs/iterations.md: python benchmarks/iterations.py STUDY [--out FILE].

STUDY is the directory of the study, as `linkpool study run docs/cookbook/iterations.toml` wrote it.
"""

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter

from linkpool.study import style

PICTURE = Path(__file__).parents[1] / "docs" / "img" / "iterations-jct.png"


def draw(runs: pl.DataFrame, out: Path) -> None:
    """Draw the time of each iteration that began while the cable flapped, by arm."""
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.add_subplot()
    arms = runs["arm"].unique(maintain_order=True).to_list()
    for y, arm in enumerate(arms):
        times = runs.filter(pl.col("arm") == arm).sort("seed", "job")
        spread = np.linspace(-0.3, 0.3, times.height)
        axes.plot(times["jct_s"] * 1e6, y + spread, "o", markersize=3, alpha=0.7)
        mean = times.select(pl.col("jct_s").mean()).item() * 1e6
        axes.plot(mean, y, "|", color="black", markersize=24)
    axes.set_yticks(range(len(arms)), arms)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([100, 200, 300, 400, 600, 800]))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="time of an iteration (us)")
    figure.savefig(out, dpi=150)


def main() -> None:
    """Read the runs of the study, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path, help="the directory of the study")
    parser.add_argument("--out", type=Path, default=PICTURE)
    options = parser.parse_args()
    runs = pl.read_parquet(options.study / "runs.parquet")
    jobs = []
    for row in runs.iter_rows(named=True):
        table = pl.read_parquet(options.study / row["dir"] / "jobs.parquet").filter("measured")
        jobs.append(table.with_columns(arm=pl.lit(row["arm"]), seed=pl.lit(row["seed"])))
    with style.context():
        draw(pl.concat(jobs), options.out)


if __name__ == "__main__":
    main()
