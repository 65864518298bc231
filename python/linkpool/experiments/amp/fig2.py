"""AMP, Figure 2: incast with the schemes that were there before AMP."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.incast import Cells, Incast, show_mean
from linkpool.study.claims import (
    ORDER,
    Ledger,
    cases,
)
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
        ledger.judge("k30-dctcp", show_mean(cells, "dctcp", *at30), dctcp.mean)
        ledger.judge("k30-dctcp-sd", show_seconds(dctcp.sd), dctcp.sd)
        for scheme in ("dcm", "xmp"):
            fct = cells.fct(scheme, *at30)
            ledger.judge("k30-{scheme}", show_mean(cells, scheme, *at30), fct.mean, scheme=scheme)
            ledger.judge("k30-{scheme}-sd", show_seconds(fct.sd), fct.sd, scheme=scheme)
        slower = [
            ratio >= ORDER
            for k in self.ks
            for scheme in ("dcm", "xmp")
            if (ratio := cells.ratio(scheme, "dctcp", SIZE, k)) is not None
        ]
        ledger.judge("orders", f"a factor of 10 or more in {cases(slower)}", slower)


EXPERIMENT = Fig2(
    id="A-fig2",
    schemes=("dctcp", "dcm", "xmp"),
    sizes=(SIZE,),
)
