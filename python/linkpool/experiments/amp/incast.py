"""AMP, Figures 2 and 8: incast in the paper's Figure 1 topology; and with the authors' faults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.amp import setting
from linkpool.experiments.rows import ratio, span
from linkpool.experiments.scenarios import scenario
from linkpool.result import Result
from linkpool.stats import Sample, describe
from linkpool.study import style
from linkpool.study.claims import ORDER, Ledger, alike, cases, grade, order_of_magnitude, together
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Value, dumps
from linkpool.units import show_number, show_seconds

SIZES = {"64KiB": 65_536, "128KiB": 131_072, "256KiB": 262_144, "512KiB": 524_288, "1MiB": 1 << 20}
FLOWS = (10, 20, 30, 40)
BURSTS = 20
COLUMNS = declared.columns("amp", "incast")
SIZE, K = "128KiB", 30
"""Of which the text gives numbers."""


@dataclass(frozen=True)
class Load:
    """One kind of incast run; `keys` are further settings of its transport."""

    scheme: str
    size: str
    k: int
    delay: str
    keys: Mapping[str, Value] = field(default_factory=dict)

    def point(self, seed: int, bursts: int) -> Point:
        """Return the run of this load with a seed."""
        keys: Keys = {"delay": self.delay, "scheme": self.scheme, "size": self.size, "k": self.k}
        transport = setting.transport(self.scheme, self.keys)
        written = scenario("amp", "incast", bursts=bursts, transport=transport, **keys)
        work = self.k * SIZES[self.size] / 1400 * bursts
        return Point(keys, dumps(written), seed, float(bursts), work)


def points(loads: Sequence[Load], seeds: Sequence[int], bursts: int) -> list[Point]:
    """Return the runs of all loads; single-path incast, where only ties are random, runs once."""
    return [
        load.point(seed, bursts)
        for load in loads
        for seed in (seeds[:1] if load.scheme in setting.SINGLE_PATH else seeds)
    ]


def flows(result: Result) -> pl.DataFrame:
    """Return the columns of a run's flows that the analysis keeps."""
    kept = ("fct_established_s", "timeouts", "retransmits")
    return result.flows.select(*kept, pl.col("suppressions").cast(pl.UInt32))


class Cells:
    """Statistics of the flows by scheme, size and k, at one delay."""

    def __init__(self, data: pl.DataFrame) -> None:
        """Take the rows of one delay."""
        parts = data.partition_by("scheme", "size", "k", as_dict=True)
        self._rows = {(str(s), str(z), int(k)): rows for (s, z, k), rows in parts.items()}
        self._nothing = data.clear()

    def rows(self, scheme: str, size: str = SIZE, k: int = K) -> pl.DataFrame:
        """Return the flows of a cell."""
        return self._rows.get((scheme, size, k), self._nothing)

    def fct(self, scheme: str, size: str = SIZE, k: int = K) -> Sample:
        """Describe the completion times, in seconds and without handshake, of finished flows."""
        return _fct(self.rows(scheme, size, k))

    def mean(self, scheme: str, size: str = SIZE, k: int = K) -> float | None:
        """Return the mean completion time in seconds."""
        return self.fct(scheme, size, k).mean

    def ratio(self, scheme: str, other: str, size: str, k: int) -> float | None:
        """Return a scheme's mean completion time over another's."""
        return ratio(self.mean(scheme, size, k), self.mean(other, size, k))

    def ratios(
        self, schemes: Sequence[str], other: str, sizes: Sequence[str], ks: Sequence[int]
    ) -> list[float]:
        """Return those ratios of all cells that there are."""
        found = [
            self.ratio(scheme, other, size, k) for size in sizes for k in ks for scheme in schemes
        ]
        return [value for value in found if value is not None]

    def shown(self, scheme: str, size: str = SIZE, k: int = K) -> str:
        """Write a mean completion time with its spread and the flows that it leaves out."""
        rows = self.rows(scheme, size, k)
        mean = _fct(rows).mean
        if mean is None:
            return "no finished flow"
        text = f"{1e3 * mean:.3g} ms"
        seeds = [m for part in rows.partition_by("seed") if (m := _fct(part).mean) is not None]
        if len(seeds) > 1:
            text += f" (seeds: {1e3 * min(seeds):.3g} to {1e3 * max(seeds):.3g})"
        unfinished = rows["fct_established_s"].null_count()
        return text + (f", {unfinished} unfinished left out" if unfinished else "")

    def spread_ms(self, scheme: str, size: str, k: int) -> style.Spread:
        """Return percentiles and the mean of the completion times of finished flows, in ms."""
        ms = 1e3 * self.rows(scheme, size, k)["fct_established_s"]
        low, median, high = (ms.quantile(quantile, "linear") for quantile in (0.1, 0.5, 0.9))
        mean = self.mean(scheme, size, k)
        return style.Spread(low, median, high, None if mean is None else 1e3 * mean)


