"""Q-migration: the laws of a run, their queues, and what each delivers."""

import random
from dataclasses import dataclass

import polars as pl

from linkpool.experiments.questions import setup
from linkpool.experiments.questions.completion import RATE_BPS
from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.result import Result
from linkpool.study.toml import Table, Value

HOSTS_OF_LEAF = 80


@dataclass(frozen=True)
class Migration(Question):
    """Flows without end of two laws, or of five, to one host at 100 Gbps."""

    id: str = "Q-migration"

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the laws' transports and queues, and their flows; these start within 200 us."""
        kind, _, number = setting.partition("-")
        laws = tuple(self.setup.more["laws"]) if scheme == "all-five" else tuple(scheme.split("~"))
        drawn = random.Random(seed)
        hosts = drawn.sample(range(HOSTS_OF_LEAF, 2 * HOSTS_OF_LEAF), len(laws) * int(number))
        flows: list[Value] = []
        for place, host in enumerate(hosts):
            start = round(drawn.uniform(0, 200e3))
            ends: Table = {"from": f"h{host}", "to": "h0", "start": f"{start}ns"}
            flows.append({"transport": laws[place % len(laws)], **ends})
        transports = {law: self._transport(law, kind, n) for n, law in enumerate(laws, start=1)}
        queue = self._classes(laws) if kind == "own" else self.setup.more["queues"][kind]
        return {"queue": queue, "transports": transports, "flows": flows}

    def _transport(self, law: str, kind: str, priority: int) -> Table:
        """Return a law as it runs in such queues."""
        of = setup.transport(self.setup.more["laws"][law])
        if kind == "own":
            return {**of, "priority": priority}
        trims = "with_trimming" if kind == "trims" else "without_trimming"
        return {**of, **self.setup.more[trims].get(law, {})}

    def _classes(self, laws: tuple[str, ...]) -> Table:
        classes: list[Value] = [
            {**self.setup.more["classes"][law], "priorities": [number], "weight": 1}
            for number, law in enumerate(laws, start=1)
        ]
        lossless: Table = {"pfc": {"buffer": "32MB"}} if "dcqcn" in laws else {}
        return {**lossless, "limit": "2MB", "class": classes}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the subflows of each law delivered, as shares, and of the link."""
        delivered = pl.col("measured_subflow_bytes").sum()
        got = dict(result.flows.group_by("transport").agg(delivered).iter_rows())
        total = sum(got.values())
        if not total:
            return {}
        shares = {law: got[law] / total for law in self.setup.more["laws"] if law in got}
        used = 8 * total / (8e-3 * RATE_BPS)
        named = {f"share-{law}": share for law, share in shares.items()}
        return {"share": next(iter(shares.values())), "used": used, **named}


EXPERIMENT = Migration()
