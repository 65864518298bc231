"""Take the measures of a run that `linkpool.study.measures` declares.

A sample is an iterator of its parts:

    @sampled("goodput")
    def _goodput(result: Result) -> Iterator[Part]:
        measured, goodput = result.numbers("flows", "measured", "goodput_bps")
        yield Part.of(ALL, goodput[measured == 1.0])

`Part.unfinished` tells which values are only lower bounds: of a flow that the end of the run cut
off, the time that it had taken by then (`linkpool.censored`).

What is counted or computed once per run is given by part and statistic:

    @counted("timeouts")
    def _timeouts(result: Result) -> Iterator[Row]:
        yield ALL, "total", result.summary.overall.timeouts
        yield ALL, "worst", result.summary.overall.timeouts_max

Studies have many short runs: columns are arrays of numpy, as to ask polars for one takes longer
than such a run.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool.censored import Bounded, Censored
from linkpool.percentiles import needed
from linkpool.result import Result
from linkpool.study.measures import ALL, Wanted, percentile, wanted
from linkpool.summary import SIZES, size_class

Row: TypeAlias = "tuple[str, str, float | None]"
"""Part, statistic and value."""

Values: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class Part(NamedTuple):
    """A part of a sample.

    Attributes:
        name: of the part.
        values: finite numbers.
        unfinished: which of them are lower bounds; None: none can be.

    """

    name: str
    values: Values
    unfinished: Flags | None = None

    @classmethod
    def of(cls, name: str, values: Values, unfinished: Flags | None = None) -> "Part":
        """Return the values that are there: NaN stands for none."""
        there = ~np.isnan(values)
        if there.all():
            return cls(name, values, unfinished)
        return cls(name, values[there], None if unfinished is None else unfinished[there])

    def censored(self) -> Censored:
        """Return the values as a sample with lower bounds."""
        if self.unfinished is None:
            return Censored(self.values, np.zeros(self.values.size, bool))
        return Censored(self.values, self.unfinished)


Sampling: TypeAlias = Callable[[Result], Iterator[Part]]
Counting: TypeAlias = Callable[[Result], Iterator[Row]]

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

SAMPLES: dict[str, Sampling] = {}
"""By the name of a measure that is a sample: what gives its parts."""

COUNTS: dict[str, Counting] = {}
"""By the name of another measure: what gives its values."""


def sampled(name: str) -> Callable[[Sampling], Sampling]:
    """Say that a function gives the sample of the measure of this name."""

    def register(function: Sampling) -> Sampling:
        SAMPLES[name] = function
        return function

    return register


def counted(name: str) -> Callable[[Counting], Counting]:
    """Say that a function gives the values of the measure of this name."""

    def register(function: Counting) -> Counting:
        COUNTS[name] = function
        return function

    return register


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
    rows = [row for name in names for row in _rows(result, wanted(name))]
    return pl.DataFrame(rows, SCHEMA, orient="row")


def _rows(result: Result, of: Wanted) -> Iterator[tuple[object, ...]]:
    what, unit = of.measure.name, of.measure.unit
    if of.measure.is_sample:
        for part in samples(SAMPLES[what](result), of.part):
            values = part.censored()
            cut_off = None if part.unfinished is None else values.unfinished
            for name in of.statistics:
                value, at_least = statistic_of(values, name) or (None, False)
                yield what, part.name, name, unit, value, values.count, cut_off, at_least
    else:
        for part_name, name, value in COUNTS[what](result):
            if name in of.statistics and value is not None and of.part in (None, part_name):
                yield what, part_name, name, unit, value, None, None, False


def samples(sample: Iterator[Part], wanted_part: str | None = None) -> Iterator[Part]:
    """Give each part of a sample in which there is anything, or one part of it."""
    for part in sample:
        if wanted_part in (None, part.name) and part.values.size:
            yield part


def together(parts: Sequence[Part]) -> Iterator[Part]:
    """Put the parts of several samples that have one name together, in order of their first."""
    for name in dict.fromkeys(part.name for part in parts):
        mine = [part for part in parts if part.name == name]
        bounds = [part.unfinished for part in mine if part.unfinished is not None]
        values = np.concatenate([part.values for part in mine])
        yield Part(name, values, np.concatenate(bounds) if bounds else None)


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


class _Flows(NamedTuple):
    """The measured flows of a run that have a size.

    Attributes:
        sizes: their payloads, bytes.
        unfinished: which had not finished when the run ended.
        columns: more columns of the table.

    """

    sizes: Values
    unfinished: Flags
    columns: list[Values]

    @classmethod
    def of(cls, result: Result, *names: str) -> "_Flows":
        measured, sizes, ends, *more = result.numbers(
            "flows", "measured", "size_bytes", "end_s", *names
        )
        chosen = (measured == 1.0) & ~np.isnan(sizes)
        return cls(sizes[chosen], np.isnan(ends[chosen]), [column[chosen] for column in more])

    def by_size(self, value: Values, so_far: Values) -> Iterator[Part]:
        """Give a sample with a value per flow: of all flows, and then of each class of sizes.

        Args:
            value: of a flow that has finished.
            so_far: the least that the value of a flow may be that had not when the run ended.

        """
        values = np.where(self.unfinished, so_far, value)
        yield Part.of(ALL, values, self.unfinished)
        for above, upto in zip((0, *SIZES), (*SIZES, None), strict=True):
            inside = self.sizes > above
            if upto is not None:
                inside &= self.sizes <= upto
            yield Part.of(size_class(above, upto), values[inside], self.unfinished[inside])


def by_layer(values: Values, layers: Sequence[tuple[str, str]]) -> Iterator[Part]:
    """Give a sample with a value per row: of each pair of layers, by direction."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(layers))}
    of_row = np.array([numbers[name] for name in layers])
    for (layer, to_layer), number in numbers.items():
        yield Part.of(f"{layer}, {to_layer}", values[of_row == number])