def _fct(rows: pl.DataFrame) -> Sample:
    return describe(rows["fct_established_s"].drop_nulls().to_numpy())


@dataclass(frozen=True)
class Incast(setting.Delayed):
    """An experiment that runs every scheme with every size, k and delay."""

    schemes: tuple[str, ...]
    sizes: tuple[str, ...]
    ks: tuple[int, ...] = FLOWS
    bursts: int = BURSTS
    columns: ClassVar = COLUMNS

    def points(self, seeds: Sequence[int]) -> list[Point]:
        """Return the runs of every scheme, size, k, delay and seed."""
        loads = [
            Load(scheme, size, k, delay)
            for delay in self.delays
            for size in self.sizes
            for k in self.ks
            for scheme in self.schemes
        ]
        return points(loads, seeds, self.bursts)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return a row per flow."""
        return flows(result)

    def frame(self) -> Frame:
        """Return a panel per size: medians, 10th to 90th percentile of flows, and means.

        Figures 2 and 8 have bars to the mean, with whiskers of one standard deviation. Where that
        exceeds the mean, as with timeouts, the lower end of such a whisker is negative, which no
        logarithmic axis can show; and a mean may be above the 90th percentile.
        """

        def panel(size: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = Cells(data)
                of = {s: [cells.spread_ms(s, size, k) for k in self.ks] for s in self.schemes}
                style.spreads(axes, [str(k) for k in self.ks], of)
                style.plain_log(axes, bottom=0.1)

            label = "FCT (ms): median, p10 to p90;\nmean (dash)"
            return Panel(paint, f"{size}, {{}} links", "flows in a burst", label)

        return Frame([panel(size) for size in self.sizes], self.title, (2.6, 2.3))


def _judge_fct(
    ledger: Ledger, cells: Cells, of: str, names: tuple[str, str], **words: object
) -> None:
    """Judge the mean completion time of a scheme and its deviation."""
    fct = cells.fct(of)
    ledger.judge(names[0], cells.shown(of), fct.mean, **words)
    ledger.judge(names[1], show_seconds(fct.sd), fct.sd, **words)


def _judge_timeouts(ledger: Ledger, cells: Cells, scheme: str, name: str, **words: object) -> None:
    """Judge the most timeouts of a flow, and their 90th percentile."""
    counts = cells.rows(scheme)["timeouts"]
    worst, p90 = max(counts.to_list(), default=None), counts.quantile(0.9, "linear")
    ledger.judge(name, f"at most {worst} in a flow", worst, scheme=scheme, **words)
    ledger.judge(f"{name}-p90", show_number(p90), p90, scheme=scheme)


@dataclass(frozen=True)
class Fig2(Incast):
    """The claims of section 3.1."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge mean and deviation at k = 30, and the ratio over all k."""
        cells = Cells(data)
        _judge_fct(ledger, cells, "dctcp", ("k30-dctcp", "k30-dctcp-sd"))
        for scheme in ("dcm", "xmp"):
            _judge_fct(ledger, cells, scheme, ("k30-{scheme}", "k30-{scheme}-sd"), scheme=scheme)
        slower = [r >= ORDER for r in cells.ratios(("dcm", "xmp"), "dctcp", (SIZE,), self.ks)]
        ledger.judge("orders", f"a factor of 10 or more in {cases(slower)}", slower)


DRAWN = ("128KiB", "256KiB", "512KiB")
"""The sizes of the three panels of Figure 8; 64 KB and 1 MB are in its text only."""


