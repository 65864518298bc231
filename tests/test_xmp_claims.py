"""The claims of the XMP paper's figures, judged on made-up data."""

import sys

import numpy as np
import polars as pl
import pytest

from linkpool.experiments.xmp import recovery, shifting
from tables import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def shifts(after: dict[int, float], together: float = 1.0) -> pl.DataFrame:
    """Return rates of X-fig4 that change at 10.7 s; `after`: the disturbed subflow's, by beta."""
    columns = {c.name: KINDS[c.type] for c in shifting.Fig4.named("X-fig4").columns}
    parts = []
    for beta, rate in after.items():
        for subflow, (quiet, shifted) in enumerate([(100e6, rate), (100e6, 150e6)]):
            times = np.arange(1, 400) / 10
            rates = np.where((times > 10.7) & (times <= 20.0), shifted, quiet)
            part = pl.DataFrame({"time_s": times, "goodput_bps": rates}).with_columns(
                pl.lit(beta).alias("beta"),
                pl.lit(1).alias("seed"),
                pl.lit(shifting.SHIFTING).alias("label"),
                pl.lit(subflow).alias("subflow"),
                pl.lit(together).alias("cuts_together"),
            )
            parts.append(part.select(*columns).cast(columns))  # type: ignore[arg-type]
    return pl.concat(parts)


@pytest.mark.parametrize(
    ("rate", "together", "stalls"),
    [
        (50e6, 1.0, "reproduced"),
        (50e6, 0.8, "partly"),
        (50e6, 0.3, "not"),
        (33e6, 1.0, "partly"),
        (29e6, 1.0, "not"),
    ],
)
def test_fig4_a_shift_stalls_at_a_higher_rate_while_all_are_cut_together(
    rate: float, together: float, stalls: str
) -> None:
    data = shifts({4: 30e6, 6: rate}, together)
    found = {claim.id: claim.verdict.value for claim in shifting.Fig4.named("X-fig4").claims(data)}
    assert found["X-fig4.stalls"] == stalls
    assert found["X-fig4.slower"] == "not"


def test_cuts_of_a_window_by_hand() -> None:
    window = pl.DataFrame(
        {
            "flow": [3] * 6,
            "subflow": [0] * 6,
            "time_s": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "cwnd_pkts": [10.0, 10.5, 8.5, 8.2, 9.0, 8.0],
        }
    )
    assert shifting.cut_times(window)[3, 0].tolist() == [3.0, 6.0]


def test_cuts_near_others_by_hand() -> None:
    mine, other = np.array([1.0, 2.0, 3.5, 9.0]), np.array([1.2, 3.0, 8.5])
    assert shifting.near(mine, other, 0.5).tolist() == [True, False, True, True]
    assert shifting.near(mine, np.array([]), 0.5).tolist() == [False] * 4


def test_fig4_without_data() -> None:
    empty = shifts({4: 30e6}).clear()
    assert {c.verdict.value for c in shifting.Fig4.named("X-fig4").claims(empty)} == {"not"}


EXPERIMENT = recovery.Recovery.named("X-recovery")


def recovered(factor: dict[str, float], slow: float) -> pl.DataFrame:
    """Return X-recovery's rows with so many times the paper's goodputs, by recovery."""
    columns = {c.name: KINDS[c.type] for c in EXPERIMENT.columns}
    rows = [
        {
            "recovery": name,
            **{key: cell[key] for key in ("pattern", "scheme", "limit")},
            "seed": seed,
            "flows": 300,
            # Two seeds whose mean is the paper's times the factor.
            "goodput_bps": 1e6 * cell["mbps"] * times * (0.9 if seed == 1 else 1.1),
            "timeouts": 30.0,
            "slow_jobs": slow if cell["pattern"] == "incast" else None,
        }
        for name, times in factor.items()
        for cell in EXPERIMENT.table("cells")
        for seed in (1, 2)
    ]
    return pl.DataFrame(rows, schema=columns)


@pytest.mark.parametrize(
    ("timeouts", "reno", "between"),
    [(0.9, 1.3, "reproduced"), (1.1, 1.3, "not"), (0.7, 0.9, "not")],
)
def test_recovery_brackets_the_paper(timeouts: float, reno: float, between: str) -> None:
    data = recovered({"timeouts": timeouts, "reno": reno}, slow=0.1)
    found = {claim.id: claim for claim in EXPERIMENT.claims(data)}
    assert found["X-recovery.between"].verdict.value == between
    for name, factor in (("timeouts", timeouts), ("reno", reno)):
        claims = [found[f"X-recovery.{row['cell']}@{name}"] for row in EXPERIMENT.table("cells")]
        near = "reproduced" if abs(factor - 1) <= 0.15 else "partly"
        assert {claim.verdict.value for claim in claims} == {near}
    lia = found["X-recovery.permutation-lia-2@timeouts"]
    assert (lia.paper, lia.measured) == ("400.8 Mbps", f"{timeouts * 400.8:.4g} Mbps")
    assert found["X-recovery.slow-lia-2@reno"].verdict.value == "reproduced"


def test_recovery_without_data() -> None:
    empty = recovered({"reno": 1.0}, slow=0.0).clear()
    assert {c.verdict.value for c in EXPERIMENT.claims(empty)} == {"not"}


def test_recovery_repairs_losses_of_all_transports_of_a_run() -> None:
    points = EXPERIMENT.points([1])
    assert len(points) == len(recovery.RECOVERIES) * len(EXPERIMENT.cells)
    for point in points:
        transports = tomllib.loads(point.scenario)["transport"]
        assert str(point.keys["scheme"]) in transports
        assert all(
            (t.get("recovery") == "reno") == (point.keys["recovery"] == "reno")
            and ("dupack_threshold" in t) == (point.keys["recovery"] == "timeouts")
            for t in transports.values()
        )
        beside = point.keys["pattern"] == recovery.BESIDE
        assert ("xmp-2" in transports) == beside
        assert ("tcp" in transports) == (
            point.keys["pattern"] == "incast" or point.keys["scheme"] == "tcp"
        )
