"""MMPTCP, Tables 1, 2, 3, 5 and 8: schemes of long and of short flows in the common scenario."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments import columns as declared
from linkpool.experiments.mmptcp import mixed
from linkpool.experiments.mmptcp.mixed import (
    DEVIATION,
    FCT,
    GOODPUT,
    LOSS,
    NOTHING,
    UTILISATION,
    Cell,
    Mix,
    Mixed,
    Row,
    greatest,
    judge_row,
    least,
    listed,
    listed_of,
    number,
    percent,
)
from linkpool.experiments.mmptcp.setting import ENDS, Tree
from linkpool.experiments.rows import difference, ratio, told
from linkpool.result import Result
from linkpool.stats import describe
from linkpool.study.claims import Judged, Ledger, Verdict, about, by_factor, together, under
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Keys, Point
from linkpool.study.schemes import LOOKS, NAMES

ARRIVALS = 256.0
COLUMNS = declared.columns("mmptcp", "table")


@dataclass(frozen=True)
class Table(Mixed):
    """A table with a row for each scheme."""

    schemes: ClassVar[tuple[str, ...]]
    over: ClassVar[tuple[str, ...]] = ("schemes",)
    columns: ClassVar = COLUMNS
    about: ClassVar[str] = "512 hosts, 4:1"
    width: ClassVar[float] = 3.0
    published: ClassVar[Mapping[str, Row]]

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme; all flows are of it."""
        return Mix(scheme, scheme, ARRIVALS, self.duration_s)

    def point(self, seed: int, *of: Any) -> Point:
        """Return the run of a scheme."""
        (scheme,) = of
        return self.mix(scheme).point({"scheme": scheme}, seed)

    def judge_rows(self, ledger: Ledger, data: pl.DataFrame) -> dict[str, Cell]:
        """Judge the table, and return what there is of each scheme."""
        found = mixed.cells(data, "scheme")
        cells = {scheme: found.get(scheme, NOTHING) for scheme in self.schemes}
        for scheme, cell in cells.items():
            judge_row(ledger, scheme, cell, self.published[scheme])
        return cells

    def frame(self) -> Frame:
        """Return the table."""
        panels = [*mixed.panels(self.schemes), *self.more()]
        return Frame(panels, f"{self.title}, {self.about}", (self.width, 2.8), sharey=False)

    def more(self) -> Sequence[Panel]:
        """Return panels beside the table."""
        return ()


LOADS = {"100Mbps": (100, 33), "1000Mbps": (1000, 33), "1000Mbps-quarter": (1000, 25)}
"""By reading: the rate of all links, Mbit/s, and the hosts with long flows, in per cent. At 1 Gbps
the goodput and the utilisation that are printed fit a quarter of the hosts, not a third."""

TABLE_1 = {
    (100, "mptcp"): Row(126, 425, 62.1, 19.7, 75.5, 0.0077),
    (100, "mmptcp"): Row(116, 101, 61.9, 20.0, 74.9, 0.0076),
    (1000, "mptcp"): Row(38.5, 288.5, 718.1, 172.6, 70.5, 0.0025),
    (1000, "mmptcp"): Row(16.1, 54.7, 719.7, 168.5, 70.5, 0.0025),
}
TABLE_1 |= {(rate, "mptcp-faults"): TABLE_1[rate, "mptcp"] for rate in (100, 1000)}
FLOWS = {"mptcp": 99_103, "mmptcp": 100_980}
"""Short flows of the paper that completed, at 100 Mbps."""