@dataclass(frozen=True)
class Fig8(Incast):
    """The claims of section 5.2 on incast."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim at each delay."""
        cells = Cells(data)
        _judge_fct(ledger, cells, "amp", ("k30-amp", "k30-amp-sd"))
        for scheme in ("xmp", "dcm"):
            _judge_fct(ledger, cells, scheme, ("k30-{scheme}", "k30-{scheme}-sd"), scheme=scheme)
        amp = cells.rows("amp")
        hit = amp.filter(pl.col("timeouts") > 0).height
        few = amp.height > 0 and hit <= 0.01 * amp.height
        none = grade(amp.height > 0 and hit == 0, few, "none; partly: at most 1%")
        shown = f"{hit if amp.height else None} of {amp.height} flows met one"
        ledger.judge("k30-amp-timeouts", shown, none)
        for scheme, most in (("xmp", 10), ("dcm", 16)):
            _judge_timeouts(ledger, cells, scheme, "k30-{scheme}-timeouts", most_of_one=most)
        shown = "mean FCT of AMP over DCTCP's: "
        ratios = cells.ratios(("amp",), "dctcp", DRAWN, [k for k in self.ks if k < 40])
        ledger.judge("as-dctcp", shown + span(ratios), [r <= 1.25 for r in ratios])
        ratios = cells.ratios(("amp",), "dctcp", DRAWN, (40,))
        ledger.judge("k40", shown + span(ratios), [1.0 < r <= 2.0 for r in ratios])
        orders = [r >= ORDER for r in cells.ratios(("xmp", "dcm"), "amp", DRAWN, self.ks)]
        ledger.judge("orders", f"a factor of 10 or more in {cases(orders)}", orders)
        self._small(ledger, cells)
        self._large(ledger, cells)

    def _small(self, ledger: Ledger, cells: Cells) -> None:
        ratios = cells.ratios(("amp", "xmp", "dcm"), "dctcp", ("64KiB",), self.ks)
        shown = f"mean FCT over DCTCP's: {span(ratios)}"
        ledger.judge("64KB-alike", shown, [r <= 1.25 for r in ratios])
        amp = pl.concat([cells.rows("amp", "64KiB", k) for k in self.ks])
        flows, suppressed = amp.height, amp.filter(pl.col("suppressions") > 0).height
        some, few = flows > 0, flows > 0 and suppressed <= 0.05 * flows
        note = "in no flow; partly: in at most 5% of them"
        never = grade(some and suppressed == 0, few, note)
        ledger.judge("64KB-suppression", f"{suppressed} of {flows} flows", never)

    def _large(self, ledger: Ledger, cells: Cells) -> None:
        at = ("1MiB", K)
        xmp, dcm = (cells.ratio(scheme, "amp", *at) for scheme in ("xmp", "dcm"))
        shown = f"AMP {cells.shown('amp', *at)}, DCTCP {cells.shown('dctcp', *at)}; "
        shown += f"XMP {show_number(xmp)} times AMP's, DCM {show_number(dcm)} times"
        as_good = alike(cells.mean("amp", *at), cells.mean("dctcp", *at))
        judged = together(as_good, order_of_magnitude(xmp), order_of_magnitude(dcm))
        ledger.judge("1MB", shown, judged)


MOST_TIMEOUTS = {"xmp": 10, "dcm": 16}
"""The most timeouts of a flow in the paper."""

SETS = {"": "no fault", "-acks": "the faults of acknowledgments", "-faults": "all faults"}
"""Ends of the names of schemes, and how the figure names them."""


@dataclass(frozen=True)
class Faults(Incast):
    """Hold the completion times and timeouts with each set of faults against the paper."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the paper's numbers with each set of faults."""
        cells = Cells(data)
        for base, timeouts in MOST_TIMEOUTS.items():
            for scheme in (f"{base}{faults}" for faults in list(SETS)[1:]):
                names = ("{scheme}-mean", "{scheme}-sd")
                _judge_fct(ledger, cells, scheme, names, scheme=scheme)
                _judge_timeouts(ledger, cells, scheme, "{scheme}-timeouts", timeouts=timeouts)
        shown = "; ".join(cells.shown(f"amp{faults}") for faults in SETS)
        ledger.judge("amp-unharmed", shown, cells.mean("amp-faults"), cells.mean("amp"))

    def frame(self) -> Frame:
        """Return a panel per scheme: the distribution of its completion times."""

        def panel(scheme: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = Cells(data)
                for faults, label in SETS.items():
                    times = cells.rows(f"{scheme}{faults}")["fct_established_s"].drop_nulls()
                    if len(times):
                        look = LOOKS[f"xmp{faults}"]
                        axes.ecdf(times, color=look.colour, linestyle=look.dash, label=label)
                axes.set_xscale("log")

            return Panel(paint, f"{NAMES[scheme]}, {{}} links", "FCT (s)", "share of flows")

        return Frame([panel(scheme) for scheme in MOST_TIMEOUTS], self.title, (4.4, 2.4))


FIG2 = Fig2("A-fig2", schemes=("dctcp", "dcm", "xmp"), sizes=(SIZE,))
FIG8 = Fig8("A-fig8", schemes=("dctcp", "dcm", "xmp", "amp"), sizes=tuple(SIZES))
FAULTS = Faults(
    "A-faults",
    schemes=tuple(f"{scheme}{faults}" for scheme in ("dcm", "xmp", "amp") for faults in SETS),
    sizes=(SIZE,),
    ks=(K,),
)
