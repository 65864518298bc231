"""AMP, Figure 2: incast with the schemes that were there before AMP."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.incast import Cells, Incast, show_mean
from linkpool.study.claims import (
    ORDER,
    Ledger,
    about,
    cases,
    most,
    over,
    under,
)
from linkpool.study.schemes import NAMES
from linkpool.units import show_seconds

SIZE = "128KiB"


@dataclass(frozen=True)
class Fig2(Incast):
    """The claims of section 3.1."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge mean and deviation at k = 30, and the ratio over all k."""
        cells = Cells(data)
        at30 = (SIZE, 30)
        dctcp = cells.fct("dctcp", *at30)
        ledger.add(
            "k30-dctcp",
            "at k = 30, the mean FCT of DCTCP is about 2 ms",
            "2 ms",
            show_mean(cells, "dctcp", *at30),
            about(dctcp.mean, 2e-3),
        )
        ledger.add(
            "k30-dctcp-sd",
            "at k = 30, the FCT of DCTCP has a standard deviation under 1 ms",
            "< 1 ms",
            show_seconds(dctcp.sd),
            under(dctcp.sd, 1e-3),
        )
        for scheme in ("dcm", "xmp"):
            fct = cells.fct(scheme, *at30)
            ledger.add(
                f"k30-{scheme}",
                f"at k = 30, the mean FCT of {NAMES[scheme]} is over 800 ms",
                "> 800 ms",
                show_mean(cells, scheme, *at30),
                over(fct.mean, 0.8),
            )
            ledger.add(
                f"k30-{scheme}-sd",
                f"at k = 30, the FCT of {NAMES[scheme]} has a standard deviation above 1 s",
                "> 1 s",
                show_seconds(fct.sd),
                over(fct.sd, 1.0),
            )
        slower = [
            ratio >= ORDER
            for k in self.ks
            for scheme in ("dcm", "xmp")
            if (ratio := cells.ratio(scheme, "dctcp", SIZE, k)) is not None
        ]
        ledger.add(
            "orders",
            "in many cases the mean FCT of DCTCP is 1-2 orders of magnitude shorter than that of "
            "DCM and XMP",
            "1-2 orders of magnitude",
            f"a factor of 10 or more in {cases(slower)}",
            most(slower, "ratio at least 10", all_of=0.5, some=0.125),
        )


EXPERIMENT = Fig2(
    id="A-fig2",
    schemes=("dctcp", "dcm", "xmp"),
    sizes=(SIZE,),
)