@dataclass(frozen=True)
class Tab1(Table):
    """MMPTCP beside MPTCP at 100 Mbps and 1 Gbps, with Figure 2."""

    schemes: ClassVar = ("mptcp", "mptcp-faults", "mmptcp")
    loads: ClassVar = tuple(LOADS.values())
    over: ClassVar = ("loads", "schemes")
    columns: ClassVar = declared.columns("mmptcp", "M-tab1")

    def point(self, seed: int, *of: Any) -> Point:
        """Return the run of a scheme by a reading."""
        (rate, of_hosts), scheme = of
        mix = replace(self.mix(scheme), rate_mbps=rate, long_share=of_hosts / 100)
        keys: Keys = {"rate_mbps": rate, "long_percent": of_hosts, "scheme": scheme}
        return mix.point(keys, seed)

    def parts(self) -> Mapping[str, pl.Expr]:
        """Return the readings."""
        return {
            reading: pl.col("rate_mbps").eq(rate) & pl.col("long_percent").eq(of_hosts)
            for reading, (rate, of_hosts) in LOADS.items()
        }

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's claims about the tail of short flows."""
        rate, _ = LOADS[str(ledger.setting)]
        cells = mixed.cells(data, "scheme")
        for scheme in self.schemes:
            judge_row(ledger, scheme, cells.get(scheme, NOTHING), TABLE_1[rate, scheme])
        mmptcp = cells.get("mmptcp", NOTHING)
        for scheme in ("mptcp", "mptcp-faults"):
            mptcp = cells.get(scheme, NOTHING)
            words = {"end": scheme.removeprefix("mptcp"), "scheme": scheme}
            ours, paper = ratio(FCT(mmptcp), FCT(mptcp)), 116 / 126 if rate == 100 else 16.1 / 38.5
            ledger.judge("shorter{end}", told("{:.3g} of it", ours), ours, **words, paper=paper)
            if rate == 100:
                _most_timeouts(ledger, scheme, mptcp, 25)
                many = mptcp.share(pl.col("timeouts") > 2)
                paper = 4_000 / FLOWS["mptcp"]
                ledger.judge("many{end}", _percent(many), many, **words, paper=paper)
                sds = {scheme: DEVIATION(mptcp), "mmptcp": DEVIATION(mmptcp)}
                times = ratio(sds[scheme], sds["mmptcp"])
                ledger.judge("no-tail{end}", listed(sds, "ms"), times, **words)
        both = {"mptcp": cells.get("mptcp", NOTHING), "mmptcp": mmptcp}
        shown = listed_of(both, GOODPUT, "Mbps")
        ledger.judge("goodput-alike", shown, *(GOODPUT(cell) for cell in both.values()))
        if rate == 100:
            _most_timeouts(ledger, "mmptcp", mmptcp, 4)
            few = mmptcp.share(pl.col("timeouts") < 2)
            ledger.judge("few", _percent(few), few)

    def frame(self) -> Frame:
        """Return the table, and the tails of completion times and timeouts."""
        first, *others = mixed.panels(self.schemes)

        def paint(axes: Axes, data: pl.DataFrame) -> None:
            first.paint(axes, data)
            rate, of_hosts = (data[key].first() for key in ("rate_mbps", "long_percent"))
            axes.set_ylabel(f"{rate!s} Mbps, {of_hosts!s}% of hosts long")

        def timeouts(cell: Cell) -> "np.ndarray":
            return cell.short["timeouts"].to_numpy()

        tails = [
            mixed.tail(self.schemes, "whose FCT is at least (ms)"),
            mixed.tail(self.schemes, "whose timeouts are at least", timeouts),
        ]
        panels = [replace(first, paint=paint), *others, *tails]
        return Frame(panels, f"{self.title}, {self.about}", (3.0, 2.8), sharey=False)


def _percent(share: float | None) -> str:
    return percent(None if share is None else 100 * share)


def _most_timeouts(ledger: Ledger, scheme: str, cell: Cell, paper: int) -> None:
    value = max(map(float, cell.short["timeouts"]), default=None)
    judged = under(value, paper) if scheme == "mmptcp" else about(value, paper)
    words = {"scheme": scheme, "paper": paper}
    ledger.judge("timeouts-{scheme}", number(value, "timeouts"), judged, **words)


def _but(scheme: str, among: Sequence[str]) -> tuple[str, ...]:
    return tuple(other for other in among if other != scheme)


