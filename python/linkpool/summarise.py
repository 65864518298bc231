"""Compute the summary of a run from its tables.

Tables of flows and of round-trip times may be long: they are scanned, and only the column that is
described is in memory, with the number of its group, that of its size class, and if it is
unfinished: 14 bytes a row at most, and 16 more while percentiles are found; polars adds its own
buffers, in all about 0.1 KB a row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.censored import Censored, needed
from linkpool.stats import describe, jain
from linkpool.summary import (
    PERCENTILES,
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
from linkpool.unfinished import slowdown_so_far

BUSIEST = 20
"""How many links a summary lists."""

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Upper ends of the size classes, bytes; the last class has none."""

KEYS = ("transport", "control", "label")
"""Flows that agree in these columns are a group."""

Frame: TypeAlias = pl.DataFrame | pl.LazyFrame
Values: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class _Period:
    """The measured period, in seconds, and the capacity of the links from all hosts, bit/s."""

    start_s: float
    end_s: float
    access_bps: float

    def rate(self, payload: int) -> float | None:
        """Return payload in bytes over the length of the period, bit/s."""
        length = self.end_s - self.start_s
        return 8.0 * payload / length if length > 0.0 else None

    def load(self, payload: int | None) -> float | None:
        """Return payload in bytes over the capacity of the links from all hosts in the period."""
        rate = None if payload is None else self.rate(payload)
        return None if rate is None or self.access_bps <= 0.0 else rate / self.access_bps


def summarise(
    flows: Frame,
    links: pl.DataFrame,
    period: tuple[float, float],
    *,
    workloads: pl.DataFrame | None = None,
    jobs: pl.DataFrame | None = None,
    rtts: Frame | None = None,
    end_s: float | None = None,
) -> Summary:
    """Compute the summary of a run from its tables; of those that are left out it says nothing.

    `period` is the measured period, in seconds, and `end_s` the end of the run; None: that of the
    period. Jobs that had not finished count as old as they were then.
    """
    asked = list(Distribution.__dataclass_fields__)
    access = float(links.filter(pl.col("layer") == "host")["rate_bps"].sum())
    groups = _groups(flows.lazy(), _Period(*period, access))
    return Summary(
        period_start_s=period[0],
        period_end_s=period[1],
        overall=groups[0],
        groups=groups[1:],
        workloads=[]
        if workloads is None
        else [Distribution(**row) for row in workloads.select(asked).iter_rows(named=True)],
        jobs=[] if jobs is None else _jobs(jobs, period[1] if end_s is None else end_s),
        rtts=[] if rtts is None else _rtts(rtts.lazy(), flows.lazy()),
        layers=_layers(links),
        links=_busiest(links),
        drops=int(links["drops"].sum()),
        drops_down=int(links["drops_down"].sum()),
        drops_loss=int(links["drops_loss"].sum()),
        marks=int(links["marks"].sum()),
    )


def _groups(flows: pl.LazyFrame, period: _Period) -> list[Group]:
    """Return all flows together, and then by group, in order of their first rows."""
    counts = _counts(flows)
    numbered = _Numbered(counts, KEYS)
    measured = flows.filter("measured").with_columns(group=numbered.number)
    finished = pl.col("size_bytes").is_not_null() & pl.col("end_s").is_not_null()
    unlimited = pl.col("size_bytes").is_null()

    def of_own(payload: str, rate: str) -> pl.Expr:
        in_period = 8.0 * pl.col(payload) / pl.col("measured_s")
        return pl.when(unlimited).then(in_period).otherwise(rate)

    def each(value: pl.Expr, describe_one: Callable[[Values], T]) -> list[T]:
        return numbered.each(measured, value, describe_one)

    goodputs = each(of_own("measured_bytes", "goodput_bps"), lambda x: (describe(x).mean, jain(x)))
    carried = each(
        of_own("measured_subflow_bytes", "subflow_goodput_bps"), lambda x: describe(x).mean
    )
    age, established = pl.col("active_s"), pl.col("established_s")

    def completed(value: str, so_far: pl.Expr) -> pl.Expr:
        """Return a column of finished flows, and the least that it may be of unfinished ones."""
        return pl.when(finished).then(value).when(~unlimited).then(so_far)

    def of_times(value: pl.Expr) -> list[FctStats]:
        table = _collected(measured, value=value, unfinished=~finished)
        return numbered.describe(table, _fct)

    fct = of_times(completed("fct_s", age))
    # Without a SYN-ACK the time has not begun.
    since = (pl.col("start_s") + age - established).fill_null(0.0)
    fct_established = of_times(completed("fct_established_s", since))
    by_class = _collected(
        measured,
        value=completed("slowdown", slowdown_so_far()),
        unfinished=~finished,
        size_class=_size_class(),
    )
    slowdowns = [
        numbered.describe(
            by_class.filter(size_class=number).drop("size_class"), _slowdown(above, upto)
        )
        for number, (above, upto) in enumerate(zip((0, *SIZES), (*SIZES, None), strict=True))
    ]
    rows = [_together(counts), *counts.iter_rows(named=True)]
    return [
        Group(
            transport=row["transport"],
            control=row["control"],
            label=row["label"],
            left_out=row["left_out"],
            flows=row["flows"],
            finished=row["finished"],
            unfinished=row["flows"] - row["finished"] - row["unlimited"],
            unlimited=row["unlimited"],
            failed=row["failed"],
            fct=fct[i],
            fct_established=fct_established[i],
            slowdowns=[of_class[i] for of_class in slowdowns],
            goodput_mean_bps=goodputs[i][0],
            subflow_goodput_mean_bps=carried[i],
            jain=goodputs[i][1],
            delivered_bps=period.rate(row["delivered"]),
            offered_load=period.load(None if row["unlimited"] else row["offered"]),
            delivered_load=period.load(row["delivered"]),
            timeouts=row["timeouts"],
            timeouts_max=row["timeouts_max"],
            segments=row["segments"],
            retransmits=row["retransmits"],
            marked_acks=row["marked_acks"],
            suppressions=row["suppressions"],
        )
        for i, row in enumerate(rows)
    ]


