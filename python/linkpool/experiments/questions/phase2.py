"""Q-phase2: AMP, XMP or DCM instead of LIA in phase 2 of MMPTCP."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.handover import Beside
from linkpool.experiments.questions.question import Found, above, below, between, show
from linkpool.study.claims import Ledger


@dataclass(frozen=True)
class Phase2(Beside):
    """Short flows beside long flows, with four algorithms in phase 2."""

    id: str = "Q-phase2"
    title: str = "AMP in phase 2 of MMPTCP"
    paper: str = "MMPTCP, open question: AMP as the algorithm of phase 2"
    schemes: ClassVar = ("reno+lia", "reno+dcm", "reno+xmp", "reno+amp")

    def hypotheses(self, found: Found, ledger: Ledger) -> None:
        """Judge AMP against LIA, and the algorithms with ECN against each other."""
        for load, label in self.settings.items():
            name = label.replace("\n", " ")
            amp, lia = (load, "reno+amp"), (load, "reno+lia")
            for quantity, what in (("fct_s", "mean FCT"), ("p99_s", "99th percentile of the FCT")):
                ratio = found.ratio(quantity, amp, lia)
                ledger.add(
                    f"{quantity.removesuffix('_s')}@{load}",
                    f"{name}: the {what} of short flows with AMP over that with LIA, as queues "
                    "stay near K = 10 of 100 packets",
                    "below 0.6",
                    show(ratio),
                    below(ratio, 0.6),
                )
            ratio = found.ratio("goodput_bps", amp, lia)
            ledger.add(
                f"goodput@{load}",
                f"{name}: long flows lose at most a tenth of their goodput",
                "above 0.9",
                show(ratio),
                above(ratio, 0.9),
            )
            ratio = found.ratio("fct_s", (load, "reno+xmp"), amp)
            ledger.add(
                f"xmp@{load}",
                f"{name}: XMP, which has the same cut, gives the same mean FCT as AMP",
                "0.9 to 1.1",
                show(ratio),
                between(ratio, 0.9, 1.1),
            )


EXPERIMENT = Phase2()
