"""AMP, Figure 6: traffic shifting of MPTCP with a constant cut, and of DCM."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.shift import Shift
from linkpool.study.claims import Ledger, about
from linkpool.study.schemes import NAMES


@dataclass(frozen=True)
class Fig6(Shift):
    """The claims of section 4.1."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge both shift times, and their order, at each delay."""
        times = self.times(data)
        for scheme, paper_ms in (("mptcp-cut", 3.0), ("dcm", 7.0)):
            ledger.add(
                scheme,
                f"{NAMES[scheme]} finishes its shift {paper_ms:.0f} ms after 2 s",
                f"{paper_ms:.0f} ms",
                f"{times[scheme]} ms",
                about(times[scheme].value, paper_ms),
            )
        cut, dcm = times["mptcp-cut"].value, times["dcm"].value
        later = None if cut is None or dcm is None else dcm - cut
        ledger.add(
            "slower",
            "DCM is 4 ms slower than MPTCP with a constant cut",
            "4 ms",
            "no data" if later is None else f"{later:.2f} ms",
            about(later, 4.0),
        )


EXPERIMENT = Fig6(
    id="A-fig6",
    schemes=("mptcp-cut", "dcm"),
)