@dataclass(frozen=True)
class Tab2(Table):
    """Beside TCP and packet scatter."""

    ordered: ClassVar = ("ps", "tcp", "mmptcp", "mptcp")
    schemes: ClassVar = (*ordered, "mptcp-faults")
    about: ClassVar = "512 hosts, 4:1, 256 short flows/s"
    published: ClassVar = {
        "ps": Row(36.9, 38, 58.6, 18.2, 75.1, 0.0001),
        "tcp": Row(64.3, 118, 38.5, 19.8, 44.7, 0.0259),
        "mmptcp": TABLE_1[100, "mmptcp"],
        "mptcp": TABLE_1[100, "mptcp"],
        "mptcp-faults": TABLE_1[100, "mptcp-faults"],
    }

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the orders that the text speaks of."""
        cells = self.judge_rows(ledger, data)
        of = {scheme: cells[scheme] for scheme in self.ordered}
        fct, loss = listed_of(of, FCT, "ms"), listed_of(of, LOSS, "%")
        others = _but("tcp", self.ordered)
        worst = least(of, UTILISATION, "tcp", others), greatest(of, LOSS, "tcp", others)
        shown = f"{listed_of(of, UTILISATION, '%')}; loss {loss}"
        ledger.judge("tcp-worst", shown, together(*worst))
        ledger.judge("tcp-shorter", fct, least(of, FCT, "tcp", ("mmptcp", "mptcp")))
        others = _but("ps", self.ordered)
        best = (least(of, quantity, "ps", others) for quantity in (FCT, LOSS))
        ledger.judge("ps-best", f"{fct}; loss {loss}", together(*best))
        lower = least(of, GOODPUT, "ps", ("mmptcp", "mptcp"))
        ledger.judge("ps-goodput", listed_of(of, GOODPUT, "Mbps"), lower)


PAIRS = {
    "ps": ("ps", "ps"),
    "ps-tcp": ("ps", "tcp"),
    "tcp": ("tcp", "tcp"),
    "mmptcp": ("mmptcp", "mmptcp"),
    "mptcp": ("mptcp", "mptcp"),
}
"""By scheme of Table 3: the transport of long flows, and of short flows."""
MANY_ARRIVALS = 2560.0


@dataclass(frozen=True)
class Tab3(Table):
    """Ten times as many short flows, and packet scatter beside TCP."""

    schemes: ClassVar = (*PAIRS, "mptcp-faults")
    about: ClassVar = "512 hosts, 4:1, 2,560 short flows/s"
    width: ClassVar = 3.2
    published: ClassVar = {
        "ps": Row(40.5, 44.3, 52.9, 16.7, 76.8, 0.0001),
        "ps-tcp": Row(29.7, 31.1, 42.5, 11.3, 61.9, 0.0014),
        "tcp": Row(66.5, 150, 34.2, 18.1, 48.8, 0.0576),
        "mmptcp": Row(111, 127, 55.9, 18.7, 76.7, 0.0105),
        "mptcp": Row(148, 502, 55.0, 18.2, 75.9, 0.0100),
        "mptcp-faults": Row(148, 502, 55.0, 18.2, 75.9, 0.0100),
    }

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme."""
        return Mix(*PAIRS.get(scheme, (scheme, scheme)), MANY_ARRIVALS, self.duration_s)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the orders that the text speaks of."""
        cells = self.judge_rows(ledger, data)
        of = {scheme: cells[scheme] for scheme in PAIRS}
        shortest = least(of, FCT, "ps-tcp", _but("ps-tcp", [*PAIRS]))
        ledger.judge("scatter-beside-tcp", listed_of(of, FCT, "ms"), shortest)
        less = difference(GOODPUT(of["mmptcp"]), GOODPUT(of["ps-tcp"]))
        ledger.judge("scatter-suffers", number(less, "Mbps"), less)
        less = difference(UTILISATION(of["mmptcp"]), UTILISATION(of["ps-tcp"]))
        ledger.judge("scatter-core", percent(less), less)
        others = _but("tcp", [*PAIRS])
        worst = least(of, GOODPUT, "tcp", others), greatest(of, LOSS, "tcp", others)
        shown = f"{listed_of(of, GOODPUT, 'Mbps')}; loss {listed_of(of, LOSS, '%')}"
        ledger.judge("tcp-worst", shown, together(*worst))
        for scheme in ("mptcp", "mptcp-faults"):
            words = {"claim": f"shorter{scheme.removeprefix('mptcp')}", "scheme": scheme}
            shorter = (least(cells, q, "mmptcp", (scheme,)) for q in (FCT, DEVIATION))
            shown = f"{cells['mmptcp']} against {cells[scheme]}"
            ledger.judge("mmptcp-{claim}", shown, together(*shorter), **words)
        core = {s: UTILISATION(of[s]) for s in ("mmptcp", "mptcp")}
        ledger.judge("mmptcp-core", listed(core, "%"), *core.values())


@dataclass(frozen=True)
class Tab5(Table):
    """Limited transmit in phase 1, with Figure 5; 135 of 256 hosts send long flows."""

    schemes: ClassVar = ("mmptcp", "mmptcp-lt")
    about: ClassVar = "256 hosts, 2:1"
    width: ClassVar = 2.8
    published: ClassVar = {
        "mmptcp": Row(98.9, 74.8, 72.9, 17.3, 72, 0.0053),
        "mmptcp-lt": Row(89.1, 67.2, 72.9, 18.0, 72, 0.0051),
    }

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme."""
        return replace(super().mix(scheme), tree=Tree(2), long_share=0.53)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table, and the text's claims about what limited transmit changes."""
        cells = self.judge_rows(ledger, data)
        without, with_lt = (cells[scheme] for scheme in self.schemes)
        shorter = by_factor(ratio(FCT(with_lt), FCT(without)), 89.1 / 98.9, tolerance=0.15)
        ledger.judge("shorter", f"{with_lt} against {without}", shorter)
        narrower = least(cells, DEVIATION, "mmptcp-lt", ("mmptcp",))
        ledger.judge("narrower", listed_of(cells, DEVIATION, "ms"), narrower)
        for name, of, unit in (("goodput", GOODPUT, "Mbps"), ("core", UTILISATION, "%")):
            ledger.judge(f"{name}-same", listed_of(cells, of, unit), of(with_lt), of(without))
        for column in ("timeouts", "recoveries"):
            events = partial(_mean, column=column)
            before, after = events(without), events(with_lt)
            known = before is not None and after is not None
            shown = f"{after:.3g} a flow against {before:.3g}" if known else "no data"
            ledger.judge(column, shown, *(cell.by_seed(events) for cell in (with_lt, without)))

    def more(self) -> Sequence[Panel]:
        """Return how many flows met how many timeouts and fast retransmissions."""

        def panel(column: str, x: str) -> Panel:
            def paint(axes: Axes, data: pl.DataFrame) -> None:
                cells = mixed.cells(data, "scheme")
                for scheme in self.schemes:
                    counts = cells.get(scheme, NOTHING).short[column].to_numpy()
                    if counts.size:
                        n = np.arange(int(counts.max()) + 1)
                        share, look = [float((counts == i).mean()) for i in n], LOOKS[scheme]
                        dots: Any = {"color": look.colour, "marker": look.marker}
                        axes.plot(n, share, look.dash, **dots, label=NAMES[scheme])
                axes.set_yscale("log")
                axes.set_ylabel("share of short flows")

            return Panel(paint, "", f"{x} of a short flow")

        return panel("timeouts", "timeouts"), panel("recoveries", "fast retransmissions")


