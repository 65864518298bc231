"""Pictures of fabrics."""

from collections import Counter

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from linkpool.plain import plain
from linkpool.topology.fabric import LAYERS, Fabric
from linkpool.topology.layout import positions
from linkpool.units import show_rate

COLOURS = dict(
    zip(
        LAYERS,
        ["#7f7f7f", "#56b4e9", "#e69f00", "#0072b2", "#009e73", "#d55e00", "#cc79a7"],
        strict=True,
    )
)
CABLES = ["#888888", "#333333", "#e69f00", "#56b4e9", "#f0e442"]
"""By rate, in ascending order, round the end."""

NAMED = 40
"""Switches are named in fabrics of so many nodes, hosts too."""


def draw(fabric: Fabric) -> Figure:
    """Draw hosts and switches, in layers where there are some, and the cables by their rate."""
    at = positions(fabric)
    widest = max(sum(y == row for _, y in at) for row in {y for _, y in at})
    layered = len({y for _, y in at}) <= 8
    width = float(np.clip(0.3 * widest, 5.5, 13))
    size = (width, max(4.2, 0.42 * width)) if layered else (5.5, 5.5)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    rates = sorted({rate for _, _, rate, _ in fabric.links})
    handles = []
    many = len(fabric.links) > 1000
    for i, rate in enumerate(rates):
        cables = [at[[a, b]] for a, b, of, _ in fabric.links if of == rate and a < b]
        colour = CABLES[i % len(CABLES)]
        thickness = (0.4 if many else 0.8) * (1 + 0.8 * i)
        axes.add_collection(
            LineCollection(
                cables, colors=colour, linewidths=thickness, alpha=0.6 if many else 0.9, zorder=1
            )
        )
        label = show_rate(float(rate), given=True)
        handles.append(Line2D([], [], color=colour, lw=1 + 0.8 * i, label=label))
    points = float(np.clip(3000 / max(len(fabric.names), 1), 12, 70))
    for layer, number in fabric.nodes_by_layer().items():
        nodes = [node for node, of in enumerate(fabric.layers) if of == layer]
        marker = "o" if layer == "host" else "s"
        size_of_layer = 0.55 * points if layer == "host" else points
        x, y = at[nodes].T
        axes.scatter(x, y, s=size_of_layer, c=COLOURS[layer], marker=marker, zorder=2, linewidths=0)
        label = f"{number} {'hosts' if layer == 'host' else layer}"
        handles.append(
            Line2D(
                [], [], marker=marker, color=COLOURS[layer], linestyle="", markersize=6, label=label
            )
        )
    if len(fabric.names) <= NAMED:
        # Parallel cables are one line.
        for (a, b), number in Counter((a, b) for a, b, _, _ in fabric.links if a < b).items():
            if number > 1:
                middle = (at[a] + at[b]) / 2
                axes.annotate(
                    f"{number} x",
                    middle,
                    ha="center",
                    va="center",
                    fontsize=8,
                    backgroundcolor="white",
                )
        for node, name in enumerate(fabric.names):
            # Below what is below all else, beside nothing but cables elsewhere.
            below = node < fabric.hosts or fabric.layers[node] == "nvlink"
            above = -12 if layered and below else 5
            axes.annotate(
                plain(name),  # a font has no glyph for a control character
                at[node],
                (0, above),
                textcoords="offset points",
                ha="center",
                fontsize=8,
                parse_math=False,
            )
    axes.margins(0.04, 0.12)
    axes.set_axis_off()
    if not layered:
        axes.set_aspect("equal")
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(len(handles), 5),
        frameon=False,
        fontsize=8,
    )
    return figure
