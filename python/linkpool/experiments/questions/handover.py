"""MMPTCP in the fat-trees of its paper, as the questions about its phases vary it.

Long flows from a third of the hosts, and short flows of 70 KB from the others, along one
permutation; or a synchronised incast of short flows. Queues mark at K = 10 throughout: algorithms
without ECN are not affected (`non_ect = "queue"`).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from linkpool.experiments.mmptcp import setting
from linkpool.experiments.mmptcp.setting import Tree
from linkpool.experiments.questions.question import Case, Panel, Quantities, Question
from linkpool.result import Result
from linkpool.study.toml import Table, Value

MIXED, INCAST = "mixed", "incast"
SENDERS = (20, 40)
MARK = 10
LONG, SHORT = "long", "short"
LONG_SHARE = 0.33
SIZE = 70_000
HIGH = "+high"
"""At the end of a scheme: packets of phase 1 have high priority."""
WARM_UP_MS, QUIET_MS = 200, 200
INCASTS_MS, BURSTS_MS = 20_000, 500


class Load(NamedTuple):
    """The paper's tree, and how it is loaded.

    Attributes:
        oversubscription: of the tree.
        arrivals: short flows of a second.
        nics: of a host.
        duration_ms: simulated time, without the drain.

    """

    oversubscription: int
    arrivals: float
    nics: int = 1
    duration_ms: int = 5000

    @property
    def hosts(self) -> int:
        """Return the number of hosts."""
        return Tree(self.oversubscription).hosts

    @property
    def topology(self) -> Table:
        """Return the topology's table."""
        per_edge = 4 * self.oversubscription
        links: Table = {"rate": setting.RATE, "delay": setting.DELAY}
        return {"fat-tree": {"k": 8, "hosts_per_edge": per_edge, "nics": self.nics, **links}}


def transport(scheme: str) -> Table:
    """Return the transport `PHASE1+PHASE2`, or one of the MMPTCP paper."""
    name = scheme.removesuffix(HIGH)
    if "+" not in name:
        return setting.scheme(name)
    one, two = name.split("+")
    keys: dict[str, Value] = {"phase_1": one, "phase_2": two}
    if scheme.endswith(HIGH):
        keys["priority"] = "scatter"
    return setting.scheme("mmptcp", keys)


def queue(scheme: str) -> Table:
    """Return the queue of every port."""
    priority: Table = {"discipline": "priority"} if scheme.endswith(HIGH) else {}
    return {**setting.queue(), "mark": MARK, **priority}


def mixed(load: Load, scheme: str) -> Case:
    """Return short flows beside long flows, all by one scheme."""
    senders = int(LONG_SHARE * load.hosts)
    long: Table = {
        "transport": scheme,
        "label": LONG,
        "role": LONG,
        "stop": f"{load.duration_ms}ms",
    }
    short: Table = {
        "transport": scheme,
        "label": SHORT,
        "role": "others",
        "to": "permutation",
        "flows_per_second": load.arrivals,
        "size": f"{SIZE}B",
        "stop": f"{load.duration_ms - QUIET_MS}ms",
    }
    scenario: dict[str, Value] = {
        # Without the question's title, so that questions share runs.
        "name": f"short flows beside long flows by {scheme}",
        "duration": f"{load.duration_ms}ms",
        "drain": setting.DRAIN,
        "measure": {"warm_up": f"{WARM_UP_MS}ms"},
        "topology": load.topology,
        "queue": queue(scheme),
        "transport": {scheme: transport(scheme)},
        "roles": {LONG: senders},
        "workload": {"permutation": [long], "poisson": [short]},
    }
    seconds = load.duration_ms / 1e3
    packets = senders * 60e6 * seconds / (8 * 1400) + load.arrivals * seconds * 50
    return Case(scenario, seconds, packets)


