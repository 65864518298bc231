"""The summary of a run, which `linkpool show` prints and `summary.json` holds.

It is about the flows that the `[measure]` of the scenario does not leave out. The simulator
computes it from the tables (`crates/sim/src/results/summary`).
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from linkpool.percentiles import needed
from linkpool.units import show_bytes


class Bounds:
    """Statistics of flows, some of which may be lower bounds, or missing for too few flows."""

    finished: int
    unfinished: int
    at_least: tuple[str, ...]

    def shown(self, name: str, write: Callable[[float | None], str], of: str = "flows") -> str:
        """Write a statistic, marked as a lower bound if it is one, or say why there is none.

        `of` is what it is of, in words.
        """
        value: float | None = getattr(self, name)
        count = self.finished + self.unfinished
        percent = PERCENTILES.get(name)
        if value is None and count and percent is not None:
            return f"needs {needed(percent)} {of}"
        return f"≥ {write(value)}" if name in self.at_least else write(value)


SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Upper ends of the size classes, bytes; the last class has none."""

PERCENTILES = {
    f"p{percent}{unit}": Fraction(percent) for percent in (50, 90, 99) for unit in ("_s", "")
}
"""The fields that are percentiles, each with its number."""


@dataclass(frozen=True)
class FctStats(Bounds):
    """Completion times of flows or jobs, in seconds.

    Those that had not finished when the run ended count as old as they were: the fields that this
    makes lower bounds are in `at_least`. `mean_s` to `max_s` are None without flows, `sd_s`
    (divisor n - 1) without two, and where a flow is unfinished; a percentile is None of fewer flows
    than it needs (`percentiles.needed`).
    """

    finished: int
    mean_s: float | None
    sd_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None
    unfinished: int = 0
    at_least: tuple[str, ...] = ()


def size_class(above_bytes: int, upto_bytes: int | None) -> str:
    """Name a class of flows by their sizes: those above one size, up to another if there is one.

    >>> size_class(10_000, 100_000), size_class(10_000_000, None)
    ('up to 100 KB', 'above 10 MB')

    """
    return (
        f"above {show_bytes(above_bytes)}"
        if upto_bytes is None
        else f"up to {show_bytes(upto_bytes)}"
    )


@dataclass(frozen=True)
class Slowdowns(Bounds):
    """FCT slowdowns (`slowdown`) of the flows of one class of sizes.

    Unfinished flows count as slow as they were when the run ended, as in `FctStats`.

    Attributes:
        above_bytes: sizes of this class are larger.
        upto_bytes: sizes of this class are no larger; None: without limit.
        finished: number of flows that finished.
        mean: the mean slowdown; None without flows.
        p50: median; None of fewer flows than it needs, as is the next.
        p99: 99th percentile.
        max: largest; None without flows.
        unfinished: number of flows that did not.
        at_least: the fields that are lower bounds.

    """

    above_bytes: int
    upto_bytes: int | None
    finished: int
    mean: float | None
    p50: float | None
    p99: float | None
    max: float | None
    unfinished: int = 0
    at_least: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """The measured flows of one transport, congestion control algorithm and label.

    Attributes:
        transport: name of the transport in the scenario; "" for all flows together.
        control: its congestion control algorithm; "" for all flows together.
        label: label of the workload; "" for all flows together.
        left_out: flows that started before or after the measured period; the others count.
        flows: number of flows; finished + unfinished + unlimited.
        finished: flows whose last byte was acknowledged.
        unfinished: flows of a given size that were not complete at the end of the run.
        unlimited: flows without a size, which never finish.
        failed: flows given up by their transport, or cut off as their job failed; also counted as
            unfinished or unlimited.
        fct: completion time from the first SYN, with the handshake (`fct_s`).
        fct_established: completion time from the first SYN-ACK (`fct_established_s`).
        slowdowns: FCT over the ideal one, by size of the flow, small sizes first.
        goodput_mean_bps: mean of the flows' goodputs, bit/s. The goodput of a flow is what the
            application received, over the time that the flow was active; of an unlimited flow,
            only in the measured period.
        subflow_goodput_mean_bps: the same of what the subflows delivered, bit/s: with payload
            that was still ahead of a gap, and with payload that came on two subflows twice.
        jain: Jain's fairness index of the flows' goodputs.
        delivered_bps: payload acknowledged in the measured period over the length of that period,
            bit/s; of all flows, also flows that were left out.
        offered_load: sizes of the flows over what the links from all hosts carry in the measured
            period; None with unlimited flows.
        delivered_load: `delivered_bps` over the rate of the links from all hosts.
        timeouts: retransmission timeouts, also of SYNs.
        timeouts_max: the most timeouts that one flow met.
        segments: data segments sent, retransmissions included.
        retransmits: data segments sent again.
        marked_acks: ACKs that carried an ECN echo; None where that is not known of every flow, as
            on the network stack of Linux.
        suppressions: times an AMP flow became single-path.

    """

    transport: str
    control: str
    label: str
    left_out: int
    flows: int
    finished: int
    unfinished: int
    unlimited: int
    failed: int
    fct: FctStats
    fct_established: FctStats
    slowdowns: list[Slowdowns]
    goodput_mean_bps: float | None
    subflow_goodput_mean_bps: float | None
    jain: float | None
    delivered_bps: float | None
    offered_load: float | None
    delivered_load: float | None
    timeouts: int
    timeouts_max: int
    segments: int
    retransmits: int
    marked_acks: int | None
    suppressions: int


@dataclass(frozen=True)
class Distribution:
    """The sizes and load of a workload; the fields are columns of the `workloads` table."""

    label: str
    kind: str
    transport: str
    sizes: str
    interpolation: str | None
    mean_bytes: float | None
    load: float | None
    not_started: int | None


