"""MMPTCP, Table 4 and Figure 4: the duplicate-ACK threshold of phase 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.columns import Column
from linkpool.experiments import mmptcp, style
from linkpool.experiments.base import KEY_SEED, Experiment, Point
from linkpool.experiments.claims import Claim, Ledger, about, grade
from linkpool.experiments.mmptcp import Tree
from linkpool.experiments.toml import Value, dumps
from linkpool.result import Result
from linkpool.stats import Sample, describe

THRESHOLDS = ("3", "5", "7", "9", "11", "13", "15", "17", "19", "21", "23", "auto")
TREES = (Tree(1), Tree(4))
ARRIVALS_PER_S = 256.0
LONG_SHARE = 0.33
QUIET_S = 0.2
"""Short flows stop arriving so long before the end."""

MEANS_MS = {"3": 158.0, "9": 112.0, "23": 116.0}
"""The paper's mean completion times by threshold."""

SHORT, LONG = "short", "long"


@dataclass(frozen=True)
class Cell:
    """The short flows of one tree and threshold."""

    flows: pl.DataFrame

    @property
    def fct(self) -> Sample:
        """Describe the completion times of finished flows, in seconds."""
        return describe(self.flows["fct_established_s"].drop_nulls().to_numpy())

    @property
    def mean_ms(self) -> float | None:
        """Return the mean completion time in milliseconds."""
        return None if self.fct.mean is None else 1e3 * self.fct.mean

    def share(self, what: pl.Expr) -> float | None:
        """Return the share of flows of which something is so."""
        return self.flows.filter(what).height / self.flows.height if self.flows.height else None

    def __str__(self) -> str:
        """Write mean and deviation with what they leave out."""
        fct = self.fct
        if fct.mean is None:
            return "no finished flow"
        sd = "" if fct.sd is None else f" ± {1e3 * fct.sd:.3g}"
        left_out = self.flows.height - fct.count
        return f"{1e3 * fct.mean:.3g}{sd} ms" + (f", {left_out} unfinished" if left_out else "")