def _counts(flows: pl.LazyFrame) -> pl.DataFrame:
    """Return the exact counts: a row per group, in order of their first rows."""
    measured = pl.col("measured")
    sized = measured & pl.col("size_bytes").is_not_null()
    counted = {
        "left_out": ~measured,
        "flows": measured,
        "finished": sized & pl.col("end_s").is_not_null(),
        "unlimited": measured & pl.col("size_bytes").is_null(),
        "failed": measured & pl.col("failed"),
    }
    summed = ("timeouts", "segments", "retransmits", "marked_acks", "suppressions")
    # Sums of columns stream; those of filtered expressions gather whole groups.
    rows = flows.with_row_index("row").select(
        *KEYS,
        "row",
        *(flag.cast(pl.Int64).alias(name) for name, flag in counted.items()),
        *(pl.when(measured).then(pl.col(name).cast(pl.Int64)).alias(name) for name in summed),
        pl.when(measured).then("size_bytes").alias("offered"),
        pl.col("measured_bytes").alias("delivered"),
        pl.when(measured).then("timeouts").alias("timeouts_max"),
    )
    sums = [*counted, *summed, "offered", "delivered"]
    table = rows.group_by(KEYS).agg(
        pl.col("row").min(), pl.col(sums).sum(), pl.col("timeouts_max").max().fill_null(0)
    )
    return table.collect(engine="streaming").sort("row").drop("row")


def _together(counts: pl.DataFrame) -> dict[str, object]:
    """Return the row of all groups together."""
    sums = counts.select(pl.exclude(*KEYS).sum()).row(0, named=True)
    most = max(counts["timeouts_max"].to_list(), default=0)
    return {**dict.fromkeys(KEYS, ""), **sums, "timeouts_max": most}


class _Numbered:
    """Groups of rows, by some columns, that have numbers instead of names."""

    def __init__(self, groups: pl.DataFrame, keys: tuple[str, ...]) -> None:
        """Take the groups as they stand in `groups`."""
        self.number = pl.lit(0, pl.UInt32)
        """Of a row that is of one of the groups."""
        self._numbers = np.zeros(groups.height, np.int64)
        # In a mixed radix, with a digit per key.
        radix = 1
        for key in keys:
            digits = {name: i for i, name in enumerate(groups[key].unique(maintain_order=True))}
            digit = pl.col(key).replace_strict(digits, return_dtype=pl.UInt32)
            self.number = self.number + digit * radix
            self._numbers += np.array([digits[name] for name in groups[key]], np.int64) * radix
            radix *= max(len(digits), 1)

    def each(
        self, rows: pl.LazyFrame, value: pl.Expr, describe_one: Callable[[Values], T]
    ) -> list[T]:
        """Describe the values that are no nulls: all together, and then of each group.

        `rows` have a column `group`, the number of the group of each.
        """
        return self.describe(_collected(rows, value=value), describe_one)

    def describe(self, table: pl.DataFrame, describe_one: Callable[..., T]) -> list[T]:
        """Do the same for a table of numbers of groups, and columns that are described together."""
        numbers = table["group"].to_numpy()
        columns = [column.to_numpy() for column in table.drop("group").iter_columns()]
        return [
            describe_one(*columns),
            *(describe_one(*part) for part in self._parts(numbers, columns)),
        ]

    def _parts(
        self, numbers: npt.NDArray[np.uint32], columns: Sequence[npt.NDArray[Any]]
    ) -> Iterator[Sequence[npt.NDArray[Any]]]:
        for number in self._numbers:
            if self._numbers.size == 1:
                yield columns
            else:
                yield [column[numbers == number] for column in columns]


