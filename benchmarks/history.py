"""Draw how many instructions a packet-hop and an ACK took, commit by commit.

    .venv/bin/python benchmarks/history.py

It draws docs/img/instructions.svg from benchmarks/history.csv, which `./x count --record` writes.
"""

import csv
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

from linkpool.figures.look import COLOURS

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ROOT / "benchmarks" / "history.csv"
FIGURE = ROOT / "docs" / "img" / "instructions.svg"

SHOWN = {
    "per hop, dctcp": "a hop, DCTCP (k = 4)",
    "per hop, lia8": "a hop, LIA, 8 subflows (k = 4)",
    "per hop, k8-dctcp-9000": "a hop, DCTCP (k = 8)",
    "per hop, k8-ndp-9000": "a hop, NDP (k = 8)",
    "per ACK, dctcp": "an ACK, DCTCP",
    "per ACK, lia8": "an ACK, LIA, 8 subflows",
}


def main() -> None:
    """Read, draw, write."""
    with HISTORY.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mpl.rcParams.update({"font.size": 9, "svg.hashsalt": "linkpool", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(7.2, 3.4))
    for (name, label), colour in zip(SHOWN.items(), COLOURS, strict=False):
        points = [(i, float(row[name])) for i, row in enumerate(rows) if row.get(name)]
        if points:
            of_ack = name.startswith("per ACK")
            places, values = zip(*points, strict=True)
            style = "--" if of_ack else "-"
            axes.plot(places, values, style, marker="o", markersize=3, color=colour, label=label)
    axes.set_xticks(range(len(rows)), [row["commit"] for row in rows], rotation=60, ha="right")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("instructions")
    axes.set_xlabel("commits at which they were counted")
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
