"""The incast of AMP's Figures 2 and 8 at k = 30, with the faults of the authors' implementation."""

from dataclasses import dataclass

import polars as pl
from matplotlib.figure import Figure

from linkpool.experiments.amp.incast import Cells, Incast, show_mean
from linkpool.study import style
from linkpool.study.claims import Claim, Ledger, about, alike, over
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

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the paper's numbers with each set of faults."""
        found: list[Claim] = []
        for delay in self.delays:
            ledger = Ledger(self.id, delay)
            cells = Cells(data.filter(pl.col("delay") == delay))
            for scheme, timeouts in MOST_TIMEOUTS.items():
                for faults in list(SETS)[1:]:
                    _judge(ledger, cells, f"{scheme}{faults}", timeouts)
            faithful = cells.mean("amp", SIZE, K)
            ledger.add(
                "amp-unharmed",
                "the faults do not change the mean FCT of AMP, which has no timeout",
                "not in the paper",
                "; ".join(show_mean(cells, f"amp{faults}", SIZE, K) for faults in SETS),
                alike(cells.mean("amp-faults", SIZE, K), faithful),
            )
            found += ledger.claims
        return found

    def draw(self, data: pl.DataFrame) -> Figure:
        """Draw the distribution of the completion times of each scheme, a panel per delay."""
        title = f"{self.id}: {self.title}"
        figure, axes = style.panels(len(self.delays), len(MOST_TIMEOUTS), title, (4.4, 2.4))
        for row, delay in enumerate(self.delays):
            cells = Cells(data.filter(pl.col("delay") == delay))
            for column, scheme in enumerate(MOST_TIMEOUTS):
                at = axes[row, column]
                for faults, label in SETS.items():
                    rows = cells.rows(f"{scheme}{faults}", SIZE, K)
                    times = (
                        pl.Series(dtype=pl.Float64)
                        if rows is None
                        else rows["fct_established_s"].drop_nulls()
                    )
                    if len(times):
                        look = LOOKS[f"xmp{faults}"]
                        at.ecdf(times, color=look.colour, linestyle=look.dash, label=label)
                at.set_title(f"{NAMES[scheme]}, {delay} links")
                at.set_xscale("log")
            axes[row, 0].set_ylabel("share of flows")
        for at in axes[-1]:
            at.set_xlabel("FCT (s)")
        style.legend(figure, axes[0, 0])
        return figure


def _judge(ledger: Ledger, cells: Cells, scheme: str, timeouts: int) -> None:
    name = NAMES[scheme]
    fct, rows = cells.fct(scheme, SIZE, K), cells.rows(scheme, SIZE, K)
    ledger.add(
        f"{scheme}-mean",
        f"the mean FCT of {name} is over 800 ms",
        "> 800 ms",
        show_mean(cells, scheme, SIZE, K),
        over(fct.mean, 0.8),
    )
    ledger.add(
        f"{scheme}-sd",
        f"the FCT of {name} has a standard deviation of 1 s",
        "1 s",
        show_seconds(fct.sd),
        about(fct.sd, 1.0),
    )
    worst = None if rows is None else max(rows["timeouts"].to_list(), default=None)
    ledger.add(
        f"{scheme}-timeouts",
        f"flows of {name} face up to {timeouts} timeouts",
        str(timeouts),
        f"at most {worst} in a flow",
        about(worst, timeouts),
    )
    p90 = None if rows is None else rows["timeouts"].quantile(0.9, "linear")
    ledger.add(
        f"{scheme}-timeouts-p90",
        f"the 90th percentile of the timeouts of {name} is 7",
        "7",
        show_number(p90),
        about(p90, 7),
    )


EXPERIMENT = Faults(
    id="A-faults",
    title="incast with the faults of the authors' implementation",
    paper="AMP, sections 3 and 5.2",
    schemes=tuple(f"{scheme}{faults}" for scheme in ("dcm", "xmp", "amp") for faults in SETS),
    sizes=(SIZE,),
    ks=(K,),
)
