"""Q-phase1: DCTCP instead of Reno in phase 1 of MMPTCP."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import handover
from linkpool.experiments.questions.handover import Load
from linkpool.experiments.questions.question import Case, Hypothesis, Panel, Quantities, Question
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

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare DCTCP with Reno."""
        for phase_2, bound, why in (
            ("lia", 1.1, "DCTCP yields to queues that LIA fills"),
            ("amp", 1.05, "Reno ignores marks and AMP leaves it room, so DCTCP is the slower"),
        ):
            yield Hypothesis(
                f"mixed-{phase_2}",
                f"beside long flows with {phase_2.upper()} in phase 2, the mean FCT of DCTCP over "
                f"Reno's: {why}",
                "fct_s",
                (MIXED, f"dctcp+{phase_2}"),
                over=(MIXED, f"reno+{phase_2}"),
                above=bound,
            )
        for n in SENDERS:
            setting = f"{INCAST} {n}"
            for quantity, what, bound in (
                ("fct_s", "mean FCT", 0.8),
                ("timeouts", "timeouts", 0.5),
            ):
                yield Hypothesis(
                    f"incast{n}-{what.split()[-1].lower()}",
                    f"in an incast of {n} flows, the {what} of DCTCP over Reno's: marks come "
                    "before losses",
                    quantity,
                    (setting, "dctcp+amp"),
                    over=(setting, "reno+amp"),
                    below=bound,
                )
        yield Hypothesis(
            "goodput",
            "the goodput of long flows does not suffer",
            "goodput_bps",
            (MIXED, "dctcp+amp"),
            over=(MIXED, "reno+amp"),
            above=0.97,
        )


EXPERIMENT = Phase1()
