"""AMP, Figure 6: traffic shifting of MPTCP with a constant cut, and of DCM."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.shift import Shift
from linkpool.study.claims import Ledger


@dataclass(frozen=True)
class Fig6(Shift):
    """The claims of section 4.1."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge both shift times, and their order, at each delay."""
        times = self.judge_times(ledger, data, {"mptcp-cut": 3.0, "dcm": 7.0})
        cut, dcm = times["mptcp-cut"].value, times["dcm"].value
        later = None if cut is None or dcm is None else dcm - cut
        ledger.judge("slower", "no data" if later is None else f"{later:.2f} ms", later)


EXPERIMENT = Fig6(
    id="A-fig6",
    schemes=("mptcp-cut", "dcm"),
)