def _collected(rows: pl.LazyFrame, **columns: pl.Expr) -> pl.DataFrame:
    """Return the group and these columns of the rows whose `value` is no null."""
    return rows.select("group", **columns).drop_nulls("value").collect(engine="streaming")


def _fct(times: Values, unfinished: npt.NDArray[np.bool_]) -> FctStats:
    names = ("mean_s", "p50_s", "p90_s", "p99_s", "max_s")
    finished, values, at_least = _bounded(times, unfinished, names)
    sd = float(times.std(ddof=1)) if times.size > 1 and finished == times.size else None
    mean, p50, p90, p99, most = values
    return FctStats(finished, mean, sd, p50, p90, p99, most, times.size - finished, at_least)


def _bounded(
    values: Values, unfinished: npt.NDArray[np.bool_], names: Sequence[str]
) -> tuple[int, list[float | None], tuple[str, ...]]:
    """Return how many have finished, the statistics of these names, and which are lower bounds."""
    sample = Censored(values, unfinished)
    found: list[float | None] = []
    at_least = []
    for name in names:
        percent = PERCENTILES.get(name)
        if sample.count < (1 if percent is None else needed(percent)):
            found.append(None)
            continue
        if percent is not None:
            value, bound = sample.percentile(float(percent))
        else:
            value, bound = sample.mean() if name.startswith("mean") else sample.max()
        found.append(value)
        at_least += [name] if bound else []
    return sample.count - sample.unfinished, found, tuple(at_least)


def _size_class() -> pl.Expr:
    """Return the number of a flow's size class; a flow without payload is in none (-1)."""
    above = (pl.col("size_bytes") > least for least in (0, *SIZES))
    return pl.sum_horizontal(is_above.cast(pl.Int8) for is_above in above) - 1


def _slowdown(above: int, upto: int | None) -> Callable[..., Slowdowns]:
    def of(values: Values, unfinished: npt.NDArray[np.bool_]) -> Slowdowns:
        names = ("mean", "p50", "p99", "max")
        finished, (mean, p50, p99, most), at_least = _bounded(values, unfinished, names)
        left = values.size - finished
        return Slowdowns(above, upto, finished, mean, p50, p99, most, left, at_least)

    return of


def _jobs(jobs: pl.DataFrame, end_s: float) -> list[JobStats]:
    found: list[JobStats] = []
    for (label, kind), part in jobs.partition_by(
        "label", "kind", as_dict=True, maintain_order=True
    ).items():
        measured = part.filter("measured")
        so_far = pl.col("jct_s").fill_null(end_s - pl.col("start_s"))
        under_way = pl.col("jct_s").is_null()
        times = measured.select(so_far.alias("times"), under_way.alias("under_way")).drop_nulls()
        left_out, not_started = part.height - measured.height, int(part["not_started"].sum())
        jct = _fct(times["times"].to_numpy(), times["under_way"].to_numpy())
        found.append(JobStats(str(label), str(kind), left_out, measured.height, not_started, jct))
    return found


def _rtts(rtts: pl.LazyFrame, flows: pl.LazyFrame) -> list[RttStats]:
    keys = ("transport", "locality")
    measured = flows.filter("measured")
    groups = measured.select(keys).unique().collect(engine="streaming").sort(keys)
    numbered = _Numbered(groups, keys)
    samples = rtts.join(measured.select("flow", group=numbered.number), on="flow")
    # Rows that are joined have no order, and the last digits of a mean depend on one.
    found = numbered.each(samples, pl.col("rtt_s"), lambda values: describe(np.sort(values)))[1:]
    return [
        RttStats(transport, locality, s.count, s.mean, s.p50, s.p90, s.p99, s.max)
        for (transport, locality), s in zip(groups.iter_rows(), found, strict=True)
        if s.count
    ]


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


def _busiest(links: pl.DataFrame) -> list[LinkUse]:
    """Return the links of the highest utilisation; equal ones by name."""
    names = list(LinkUse.__dataclass_fields__)
    order = links.sort("utilisation", "link", descending=[True, False], nulls_last=True)
    return [LinkUse(**row) for row in order.select(names).head(BUSIEST).iter_rows(named=True)]
