"""Draw how far the kernel and the simulator agree, from tables that `beside` has printed.

    linkpool-linux beside x-fig4.toml > tables/x-fig4.txt      and so on
    python draw.py tables agreement.csv agreement.png

Each file is a row of the figure, under its name. The CSV has what the figure shows.
"""

import re
import sys
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from linkpool.study import style

ORDER = [
    *("reno", "cubic", "dctcp", "uncoupled"),
    *("amp-syndrome", "xmp-syndrome", "dcm-syndrome", "amp", "traffic-shift"),
    *(
        f"a-fig{figure}-{scheme}"
        for figure in ("9", "10a", "10b")
        for scheme in ("amp", "xmp", "dcm")
    ),
    *(
        "a-fig6",
        "a-fig8",
        "x-fig4",
        "x-fig6",
        "x-fig7",
        "t-eff",
        "t-fair",
        "closed-loop",
        "fat-tree",
    ),
]
GOODPUT, JAIN, QUEUE = "goodput of a flow, Mbit/s", "Jain's index", "median of the queue, packets"
# What counts as agreement, docs/linux-validation.md.
WITHIN = {GOODPUT: 0.15, JAIN: 0.05, QUEUE: 3.0}
TITLES = {
    GOODPUT: "goodput of a flow:\nkernel over simulator",
    JAIN: "Jain's index of all flows:\nkernel less simulator",
    QUEUE: "median of the queue, packets:\nkernel less simulator",
}
NUMBER = r"([-\d.]+)(?: \([-\d. to]+\))?"
ROW = re.compile(rf"\| (.+): ([^:|]+?) \| {NUMBER} \| {NUMBER} \|")


def read(path: Path) -> list[dict[str, str | float]]:
    """Return the rows of a table: of what, which quantity, and the means of both."""
    found = [match.groups() for match in map(ROW.match, path.read_text().splitlines()) if match]
    wanted = [
        row for row in found if row[1] in WITHIN and (row[1] != JAIN or row[0] == "all flows")
    ]
    if not wanted:
        sys.exit(f"{path}: no table of linkpool-linux beside in it")
    return [
        {
            "scenario": path.stem,
            "of": of,
            "quantity": quantity,
            "kernel": float(kernel),
            "simulator": float(simulator),
        }
        for of, quantity, kernel, simulator in wanted
    ]


def draw(axes: Axes, table: pl.DataFrame, quantity: str, names: list[str]) -> None:
    """Draw the points of a quantity, one row a scenario, and the band of agreement."""
    rows = table.filter(pl.col("quantity") == quantity)
    middle, half = (1.0, WITHIN[quantity]) if quantity == GOODPUT else (0.0, WITHIN[quantity])
    axes.axvspan(middle - half, middle + half, color="#e3f0e3")
    axes.axvline(middle, color="#888888", linewidth=0.8)
    kernel, simulator = rows["kernel"].to_numpy(), rows["simulator"].to_numpy()
    x = kernel / simulator if quantity == GOODPUT else kernel - simulator
    agree = abs(x - middle) <= half
    y = [names.index(name) for name in rows["scenario"]]
    axes.scatter(x, y, s=22, c=["#0072b2" if a else "#d55e00" for a in agree], zorder=3)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_title(f"{TITLES[quantity]}\n{agree.sum()} of {len(agree)} agree")


def main() -> None:
    """Read the tables, write the CSV and the figure."""
    tables, data, picture = map(Path, sys.argv[1:])
    names = [name for name in ORDER if (tables / f"{name}.txt").exists()]
    unknown = {path.stem for path in tables.glob("*.txt")} - set(names)
    if unknown:
        sys.exit(f"{tables}: no place in the figure for {', '.join(sorted(unknown))}")
    rows = pl.DataFrame([row for name in names for row in read(tables / f"{name}.txt")])
    # Flows of a label that have paths of their own have a row each: the mean stands for them.
    keys = ("scenario", "of", "quantity")
    table = rows.group_by(keys, maintain_order=True).agg(pl.col("kernel", "simulator").mean())
    table.write_csv(data, float_precision=3)
    with style.context():
        figure, axes = style.panels(1, 3, "Linux 6.18 and the simulator", (3.0, 0.22 * len(names)))
        for panel, quantity in zip(axes[0], WITHIN, strict=True):
            draw(panel, table, quantity, names)
        figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    main()
