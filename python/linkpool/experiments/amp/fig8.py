"""AMP, Figure 8: incast with AMP beside the other schemes."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.incast import SIZES, Cells, Incast, show_mean
from linkpool.study.claims import (
    ORDER,
    Ledger,
    about,
    alike,
    cases,
    grade,
    majority,
    most,
    order_of_magnitude,
    over,
    together,
)
from linkpool.study.schemes import NAMES
from linkpool.units import show_number, show_seconds

DRAWN = ("128KiB", "256KiB", "512KiB")
"""The sizes of the paper's three panels; 64 KB and 1 MB are in its text only."""


@dataclass(frozen=True)
class Fig8(Incast):
    """The claims of section 5.2 on incast."""

    def judge(self, ledger: Ledger, data: pl.DataFrame) -> None:
        """Judge each claim at each delay."""
        cells = Cells(data)
        _at_30(ledger, cells)
        _timeouts(ledger, cells)
        self._beside_dctcp(ledger, cells)
        self._orders(ledger, cells)
        self._small(ledger, cells)
        _large(ledger, cells)

    def _beside_dctcp(self, ledger: Ledger, cells: Cells) -> None:
        ratios = [
            ratio
            for size in DRAWN
            for k in self.ks
            if k < 40 and (ratio := cells.ratio("amp", "dctcp", size, k)) is not None
        ]
        ledger.add(
            "as-dctcp",
            "AMP is as good as DCTCP with 10, 20 and 30 flows (128 to 512 KB)",
            "as good",
            f"mean FCT of AMP over DCTCP's: {_range(ratios)}",
            most([r <= 1.25 for r in ratios], "ratio at most 1.25", all_of=1.0),
        )
        at40 = [
            ratio for size in DRAWN if (ratio := cells.ratio("amp", "dctcp", size, 40)) is not None
        ]
        slightly = [1.0 < r <= 2.0 for r in at40]
        ledger.add(
            "k40",
            "with 40 flows AMP is slightly worse than DCTCP (128 to 512 KB)",
            "slightly worse",
            f"mean FCT of AMP over DCTCP's: {_range(at40)}",
            most(slightly, "ratio above 1, at most 2", all_of=1.0, some=0.3),
        )

    def _orders(self, ledger: Ledger, cells: Cells) -> None:
        hits = [
            ratio >= ORDER
            for size in DRAWN
            for k in self.ks
            for scheme in ("xmp", "dcm")
            if (ratio := cells.ratio(scheme, "amp", size, k)) is not None
        ]
        ledger.add(
            "orders",
            "in most cases the mean FCT of AMP is 1-2 orders of magnitude shorter than that of "
            "XMP and DCM (128 to 512 KB)",
            "1-2 orders of magnitude",
            f"a factor of 10 or more in {cases(hits)}",
            majority(hits, "ratio at least 10"),
        )

    def _small(self, ledger: Ledger, cells: Cells) -> None:
        ratios = [
            ratio
            for k in self.ks
            for scheme in ("amp", "xmp", "dcm")
            if (ratio := cells.ratio(scheme, "dctcp", "64KiB", k)) is not None
        ]
        ledger.add(
            "64KB-alike",
            "with 64 KB, all multipath schemes work as well as DCTCP",
            "little difference",
            f"mean FCT over DCTCP's: {_range(ratios)}",
            most([r <= 1.25 for r in ratios], "ratio at most 1.25", all_of=1.0),
        )
        parts = [p for k in self.ks if (p := cells.rows("amp", "64KiB", k)) is not None]
        suppressed = sum(p.filter(pl.col("suppressions") > 0).height for p in parts)
        flows = sum(p.height for p in parts)
        ledger.add(
            "64KB-suppression",
            "with 64 KB, AMP's suppression is never triggered",
            "0",
            f"{suppressed} of {flows} flows",
            grade(
                flows > 0 and suppressed == 0,
                flows > 0 and suppressed <= 0.05 * flows,
                "in no flow; partly: in at most 5% of them",
            ),
        )


