"""AMP, Figure 4(b): the syndrome with a larger marking threshold."""

from dataclasses import dataclass, replace

import polars as pl

from linkpool.experiments.amp.longflows import Mix
from linkpool.experiments.amp.syndrome import Syndrome, Table, goodputs
from linkpool.study.claims import Ledger
from linkpool.study.frame import Frame

FLOWS = (2, 4, 8, 12, 16, 20)
AT_20 = [(n, Mix("xmp", multipath=1, dctcp=n, mark=20)) for n in FLOWS]
EIGHT = Mix("xmp", multipath=1, dctcp=8, mark=20)


@dataclass(frozen=True)
class Fig4b(Syndrome):
    """One XMP flow of 4 subflows beside DCTCP flows, K = 20."""

    id: str = "A-fig4b"

    def mixes(self) -> list[Mix]:
        """Return the mixes with K = 20, and with K = 10 for comparison."""
        return [mix for _, mix in AT_20] + [replace(EIGHT, mark=10)]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the gap at 8 DCTCP flows, and the effect of the larger threshold."""
        table = Table(data)
        large, small = table.ratio(EIGHT), table.ratio(replace(EIGHT, mark=10))
        ledger.judge("gap", str(large), large.value)
        less = None if large.value is None or not small.value else large.value / small.value
        ledger.judge("marginal", f"{large} against {small}", less)

    def frame(self) -> Frame:
        """Return goodputs against the number of DCTCP flows."""
        x, y = "DCTCP flows (ratio of goodputs above the bars)", "goodput of a flow (Gbit/s)"
        title = "goodput of an XMP flow and of the DCTCP flows beside it, K = 20"
        panel = goodputs(AT_20, "4 subflows", x, y)
        return Frame([panel], title, (4.2, 2.8), columns=len(self.delays))


EXPERIMENT = Fig4b()
