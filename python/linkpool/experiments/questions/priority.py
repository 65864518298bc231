"""Q-priority: high priority for the packets of MMPTCP's phase 1."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.handover import HIGH, Beside


@dataclass(frozen=True)
class Priority(Beside):
    """Short flows beside long flows; phase 1 in the same queue, or in one that is served first."""

    id: str = "Q-priority"
    schemes: ClassVar = ("reno+lia", f"reno+lia{HIGH}", "reno+amp", f"reno+amp{HIGH}")


EXPERIMENT = Priority()
