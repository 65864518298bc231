"""The measures of a study, each by its name.

A measure is one declaration. A sample gives a value per flow, job, port or sample in time, and
`mean`, `max` and percentiles such as `p99` are taken of these:

    @sampled("goodput", "bit/s", "what the application of a flow received, over its active time")
    def _goodput(result: Result) -> pl.LazyFrame:
        flows = result.scan("flows").filter("measured")
        return flows.select(pl.lit(ALL).alias("part"), pl.col("goodput_bps").alias("value"))

A third column, `unfinished`, tells which values are only lower bounds: of a flow that the end of
the run cut off, the time that it had taken by then (`linkpool.censored`).

A number that is counted or computed once per run is given by part and statistic:

    @counted("timeouts", "", "retransmission timeouts of the measured flows", ("total", "worst"))
    def _timeouts(result: Result) -> Iterator[Row]:
        yield ALL, "total", result.summary.overall.timeouts
        yield ALL, "worst", result.summary.overall.timeouts_max

Every measure is about the measured flows (`measured` in `flows.parquet`), as the summary is, and
about the links as `links.parquet` has them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import polars as pl

from linkpool.censored import Bounded, Censored
from linkpool.percentiles import needed
from linkpool.result import Result
from linkpool.summary import SIZES, size_class
from linkpool.unfinished import slowdown_so_far

ALL = "all"
"""The part of a measure that is about the whole run."""

Row: TypeAlias = "tuple[str, str, float | None]"
"""Part, statistic and value."""

SCHEMA = {
    "measure": pl.String,
    "part": pl.String,
    "statistic": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "count": pl.UInt32,
    "unfinished": pl.UInt32,
    "at_least": pl.Boolean,
}
"""The columns of the measured values of one run; `docs/study.md` explains them."""

_OF_SAMPLES = ("mean", "p50", "p95", "p99")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")


@dataclass(frozen=True)
class Measure:
    """A measure: a value, or a sample of values, of a run.

    Attributes:
        name: in study files and on the command line.
        unit: of the values: s, bit/s, packets, or "" for numbers without one.
        meaning: what is measured, as a clause.
        statistics: of a sample, those that are taken if none is named; otherwise all that it has.
        sample: returns the sample of a run, in columns `part` and `value`; None: it has none.
        rows: returns the values of a run; None: they are statistics of the sample.
        by_ratio: values are above 0 and heavy-tailed, so runs are compared by ratios: means over
            seeds are geometric, and intervals are those of logarithms.
        needs: tables of the scenario of which one must be there, or there is nothing to measure;
            empty: none.
        by_layer: its parts are pairs of layers, and none is the whole run.

    """

    name: str
    unit: str
    meaning: str
    statistics: tuple[str, ...]
    sample: Callable[[Result], pl.LazyFrame] | None = None
    rows: Callable[[Result], Iterator[Row]] | None = None
    by_ratio: bool = False
    needs: tuple[str, ...] = ()
    by_layer: bool = False

    def has(self, statistic: str) -> bool:
        """Tell whether it has a statistic: of a sample `mean`, `max` and every percentile."""
        if self.sample is None:
            return statistic in self.statistics
        return statistic in ("mean", "max") or _PERCENTILE.fullmatch(statistic) is not None


MEASURES: dict[str, Measure] = {}
"""Every measure by its name, in the order in which tables show them."""


def sampled(
    name: str,
    unit: str,
    meaning: str,
    needs: tuple[str, ...] = (),
    by_ratio: bool = False,
    by_layer: bool = False,
) -> Callable[[Callable[[Result], pl.LazyFrame]], Callable[[Result], pl.LazyFrame]]:
    """Declare a measure that has a value per flow, job, port or sample in time."""

    def declare(sample: Callable[[Result], pl.LazyFrame]) -> Callable[[Result], pl.LazyFrame]:
        MEASURES[name] = Measure(
            name,
            unit,
            meaning,
            _OF_SAMPLES,
            sample=sample,
            by_ratio=by_ratio,
            needs=needs,
            by_layer=by_layer,
        )
        return sample

    return declare


def counted(
    name: str,
    unit: str,
    meaning: str,
    statistics: tuple[str, ...],
    needs: tuple[str, ...] = (),
    by_layer: bool = False,
) -> Callable[[Callable[[Result], Iterator[Row]]], Callable[[Result], Iterator[Row]]]:
    """Declare a measure that has one value per part and statistic in each run."""

    def declare(rows: Callable[[Result], Iterator[Row]]) -> Callable[[Result], Iterator[Row]]:
        MEASURES[name] = Measure(
            name, unit, meaning, statistics, rows=rows, needs=needs, by_layer=by_layer
        )
        return rows

    return declare


@dataclass(frozen=True)
class Wanted:
    """A measure, the statistics that are wanted of it, and of which part; None: of every part."""

    measure: Measure
    statistics: tuple[str, ...]
    part: str | None = None


def wanted(name: str) -> Wanted:
    """Read the name of a measure, or of a statistic or part of it: `fct`, `fct.p99@up to 10 KB`.

    Raises:
        ValueError: there is none; the message names those that there are.

    >>> wanted("slowdown").statistics
    ('mean', 'p50', 'p95', 'p99')
    >>> wanted("slowdown.p99.9").statistics
    ('p99.9',)
    >>> wanted("utilisation.mean@edge, core").part
    'edge, core'

    """
    what, _, part = name.partition("@")
    head, _, statistic = what.partition(".")
    measure = MEASURES.get(head)
    if measure is None:
        raise ValueError(f"no measure {head!r}; there are {', '.join(MEASURES)}")
    if not statistic:
        return Wanted(measure, measure.statistics, part or None)
    if not measure.has(statistic):
        more = ", max and any percentile, as in p99.9" if measure.sample is not None else ""
        known = ", ".join(measure.statistics)
        raise ValueError(f"{head} has no statistic {statistic!r}; it has {known}{more}")
    return Wanted(measure, (statistic,), part or None)


def measure(result: Result, names: Sequence[str]) -> pl.DataFrame:
    """Measure a run: a row per measure, part and statistic, with the columns of `SCHEMA`.

    Args:
        result: the run.
        names: measures, or statistics and parts of them, in the order of the rows.

    A part of which there is nothing, such as flows of more than 10 MB, has no row. A percentile of
    fewer values than it needs (`linkpool.percentiles.needed`) has a row without a value.

    Columns: `value`; of a sample also `count`, how many values it has, and `unfinished`, how many
    of them are lower bounds (null: they cannot be); `at_least`: `value` is a lower bound too.

    """
    return pl.concat([_measure(result, wanted(name)) for name in names])


def _measure(result: Result, of: Wanted) -> pl.DataFrame:
    what, unit = of.measure.name, of.measure.unit
    rows: list[tuple[object, ...]] = []
    if of.measure.sample is not None:
        for part, values, can_be_cut_off in samples(of.measure.sample(result), of.part):
            cut_off = values.unfinished if can_be_cut_off else None
            for name in of.statistics:
                value, at_least = statistic_of(values, name) or (None, False)
                rows.append((what, part, name, unit, value, values.count, cut_off, at_least))
    elif of.measure.rows is not None:
        rows = [
            (what, part, name, unit, value, None, None, False)
            for part, name, value in of.measure.rows(result)
            if name in of.statistics and value is not None and of.part in (None, part)
        ]
    return pl.DataFrame(rows, SCHEMA, orient="row")


def samples(
    sample: pl.LazyFrame, wanted_part: str | None = None
) -> Iterator[tuple[str, Censored, bool]]:
    """Give name and values of each part of a sample, or of one; and if values may be bounds."""
    table = sample.drop_nulls("value").collect()
    can_be_cut_off = "unfinished" in table.columns
    for (part,), of in table.partition_by("part", as_dict=True, maintain_order=True).items():
        if wanted_part in (None, part):
            cut_off = of["unfinished"].to_numpy() if can_be_cut_off else np.zeros(of.height, bool)
            values = of["value"].cast(pl.Float64).to_numpy()
            yield str(part), Censored(values, cut_off), can_be_cut_off


def statistic_of(sample: Censored, name: str) -> Bounded | None:
    """Return a statistic of a sample; None: a percentile, which has too few values.

    Percentiles interpolate linearly, as in `stats.describe`.
    """
    if name == "mean":
        return sample.mean()
    if name == "max":
        return sample.max()
    percent = percentile(name)
    return sample.percentile(float(percent)) if sample.count >= needed(percent) else None


def percentile(name: str) -> Fraction:
    """Return the number of a percentile: 99.9 of `p99.9`."""
    match = _PERCENTILE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a percentile, as in p99.9")
    return Fraction(match[1])


def by_size(flows: pl.LazyFrame, value: pl.Expr, age: pl.Expr) -> pl.LazyFrame:
    """Return a sample with a value per flow: of all flows, and then of each class of sizes.

    Args:
        flows: measured flows; those without a size have no value.
        value: of a flow that has finished.
        age: the least that the value of a flow may be that had not finished when the run ended.

    """
    size, done = pl.col("size_bytes"), pl.col("end_s").is_not_null()
    each = flows.filter(size.is_not_null()).select(
        pl.when(done).then(value).otherwise(age).cast(pl.Float64).alias("value"),
        (~done).alias("unfinished"),
        "size_bytes",
    )
    parts = [each.with_columns(part=pl.lit(ALL))]
    for above, upto in zip((0, *SIZES), (*SIZES, None), strict=True):
        inside = (size > above) if upto is None else (size > above) & (size <= upto)
        parts.append(each.filter(inside).with_columns(part=pl.lit(size_class(above, upto))))
    return pl.concat(parts).select("part", "value", "unfinished")


def measured(result: Result) -> pl.LazyFrame:
    """Return the measured flows."""
    return result.scan("flows").filter("measured")


def by_layer(links: pl.LazyFrame, value: str) -> pl.LazyFrame:
    """Return a sample with a value per row of `links`: of each pair of layers, by direction."""
    part = pl.format("{}, {}", "layer", "to_layer")
    return links.select(part.alias("part"), pl.col(value).cast(pl.Float64).alias("value"))


@sampled("fct", "s", "completion time of flows from the first SYN, by size", by_ratio=True)
def _fct(result: Result) -> pl.LazyFrame:
    return by_size(measured(result), pl.col("fct_s"), pl.col("active_s"))


@sampled(
    "fct_established", "s", "completion time of flows from the SYN-ACK, by size", by_ratio=True
)
def _fct_established(result: Result) -> pl.LazyFrame:
    # Without a SYN-ACK the time has not begun.
    since = pl.col("start_s") + pl.col("active_s") - pl.col("established_s")
    return by_size(measured(result), pl.col("fct_established_s"), since.fill_null(0.0))


@sampled("slowdown", "", "completion time of flows over the ideal one, by size", by_ratio=True)
def _slowdown(result: Result) -> pl.LazyFrame:
    return by_size(measured(result), pl.col("slowdown"), slowdown_so_far())


@counted(
    "flows",
    "",
    "measured flows: all, those that finished, and those that did not",
    (
        "all",
        "finished",
        "unfinished",
        "failed",
    ),
)
def _flows(result: Result) -> Iterator[Row]:
    group = result.summary.overall
    yield ALL, "all", group.flows
    yield ALL, "finished", group.finished
    yield ALL, "unfinished", group.unfinished
    yield ALL, "failed", group.failed


@sampled("goodput", "bit/s", "what the application of a flow received, over its active time")
def _goodput(result: Result) -> pl.LazyFrame:
    in_period = 8.0 * pl.col("measured_bytes") / pl.col("measured_s")
    own = pl.when(pl.col("size_bytes").is_null()).then(in_period).otherwise("goodput_bps")
    return measured(result).select(pl.lit(ALL).alias("part"), own.alias("value"))


@counted("delivered", "bit/s", "payload acknowledged in the measured period, all flows", ("rate",))
def _delivered(result: Result) -> Iterator[Row]:
    yield ALL, "rate", result.summary.overall.delivered_bps


@counted("jain", "", "Jain's fairness index of the goodputs of flows", ("index",))
def _jain(result: Result) -> Iterator[Row]:
    yield ALL, "index", result.summary.overall.jain


@sampled(
    "jct",
    "s",
    "completion time of jobs, by label",
    needs=(
        "workload.partition-aggregate",
        "workload.collective",
        "workload.program",
        "workload.training",
    ),
    by_ratio=True,
)
def _jct(result: Result) -> pl.LazyFrame:
    under_way = pl.col("end_s").is_null()
    age = float(result.run["simulated_s"]) - pl.col("start_s")
    return (
        result.scan("jobs")
        .filter("measured")
        .select(
            pl.col("label").alias("part"),
            pl.when(under_way).then(age).otherwise("jct_s").alias("value"),
            under_way.alias("unfinished"),
        )
    )


@counted(
    "utilisation",
    "",
    "share of the links' rates used in the measured period, by layer",
    (
        "mean",
        "max",
    ),
    by_layer=True,
)
def _utilisation(result: Result) -> Iterator[Row]:
    for use in result.summary.layers:
        yield f"{use.layer}, {use.to_layer}", "mean", use.utilisation
        yield f"{use.layer}, {use.to_layer}", "max", use.utilisation_max


@sampled(
    "queue_max", "packets", "longest queue of each port in the whole run, by layer", by_layer=True
)
def _queue_max(result: Result) -> pl.LazyFrame:
    return by_layer(result.scan("links"), "max_queue_pkts")


@sampled(
    "queue",
    "packets",
    "samples of queues, by layer of the port",
    needs=("record.queue",),
    by_layer=True,
)
def _queue(result: Result) -> pl.LazyFrame:
    links = result.scan("links").select("link", "layer", "to_layer")
    start, end = result.period
    samples = result.scan("queue").filter(pl.col("time_s").is_between(start, end))
    return by_layer(samples.join(links, on="link"), "queue_pkts")


@counted("loss", "", "packets dropped by queues over packets offered to them, by layer", ("share",))
def _loss(result: Result) -> Iterator[Row]:
    links = result.links
    offered = int(links["packets"].sum()) + int(links["drops"].sum())
    yield ALL, "share", result.summary.drops / offered if offered else None
    for use in result.summary.layers:
        yield f"{use.layer}, {use.to_layer}", "share", use.loss


@counted(
    "timeouts",
    "",
    "retransmission timeouts, of SYNs too; of the worst flow",
    (
        "total",
        "worst",
    ),
)
def _timeouts(result: Result) -> Iterator[Row]:
    yield ALL, "total", result.summary.overall.timeouts
    yield ALL, "worst", result.summary.overall.timeouts_max


@counted(
    "retransmissions",
    "",
    "data segments sent again; over all data segments",
    (
        "total",
        "share",
    ),
)
def _retransmissions(result: Result) -> Iterator[Row]:
    group = result.summary.overall
    yield ALL, "total", group.retransmits
    yield ALL, "share", group.retransmits / group.segments if group.segments else None


@sampled(
    "silence",
    "s",
    "longest time after the first change of a link in which a flow got nothing acknowledged",
    needs=("record.rate",),
)
def _silence(result: Result) -> pl.LazyFrame:
    return _around_the_change(result).select(
        pl.lit(ALL).alias("part"), pl.col("silence_s").alias("value")
    )


@sampled(
    "goodput_kept",
    "",
    "goodput of a flow after the first change of a link over its goodput before",
    needs=("record.rate",),
)
def _goodput_kept(result: Result) -> pl.LazyFrame:
    kept = pl.col("after_bps") / pl.col("before_bps")
    return _around_the_change(result).select(pl.lit(ALL).alias("part"), kept.alias("value"))


@counted(
    "failure",
    "",
    "after the first change of a link: share of flows that kept less than half of their goodput, "
    "and share of the goodput of all flows that was lost",
    (
        "hit",
        "lost",
    ),
    needs=("record.rate",),
)
def _failure(result: Result) -> Iterator[Row]:
    flow = pl.col("after_bps") < 0.5 * pl.col("before_bps")
    lost = 1.0 - pl.col("after_bps").sum() / pl.col("before_bps").sum()
    hit, share = _around_the_change(result).select(flow.mean(), lost.alias("lost")).collect().row(0)
    yield ALL, "hit", hit
    yield ALL, "lost", share if hit is not None else None


def _around_the_change(result: Result) -> pl.LazyFrame:
    """Return a row per flow with goodput before the first change of a link during the run.

    Columns: `before_bps` and `after_bps`, means over the intervals of `[record.rate]` in the
    measured period that end by the change, and that end after it; `silence_s`, the longest time
    of intervals after the change without a byte. Flows without a byte before are left out.
    """
    start, end = result.period
    changes = result.changes.filter(pl.col("time_s") > 0.0)
    at = float(changes["time_s"].min() or 0.0)  # type: ignore[arg-type]
    rates = result.scan("rate").filter(pl.col("time_s").is_between(start, end, closed="right"))
    flows = result.scan("flows").filter("measured").select("flow")
    of_flow = rates.group_by("flow", "time_s").agg(pl.col("goodput_bps").sum()).sort("time_s")
    after = pl.col("time_s") > at
    goodput = pl.col("goodput_bps")
    # In intervals: from the change or a byte to the next byte, or to the end.
    step = pl.col("time_s").diff().median()
    heard = pl.col("time_s").filter(after & (goodput > 0.0))
    ends = pl.concat_list(pl.lit(at), heard.implode(), (pl.col("time_s").max() + step))
    pauses = (ends.list.diff().list.max() / step).round() - 1.0
    table = of_flow.group_by("flow", maintain_order=True).agg(
        before_bps=goodput.filter(~after).mean(),
        after_bps=goodput.filter(after).mean(),
        silence_s=(pauses.clip(lower_bound=0.0) * step).first(),
    )
    return table.join(flows, on="flow").filter(pl.col("before_bps") > 0.0).sort("flow")


DEFAULT = tuple(name for name, one in MEASURES.items() if not one.needs)
"""The measures of a study that names none: all that every run has."""
