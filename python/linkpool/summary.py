"""The summary of a run: what `linkpool show` prints and `summary.json` holds.

It is about the flows that the `[measure]` of the scenario does not leave out.
"""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from linkpool.stats import describe, jain

BUSIEST = 20
"""How many links a summary lists."""

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Upper ends of the size classes, bytes; the last class has none."""


@dataclass(frozen=True)
class FctStats:
    """Flow completion times, in seconds, of the finished flows only.

    `mean_s` to `max_s` are None without finished flows, `sd_s` (divisor n - 1) without two.
    """

    finished: int
    mean_s: float | None
    sd_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None


@dataclass(frozen=True)
class Slowdowns:
    """FCT slowdowns (`slowdown`) of the finished flows of one class of sizes.

    Attributes:
        above_bytes: sizes of this class are larger.
        upto_bytes: sizes of this class are no larger; None: without limit.
        finished: number of flows.
        mean: their mean slowdown; None without flows, as are the percentiles.
        p50: median.
        p99: 99th percentile.
        max: largest.

    """

    above_bytes: int
    upto_bytes: int | None
    finished: int
    mean: float | None
    p50: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True)
class Group:
    """The flows of one transport and label.

    Attributes:
        transport: name of the transport in the scenario; "" for all flows together.
        label: label of the workload; "" for all flows together.
        left_out: flows that started before or after the measured period; the others count.
        flows: number of flows; finished + unfinished + unlimited.
        finished: flows whose last byte was acknowledged.
        unfinished: flows of a given size that were not complete at the end of the run.
        unlimited: flows without a size, which never finish.
        failed: flows given up by their transport; also counted as unfinished or unlimited.
        fct: completion time from the first SYN, with the handshake (`fct_s`).
        fct_established: completion time from the first SYN-ACK (`fct_established_s`).
        slowdowns: FCT over the ideal one, by size of the flow, small sizes first.
        goodput_mean_bps: mean of the flows' goodputs, bit/s: of an unlimited flow that in the
            measured period.
        goodput_total_bps: payload of all flows over the time from the first start to the last
            end, bit/s; of unlimited flows, what lies in the measured period.
        jain: Jain's fairness index of the flows' goodputs.
        offered_load: sizes of the flows over what the links from all hosts carry in the measured
            period; None with unlimited flows.
        delivered_load: payload acknowledged in the measured period, of flows that were left out
            too, over the same.
        timeouts: retransmission timeouts, those of SYNs included.
        timeouts_max: the most timeouts that one flow met.
        segments: data segments sent, retransmissions included.
        retransmits: data segments sent again.
        marked_acks: ACKs that carried an ECN echo.
        suppressions: times an AMP flow became single-path.

    """

    transport: str
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
    goodput_total_bps: float | None
    jain: float | None
    offered_load: float | None
    delivered_load: float | None
    timeouts: int
    timeouts_max: int
    segments: int
    retransmits: int
    marked_acks: int
    suppressions: int


@dataclass(frozen=True)
class Distribution:
    """What a workload was asked for; the fields are columns of the `workloads` table."""

    label: str
    kind: str
    transport: str
    sizes: str
    interpolation: str | None
    mean_bytes: float | None
    load: float | None


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
    """Jobs, or collective operations, of one label.

    Attributes:
        label: label of the workload.
        kind: partition-aggregate, or the algorithm of the operations.
        jobs: number of them, those under way at the end of the run included.
        jct: completion times (`jct_s`) of the finished ones.

    """

    label: str
    kind: str
    jobs: int
    jct: FctStats


@dataclass(frozen=True)
class LinkUse:
    """One directed link; the fields are columns of the `links` table."""

    link: str
    utilisation: float
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
        utilisation: mean over the links.
        utilisation_max: that of the busiest link.
        drops: packets dropped at all ports.
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

    Attributes:
        overall: all flows together.
        groups: by transport and label, in order of their first flow.
        workloads: in the order of the scenario.
        jobs: by label and kind, in order of their first job; empty without jobs.
        rtts: by transport and locality; empty unless they were recorded.
        layers: the links by the layers that they join, upwards and downwards apart.
        links: the busiest links by utilisation, at most `BUSIEST`.
        drops: packets dropped at all ports.
        drops_down: packets lost because a link was down.
        drops_loss: packets lost on the wire at random.
        marks: packets marked at all ports.

    """

    overall: Group
    groups: list[Group]
    workloads: list[Distribution]
    jobs: list[JobStats]
    rtts: list[RttStats]
    layers: list[LayerUse]
    links: list[LinkUse]
    drops: int
    drops_down: int
    drops_loss: int
    marks: int

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Period:
    """The measured period, in seconds, and what the links from all hosts carry, bit/s."""

    start_s: float
    end_s: float
    access_bps: float

    def load(self, payload: float | None) -> float | None:
        """Return payload in bytes over what the links from all hosts carry in the period."""
        bits = self.access_bps * (self.end_s - self.start_s)
        return None if payload is None or bits <= 0.0 else 8.0 * payload / bits


def summarise(
    flows: pl.DataFrame,
    links: pl.DataFrame,
    period: tuple[float, float],
    *,
    workloads: pl.DataFrame | None = None,
    jobs: pl.DataFrame | None = None,
    rtts: pl.DataFrame | None = None,
) -> Summary:
    """Compute the summary of a run from its tables; of those that are left out it says nothing.

    `period` is the measured period, in seconds.
    """
    access = float(links.filter(pl.col("layer") == "host")["rate_bps"].sum())
    measured = _Period(*period, access)
    parts = flows.partition_by("transport", "label", as_dict=True, maintain_order=True)
    return Summary(
        overall=_group("", "", flows, measured),
        groups=[_group(str(key[0]), str(key[1]), part, measured) for key, part in parts.items()],
        workloads=[]
        if workloads is None
        else [Distribution(**row) for row in workloads.iter_rows(named=True)],
        jobs=[] if jobs is None else _jobs(jobs),
        rtts=[] if rtts is None else _rtts(rtts, flows),
        layers=_layers(links),
        links=_busiest(links),
        drops=int(links["drops"].sum()),
        drops_down=int(links["drops_down"].sum()),
        drops_loss=int(links["drops_loss"].sum()),
        marks=int(links["marks"].sum()),
    )