def _mean(cell: Cell, column: str) -> float | None:
    found = cell.short[column].mean()
    return float(found) if isinstance(found, (int, float)) else None


ACCESS = "access"
PHASE_2 = {"mmptcp-fc": "fully-coupled", "mmptcp-uc": "uncoupled", "mmptcp": "lia"}
"""By scheme of Table 8: the algorithm of phase 2."""
ACCESS_LOSS = {"mmptcp-fc": 0.007, "mmptcp-uc": 0.041, "mmptcp": 0.007}
"""The paper's mean loss at the links of hosts, in per cent.

Its column has the same "(mean)" as that of the core, which is the mean over ports: in Tables 2
and 3 TCP's and PS's losses tell this from the share of all packets.
"""


@dataclass(frozen=True)
class Tab8(Table):
    """The congestion control of phase 2, with Figure 8: subflows are coupled in three ways."""

    schemes: ClassVar = tuple(scheme + end for end in ENDS for scheme in PHASE_2)
    published: ClassVar = {
        "mmptcp-fc": Row(114, 127, 58.9, 18, 70.8, 0.014),
        "mmptcp-uc": Row(179, 270, 50, 18.5, 63.8, 0.104),
        "mmptcp": Row(116, 101, 61.9, 20, 74.9, 0.007),
    }

    def mix(self, scheme: str) -> Mix:
        """Return the settings of a scheme: MMPTCP with or without faults."""
        end = "-faults" if scheme.endswith("-faults") else ""
        keys = {"phase_2": PHASE_2[scheme.removesuffix(end)]}
        return replace(super().mix(f"mmptcp{end}"), keys=keys)

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return what all tables have, and losses of each second between hosts and racks."""
        access = result.links.filter((pl.col("layer") == "host") | (pl.col("to_layer") == "host"))
        ports = result.counters.join(access.select("link"), on="link", how="semi").select(
            pl.lit(ACCESS).alias("kind"),
            pl.lit(None, pl.Float64).alias("utilisation"),
            (pl.col("packets") + pl.col("drops")).alias("offered"),
            "drops",
        )
        rows = pl.concat([mixed.measure(result), ports], how="diagonal")
        return rows.select(column.name for column in mixed.COLUMNS)

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge the table and the text's orders, without faults and with them."""
        found = mixed.cells(data, "scheme")
        for end in ENDS:
            cells = {scheme: found.get(scheme + end, NOTHING) for scheme in PHASE_2}
            for scheme, cell in cells.items():
                judge_row(ledger, scheme + end, cell, self.published[scheme])
                mean, pooled = _access_loss(cell)
                shown = f"{percent(mean)}; of all packets {percent(pooled)}"
                words = {"scheme": scheme, "end": end, "paper": ACCESS_LOSS[scheme]}
                ledger.judge("access-{scheme}{end}", shown, mean, **words)
            _orders(ledger, cells, end)

    def more(self) -> Sequence[Panel]:
        """Return the tails of completion times."""
        return (mixed.tail(self.schemes, "whose FCT is at least (ms)"),)


