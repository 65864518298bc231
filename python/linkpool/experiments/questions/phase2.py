"""Q-phase2: AMP, XMP or DCM instead of LIA in phase 2 of MMPTCP."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.handover import Beside


@dataclass(frozen=True)
class Phase2(Beside):
    """Short flows beside long flows, with four algorithms in phase 2."""

    id: str = "Q-phase2"
    schemes: ClassVar = ("reno+lia", "reno+dcm", "reno+xmp", "reno+amp")


EXPERIMENT = Phase2()
