"""Q-dual: MMPTCP in fat-trees whose hosts have two NICs."""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import handover
from linkpool.experiments.questions.handover import Load
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result

TREES = {"1:1": Load(1, 64.0, duration_ms=10_000), "4:1": Load(4, 256.0)}
"""With as many short flows in a second for each host."""


def named(tree: str, nics: int) -> str:
    """Return the name of a setting."""
    return f"{tree}, {nics} NIC{'s' if nics > 1 else ''}"


@dataclass(frozen=True)
class Dual(Question):
    """Short flows beside long flows with one NIC or two, in trees of 128 and of 512 hosts."""

    id: str = "Q-dual"
    settings: ClassVar = {
        named(tree, nics): named(tree, nics).replace(", ", ",\n")
        for tree in TREES
        for nics in (1, 2)
    }
    schemes: ClassVar = ("tcp", "mptcp", "mmptcp")
    panels: ClassVar = (
        Panel("fct_s", "mean FCT of short flows (ms)", 1e3),
        Panel("p99_s", "their 99th percentile (ms)", 1e3, log=True),
        Panel("timeouts", "timeouts of a short flow"),
        Panel("goodput_bps", "goodput of a long flow (Mbps)", 1e-6),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return short flows beside long flows."""
        tree, nics = setting.split(", ")
        return handover.mixed(TREES[tree]._replace(nics=int(nics.split()[0])), scheme)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the questions about MMPTCP have in common."""
        return handover.quantities(result)


EXPERIMENT = Dual()
