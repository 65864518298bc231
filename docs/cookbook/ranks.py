"""A program outside plays the ranks of a GOAL trace; the network between them is linkpool's.

Each rank goes through its operations in order: it computes, sends, or waits for a message. A rank
begins its next iteration when the messages of the last one are acknowledged.
"""

import re
import sys
from collections import Counter
from pathlib import Path

import linkpool

OPERATION = re.compile(r"l\d+: (calc|send|recv) (\d+)b?(?: (?:to|from) (\d+))?")


class Rank:
    """A rank: its operations, how far it is, and when its iterations ended."""

    def __init__(self, operations: list[tuple[str, int, int]], iterations: int) -> None:
        """Stand at the first operation."""
        self.operations, self.iterations = operations, iterations
        self.left = iterations
        self.at, self.unacknowledged, self.computes = 0, 0, True
        self.came: Counter[int] = Counter()
        self.ends: list[int] = []

    def go_on(self, now: int, hosts: list[int]) -> list[linkpool.Answer | linkpool.Timer]:
        """Go on until it has to wait, and return what its host does now."""
        acts: list[linkpool.Answer | linkpool.Timer] = []
        while self.left:
            if self.at == len(self.operations):
                if len(self.ends) + self.left == self.iterations:
                    self.ends.append(now)
                if self.unacknowledged:
                    break
                self.at, self.left = 0, self.left - 1
                continue
            what, amount, other = self.operations[self.at]
            if what == "recv" and not self.came[other]:
                break
            self.at += 1
            if what == "calc":
                self.computes = True
                return [*acts, linkpool.Timer(amount)]
            if what == "recv":
                self.came[other] -= 1
            else:
                self.unacknowledged += 1
                acts.append(linkpool.Answer(hosts[other], amount))
        return acts


def play(
    scenario: Path | linkpool.Scenario,
    trace: Path,
    hosts: list[int],
    iterations: int,
    *,
    out: Path | None = None,
    seed: int | None = None,
) -> list[Rank]:
    """Play the trace, rank by rank on these hosts, and return the ranks at their end."""
    programs = [OPERATION.findall(text) for text in trace.read_text().split("\nrank ")[1:]]
    ranks = [
        Rank([(what, int(amount), int(other or 0)) for what, amount, other in program], iterations)
        for program in programs
    ]
    rank_of = {host: number for number, host in enumerate(hosts)}

    def react(event: linkpool.Event) -> list[linkpool.Answer | linkpool.Timer]:
        acked = event.what == "acked"
        rank = ranks[rank_of[event.source if acked else event.destination]]
        if event.what == "timer":
            rank.computes = False
        elif acked:
            rank.unacknowledged -= 1
        else:
            rank.came[rank_of[event.source]] += 1
        return [] if rank.computes else rank.go_on(event.at_ps, hosts)

    with linkpool.Session(scenario, react=react, out=out, seed=seed) as network:
        for host in hosts:
            network.timer(host, 0)
        network.advance_to(network.end_ps)  # the served model goes on when the ranks have ended
    return ranks


if __name__ == "__main__":
    here = Path(__file__).parent
    spread = [3 * (rank % 4) + rank // 4 for rank in range(8)]  # one of each leaf, then the next
    ranks = play(here / "ranks.toml", here / "ranks.goal", spread, 2, out=Path(sys.argv[1]))
    for iteration in range(2):
        end = max(rank.ends[iteration] for rank in ranks)
        print(f"iteration {iteration} ended at {end / 1e9:.6f} ms")
