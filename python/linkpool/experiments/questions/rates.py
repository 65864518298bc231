"""Q-rates: AMP, XMP and DCM at 10, 25, 100 and 400 Gbps, with K and the queue scaled with the BDP.

The topology is Figure 1 of the AMP paper with links of 5.6 us, whose BDP at 10 Gbps is 20 packets.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from linkpool.experiments.amp import setting as amp
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result
from linkpool.study.toml import Table, Value

DELAY = "5.6us"
SINGLE = 4
SENDERS = 30
WIRE, MSS = 1462, 1400
RATES = (10, 25, 100, 400)
FAIR, INCAST = "fair", "incast"


def bdp(gbps: int) -> int:
    """Return the bandwidth-delay product in packets, by the rule: 20 at 10 Gbps."""
    return 2 * gbps


def beta(gbps: int) -> int:
    """Return beta by the rule: 4 at 10 Gbps, in proportion to the square root of the BDP."""
    return round(4 * math.sqrt(gbps / 10))


def transport(scheme: str, gbps: int) -> Table:
    """Return a scheme's transport."""
    if scheme == "amp-beta":
        return amp.transport("amp", {"beta": beta(gbps)})
    return amp.transport(scheme, {})


@dataclass(frozen=True)
class Rates(Question):
    """Long flows beside DCTCP, and an incast, at four rates."""

    id: str = "Q-rates"
    settings: ClassVar = {
        f"{kind} {gbps} Gbps": f"{gbps} Gbps" for kind in (FAIR, INCAST) for gbps in RATES
    }
    schemes: ClassVar = ("dctcp", "dcm", "xmp", "amp", "amp-beta")
    panels: ClassVar = (
        Panel("share", "multipath flow over DCTCP flow", log=True, only=FAIR),
        Panel("use", "goodput of all over the link's", only=FAIR),
        Panel("queue", "mean queue (BDP)", only=FAIR),
        Panel("fct_s", "mean FCT of the incast (ms)", 1e3, log=True, only=INCAST),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return four DCTCP flows beside four others, or an incast of 30 flows."""
        kind, number, _ = setting.split()
        gbps = int(number)
        hosts = SENDERS if kind == INCAST else 2 * SINGLE
        scenario: dict[str, Value] = {
            "topology": {"many-to-one": {"senders": hosts, "rate": f"{gbps}Gbps", "delay": DELAY}},
            "queue": {**amp.queue(bdp(gbps) // 2), "limit": 5 * bdp(gbps)},
        }
        if kind == INCAST:
            size = 128 * 1024 * gbps // 10
            burst: Table = {
                "transport": scheme,
                "senders": SENDERS,
                "receiver": "R",
                "size": f"{size}B",
                "every": "1s",
                "spacing": "50us",
            }
            scenario |= {
                "duration": "3s",
                "drain": "40s",
                "transport": {scheme: transport(scheme, gbps)},
                "workload": {"incast": [burst]},
            }
            return Case(scenario, 3.0, 3 * SENDERS * size / MSS)
        ms = max(10_000 // gbps, 60)
        flows: list[Value] = [
            {
                "transport": "dctcp" if i < SINGLE else scheme,
                "from": f"S{i + 1}",
                "to": "R",
                "start": f"{50 * i}us",
                "label": "single" if i < SINGLE else "multipath",
            }
            for i in range(2 * SINGLE)
        ]
        scenario |= {
            "duration": f"{ms}ms",
            "measure": {"warm_up": f"{ms // 3}ms"},
            "transport": {s: transport(s, gbps) for s in sorted({"dctcp", scheme})},
            "workload": {"flow": flows},
            "record": {"queue": {"links": ["W->R"], "every": "20us"}},
        }
        return Case(scenario, ms / 1e3, ms / 1e3 * gbps * 1e9 / (8 * WIRE))

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return the share, the use of the link and the queue; or the completion times."""
        kind, number, _ = setting.split()
        gbps = int(number)
        flows = result.flows
        if kind == INCAST:
            return {
                "fct_s": flows["fct_established_s"].mean(),  # type: ignore[dict-item]
                "unfinished": float(flows["fct_s"].null_count()),
                "timeouts": float(flows["timeouts"].sum()),
            }
        rates = flows.select("label", (8.0 * flows["measured_bytes"] / flows["measured_s"]))
        means = {
            label: float(rows["measured_bytes"].mean())  # type: ignore[arg-type]
            for (label,), rows in rates.partition_by("label", as_dict=True).items()
        }
        start, end = result.period
        queue = result.queue
        inside = queue.filter(queue["time_s"].is_between(start, end))["queue_pkts"].mean()
        payload = gbps * 1e9 * MSS / WIRE
        single, multipath = means["single"], means["multipath"]
        return {
            "share": multipath / single,
            "use": SINGLE * (single + multipath) / payload,
            "queue": float(inside) / bdp(gbps),  # type: ignore[arg-type]
        }


EXPERIMENT = Rates()
