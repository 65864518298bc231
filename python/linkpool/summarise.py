"""Compute the summary of a run from its tables."""

from dataclasses import dataclass

import polars as pl

from linkpool.stats import describe, jain
from linkpool.summary import (
    Distribution,
    FctStats,
    Group,
    JobStats,
    LayerUse,
    LinkUse,
    RttStats,
    Slowdowns,
    Summary,
)

BUSIEST = 20
"""How many links a summary lists."""

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Upper ends of the size classes, bytes; the last class has none."""


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