@dataclass(frozen=True)
class Tab4(Experiment):
    """A third of the hosts send without end, short flows arrive at the others as they come."""

    id: str = "M-tab4"
    title: str = "the duplicate-ACK threshold of phase 1"
    paper: str = "MMPTCP, section 3.5, Table 4 and Figure 4"
    trees: tuple[Tree, ...] = TREES
    thresholds: tuple[str, ...] = THRESHOLDS
    duration_s: float = 20.0
    seeds: int = 3
    columns: ClassVar[tuple[Column, ...]] = (
        Column("tree", "string", "", "oversubscription: 1:1 has 128 hosts, 4:1 has 512"),
        Column("threshold", "string", "", "duplicate ACKs that mean a loss in phase 1"),
        KEY_SEED,
        Column("label", "string", "", "short or long"),
        Column("established", "bool", "", "the first SYN-ACK arrived"),
        Column("fct_established_s", "f64", "s", "completion time without the handshake"),
        Column("goodput_bps", "f64", "bit/s", "payload acknowledged over the time of the flow"),
        Column("timeouts", "i64", "", "retransmission timeouts of the flow, of SYNs too"),
        Column("recoveries", "i64", "", "fast retransmissions of the flow"),
    )

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every tree, threshold and seed."""
        return [
            self._point(tree, threshold, seed)
            for tree in self.trees
            for threshold in self.thresholds
            for seed in seeds
        ]

    def _point(self, tree: Tree, threshold: str, seed: int) -> Point:
        value: Value = threshold if threshold == "auto" else int(threshold)
        long = int(LONG_SHARE * tree.hosts)
        scenario: dict[str, Value] = {
            "name": f"short flows beside long ones, threshold {threshold}, {tree.name}",
            "duration": f"{self.duration_s:g}s",
            "drain": mmptcp.DRAIN,
            "topology": tree.topology(),
            "queue": mmptcp.queue(),
            "transport": {"mmptcp": mmptcp.transport("mmptcp", {"dupack_threshold": value})},
            "roles": {LONG: long},
            "workload": {
                "permutation": [
                    {
                        "transport": "mmptcp",
                        "label": LONG,
                        "role": LONG,
                        "stop": f"{self.duration_s:g}s",
                    }
                ],
                "poisson": [
                    {
                        "transport": "mmptcp",
                        "label": SHORT,
                        "role": "others",
                        "to": "permutation",
                        "flows_per_second": ARRIVALS_PER_S,
                        "size": mmptcp.SHORT,
                        "stop": f"{max(self.duration_s - QUIET_S, self.duration_s / 2):g}s",
                    }
                ],
            },
        }
        work = long * 60e6 * self.duration_s / (8 * 1400)
        work += ARRIVALS_PER_S * self.duration_s * mmptcp.SHORT_PACKETS
        keys: dict[str, str | int | float] = {"tree": tree.name, "threshold": threshold}
        return Point(keys, dumps(scenario), seed, self.duration_s, work)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        return result.flows.select(
            "label",
            pl.col("established_s").is_not_null().alias("established"),
            "fct_established_s",
            "goodput_bps",
            "timeouts",
            "recoveries",
        )

    def extent(self) -> str:
        """Say how much time is simulated."""
        return f"{self.duration_s:g} s of {self.seeds} seed{'s' if self.seeds > 1 else ''}"

    def shortened(self, scale: float) -> "Tab4":
        """Return fewer seeds, and below one seed less time."""
        seeds = max(round(self.seeds * scale), 1)
        share = min(scale * self.seeds / seeds, 1.0)
        return replace(self, seeds=seeds, duration_s=max(round(self.duration_s * share, 1), 1.0))

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge means and their order, and the counts of Figure 4, on each tree."""
        found: list[Claim] = []
        for tree in self.trees:
            ledger = Ledger(self.id, tree.name)
            cells = _cells(data, tree)
            for threshold, mean in MEANS_MS.items():
                cell = cells.get(threshold, _NOTHING)
                ledger.add(
                    f"mean-{threshold}",
                    f"the mean FCT of short flows with a threshold of {threshold}",
                    f"{mean:g} ms",
                    str(cell),
                    about(cell.mean_ms, mean),
                )
            _order(ledger, cells, self.thresholds)
            _counts(ledger, cells)
            found += ledger.claims
        return found

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw mean completion times, and how flows met retransmissions and timeouts."""
        figure, axes = style.panels(
            len(self.trees), 2, f"{self.id}: {self.title}", (4.6, 2.6), sharey=False
        )
        for row, tree in enumerate(self.trees):
            cells = _cells(data, tree)
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


def _cells(data: pl.DataFrame, tree: Tree) -> dict[str, Cell]:
    short = mmptcp.established(data).filter(pl.col("tree") == tree.name, pl.col("label") == SHORT)
    parts = short.partition_by("threshold", as_dict=True)
    return {str(threshold): Cell(rows) for (threshold,), rows in parts.items()}


_NOTHING = Cell(
    pl.DataFrame(
        schema={
            "fct_established_s": pl.Float64,
            "timeouts": pl.Int64,
            "recoveries": pl.Int64,
        }
    )
)


def _order(ledger: Ledger, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    three, nine = (cells.get(t, _NOTHING).mean_ms for t in ("3", "9"))
    note = "mean with 3 at least 1.2 times that with 9 (paper: 1.41); partly: above it"
    known = three is not None and nine is not None
    ledger.add(
        "three-worst",
        "a threshold of 3 gives the worst mean FCT, one of 9 a much better one",
        "158 against 112 ms",
        f"{cells.get('3', _NOTHING)} against {cells.get('9', _NOTHING)}",
        grade(
            known and (three or 0.0) >= 1.2 * (nine or 0.0),
            known and (three or 0.0) > (nine or 0.0),
            note,
        ),
    )
    beyond = [
        mean
        for t in thresholds
        if t not in ("3", "5", "7", "auto") and (mean := cells.get(t, _NOTHING).mean_ms)
    ]
    spread = max(beyond) / min(beyond) if beyond else None
    ledger.add(
        "flat",
        "above 9 the mean FCT remains unchanged",
        "112 to 116 ms",
        "no data" if not beyond else f"{min(beyond):.3g} to {max(beyond):.3g} ms",
        grade(
            spread is not None and spread <= 1.1,
            spread is not None and spread <= 1.25,
            "largest mean over smallest at most 1.1; partly: 1.25",
        ),
    )


def _counts(ledger: Ledger, cells: Mapping[str, Cell]) -> None:
    recovered = pl.col("recoveries") > 0
    three, nine, most = (cells.get(t, _NOTHING).share(recovered) for t in ("3", "9", "23"))
    known = three is not None and nine is not None and most is not None
    ledger.add(
        "spurious",
        "fast retransmissions are most frequent at 3 and none at 23",
        "most; some; none",
        "no data" if not known else f"{three:.1%}, {nine:.1%}, {most:.1%} of the flows met one",
        grade(
            known and (three or 0) > (nine or 0) and (most or 0) <= 0.01,
            known and (three or 0) > (most or 0),
            "fewer at 9 than at 3 and at most 1% at 23; partly: fewer at 23 than at 3",
        ),
    )
    timed_out = pl.col("timeouts") > 0
    shares = {t: cells.get(t, _NOTHING).share(timed_out) for t in ("3", "9", "auto", "23")}
    values = [share for share in shares.values() if share is not None]
    rising = len(values) == len(shares) and values == sorted(values)
    ends = len(values) == len(shares) and values[0] < values[-1]
    ledger.add(
        "timeouts",
        "timeouts rise with the threshold: fewest at 3, slightly more with auto than at 9, "
        "most at 23",
        "3 < 9 < auto < 23",
        ", ".join(f"{t}: {share:.1%}" for t, share in shares.items() if share is not None)
        or "no data",
        grade(rising, ends, "the shares of flows with a timeout in this order; partly: 3 below 23"),
    )


def _draw_means(axes: Axes, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    samples = [cells.get(t, _NOTHING).fct for t in thresholds]
    means = [None if s.mean is None else 1e3 * s.mean for s in samples]
    deviations = [None if s.sd is None else 1e3 * s.sd for s in samples]
    style.bars(axes, thresholds, {"mmptcp": means}, {"mmptcp": deviations})
    style.from_zero(axes)


def _draw_counts(axes: Axes, cells: Mapping[str, Cell], thresholds: Sequence[str]) -> None:
    x = range(len(thresholds))
    for name, column, colour, marker in (
        ("fast retransmission", "recoveries", "#0072b2", "o"),
        ("timeout", "timeouts", "#d55e00", "X"),
    ):
        shares = [cells.get(t, _NOTHING).share(pl.col(column) > 0) for t in thresholds]
        y = [float("nan") if share is None else share for share in shares]
        axes.plot(x, y, color=colour, marker=marker, markersize=4, label=f"at least one {name}")
    axes.set_xticks(list(x), list(thresholds))
    style.from_zero(axes)


EXPERIMENT = Tab4()