def _by_label(
    result: Result, table: str, chosen: Flags, times: Values, unfinished: Flags
) -> Iterator[Part]:
    """Give the parts of the chosen rows of a table that have one label, in order of the first.

    Workloads may be called the same, as those of one kind without labels are. Then a part for
    each of them, by its number, follows the part of all together.
    """
    (labels,) = result.columns(table, "label")
    (workloads,) = result.numbers(table, "workload")
    of_row = np.array(labels, object)
    for label in dict.fromkeys(of_row[chosen]):
        mine = chosen & (of_row == label)
        yield Part.of(label, times[mine], unfinished[mine])
        numbers = np.unique(workloads[mine])
        for number in numbers if numbers.size > 1 else ():
            own = mine & (workloads == number)
            yield Part.of(f"{label}, workload {number:.0f}", times[own], unfinished[own])


def _parts(table: pl.DataFrame) -> Iterator[Part]:
    """Give the parts of a table with columns `part` and `value`, in order of their first rows."""
    for (name,), of in table.partition_by("part", as_dict=True, maintain_order=True).items():
        yield Part.of(str(name), of["value"].cast(pl.Float64).fill_null(np.nan).to_numpy())


@sampled("fct")
def _fct(result: Result) -> Iterator[Part]:
    flows = _Flows.of(result, "fct_s", "active_s")
    yield from flows.by_size(*flows.columns)


@sampled("fct_established")
def _fct_established(result: Result) -> Iterator[Part]:
    flows = _Flows.of(result, "fct_established_s", "start_s", "active_s", "established_s")
    times, start, active, established = flows.columns
    # Without a SYN-ACK the time has not begun.
    yield from flows.by_size(times, np.nan_to_num(start + active - established, nan=0.0))


@sampled("slowdown")
def _slowdown(result: Result) -> Iterator[Part]:
    flows = _Flows.of(result, "slowdown", "active_s", "ideal_fct_s")
    slowdown, active, ideal = flows.columns
    yield from flows.by_size(slowdown, np.maximum(active / ideal, 1.0))


@counted("flows")
def _flows(result: Result) -> Iterator[Row]:
    group = result.summary.overall
    yield ALL, "all", group.flows
    yield ALL, "finished", group.finished
    yield ALL, "unfinished", group.unfinished
    yield ALL, "failed", group.failed


@sampled("goodput")
def _goodput(result: Result) -> Iterator[Part]:
    names = ("measured", "size_bytes", "measured_bytes", "measured_s", "goodput_bps")
    measured, sizes, delivered, time, goodput = result.numbers("flows", *names)
    own = goodput.copy()
    unlimited = np.isnan(sizes) & (measured == 1.0)
    own[unlimited] = 8.0 * delivered[unlimited] / time[unlimited]
    yield Part.of(ALL, own[measured == 1.0])


