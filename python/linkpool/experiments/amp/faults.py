"""The incast of AMP's Figures 2 and 8 at k = 30, with the faults of the authors' implementation."""

from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.amp.incast import Cells, Incast, show_mean
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame, Panel
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.units import show_number, show_seconds

SIZE, K = "128KiB", 30
MOST_TIMEOUTS = {"xmp": 10, "dcm": 16}
"""The most timeouts of a flow in the paper."""

SETS = {"": "no fault", "-acks": "the faults of acknowledgments", "-faults": "all faults"}
"""Ends of the names of schemes, and how the figure names them."""


@dataclass(frozen=True)
class Faults(Incast):
    """Hold the completion times and timeouts with each set of faults against the paper."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the paper's numbers with each set of faults."""
        cells = Cells(data)
        for scheme, timeouts in MOST_TIMEOUTS.items():
            for faults in list(SETS)[1:]:
                _judge(ledger, cells, f"{scheme}{faults}", timeouts)
        faithful = cells.mean("amp", SIZE, K)
        ledger.judge(
            "amp-unharmed",
            "; ".join(show_mean(cells, f"amp{faults}", SIZE, K) for faults in SETS),
            cells.mean("amp-faults", SIZE, K),
            faithful,
        )

    def frame(self) -> Frame:
        """Return a panel per scheme: the distribution of its completion times."""

        def panel(scheme: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = Cells(data)
                for faults, label in SETS.items():
                    rows = cells.rows(f"{scheme}{faults}", SIZE, K)
                    if rows is not None and len(times := rows["fct_established_s"].drop_nulls()):
                        look = LOOKS[f"xmp{faults}"]
                        axes.ecdf(times, color=look.colour, linestyle=look.dash, label=label)
                axes.set_xscale("log")

            return Panel(paint, f"{NAMES[scheme]}, {{}} links", "FCT (s)", "share of flows")

        return Frame([panel(scheme) for scheme in MOST_TIMEOUTS], self.title, (4.4, 2.4))


def _judge(ledger: Ledger, cells: Cells, scheme: str, timeouts: int) -> None:
    fct, rows = cells.fct(scheme, SIZE, K), cells.rows(scheme, SIZE, K)
    ledger.judge("{scheme}-mean", show_mean(cells, scheme, SIZE, K), fct.mean, scheme=scheme)
    ledger.judge("{scheme}-sd", show_seconds(fct.sd), fct.sd, scheme=scheme)
    worst = None if rows is None else max(rows["timeouts"].to_list(), default=None)
    ledger.judge(
        "{scheme}-timeouts", f"at most {worst} in a flow", worst, scheme=scheme, timeouts=timeouts
    )
    p90 = None if rows is None else rows["timeouts"].quantile(0.9, "linear")
    ledger.judge("{scheme}-timeouts-p90", show_number(p90), p90, scheme=scheme)


EXPERIMENT = Faults(
    id="A-faults",
    schemes=tuple(f"{scheme}{faults}" for scheme in ("dcm", "xmp", "amp") for faults in SETS),
    sizes=(SIZE,),
    ks=(K,),
)