def _access_loss(cell: Cell) -> tuple[float | None, float | None]:
    """Return the losses between hosts and racks, in per cent: the mean over ports, and of all."""
    ports = cell.rows.filter(pl.col("kind") == ACCESS)
    busy = ports.filter(pl.col("offered") > 0)
    offered, drops = int(ports["offered"].sum()), int(ports["drops"].sum())
    mean = describe((100 * busy["drops"] / busy["offered"]).to_numpy()).mean
    return mean, 100 * drops / offered if offered else None


def _orders(ledger: Ledger, cells: Mapping[str, Cell], end: str) -> None:
    others = ("mmptcp-fc", "mmptcp")
    core = listed_of(cells, UTILISATION, "%")

    def uncoupled(judge: Callable[..., Judged], *of: mixed.Of) -> Judged:
        return together(*(judge(cells, each, "mmptcp-uc", others) for each in of))

    shown = f"{listed_of(cells, FCT, 'ms')}; deviations {listed_of(cells, DEVIATION, 'ms')}"
    ledger.judge("uc-worst{end}", shown, uncoupled(greatest, FCT, DEVIATION), end=end)
    shown = f"{listed_of(cells, GOODPUT, 'Mbps')}; {core}"
    ledger.judge("uc-least{end}", shown, uncoupled(least, GOODPUT, UTILISATION), end=end)
    times = ratio(LOSS(cells["mmptcp-fc"]), LOSS(cells["mmptcp"]))
    ledger.judge("fc-loss{end}", listed_of(cells, LOSS, "%"), times, end=end)
    lower = least(cells, UTILISATION, "mmptcp-fc", ("mmptcp",))
    ledger.judge("fc-core{end}", core, lower, end=end)
    tail = partial(mixed.percentile, q=0.99)
    worst, second = uncoupled(greatest, tail), greatest(cells, tail, "mmptcp-fc", ("mmptcp",))
    shown = f"99th percentiles: {listed_of(cells, tail, 'ms')}"
    judged = worst if worst.verdict is Verdict.NOT else together(worst, second)
    ledger.judge("tails{end}", shown, judged, end=end)


TAB1, TAB2, TAB3, TAB5, TAB8 = (
    Tab1("M-tab1"),
    Tab2("M-tab2"),
    Tab3("M-tab3"),
    Tab5("M-tab5"),
    Tab8("M-tab8"),
)
