"""Draw the figure of speed beside other simulators from what was measured.

    .venv/bin/python benchmarks/beside.py

It draws docs/img/speed.svg from benchmarks/figures/beside.json, which has a row for each run: the
task, the simulator, its packet-hops, and its CPU seconds in user mode. The runs of a task were made
in turn on one machine; docs/performance.md says how to make more.
"""

import json
from collections import defaultdict
from pathlib import Path
from statistics import median

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

from linkpool.figures.look import COLOURS

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "benchmarks" / "figures" / "beside.json"
FIGURE = ROOT / "docs" / "img" / "speed.svg"


def main() -> None:
    """Read, draw, write."""
    groups: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in json.loads(MEASURED.read_text(encoding="utf-8"))["runs"]:
        groups[run["task"]][run["simulator"]].append(run["hops"] / run["user_s"] / 1e6)
    mpl.rcParams.update({"font.size": 9, "svg.hashsalt": "linkpool", "svg.fonttype": "none"})
    figure, axes = plt.subplots(
        figsize=(7.2, 0.5 + 0.27 * sum(map(len, groups.values())) + 0.3 * len(groups))
    )
    place, ticks, labels = 0.0, [], []
    for task, simulators in groups.items():
        axes.text(
            0.012,
            place,
            task,
            va="center",
            weight="bold",
            fontsize=9,
            transform=axes.get_yaxis_transform(),
        )
        place += 1
        for simulator, speeds in simulators.items():
            ours = simulator.startswith("linkpool")
            middle = median(speeds)
            axes.barh(place, middle, height=0.72, color=COLOURS[0] if ours else "#b8b8b8")
            axes.plot([min(speeds), max(speeds)], [place, place], color="#333333", linewidth=1)
            text = f"{middle:.3g}" if middle >= 0.1 else f"{middle:.2g}"
            axes.text(
                max(speeds) * 1.06, place, text, va="center", weight="bold" if ours else "normal"
            )
            ticks.append(place)
            labels.append(simulator)
            place += 1
        place += 0.35
    axes.set_xscale("log")
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel("million packet-hops per second of processor time, one core (logarithmic)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
