"""Q-phase2: AMP, XMP or DCM instead of LIA in phase 2 of MMPTCP."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import handover
from linkpool.experiments.questions.question import (
    Case,
    Found,
    Panel,
    Quantities,
    Question,
    above,
    below,
    between,
    show,
)
from linkpool.result import Result
from linkpool.study.claims import Ledger


@dataclass(frozen=True)
class Phase2(Question):
    """Short flows beside long flows, with four algorithms in phase 2."""

    id: str = "Q-phase2"
    title: str = "AMP in phase 2 of MMPTCP"
    paper: str = "MMPTCP, open question: AMP as the algorithm of phase 2"
    seeds: int = 10
    settings: ClassVar = {
        "256": "0.5 short flows\na second and host",
        "2560": "5 short flows\na second and host",
    }
    schemes: ClassVar = ("reno+lia", "reno+dcm", "reno+xmp", "reno+amp")
    panels: ClassVar = (
        Panel("fct_s", "mean FCT of short flows (ms)", 1e3),
        Panel("p99_s", "their 99th percentile (ms)", 1e3),
        Panel("timeouts", "timeouts of a short flow"),
        Panel("goodput_bps", "goodput of a long flow (Mbps)", 1e-6),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return short flows beside long flows in the 4:1 tree; the load is that of 512 hosts."""
        return handover.mixed(handover.small(float(setting)), scheme)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the questions about MMPTCP have in common."""
        return handover.quantities(result)

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
