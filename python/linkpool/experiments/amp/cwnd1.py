"""AMP, section 3.2: the syndrome when the window may shrink to one packet."""

from dataclasses import dataclass, replace

import polars as pl

from linkpool.experiments.amp.longflows import SYNDROME, Mix
from linkpool.experiments.amp.syndrome import Syndrome, Table, goodputs
from linkpool.study.claims import Ledger, grade
from linkpool.study.frame import Frame

MIXES = [(m, Mix("xmp", multipath=m, dctcp=8, cwnd_min=1)) for m in (1, 2, 3, 4)]


@dataclass(frozen=True)
class Cwnd1(Syndrome):
    """One to four XMP flows beside 8 DCTCP flows, with a floor of one packet and of two."""

    id: str = "A-cwnd1"

    def mixes(self) -> list[Mix]:
        """Return the mixes with either floor."""
        return [replace(mix, cwnd_min=floor) for floor in (1, 2) for _, mix in MIXES]

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the ratio with one XMP flow and with four."""
        table = Table(data)
        one, four = MIXES[0][1], MIXES[-1][1]
        low, usual = table.ratio(one), table.ratio(replace(one, cwnd_min=2))
        less = low.value is not None and usual.value is not None and low.value < usual.value
        ledger.judge(
            "one",
            f"ratio {low}; with cwnd_min = 2 it is {usual}",
            grade(
                less and low.value is not None and low.value <= SYNDROME,
                less,
                f"ratio lower than with cwnd_min = 2, and at most {SYNDROME}; partly: lower",
            ),
        )
        back = table.ratio(four)
        ledger.judge("four", f"ratio {back}", back.value)

    def frame(self) -> Frame:
        """Return goodputs against the number of XMP flows, for either floor."""

        def mixes(floor: int) -> list[tuple[int, Mix]]:
            return [(m, replace(mix, cwnd_min=floor)) for m, mix in MIXES]

        title, x = "goodput of XMP flows of 4 subflows beside 8 DCTCP flows, K = 10", "XMP flows"
        x, y = f"{x} (ratio of goodputs above the bars)", "goodput of a flow (Gbit/s)"
        panels = [goodputs(mixes(floor), f"cwnd_min = {floor}", x, y) for floor in (1, 2)]
        return Frame(panels, title, (3.6, 2.5), sharey="row")


EXPERIMENT = Cwnd1()