def _group(transport: str, label: str, everything: pl.DataFrame, period: _Period) -> Group:
    flows = everything.filter("measured")
    sized = flows.filter(pl.col("size_bytes").is_not_null())
    finished = sized.filter(pl.col("end_s").is_not_null())
    unlimited = flows.height - sized.height
    in_period = 8.0 * pl.col("measured_bytes") / pl.col("measured_s")
    of_own = pl.when(pl.col("size_bytes").is_null()).then(in_period)
    goodput = flows.select(of_own.otherwise("goodput_bps")).to_series().drop_nulls().to_numpy()
    return Group(
        transport=transport,
        label=label,
        left_out=everything.height - flows.height,
        flows=flows.height,
        finished=finished.height,
        unfinished=sized.height - finished.height,
        unlimited=unlimited,
        failed=int(flows["failed"].sum()),
        fct=_fct(finished["fct_s"]),
        fct_established=_fct(finished["fct_established_s"]),
        slowdowns=_slowdowns(finished),
        goodput_mean_bps=describe(goodput).mean,
        goodput_total_bps=_total_goodput(flows, period),
        jain=jain(goodput),
        offered_load=period.load(None if unlimited else float(flows["size_bytes"].sum())),
        delivered_load=period.load(float(everything["measured_bytes"].sum())),
        timeouts=int(flows["timeouts"].sum()),
        timeouts_max=_most(flows["timeouts"]),
        segments=int(flows["segments"].sum()),
        retransmits=int(flows["retransmits"].sum()),
        marked_acks=int(flows["marked_acks"].sum()),
        suppressions=int(flows["suppressions"].sum()),
    )


def _fct(times: pl.Series) -> FctStats:
    s = describe(times.drop_nulls().to_numpy())
    return FctStats(s.count, s.mean, s.sd, s.p50, s.p90, s.p99, s.max)


def _slowdowns(finished: pl.DataFrame) -> list[Slowdowns]:
    classes: list[Slowdowns] = []
    size = pl.col("size_bytes")
    for above, upto in zip((0, *SIZES), (*SIZES, None), strict=True):
        mine = finished.filter(size > above, pl.lit(True) if upto is None else size <= upto)
        s = describe(mine["slowdown"].drop_nulls().to_numpy())
        classes.append(Slowdowns(above, upto, s.count, s.mean, s.p50, s.p99, s.max))
    return classes


def _jobs(jobs: pl.DataFrame) -> list[JobStats]:
    parts = jobs.partition_by("label", "kind", as_dict=True, maintain_order=True)
    return [
        JobStats(str(label), str(kind), part.height, _fct(part["jct_s"]))
        for (label, kind), part in parts.items()
    ]


def _rtts(rtts: pl.DataFrame, flows: pl.DataFrame) -> list[RttStats]:
    of_flow = flows.filter("measured").select("flow", "transport", "locality")
    samples = rtts.join(of_flow, on="flow").sort("transport", "locality")
    parts = samples.partition_by("transport", "locality", as_dict=True, maintain_order=True)
    found: list[RttStats] = []
    for (transport, locality), part in parts.items():
        s = describe(part["rtt_s"].to_numpy())
        found.append(
            RttStats(str(transport), str(locality), s.count, s.mean, s.p50, s.p90, s.p99, s.max)
        )
    return found


def _layers(links: pl.DataFrame) -> list[LayerUse]:
    offered = pl.col("packets") + pl.col("drops")
    lost = pl.when(offered > 0).then(pl.col("drops") / offered).otherwise(0.0)
    table = links.group_by("layer", "to_layer", maintain_order=True).agg(
        pl.len().alias("links"),
        pl.col("utilisation").mean(),
        pl.col("utilisation").max().alias("utilisation_max"),
        pl.col("drops", "drops_down", "drops_loss").sum(),
        pl.when(offered.sum() > 0).then(pl.col("drops").sum() / offered.sum()).alias("loss"),
        lost.mean().alias("loss_mean"),
        pl.col("marks").sum(),
    )
    return [LayerUse(**row) for row in table.iter_rows(named=True)]


def _total_goodput(flows: pl.DataFrame, period: _Period) -> float | None:
    unlimited = pl.col("size_bytes").is_null()
    end = pl.col("start_s") + pl.col("active_s")
    spans = flows.select(
        start=pl.when(unlimited)
        .then(pl.max_horizontal("start_s", period.start_s))
        .otherwise("start_s"),
        end=pl.when(unlimited).then(pl.min_horizontal(end, period.end_s)).otherwise(end),
        payload=pl.when(unlimited).then("measured_bytes").otherwise("acked_bytes"),
    ).to_numpy()
    if not spans.size:
        return None
    span = float(spans[:, 1].max() - spans[:, 0].min())
    return 8.0 * float(spans[:, 2].sum()) / span if span > 0 else None


def _most(counts: pl.Series) -> int:
    return max(counts.to_list(), default=0)


def _busiest(links: pl.DataFrame) -> list[LinkUse]:
    names = list(LinkUse.__dataclass_fields__)
    order = links.sort("utilisation", "link", descending=[True, False]).select(names)
    return [LinkUse(**row) for row in order.head(BUSIEST).iter_rows(named=True)]
