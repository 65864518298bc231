"""Q-dual: MMPTCP in fat-trees whose hosts have two NICs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.questions import handover
from linkpool.experiments.questions.handover import Load
from linkpool.experiments.questions.question import Case, Hypothesis, Panel, Quantities, Question
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

    def hypotheses(self) -> Iterator[Hypothesis]:
        """Compare two NICs with one."""
        for tree in TREES:
            one, two = (named(tree, nics) for nics in (1, 2))
            full = tree == "1:1"
            yield Hypothesis(
                f"goodput-mmptcp@{tree}",
                "MMPTCP's long flows fill the second NIC, as a third of the hosts send"
                if full
                else "the core is the bottleneck, so a second NIC gives long flows nothing",
                "goodput_bps",
                (two, "mmptcp"),
                over=(one, "mmptcp"),
                above=1.5 if full else 0.95,
                below=None if full else 1.15,
                said="above 1.5 times" if full else "0.95 to 1.15 times",
            )
            yield Hypothesis(
                f"fct-mmptcp@{tree}",
                "the mean FCT of MMPTCP's short flows grows by less than a quarter",
                "fct_s",
                (two, "mmptcp"),
                over=(one, "mmptcp"),
                below=1.25,
                said="below 1.25 times",
            )
            yield Hypothesis(
                f"tail@{tree}",
                "with two NICs, the 99th percentile of MMPTCP's FCT over MPTCP's",
                "p99_s",
                (two, "mmptcp"),
                over=(two, "mptcp"),
                below=0.8,
            )
        yield Hypothesis(
            "goodput-tcp@1:1",
            "TCP's long flows have one path, and gain little",
            "goodput_bps",
            (named("1:1", 2), "tcp"),
            over=(named("1:1", 1), "tcp"),
            above=0.9,
            below=1.2,
            said="0.9 to 1.2 times",
        )


EXPERIMENT = Dual()
