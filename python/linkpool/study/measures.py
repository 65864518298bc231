"""The measures of a study, each by its name: what study files and command lines may ask for.

A measure is declared here, in `MEASURES`, and taken in `linkpool.study.measuring`. To read and plan
a study needs no more than its declaration, and none of the libraries that work with numbers.

A sample gives a value per flow, job, port or sample in time, and `mean`, `max` and percentiles such
as `p99` are taken of these. What is counted, or computed once per run, has statistics of its own.

Every measure is about the measured flows (`measured` in `flows.parquet`), as the summary is, and
about the links as `links.parquet` has them.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from linkpool.summary import SIZES, size_class

ALL = "all"
"""The part of a measure that is about the whole run."""

OF_SAMPLES = ("mean", "p50", "p95", "p99")
"""The statistics of a sample that are taken if none is named."""

_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")


@dataclass(frozen=True)
class Measure:
    """A measure: a value, or a sample of values, of a run.

    Attributes:
        name: in study files and on the command line.
        unit: of the values: s, bit/s, packets, or "" for numbers without one.
        meaning: what is measured, as a clause.
        counts: the statistics of what is counted once per run; empty: it is a sample.
        by_ratio: values are above 0 and heavy-tailed, so runs are compared by ratios: means over
            seeds are geometric, and intervals are those of logarithms.
        needs: tables of the scenario of which one must be there, or there is nothing to measure;
            empty: none.
        by: what its parts are beside the whole run: classes of sizes, pairs of layers, or labels of
            workloads; empty: it has none.
        whole: whether it has a value of the whole run.

    """

    name: str
    unit: str
    meaning: str
    counts: tuple[str, ...] = ()
    by_ratio: bool = False
    needs: tuple[str, ...] = ()
    by: Literal["", "size", "layer", "label"] = ""
    whole: bool = True

    @property
    def is_sample(self) -> bool:
        """Whether it has a value per flow, job, port or sample in time."""
        return not self.counts

    @property
    def statistics(self) -> tuple[str, ...]:
        """Of a sample those that are taken if none is named, of another measure all it has."""
        return self.counts or OF_SAMPLES

    @property
    def parts(self) -> tuple[str, ...] | None:
        """The names of all parts that it can have; None: a scenario has them, layers or labels."""
        if self.by in ("layer", "label"):
            return None
        ends = zip((0, *SIZES), (*SIZES, None), strict=True)
        return (ALL, *(size_class(*of) for of in ends)) if self.by else (ALL,)

    def has(self, statistic: str) -> bool:
        """Tell whether it has a statistic: of a sample `mean`, `max` and every percentile."""
        if not self.is_sample:
            return statistic in self.counts
        return statistic in ("mean", "max") or _PERCENTILE.fullmatch(statistic) is not None


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure(
            "fct",
            "s",
            "completion time of flows from the first SYN, by size",
            by_ratio=True,
            by="size",
        ),
        Measure(
            "fct_established",
            "s",
            "completion time of flows from the SYN-ACK, by size",
            by_ratio=True,
            by="size",
        ),
        Measure(
            "slowdown",
            "",
            "completion time of flows over the ideal one, by size",
            by_ratio=True,
            by="size",
        ),
        Measure(
            "flows",
            "",
            "measured flows: all, those that finished, and those that did not",
            counts=("all", "finished", "unfinished", "failed"),
        ),
        Measure(
            "goodput", "bit/s", "what the application of a flow received, over its active time"
        ),
        Measure(
            "delivered",
            "bit/s",
            "payload acknowledged in the measured period, all flows",
            counts=("rate",),
        ),
        Measure(
            "load",
            "",
            "payload acknowledged in the measured period over what the links from all hosts carry",
            counts=("delivered",),
        ),
        Measure(
            "jain",
            "",
            "Jain's fairness index of the goodputs of flows",
            counts=("index",),
        ),
        Measure(
            "jct",
            "s",
            "completion time of jobs, by label",
            by_ratio=True,
            by="label",
            whole=False,
            needs=(
                "workload.partition-aggregate",
                "workload.collective",
                "workload.program",
                "workload.training",
            ),
        ),
        Measure(
            "ttft",
            "s",
            "time to the first token of requests, by label",
            by_ratio=True,
            by="label",
            whole=False,
            needs=("workload.inference",),
        ),
        Measure(
            "tpot",
            "s",
            "time per output token of requests behind the first, by label",
            by_ratio=True,
            by="label",
            whole=False,
            needs=("workload.inference",),
        ),
        Measure(
            "utilisation",
            "",
            "share of the links' rates used in the measured period, by layer",
            counts=("mean", "max"),
            by="layer",
            whole=False,
        ),
        Measure(
            "queue_max",
            "packets",
            "longest queue of each port in the whole run, by layer",
            by="layer",
            whole=False,
        ),
        Measure(
            "queue",
            "packets",
            "samples of queues, by layer of the port",
            needs=("record.queue",),
            by="layer",
            whole=False,
        ),
        Measure(
            "loss",
            "",
            "packets dropped by queues over packets offered to them, by layer",
            counts=("share",),
            by="layer",
        ),
        Measure(
            "timeouts",
            "",
            "retransmission timeouts, of SYNs too; of the worst flow",
            counts=("total", "worst"),
        ),
        Measure(
            "retransmissions",
            "",
            "data segments sent again; over all data segments",
            counts=("total", "share"),
        ),
        Measure(
            "silence",
            "s",
            "longest time after the first change of a link in which a flow got nothing "
            "acknowledged",
            needs=("record.rate",),
        ),
        Measure(
            "goodput_kept",
            "",
            "goodput of a flow after the first change of a link over its goodput before",
            needs=("record.rate",),
        ),
        Measure(
            "failure",
            "",
            "after the first change of a link: share of flows that kept less than half of their "
            "goodput, and share of the goodput of all flows that was lost",
            counts=("hit", "lost"),
            needs=("record.rate",),
        ),
    )
}
"""Every measure by its name, in the order in which tables show them."""

DEFAULT = tuple(name for name, one in MEASURES.items() if not one.needs)
"""The measures of a study that names none: all that every run has."""


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
    >>> wanted("fct.p99@a")
    Traceback (most recent call last):
    ValueError: fct has no part 'a'; it has all, up to 10 KB, up to 100 KB, up to 1 MB, ...

    """
    what, at, part = name.partition("@")
    head, _, statistic = what.partition(".")
    measure = MEASURES.get(head)
    if measure is None:
        raise ValueError(f"no measure {head!r}; there are {', '.join(MEASURES)}")
    if statistic and not measure.has(statistic):
        more = ", max and any percentile, as in p99.9" if measure.is_sample else ""
        known = ", ".join(measure.statistics)
        raise ValueError(f"{head} has no statistic {statistic!r}; it has {known}{more}")
    if at and measure.parts is not None and part not in measure.parts:
        raise ValueError(f"{head} has no part {part!r}; it has {', '.join(measure.parts)}")
    return Wanted(measure, (statistic,) if statistic else measure.statistics, part if at else None)


@cache
def percentile(name: str) -> Fraction:
    """Return the number of a percentile: 99.9 of `p99.9`."""
    match = _PERCENTILE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a percentile, as in p99.9")
    return Fraction(match[1])