def _at_30(ledger: Ledger, cells: Cells) -> None:
    amp = cells.fct("amp", "128KiB", 30)
    ledger.add(
        "k30-amp",
        "at k = 30 and 128 KB, the mean FCT of AMP is about 2 ms",
        "2 ms",
        show_mean(cells, "amp", "128KiB", 30),
        about(amp.mean, 2e-3),
    )
    ledger.add(
        "k30-amp-sd",
        "at k = 30 and 128 KB, the FCT of AMP has a narrow standard deviation",
        "1-2 ms",
        show_seconds(amp.sd),
        grade(
            amp.sd is not None and 1e-3 <= amp.sd <= 2e-3,
            amp.sd is not None and amp.sd <= 2e-3,
            "1 to 2 ms; partly: less",
        ),
    )
    for scheme in ("xmp", "dcm"):
        fct = cells.fct(scheme, "128KiB", 30)
        ledger.add(
            f"k30-{scheme}",
            f"at k = 30 and 128 KB, the mean FCT of {NAMES[scheme]} is over 800 ms",
            "> 800 ms",
            show_mean(cells, scheme, "128KiB", 30),
            over(fct.mean, 0.8),
        )
        ledger.add(
            f"k30-{scheme}-sd",
            f"at k = 30 and 128 KB, the FCT of {NAMES[scheme]} has a standard deviation of 1 s",
            "1 s",
            show_seconds(fct.sd),
            about(fct.sd, 1.0),
        )


def _timeouts(ledger: Ledger, cells: Cells) -> None:
    amp = cells.rows("amp", "128KiB", 30)
    hit = None if amp is None else amp.filter(pl.col("timeouts") > 0).height
    flows = 0 if amp is None else amp.height
    ledger.add(
        "k30-amp-timeouts",
        "at k = 30 and 128 KB, AMP has no timeout",
        "0",
        f"{hit} of {flows} flows met one",
        grade(hit == 0, hit is not None and hit <= 0.01 * flows, "none; partly: at most 1%"),
    )
    for scheme, most_of_one in (("xmp", 10), ("dcm", 16)):
        rows = cells.rows(scheme, "128KiB", 30)
        counts = [] if rows is None else rows["timeouts"].to_list()
        worst = max(counts, default=None)
        ledger.add(
            f"k30-{scheme}-timeouts",
            f"at k = 30 and 128 KB, flows of {NAMES[scheme]} face up to {most_of_one} timeouts",
            str(most_of_one),
            f"at most {worst} in a flow",
            about(worst, most_of_one),
        )
        p90 = None if rows is None else rows["timeouts"].quantile(0.9, "linear")
        ledger.add(
            f"k30-{scheme}-timeouts-p90",
            f"at k = 30 and 128 KB, the 90th percentile of {NAMES[scheme]}'s timeouts is 7",
            "7",
            show_number(p90),
            about(p90, 7),
        )


def _large(ledger: Ledger, cells: Cells) -> None:
    xmp = cells.ratio("xmp", "amp", "1MiB", 30)
    dcm = cells.ratio("dcm", "amp", "1MiB", 30)
    ledger.add(
        "1MB",
        "with 1 MB the trend is the same: at k = 30 AMP is as good as DCTCP, and XMP and DCM are "
        "an order of magnitude slower",
        "similar trend",
        f"AMP {show_mean(cells, 'amp', '1MiB', 30)}, "
        f"DCTCP {show_mean(cells, 'dctcp', '1MiB', 30)}; "
        f"XMP {show_number(xmp)} times AMP's, DCM {show_number(dcm)} times",
        together(
            alike(cells.mean("amp", "1MiB", 30), cells.mean("dctcp", "1MiB", 30)),
            order_of_magnitude(xmp),
            order_of_magnitude(dcm),
        ),
    )


def _range(ratios: list[float]) -> str:
    return f"{min(ratios):.3g} to {max(ratios):.3g}" if ratios else "no data"


EXPERIMENT = Fig8(
    id="A-fig8",
    schemes=("dctcp", "dcm", "xmp", "amp"),
    sizes=tuple(SIZES),
)
