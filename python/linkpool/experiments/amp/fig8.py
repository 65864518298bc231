"""AMP, Figure 8: incast with AMP beside the other schemes."""

from dataclasses import dataclass

import polars as pl

from linkpool.experiments.amp.incast import SIZES, Cells, Incast, show_mean
from linkpool.study.claims import (
    ORDER,
    Ledger,
    alike,
    cases,
    grade,
    order_of_magnitude,
    together,
)
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
        ledger.judge(
            "as-dctcp",
            f"mean FCT of AMP over DCTCP's: {_range(ratios)}",
            [r <= 1.25 for r in ratios],
        )
        at40 = [
            ratio for size in DRAWN if (ratio := cells.ratio("amp", "dctcp", size, 40)) is not None
        ]
        slightly = [1.0 < r <= 2.0 for r in at40]
        ledger.judge("k40", f"mean FCT of AMP over DCTCP's: {_range(at40)}", slightly)

    def _orders(self, ledger: Ledger, cells: Cells) -> None:
        hits = [
            ratio >= ORDER
            for size in DRAWN
            for k in self.ks
            for scheme in ("xmp", "dcm")
            if (ratio := cells.ratio(scheme, "amp", size, k)) is not None
        ]
        ledger.judge("orders", f"a factor of 10 or more in {cases(hits)}", hits)

    def _small(self, ledger: Ledger, cells: Cells) -> None:
        ratios = [
            ratio
            for k in self.ks
            for scheme in ("amp", "xmp", "dcm")
            if (ratio := cells.ratio(scheme, "dctcp", "64KiB", k)) is not None
        ]
        ledger.judge(
            "64KB-alike", f"mean FCT over DCTCP's: {_range(ratios)}", [r <= 1.25 for r in ratios]
        )
        parts = [p for k in self.ks if (p := cells.rows("amp", "64KiB", k)) is not None]
        suppressed = sum(p.filter(pl.col("suppressions") > 0).height for p in parts)
        flows = sum(p.height for p in parts)
        ledger.judge(
            "64KB-suppression",
            f"{suppressed} of {flows} flows",
            grade(
                flows > 0 and suppressed == 0,
                flows > 0 and suppressed <= 0.05 * flows,
                "in no flow; partly: in at most 5% of them",
            ),
        )


def _at_30(ledger: Ledger, cells: Cells) -> None:
    amp = cells.fct("amp", "128KiB", 30)
    ledger.judge("k30-amp", show_mean(cells, "amp", "128KiB", 30), amp.mean)
    ledger.judge("k30-amp-sd", show_seconds(amp.sd), amp.sd)
    for scheme in ("xmp", "dcm"):
        fct = cells.fct(scheme, "128KiB", 30)
        ledger.judge(
            "k30-{scheme}", show_mean(cells, scheme, "128KiB", 30), fct.mean, scheme=scheme
        )
        ledger.judge("k30-{scheme}-sd", show_seconds(fct.sd), fct.sd, scheme=scheme)


def _timeouts(ledger: Ledger, cells: Cells) -> None:
    amp = cells.rows("amp", "128KiB", 30)
    hit = None if amp is None else amp.filter(pl.col("timeouts") > 0).height
    flows = 0 if amp is None else amp.height
    ledger.judge(
        "k30-amp-timeouts",
        f"{hit} of {flows} flows met one",
        grade(hit == 0, hit is not None and hit <= 0.01 * flows, "none; partly: at most 1%"),
    )
    for scheme, most_of_one in (("xmp", 10), ("dcm", 16)):
        rows = cells.rows(scheme, "128KiB", 30)
        counts = [] if rows is None else rows["timeouts"].to_list()
        worst = max(counts, default=None)
        ledger.judge(
            "k30-{scheme}-timeouts",
            f"at most {worst} in a flow",
            worst,
            scheme=scheme,
            most_of_one=most_of_one,
        )
        p90 = None if rows is None else rows["timeouts"].quantile(0.9, "linear")
        ledger.judge("k30-{scheme}-timeouts-p90", show_number(p90), p90, scheme=scheme)


def _large(ledger: Ledger, cells: Cells) -> None:
    xmp = cells.ratio("xmp", "amp", "1MiB", 30)
    dcm = cells.ratio("dcm", "amp", "1MiB", 30)
    ledger.judge(
        "1MB",
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
