"""The summary of a run: what `linkpool show` prints and `summary.json` holds."""

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
        flows: number of flows; finished + unfinished + unlimited.
        finished: flows whose last byte was acknowledged.
        unfinished: flows of a given size that were not complete at the end of the run.
        unlimited: flows without a size, which never finish.
        failed: flows given up by their transport; also counted as unfinished or unlimited.
        fct: completion time from the first SYN, with the handshake (`fct_s`).
        fct_established: completion time from the first SYN-ACK (`fct_established_s`).
        slowdowns: FCT over the ideal one, by size of the flow, small sizes first.
        goodput_mean_bps: mean of the flows' goodputs, bit/s.
        goodput_total_bps: payload of all flows over the time from the first start to the last
            end, bit/s.
        jain: Jain's fairness index of the flows' goodputs.
        timeouts: retransmission timeouts, those of SYNs included.
        timeouts_max: the most timeouts that one flow met.
        segments: data segments sent, retransmissions included.
        retransmits: data segments sent again.
        marked_acks: ACKs that carried an ECN echo.
        suppressions: times an AMP flow became single-path.

    """

    transport: str
    label: str
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
    timeouts: int
    timeouts_max: int
    segments: int
    retransmits: int
    marked_acks: int
    suppressions: int


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
    loss: float | None
    loss_mean: float | None
    marks: int


@dataclass(frozen=True)
class Summary:
    """Statistics of one run.

    Attributes:
        overall: all flows together.
        groups: by transport and label, in order of their first flow.
        layers: the links by the layers that they join, upwards and downwards apart.
        links: the busiest links by utilisation, at most `BUSIEST`.
        drops: packets dropped at all ports.
        marks: packets marked at all ports.

    """

    overall: Group
    groups: list[Group]
    layers: list[LayerUse]
    links: list[LinkUse]
    drops: int
    marks: int

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, ready for JSON."""
        return asdict(self)


def summarise(flows: pl.DataFrame, links: pl.DataFrame) -> Summary:
    """Compute the summary of a run from its `flows` and `links` tables."""
    parts = flows.partition_by("transport", "label", as_dict=True, maintain_order=True)
    return Summary(
        overall=_group("", "", flows),
        groups=[_group(str(key[0]), str(key[1]), part) for key, part in parts.items()],
        layers=_layers(links),
        links=_busiest(links),
        drops=int(links["drops"].sum()),
        marks=int(links["marks"].sum()),
    )


def _group(transport: str, label: str, flows: pl.DataFrame) -> Group:
    sized = flows.filter(pl.col("size_bytes").is_not_null())
    finished = sized.filter(pl.col("end_s").is_not_null())
    return Group(
        transport=transport,
        label=label,
        flows=flows.height,
        finished=finished.height,
        unfinished=sized.height - finished.height,
        unlimited=flows.height - sized.height,
        failed=int(flows["failed"].sum()),
        fct=_fct(finished["fct_s"]),
        fct_established=_fct(finished["fct_established_s"]),
        slowdowns=_slowdowns(finished),
        goodput_mean_bps=describe(flows["goodput_bps"].drop_nulls().to_numpy()).mean,
        goodput_total_bps=_total_goodput(flows),
        jain=jain(flows["goodput_bps"].drop_nulls().to_numpy()),
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


def _layers(links: pl.DataFrame) -> list[LayerUse]:
    offered = pl.col("packets") + pl.col("drops")
    lost = pl.when(offered > 0).then(pl.col("drops") / offered).otherwise(0.0)
    table = links.group_by("layer", "to_layer", maintain_order=True).agg(
        pl.len().alias("links"),
        pl.col("utilisation").mean(),
        pl.col("utilisation").max().alias("utilisation_max"),
        pl.col("drops").sum(),
        pl.when(offered.sum() > 0).then(pl.col("drops").sum() / offered.sum()).alias("loss"),
        lost.mean().alias("loss_mean"),
        pl.col("marks").sum(),
    )
    return [LayerUse(**row) for row in table.iter_rows(named=True)]


def _total_goodput(flows: pl.DataFrame) -> float | None:
    if flows.is_empty():
        return None
    starts, ends = flows["start_s"].to_numpy(), (flows["start_s"] + flows["active_s"]).to_numpy()
    span = float(ends.max() - starts.min())
    return 8.0 * float(flows["acked_bytes"].sum()) / span if span > 0 else None


def _most(counts: pl.Series) -> int:
    return max(counts.to_list(), default=0)


def _busiest(links: pl.DataFrame) -> list[LinkUse]:
    names = list(LinkUse.__dataclass_fields__)
    order = links.sort("utilisation", "link", descending=[True, False]).select(names)
    return [LinkUse(**row) for row in order.head(BUSIEST).iter_rows(named=True)]
