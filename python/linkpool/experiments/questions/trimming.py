"""Q-trimming and Q-stall: incasts, with traffic beside them or several at once."""

import random
from dataclasses import dataclass

import polars as pl

from linkpool.experiments.questions.completion import (
    HEADER,
    MSS,
    RATE_BPS,
    Completion,
    completion,
    on_wire_s,
    trouble,
)
from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.result import Result
from linkpool.study.toml import Table, Value

HOSTS, HOSTS_OF_LEAF = 1024, 32
SIZE = 128 << 10
VICTIMS, EVERY_S, VICTIM_SIZE = 8, 20e-6, 64 << 10


@dataclass(frozen=True)
class Trimming(Question):
    """An incast, and messages to hosts beside its receiver."""

    id: str = "Q-trimming"

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows to the first host, and those to the hosts beside it meanwhile."""
        senders: int = self.setup.said(setting, scheme)["senders"]
        drawn = random.Random(seed)
        near = range(HOSTS_OF_LEAF)
        far = range(HOSTS_OF_LEAF, HOSTS)
        chosen = range(1, HOSTS) if senders == HOSTS - 1 else drawn.sample(far, senders)
        of: Table = {"transport": scheme}
        flows: list[Value] = [
            {**of, "label": "incast", "from": f"h{a}", "to": "h0", "size": f"{SIZE}B"}
            for a in chosen
        ]
        span = on_wire_s(senders * SIZE, RATE_BPS)
        for victim in drawn.sample(near[1:], VICTIMS):
            start = drawn.uniform(0, EVERY_S)
            while start < span:
                at: Table = {"from": f"h{drawn.choice(far)}", "to": f"h{victim}"}
                size: Table = {"size": f"{VICTIM_SIZE}B", "start": f"{round(start * 1e9)}ns"}
                flows.append({**of, "label": "beside", **at, **size})
                start += EVERY_S
        work: Table = {"active_s": span, "packets": senders * SIZE / MSS}
        return {"duration": f"{round(span * 1e6)}us", "flows": flows, **work}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return completion, what else came over the receiver's link, and slowdowns beside it."""
        flows = result.flows
        incast, beside = (flows.filter(label=label) for label in ("incast", "beside"))
        data = len(incast) * SIZE
        into = float(result.links.filter(pl.col("to") == "h0")["bytes"].sum())
        wrong = {
            "waste": into / (data * (MSS + HEADER) / MSS) - 1.0,
            **trouble(incast, ("resent", "timeouts"), data / MSS),
            **trouble(flows, ("unfinished",)),
        }
        ideal_s = on_wire_s(data, RATE_BPS)
        last = completion(incast, ideal_s, wrong).get("last")
        if last is None:
            return wrong
        first = float(incast["end_s"].min())  # type: ignore[arg-type]
        p99 = beside["slowdown"].quantile(0.99, "linear")
        return {"last": last, "first": first / ideal_s, "victims": p99, **wrong}


STALL_HOSTS, STALL_LEAVES, STALL_SIZE, HOT = 64, 8, 512 << 10, 4
BASE_NS = 9350


@dataclass(frozen=True)
class Stall(Completion):
    """Four incasts of 63 hosts at once, with one value of NSCC changed."""

    id: str = "Q-stall"

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the incasts, and the transport with the change."""
        said = self.setup.said(setting, scheme)
        drawn = random.Random(seed)
        starts = [round(drawn.uniform(0, BASE_NS)) for _ in range(STALL_HOSTS)]
        pairs = [
            (a, hot)
            for hot in range(0, HOT * STALL_LEAVES, STALL_LEAVES)
            for a in range(STALL_HOSTS)
            if a != hot
        ]
        flows: list[Value] = [
            {
                "transport": scheme,
                "from": f"h{a}",
                "to": f"h{hot}",
                "size": f"{STALL_SIZE}B",
                "start": f"{starts[a]}ns",
            }
            for a, hot in pairs
        ]
        return {"transport": {**said["transport"], **said["set"]}, "flows": flows}


EXPERIMENT = Trimming()
STALL = Stall()
