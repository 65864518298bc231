"""Q-window and Q-implementation: a permutation on spines that another job's elephants use."""

from dataclasses import dataclass

from linkpool.experiments.questions import setup
from linkpool.experiments.questions.completion import Completion
from linkpool.experiments.questions.question import Words
from linkpool.study.toml import Table, Value

LEAVES, SENDERS, HOSTS_OF_LEAF = 8, 8, 12


def elephants(spines: int) -> list[Table]:
    """Return the flows of another job: from each leaf to the next over each of so many spines."""
    flows: list[Table] = []
    for leaf in range(LEAVES):
        after = (leaf + 1) % LEAVES
        for spine in range(spines):
            of = [f"h{HOSTS_OF_LEAF * at + SENDERS + spine}" for at in (leaf, after)]
            path: list[Value] = [of[0], f"l{leaf}", f"s{spine}", f"l{after}", of[1]]
            ends: Table = {"from": of[0], "to": of[1], "stop": "3ms", "paths": [path]}
            flows.append({"transport": "elephant", **ends})
    return flows


@dataclass(frozen=True)
class Window(Completion):
    """The permutation, alone or beside elephants."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows of the permutation, and elephants if there are some."""
        spines: int = self.setup.said(setting, scheme)["elephants"] or 0
        flows: list[Value] = [*self.flows(setting, scheme, seed), *elephants(spines)]
        return {"flows": flows, "elephant": setup.transport({"like": "ecmp"}) if spines else None}


WINDOW, IMPLEMENTATION = Window("Q-window"), Window("Q-implementation")
