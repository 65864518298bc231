"""Q-reps and Q-reps1024: six workloads in trees with as many uplinks as hosts in a rack."""

from dataclasses import dataclass

from linkpool.experiments.papers import EXPERIMENTS
from linkpool.experiments.questions.completion import on_wire_s, trouble
from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.experiments.scenarios import filled
from linkpool.result import Result

SIZE, PACKETS = 4 << 20, 1024
RANKS = 32
SPINES = {128: 8, 1024: 32}


@dataclass(frozen=True)
class Reps(Question):
    """Six workloads in a tree of 128 hosts, or of 1,024."""

    id: str = "Q-reps"
    file: str = "reps"
    seeds: int = 20
    hosts: int = 128

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the tree and the workload."""
        n, spines = self.hosts, SPINES[self.hosts]
        # Senders to a host are in all parts of the tree, and send to it alone.
        pairs = [((to + 1 + k * (n // 8 + 1)) % n, to) for to in range(0, n, 16) for k in range(8)]
        ends = [{"from": f"h{a}", "to": f"h{b}"} for a, b in pairs]
        incast = [{"transport": scheme, **each, "size": f"{SIZE}B"} for each in ends]
        of = {"scheme": scheme, "half": n // 2, "groups": n // RANKS, "incast": incast}
        return {
            "leaves": n // spines,
            "spines": spines,
            "workload": filled(self.setup.more["workload"][setting], of),
            "packets": self.setup.said(setting, scheme)["work"] * n * PACKETS,
        }

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the last completion over the least time of the links, and what went wrong."""
        wrong = trouble(result.flows, ("unfinished", "timeouts", "retransmits"))
        end = result.flows["end_s"]
        if end.null_count() or end.is_empty():
            return wrong
        ideal_s = on_wire_s(self.setup.words[setting]["share"] * SIZE, 400e9)
        return {"last": float(end.max()) / ideal_s, **wrong}  # type: ignore[arg-type]


EXPERIMENT = Reps()
_AS_SMALL = EXPERIMENTS["Q-reps1024"]._replace(claims=EXPERIMENT.declared.claims)
LARGE = Reps("Q-reps1024", seeds=5, hosts=1024, declared=_AS_SMALL)