@dataclass(frozen=True)
class RttStats:
    """RTT samples of the measured flows of one transport and locality.

    Attributes:
        transport: name of the transport in the scenario.
        locality: column of the `flows` table.
        samples: number of samples that were recorded.
        mean_s: their mean, in seconds.
        p50_s: median.
        p90_s: 90th percentile.
        p99_s: 99th percentile.
        max_s: largest.

    """

    transport: str
    locality: str
    samples: int
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None


@dataclass(frozen=True)
class JobStats:
    """Jobs, operations or iterations of one label that started in the measured period.

    Attributes:
        label: label of the workload.
        kind: partition-aggregate, program, or the algorithm of the operations.
        left_out: jobs that started before or after the measured period, and iterations that a
            failure of their job cut off; the others count.
        jobs: number of them, those under way at the end of the run included.
        not_started: their flows that could not start, as the run was ending; of all jobs, those
            that were left out too.
        jct: completion times (`jct_s`) of the finished ones.

    """

    label: str
    kind: str
    left_out: int
    jobs: int
    not_started: int
    jct: FctStats


@dataclass(frozen=True)
class RequestStats:
    """Requests to a model of one label that arrived in the measured period.

    Attributes:
        label: label of the workload.
        left_out: requests that arrived before or after the measured period; the others count.
        requests: number of them, those that were not answered included.
        answered: number of those whose last token was there.
        ttft: times to the first token (`ttft_s`); `finished`: it was there.
        tpot: times per token behind the first (`tpot_s`) of answers of several tokens. That of an
            answer that is not complete is at least the time since its first token over the number
            of tokens that were to follow.

    """

    label: str
    left_out: int
    requests: int
    answered: int
    ttft: FctStats
    tpot: FctStats


@dataclass(frozen=True)
class LinkUse:
    """One directed link; the fields are columns of the `links` table.

    `utilisation` is about the measured period, the counts are about the whole run.
    """

    link: str
    utilisation: float | None
    packets: int
    drops: int
    marks: int
    max_queue_pkts: int


@dataclass(frozen=True)
class LayerUse:
    """The links from one layer to another.

    Attributes:
        layer: of the sending ports.
        to_layer: of the receiving nodes.
        links: number of links.
        utilisation: mean over the links, in the measured period.
        utilisation_max: that of the busiest link.
        drops: packets dropped by the queues of all ports, in the whole run.
        drops_down: packets lost because a link was down.
        drops_loss: packets lost on the wire at random.
        loss: dropped over offered packets, all ports together; None if none were offered.
        loss_mean: mean over the ports of each port's loss; a port that was offered nothing lost
            nothing.
        marks: packets marked.

    """

    layer: str
    to_layer: str
    links: int
    utilisation: float | None
    utilisation_max: float | None
    drops: int
    drops_down: int
    drops_loss: int
    loss: float | None
    loss_mean: float | None
    marks: int


@dataclass(frozen=True)
class Summary:
    """Statistics of one run.

    >>> import linkpool
    >>> summary = linkpool.run("docs/workloads/incast.toml").summary
    >>> summary.overall.finished == summary.overall.flows
    True

    Attributes:
        period_start_s: start of the measured period, s.
        period_end_s: its end, or that of the run if it is earlier, s.
        overall: all flows together.
        groups: by transport, congestion control algorithm and label, in order of their first flow.
        workloads: in the order of the scenario.
        jobs: by label and kind, in order of their first job; empty without jobs.
        requests: to models, by label, in order of their first answer; empty without.
        rtts: by transport and locality; empty unless they were recorded.
        layers: the links by the layers that they join, upwards and downwards apart.
        links: the busiest links by utilisation, at most 20.
        drops: packets dropped by the queues of all ports, in the whole run.
        drops_down: packets lost because a link was down.
        drops_loss: packets lost on the wire at random.
        marks: packets marked at all ports.
        trims: packets whose payload ports cut off.

    """

    period_start_s: float
    period_end_s: float
    overall: Group
    groups: list[Group]
    workloads: list[Distribution]
    jobs: list[JobStats]
    requests: list[RequestStats]
    rtts: list[RttStats]
    layers: list[LayerUse]
    links: list[LinkUse]
    drops: int
    drops_down: int
    drops_loss: int
    marks: int
    trims: int

    @classmethod
    def parse(cls, text: str) -> "Summary":
        """Read a summary as the simulator writes it, in JSON."""
        content = json.loads(text)
        return cls(
            **{
                **content,
                "overall": _group(content["overall"]),
                "groups": [_group(of) for of in content["groups"]],
                "workloads": [Distribution(**of) for of in content["workloads"]],
                "jobs": [JobStats(**{**of, "jct": _fct(of["jct"])}) for of in content["jobs"]],
                "requests": [_requests(of) for of in content["requests"]],
                "rtts": [RttStats(**of) for of in content["rtts"]],
                "layers": [LayerUse(**of) for of in content["layers"]],
                "links": [LinkUse(**of) for of in content["links"]],
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, ready for JSON."""
        return asdict(self)


def _group(of: dict[str, Any]) -> Group:
    times = {name: _fct(of[name]) for name in ("fct", "fct_established")}
    slowdowns = [
        Slowdowns(**{**one, "at_least": tuple(one["at_least"])}) for one in of["slowdowns"]
    ]
    return Group(**{**of, **times, "slowdowns": slowdowns})


def _requests(of: dict[str, Any]) -> RequestStats:
    return RequestStats(**{**of, "ttft": _fct(of["ttft"]), "tpot": _fct(of["tpot"])})


def _fct(of: dict[str, Any]) -> FctStats:
    return FctStats(**{**of, "at_least": tuple(of["at_least"])})
