"""AMP, Figure 11: traffic shifting of AMP and XMP."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.shift import Shift
from linkpool.study.claims import Ledger


@dataclass(frozen=True)
class Fig11(Shift):
    """The claims of section 5.2 on traffic shifting."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the shift times, and their order, at each delay."""
        times = self.judge_times(ledger, data, {"amp": 3.0, "xmp": 3.0, "dcm": 7.0})
        amp, xmp, dcm = (times[s].value for s in ("amp", "xmp", "dcm"))
        ledger.judge("alike", f"AMP {times['amp']} ms, XMP {times['xmp']} ms", amp, xmp)
        slowest = None if amp is None or xmp is None else max(amp, xmp)
        ratio = None if slowest is None or dcm is None else dcm / slowest
        ledger.judge(
            "slower",
            "no data" if ratio is None else f"{ratio:.2f} times the slower of AMP and XMP",
            ratio,
            paper=7 / 3,
        )


EXPERIMENT = Fig11(
    id="A-fig11",
    schemes=("amp", "xmp", "dcm"),
)
