"""Q-phase2: AMP, XMP or DCM instead of LIA in phase 2 of MMPTCP."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.handover import Beside
from linkpool.experiments.questions.question import Hypothesis


@dataclass(frozen=True)
class Phase2(Beside):
    """Short flows beside long flows, with four algorithms in phase 2."""

    id: str = "Q-phase2"
    schemes: ClassVar = ("reno+lia", "reno+dcm", "reno+xmp", "reno+amp")

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare AMP with LIA, and the algorithms with ECN with each other."""
        for load, label in self.settings.items():
            name = label.replace("\n", " ")
            amp, lia = (load, "reno+amp"), (load, "reno+lia")
            for quantity, what in (("fct_s", "mean FCT"), ("p99_s", "99th percentile of the FCT")):
                yield Hypothesis(
                    f"{quantity.removesuffix('_s')}@{load}",
                    f"{name}: the {what} of short flows with AMP over that with LIA, as queues "
                    "stay near K = 10 of 100 packets",
                    quantity,
                    amp,
                    over=lia,
                    below=0.6,
                )
            yield Hypothesis(
                f"goodput@{load}",
                f"{name}: long flows lose at most a tenth of their goodput",
                "goodput_bps",
                amp,
                over=lia,
                above=0.9,
            )
            yield Hypothesis(
                f"xmp@{load}",
                f"{name}: XMP, which has the same cut, gives the same mean FCT as AMP",
                "fct_s",
                (load, "reno+xmp"),
                over=amp,
                above=0.9,
                below=1.1,
            )


EXPERIMENT = Phase2()
