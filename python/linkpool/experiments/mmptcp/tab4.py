"""MMPTCP, Table 4 and Figure 4: the duplicate-ACK threshold of phase 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed
from linkpool.experiments.mmptcp.mixed import SHORT, Mix
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.mmptcp.summary import NOTHING, Cell, Summarised, summarise
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import Ledger, Verdict, above, grade, more, weakest
from linkpool.study.experiment import each
from linkpool.study.point import Keys, Point

THRESHOLDS = ("3", "5", "7", "9", "11", "13", "15", "17", "19", "21", "23", "auto")
TREES = (Tree(1), Tree(4))
ARRIVALS = 256.0

MEANS_MS = {"3": 158.0, "9": 112.0, "23": 116.0}
"""The paper's mean completion times by threshold."""


RECOVERED = Column(
    "with_recovery", "i64", "flows", "established short flows with a fast retransmission"
)


def row(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row for the flows and ports of a run, given as `mixed.measure` has them."""
    short = rows.filter("established", pl.col("kind") == SHORT)
    recovered = short.filter(pl.col("recoveries") > 0).height
    return summarise(rows).with_columns(pl.lit(recovered, pl.Int64).alias(RECOVERED.name))


@dataclass(frozen=True)
class Tab4(Summarised):
    """All flows are MMPTCP's."""

    id: str = "M-tab4"
    trees: tuple[Tree, ...] = TREES
    thresholds: tuple[str, ...] = THRESHOLDS
    columns: ClassVar = declared.columns("mmptcp", "M-tab4")

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every tree, threshold and seed."""
        return [
            self._point(tree, threshold, seed)
            for tree in self.trees
            for threshold in self.thresholds
            for seed in seeds
        ]

    def _point(self, tree: Tree, threshold: str, seed: int) -> Point:
        value = threshold if threshold == "auto" else int(threshold)
        keys: Keys = {"tree": tree.name, "threshold": threshold}
        transport = {"dupack_threshold": value}
        mix = Mix("mmptcp", "mmptcp", ARRIVALS, self.duration_s, tree, keys=transport)
        return mix.point(keys, seed)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row."""
        return row(mixed.measure(result))

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the trees."""
        return each("tree", [tree.name for tree in self.trees])

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge means and their order, and the counts of Figure 4, on each tree."""
        cells = _cells(data)
        for threshold, mean in MEANS_MS.items():
            cell = cells.get(threshold, NOTHING)
            ledger.judge(
                "mean-{threshold}", str(cell), cell.fct.mean, threshold=threshold, mean=mean
            )
        _order(ledger, cells, self.thresholds)
        _counts(ledger, cells)

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw mean completion times, and how flows met retransmissions and timeouts."""
        figure, axes = style.panels(
            len(self.trees), 2, f"{self.id}: {self.title}", (4.6, 2.6), sharey=False
        )
        for row, tree in enumerate(self.trees):
            cells = _cells(data.filter(tree=tree.name))
            left, right = axes[row]
            _draw_means(left, cells, self.thresholds)
            _draw_counts(right, cells, self.thresholds)
            left.set_title(f"{tree.name}, {tree.hosts} hosts")
            right.set_title(f"{tree.name}, {tree.hosts} hosts")
            left.set_ylabel("FCT of short flows (ms), mean ± sd")
            right.set_ylabel("share of short flows")
        for at in axes[-1]:
            at.set_xlabel("duplicate-ACK threshold of phase 1")
        style.legend(figure, axes[0, 1])
        return figure


def _cells(data: pl.DataFrame) -> dict[str, Cell]:
    parts = data.partition_by("threshold", as_dict=True)
    return {str(threshold): Cell(rows) for (threshold,), rows in parts.items()}


def _recovered(cell: Cell) -> float | None:
    """Return the share of established short flows that met a fast retransmission."""
    flows = int(cell.rows["short"].sum())
    return int(cell.rows[RECOVERED.name].sum()) / flows if flows else None


def _order(ledger: Ledger, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    three, nine = (cells.get(t, NOTHING).fct.mean for t in ("3", "9"))
    ratio = None if three is None or not nine else three / nine
    ledger.judge(
        "three-worst",
        f"{cells.get('3', NOTHING)} against {cells.get('9', NOTHING)}",
        more(ratio, 158 / 112),
    )
    beyond = [
        mean
        for t in thresholds
        if t not in ("3", "5", "7", "auto") and (mean := cells.get(t, NOTHING).fct.mean)
    ]
    spread = max(beyond) / min(beyond) if beyond else None
    ledger.judge(
        "flat", "no data" if not beyond else f"{min(beyond):.3g} to {max(beyond):.3g} ms", spread
    )


def _counts(ledger: Ledger, cells: Mapping[str, Cell]) -> None:
    three, nine, most = (_recovered(cells[t]) if t in cells else None for t in ("3", "9", "23"))
    known = three is not None and nine is not None and most is not None
    ledger.judge(
        "spurious",
        "no data" if not known else f"{three:.1%}, {nine:.1%}, {most:.1%} of the flows met one",
        grade(
            known and (three or 0) > (nine or 0) and (most or 0) <= 0.01,
            known and (three or 0) > (most or 0),
            "fewer at 9 than at 3 and at most 1% at 23; partly: fewer at 23 than at 3",
        ),
    )
    shares = {t: cells.get(t, NOTHING).with_timeout for t in ("3", "9", "auto", "23")}
    seeds = [cells.get(t, NOTHING).by_seed(lambda c: c.with_timeout) for t in shares]
    rising = weakest(*(above(b, a) for a, b in pairwise(seeds))).verdict
    ends = above(seeds[-1], seeds[0]).verdict
    ledger.judge(
        "timeouts",
        ", ".join(f"{t}: {share:.1%}" for t, share in shares.items() if share is not None)
        or "no data",
        grade(
            rising is Verdict.REPRODUCED,
            ends is not Verdict.NOT,
            "the shares of flows with a timeout in this order, each by the paired interval of 95% "
            "over the seeds; partly: 3 below 23 in the mean",
        ),
    )


def _draw_means(axes: Axes, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    samples = [cells.get(t, NOTHING).fct for t in thresholds]
    means = {"mmptcp": [s.mean for s in samples]}
    style.bars(axes, thresholds, means, {"mmptcp": [s.sd for s in samples]})
    style.from_zero(axes)


def _draw_counts(axes: Axes, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    x = range(len(thresholds))
    here = [cells.get(t) for t in thresholds]
    for name, of, colour, marker in (
        ("fast retransmission", _recovered, "#0072b2", "o"),
        ("timeout", lambda cell: cell.with_timeout, "#d55e00", "X"),
    ):
        shares = [None if cell is None else of(cell) for cell in here]
        y = [float("nan") if share is None else share for share in shares]
        axes.plot(x, y, color=colour, marker=marker, markersize=4, label=f"at least one {name}")
    axes.set_xticks(list(x), list(thresholds))
    style.from_zero(axes)


EXPERIMENT = Tab4()
