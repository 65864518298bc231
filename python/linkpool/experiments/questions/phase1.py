"""Q-phase1: DCTCP instead of Reno in phase 1 of MMPTCP."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import handover
from linkpool.experiments.questions.handover import Load
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result

MIXED, INCAST = "mixed", "incast"
SENDERS = (20, 40)


@dataclass(frozen=True)
class Phase1(Question):
    """Short flows beside long flows, and an incast, with Reno or DCTCP in phase 1."""

    id: str = "Q-phase1"
    settings: ClassVar = {MIXED: "beside\nlong flows"} | {
        f"{INCAST} {n}": f"incast\nof {n}" for n in SENDERS
    }
    schemes: ClassVar = ("reno+lia", "dctcp+lia", "reno+amp", "dctcp+amp")
    panels: ClassVar = (
        Panel("fct_s", "mean FCT of short flows (ms)", 1e3),
        Panel("p99_s", "their 99th percentile (ms)", 1e3),
        Panel("timeouts", "timeouts of a short flow"),
        Panel("goodput_bps", "goodput of a long flow (Mbps)", 1e-6, only=MIXED),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return short flows beside long flows; or an incast, which never sees phase 2."""
        if setting == MIXED:
            return handover.mixed(Load(4, 256.0), scheme)
        if scheme.endswith("+lia"):
            return None
        return handover.incast(int(setting.split()[1]), scheme)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the questions about MMPTCP have in common."""
        return handover.quantities(result)


EXPERIMENT = Phase1()