@counted("delivered")
def _delivered(result: Result) -> Iterator[Row]:
    yield ALL, "rate", result.summary.overall.delivered_bps


@counted("load")
def _load(result: Result) -> Iterator[Row]:
    yield ALL, "delivered", result.summary.overall.delivered_load


@counted("jain")
def _jain(result: Result) -> Iterator[Row]:
    yield ALL, "index", result.summary.overall.jain


@sampled("jct")
def _jct(result: Result) -> Iterator[Part]:
    measured, start, end, time = result.numbers("jobs", "measured", "start_s", "end_s", "jct_s")
    under_way = np.isnan(end)
    times = np.where(under_way, float(result.run["simulated_s"]) - start, time)
    yield from _by_label(result, "jobs", measured == 1.0, times, under_way)


@sampled("ttft")
def _ttft(result: Result) -> Iterator[Part]:
    names = ("measured", "arrival_s", "first_token_s", "ttft_s")
    measured, arrival, first, time = result.numbers("requests", *names)
    waits = np.isnan(first)
    times = np.where(waits, float(result.run["simulated_s"]) - arrival, time)
    yield from _by_label(result, "requests", measured == 1.0, times, waits)


@sampled("tpot")
def _tpot(result: Result) -> Iterator[Part]:
    names = ("measured", "output_tokens", "first_token_s", "end_s", "tpot_s")
    measured, tokens, first, end, time = result.numbers("requests", *names)
    unfinished = np.isnan(end)
    # Without a first token the time has not begun.
    so_far = np.nan_to_num(float(result.run["simulated_s"]) - first, nan=0.0)
    times = np.where(unfinished, so_far / np.maximum(tokens - 1.0, 1.0), time)
    yield from _by_label(result, "requests", (measured == 1.0) & (tokens > 1.0), times, unfinished)


@counted("utilisation")
def _utilisation(result: Result) -> Iterator[Row]:
    for use in result.summary.layers:
        yield f"{use.layer}, {use.to_layer}", "mean", use.utilisation
        yield f"{use.layer}, {use.to_layer}", "max", use.utilisation_max


@sampled("queue_max")
def _queue_max(result: Result) -> Iterator[Part]:
    (longest,) = result.numbers("links", "max_queue_pkts")
    layers = result.columns("links", "layer", "to_layer")
    yield from by_layer(longest, list(zip(*layers, strict=True)))


@sampled("queue")
def _queue(result: Result) -> Iterator[Part]:
    links = result.scan("links").select("link", "layer", "to_layer")
    start, end = result.period
    samples = result.scan("queue").filter(pl.col("time_s").is_between(start, end))
    part = pl.format("{}, {}", "layer", "to_layer")
    of_layers = samples.join(links, on="link", maintain_order="left")
    yield from _parts(of_layers.select(part.alias("part"), value="queue_pkts").collect())


@counted("loss")
def _loss(result: Result) -> Iterator[Row]:
    packets, drops = result.numbers("links", "packets", "drops")
    offered = int(packets.sum()) + int(drops.sum())
    yield ALL, "share", result.summary.drops / offered if offered else None
    for use in result.summary.layers:
        yield f"{use.layer}, {use.to_layer}", "share", use.loss


@counted("timeouts")
def _timeouts(result: Result) -> Iterator[Row]:
    yield ALL, "total", result.summary.overall.timeouts
    yield ALL, "worst", result.summary.overall.timeouts_max


@counted("retransmissions")
def _retransmissions(result: Result) -> Iterator[Row]:
    group = result.summary.overall
    yield ALL, "total", group.retransmits
    yield ALL, "share", group.retransmits / group.segments if group.segments else None


@sampled("silence")
def _silence(result: Result) -> Iterator[Part]:
    yield Part.of(ALL, _around_the_change(result).collect()["silence_s"].to_numpy())


@sampled("goodput_kept")
def _goodput_kept(result: Result) -> Iterator[Part]:
    kept = pl.col("after_bps") / pl.col("before_bps")
    table = _around_the_change(result).select(kept=kept.fill_null(np.nan)).collect()
    yield Part.of(ALL, table["kept"].to_numpy())


@counted("failure")
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