def incast(senders: int, scheme: str) -> Case:
    """Return bursts of synchronised short flows to one host, in the 1:1 tree."""
    burst: Table = {
        "transport": scheme,
        "label": SHORT,
        "senders": senders,
        "receiver": "h0",
        "size": f"{SIZE}B",
        "every": f"{BURSTS_MS}ms",
    }
    scenario: dict[str, Value] = {
        "duration": f"{INCASTS_MS}ms",
        "drain": setting.DRAIN,
        "topology": Tree(1).topology(),
        "queue": queue(scheme),
        "transport": {scheme: transport(scheme)},
        "workload": {"incast": [burst]},
    }
    return Case(scenario, INCASTS_MS / 1e3, INCASTS_MS / BURSTS_MS * senders * 50)


def quantities(result: Result) -> Quantities:
    """Return the completion times and timeouts of short flows, and the goodput of long flows."""
    flows = result.flows.filter("measured")
    short = flows.filter(flows["label"] == SHORT)
    long = flows.filter(flows["label"] == LONG)
    fct = short["fct_established_s"].drop_nulls()
    goodput = (8.0 * long["measured_bytes"] / long["measured_s"]).mean()
    return {
        "fct_s": None if fct.is_empty() else float(fct.mean()),  # type: ignore[arg-type]
        "p99_s": fct.quantile(0.99, "linear"),
        "timeouts": float(short["timeouts"].sum()) / max(short.height, 1),
        "unfinished": float(short["fct_s"].null_count()),
        "goodput_bps": None if goodput is None else float(goodput),  # type: ignore[arg-type]
    }


@dataclass(frozen=True)
class Beside(Question):
    """A question about short flows beside long flows, at two loads of the paper."""

    settings: ClassVar = {
        "256": "256 short flows\na second",
        "2560": "2,560 short flows\na second",
    }
    panels: ClassVar = (
        Panel("fct_s", "mean FCT of short flows (ms)", 1e3),
        Panel("p99_s", "their 99th percentile (ms)", 1e3),
        Panel("timeouts", "timeouts of a short flow"),
        Panel("goodput_bps", "goodput of a long flow (Mbps)", 1e-6),
    )
    figure_rows: ClassVar = 2

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return short flows beside long flows in the 4:1 tree."""
        return mixed(Load(4, float(setting)), scheme)

    def quantities(self, setting: str, result: Result) -> Quantities:
        """Return what the questions about MMPTCP have in common."""
        return quantities(result)


@dataclass(frozen=True)
class Phase1(Beside):
    """Short flows beside long flows, and an incast, with Reno or DCTCP in phase 1."""

    id: str = "Q-phase1"
    settings: ClassVar = {MIXED: "beside\nlong flows"} | {
        f"{INCAST} {n}": f"incast\nof {n}" for n in SENDERS
    }
    schemes: ClassVar = ("reno+lia", "dctcp+lia", "reno+amp", "dctcp+amp")
    panels: ClassVar = (*Beside.panels[:-1], Beside.panels[-1]._replace(only=MIXED))

    def case(self, setting: str, scheme: str, seed: int) -> Case | None:
        """Return short flows beside long flows; or an incast, which never sees phase 2."""
        if setting == MIXED:
            return mixed(Load(4, 256.0), scheme)
        if scheme.endswith("+lia"):
            return None
        return incast(int(setting.split()[1]), scheme)


@dataclass(frozen=True)
class Phase2(Beside):
    """Short flows beside long flows, with four algorithms in phase 2."""

    id: str = "Q-phase2"
    schemes: ClassVar = ("reno+lia", "reno+dcm", "reno+xmp", "reno+amp")


@dataclass(frozen=True)
class Priority(Beside):
    """Short flows beside long flows; phase 1 in the same queue, or in one that is served first."""

    id: str = "Q-priority"
    schemes: ClassVar = ("reno+lia", f"reno+lia{HIGH}", "reno+amp", f"reno+amp{HIGH}")


PHASE1, PHASE2, PRIORITY = Phase1(), Phase2(), Priority()
