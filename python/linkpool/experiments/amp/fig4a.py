"""AMP, Figure 4(a): the syndrome against the number of subflows."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.longflows import SYNDROME, Mix
from linkpool.experiments.amp.syndrome import Syndrome, Table, goodputs
from linkpool.study.claims import Ledger, grade
from linkpool.study.frame import Frame

SUBFLOWS = range(1, 9)
DCTCP_FLOWS = (8, 10, 12, 14, 16, 18, 20, 24)
BY_SUBFLOWS = [(r, Mix("xmp", multipath=1, dctcp=8, subflows=r)) for r in SUBFLOWS]
BY_FLOWS = [(n, Mix("xmp", multipath=1, dctcp=n, subflows=2)) for n in DCTCP_FLOWS]


@dataclass(frozen=True)
class Fig4a(Syndrome):
    """One XMP flow beside 8 DCTCP flows, and with two subflows beside more of them."""

    id: str = "A-fig4a"

    def mixes(self) -> list[Mix]:
        """Return 1 to 8 subflows with 8 DCTCP flows, and 2 subflows with 10 to 24."""
        return [mix for _, mix in BY_SUBFLOWS] + [mix for n, mix in BY_FLOWS if n != 8]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge where the syndrome begins, and the ratio at four subflows."""
        table = Table(data)
        two, four = table.ratio(BY_SUBFLOWS[1][1]), table.ratio(BY_SUBFLOWS[3][1])
        ledger.judge("r2", f"an XMP flow gets {two} times a DCTCP flow's goodput", two.value)
        several = [(r, mix) for r, mix in BY_SUBFLOWS if r >= 2]
        start = table.first(several)
        ledger.judge(
            "begins",
            "never" if start is None else f"{start} subflows",
            grade(
                start == 3,
                start in (2, 4),
                f"first number of subflows, from 2 on, with a ratio above {SYNDROME}; "
                "partly: one off",
            ),
        )
        ledger.judge("r4", str(four), four.value)
        again = table.first(BY_FLOWS)
        ledger.judge(
            "r2-flows",
            "never" if again is None else f"{again} DCTCP flows",
            grade(
                again in (14, 16, 18),
                again in (12, 20),
                f"first of {', '.join(map(str, DCTCP_FLOWS))} flows with a ratio above "
                f"{SYNDROME} is 14 to 18; partly: 12 to 20",
            ),
        )

    def frame(self) -> Frame:
        """Return goodputs against subflows as the paper, and against flows beside it."""
        x = "subflows of the XMP flow (ratio of goodputs above the bars)"
        left = goodputs(BY_SUBFLOWS, "8 DCTCP flows", x, "goodput of a flow (Gbit/s)")
        right = goodputs(BY_FLOWS, "XMP with 2 subflows", "DCTCP flows")
        title = "goodput of an XMP flow and of the DCTCP flows beside it, K = 10"
        return Frame([left, right], title, (4.6, 2.6), sharey=False)


EXPERIMENT = Fig4a()
