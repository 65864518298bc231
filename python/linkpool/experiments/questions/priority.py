"""Q-priority: high priority for the packets of MMPTCP's phase 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions.handover import HIGH, Beside
from linkpool.experiments.questions.question import Hypothesis


@dataclass(frozen=True)
class Priority(Beside):
    """Short flows beside long flows; phase 1 in the same queue, or in one that is served first."""

    id: str = "Q-priority"
    schemes: ClassVar = ("reno+lia", f"reno+lia{HIGH}", "reno+amp", f"reno+amp{HIGH}")

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare high priority with the same queue."""
        for load, label in self.settings.items():
            name = label.replace("\n", " ")
            for phase_2, bound in (("lia", 0.35), ("amp", 0.7)):
                low = (load, f"reno+{phase_2}")
                high = (load, f"reno+{phase_2}{HIGH}")
                where = f"{name}, {phase_2.upper()} in phase 2"
                for quantity, what in (("fct_s", "mean"), ("p99_s", "99th percentile")):
                    yield Hypothesis(
                        f"{quantity.removesuffix('_s')}-{phase_2}@{load}",
                        f"{where}: the {what} of short flows' FCT with high priority over that "
                        "without: packets of phase 1 meet no queue of phase 2",
                        quantity,
                        high,
                        over=low,
                        below=bound,
                    )
                yield Hypothesis(
                    f"goodput-{phase_2}@{load}",
                    f"{where}: what long flows keep of their goodput",
                    "goodput_bps",
                    high,
                    over=low,
                    above=0.97 if load == "256" else 0.9,
                )


EXPERIMENT = Priority()
