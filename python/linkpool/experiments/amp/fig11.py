"""AMP, Figure 11: traffic shifting of AMP and XMP."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.shift import Shift, shifts
from linkpool.study.claims import Claim, Ledger, about, alike, by_factor
from linkpool.study.schemes import NAMES


@dataclass(frozen=True)
class Fig11(Shift):
    """The claims of section 5.2 on traffic shifting."""

    def claims(self, data: pl.DataFrame) -> list[Claim]:
        """Judge the shift times, and their order, at each delay."""
        found: list[Claim] = []
        for delay in self.delays:
            ledger = Ledger(self.id, delay)
            rows = data.filter(pl.col("delay") == delay)
            times = {s: shifts(rows.filter(pl.col("scheme") == s)) for s in self.schemes}
            for scheme, paper_ms in (("amp", 3.0), ("xmp", 3.0), ("dcm", 7.0)):
                ledger.add(
                    scheme,
                    f"{NAMES[scheme]} shifts its traffic in about {paper_ms:.0f} ms",
                    f"{paper_ms:.0f} ms",
                    f"{times[scheme]} ms",
                    about(times[scheme].value, paper_ms),
                )
            amp, xmp, dcm = (times[s].value for s in ("amp", "xmp", "dcm"))
            ledger.add(
                "alike",
                "AMP and XMP shift their traffic in similar times",
                "similar",
                f"AMP {times['amp']} ms, XMP {times['xmp']} ms",
                alike(amp, xmp),
            )
            slowest = None if amp is None or xmp is None else max(amp, xmp)
            ratio = None if slowest is None or dcm is None else dcm / slowest
            ledger.add(
                "slower",
                "DCM is the slower one, 7 ms against 3 ms",
                "2.3 times",
                "no data" if ratio is None else f"{ratio:.2f} times the slower of AMP and XMP",
                by_factor(ratio, 7 / 3),
            )
            found += ledger.claims
        return found


EXPERIMENT = Fig11(
    id="A-fig11",
    title="traffic shifting of AMP and XMP",
    paper="AMP, section 5.2, Figure 11",
    schemes=("amp", "xmp", "dcm"),
)
