"""Q-laws: flows to one host beside a permutation, and the queue that they leave there."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.questions.completion import (
    RATE_BPS,
    Completion,
    completion,
    on_wire_s,
    trouble,
)
from linkpool.experiments.questions.question import Quantities, Words
from linkpool.experiments.questions.window import HOSTS_OF_LEAF, LEAVES
from linkpool.result import Result
from linkpool.study.toml import Table

TO_ONE = {"incast": (16, 1 << 20, 0), "join": (4, 8 << 20, 500)}
"""How many flows of what size go to one host; each begins so many us after the one before."""
SIZE = 4 << 20


@dataclass(frozen=True)
class Laws(Completion):
    """A permutation, an incast, and flows that join."""

    id: str = "Q-laws"

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the permutation, or flows from one host of each other leaf in turn."""
        if setting == "permutation":
            return {"flows": [*self.flows(setting, scheme, seed)]}
        count, size, gap = TO_ONE[setting]
        flows: list[Table] = []
        for i in range(count):
            host = (1 + (i + seed) % (LEAVES - 1)) * HOSTS_OF_LEAF + i // (LEAVES - 1)
            ends: Table = {"transport": scheme, "from": f"h{host}", "to": "h0"}
            flows.append({**ends, "start": f"{i * gap}us", "size": f"{size}B"})
        return {"flows": [*flows]}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion over the least time of the receivers' links, and the longest queue."""
        flows = result.flows
        wrong = trouble(flows, ("unfinished", "resent"))
        data = SIZE if setting == "permutation" else int(flows["size_bytes"].sum())
        queue = result.links.filter(pl.col("to") == "h0")["max_queue_pkts"].max()
        found = completion(flows, on_wire_s(data, RATE_BPS), wrong)
        longest = None if queue is None or found == wrong else float(queue)  # type: ignore[arg-type]
        return {"last": found.get("last"), "mean": found.get("mean"), "queue": longest, **wrong}


EXPERIMENT = Laws()
