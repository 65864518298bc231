"""Flows to one host: Q-delay and Q-rates in the AMP paper's Figure 1, Q-migration in a tree."""

import math
import random
from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.setting import packets_per_second
from linkpool.experiments.papers import QUESTIONS
from linkpool.experiments.questions.completion import RATE_BPS
from linkpool.experiments.questions.question import Quantities, Question, Words
from linkpool.experiments.scenarios import transport
from linkpool.result import Result
from linkpool.study.toml import Table, Value

WIRE, MSS = 1462, 1400
SIZE = 128 * 1024
BURSTS_S = 3
SINGLE = 4
"""Flows of DCTCP, and as many beside them, in Q-rates."""


def long_flows(schemes: list[str], labels: "list[str] | None" = None) -> list[Table]:
    """Return a flow of each scheme to the receiver, 50 us one after the other."""
    flows: list[Table] = [
        {"transport": scheme, "from": f"S{i + 1}", "to": "R", "start": f"{50 * i}us"}
        for i, scheme in enumerate(schemes)
    ]
    return [{**flow, "label": labels[i]} if labels else flow for i, flow in enumerate(flows)]


def long_run(ms: int, packets: float) -> Table:
    """Return what all runs of long flows have: the warm-up and the work."""
    return {"warm_up": ms // 3, "active_s": ms / 1e3, "packets": packets}


def burst(result: Result) -> dict[str, float | None]:
    """Return how an incast went."""
    flows = result.flows
    return {
        "fct_s": flows["fct_established_s"].mean(),  # type: ignore[dict-item]
        "timeouts": float(flows["timeouts"].sum()),
        "unfinished": float(flows["fct_s"].null_count()),
    }


def mean_queue(result: Result) -> float:
    """Return the mean length of the bottleneck's queue after the warm-up, packets."""
    inside = result.queue["time_s"].is_between(*result.period)
    return float(result.queue.filter(inside)["queue_pkts"].mean())  # type: ignore[arg-type]


@dataclass(frozen=True)
class Delay(Question):
    """Long flows of one scheme on a bottleneck, and an incast."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the flows, and the transport with the target of these links."""
        of = self.setup.said(setting, scheme)
        n = int(of["senders"])
        if of["kind"] == "incast":
            return {"active_s": float(BURSTS_S), "packets": BURSTS_S * n * 94}
        transport = dict(of["transport"])
        if "target_delay" in transport and of["farther_ns"]:
            near_ns = int(transport["target_delay"].removesuffix("ns"))
            transport["target_delay"] = f"{near_ns + of['farther_ns']}ns"
        flows = long_flows([scheme] * n)
        packets = of["ms"] / 1e3 * packets_per_second()
        return {"flows": [*flows], "transport": transport, **long_run(of["ms"], packets)}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return use, fairness and queue of long flows; or the completion times of an incast."""
        flows = result.flows
        suppressed = float(flows["suppressions"].sum()) / max(flows.height, 1)
        if setting.startswith("incast"):
            return {**burst(result), "suppressions": suppressed}
        rates = 8.0 * flows["measured_bytes"] / flows["measured_s"]
        total, squares = float(rates.sum()), float((rates * rates).sum())
        return {
            "use": total / (10e9 * MSS / WIRE),
            "jain": total * total / (rates.len() * squares) if squares else None,
            "queue": mean_queue(result),
            "suppressions": suppressed,
        }


@dataclass(frozen=True)
class Rates(Question):
    """Long flows beside DCTCP, and an incast, at four rates."""

    def words(self, setting: str, scheme: str, seed: int) -> Words:
        """Return the transports and the flows, and the queue by its rule."""
        of = self.setup.said(setting, scheme)
        gbps: int = of["gbps"]
        transport = dict(of["transport"])
        if scheme == "amp-beta":
            transport["beta"] = round(4 * math.sqrt(gbps / 10))
        limit: Table = {"limit": 10 * gbps}
        if of["kind"] == "incast":
            size = SIZE * gbps // 10
            work: Table = {"active_s": float(BURSTS_S), "packets": BURSTS_S * 30 * size / MSS}
            return {**limit, "size": size, "transports": {scheme: transport}, **work}
        dctcp = self.setup.schemes["dctcp"]
        both = {name: {"dctcp": dctcp, scheme: transport}[name] for name in {"dctcp", scheme}}
        labels = ["single"] * SINGLE + ["multipath"] * SINGLE
        flows = long_flows(["dctcp"] * SINGLE + [scheme] * SINGLE, labels)
        transports = dict(sorted(both.items()))
        work = long_run(of["ms"], of["ms"] / 1e3 * gbps * 1e9 / (8 * WIRE))
        return {**limit, "transports": transports, "flows": [*flows], **work}

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the share, the use of the link and the queue; or the completion times."""
        if setting.startswith("incast"):
            of = burst(result)
            return {name: of[name] for name in ("fct_s", "unfinished", "timeouts")}
        gbps = self.setup.words[setting]["gbps"]
        flows = result.flows
        rates = flows.select("label", (8.0 * flows["measured_bytes"] / flows["measured_s"]))
        means = {
            label: float(rows["measured_bytes"].mean())  # type: ignore[arg-type]
            for (label,), rows in rates.partition_by("label", as_dict=True).items()
        }
        payload = gbps * 1e9 * MSS / WIRE
        single, multipath = means["single"], means["multipath"]
        return {
            "share": multipath / single,
            "use": SINGLE * (single + multipath) / payload,
            "queue": mean_queue(result) / (2 * gbps),
        }


HOSTS_OF_LEAF = 80


@dataclass(frozen=True)
class Migration(Question):
    """Flows without end of two laws, or of five, to one host at 100 Gbps."""

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
        of = transport(QUESTIONS, self.setup.more["laws"][law])
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
