"""Q-delay: AMP with a target delay, as Swift has it, instead of marks.

The topology is Figure 1 of the AMP paper with links of 5.6 us at 10 Gbps: two hops, 20 packets.
"""

from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.amp import setting as amp
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result
from linkpool.study.toml import Table, Value

DELAY = "5.6us"
BASE_NS = 24_810
"""Base round-trip time: four links of 5.6 us, two data packets of 1,462 B and two ACKs of 42 B."""
FAR = "far"
FAR_DELAY, FAR_BASE_NS = "56us", 226_410
"""The same with links of 56 us: the BDP is 194 packets, K and the allowances are as before."""
HOPS = 2
PER_HOP_NS = {"delay-tight": 5_850, "delay-loose": 11_700}
"""Allowed delay of a hop. The bottleneck alone queues: 10 packets, as K = 10, and 20 packets."""
INCAST = "incast"
SENDERS = (10, 20, 30, 40)
LONG = (2, 8)


def target(scheme: str, base_ns: int) -> str:
    """Return the target: the base round-trip time, and the allowance of each hop."""
    return f"{base_ns + HOPS * PER_HOP_NS[scheme]}ns"


def transport(scheme: str, base_ns: int) -> Table:
    """Return a scheme's transport."""
    if scheme not in PER_HOP_NS:
        return amp.transport(scheme, {})
    order = "cut-instead-of-growth"
    return amp.transport("amp", {"target_delay": target(scheme, base_ns), "ack_order": order})


def queue(scheme: str) -> Table:
    """Return the queues; those of the AMP paper drop at K what they cannot mark."""
    if scheme not in PER_HOP_NS:
        return amp.queue()
    return {"limit": 100, "exempt": ["syn", "fin", "ack"]}


@dataclass(frozen=True)
class Delay(Question):
    """Long flows of one scheme on a bottleneck, and an incast."""

    id: str = "Q-delay"
    settings: ClassVar = {
        **{f"long {n}": f"{n} flows" for n in LONG},
        **{f"long {n} {FAR}": f"{n} flows,\n{FAR_DELAY} a link" for n in LONG},
        **{f"{INCAST} {n}": f"{n} flows" for n in SENDERS},
    }
    schemes: ClassVar = ("dctcp", "amp", *PER_HOP_NS)
    panels: ClassVar = (
        Panel("use", "goodput over the link's", only="long"),
        Panel("jain", "Jain's index", only="long"),
        Panel("queue", "mean queue (packets)", only="long"),
        Panel("fct_s", "mean FCT of the incast (ms)", 1e3, log=True, only=INCAST),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return long flows, or an incast of 128 KiB."""
        kind, number, *far = setting.split()
        n = int(number)
        scenario: dict[str, Value] = {
            "topology": amp.many_to_one(n, FAR_DELAY if far else DELAY),
            "queue": queue(scheme),
            "transport": {scheme: transport(scheme, FAR_BASE_NS if far else BASE_NS)},
        }
        if kind == INCAST:
            burst: Table = {
                "transport": scheme,
                "senders": n,
                "receiver": "R",
                "size": f"{128 * 1024}B",
                "every": "1s",
                "spacing": "50us",
            }
            scenario |= {"duration": "3s", "drain": "40s", "workload": {"incast": [burst]}}
            return Case(scenario, 3.0, 3 * n * 94)
        flows: list[Value] = [
            {"transport": scheme, "from": f"S{i + 1}", "to": "R", "start": f"{50 * i}us"}
            for i in range(n)
        ]
        ms = 1000 if far else 300
        scenario |= {
            "duration": f"{ms}ms",
            "measure": {"warm_up": f"{ms // 3}ms"},
            "workload": {"flow": flows},
            "record": {"queue": {"links": ["W->R"], "every": "20us"}},
        }
        return Case(scenario, ms / 1e3, ms / 1e3 * amp.packets_per_second())

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return use, fairness and queue of long flows; or the completion times of an incast."""
        flows = result.flows
        if setting.startswith(INCAST):
            return {
                "fct_s": flows["fct_established_s"].mean(),  # type: ignore[dict-item]
                "timeouts": float(flows["timeouts"].sum()),
                "unfinished": float(flows["fct_s"].null_count()),
                "suppressions": float(flows["suppressions"].sum()) / max(flows.height, 1),
            }
        rates = 8.0 * flows["measured_bytes"] / flows["measured_s"]
        start, end = result.period
        queue = result.queue
        inside = queue.filter(queue["time_s"].is_between(start, end))["queue_pkts"].mean()
        total, squares = float(rates.sum()), float((rates * rates).sum())
        return {
            "use": total / (10e9 * 1400 / 1462),
            "jain": total * total / (rates.len() * squares) if squares else None,
            "queue": float(inside),  # type: ignore[arg-type]
            "suppressions": float(flows["suppressions"].sum()) / max(flows.height, 1),
        }


EXPERIMENT = Delay()
