"""The claims of the XMP paper's figures, judged on made-up data."""

import sys

import numpy as np
import polars as pl
import pytest

from linkpool.experiments.xmp import fig4, recovery
from tables import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def shifts(at: dict[int, list[float]]) -> pl.DataFrame:
    """Return rates of X-fig4 that change at once, at a moment by beta and seed."""
    columns = {c.name: KINDS[c.type] for c in fig4.Fig4.columns}
    parts = []
    for beta, moments in at.items():
        for seed, moment in enumerate(moments, 1):
            for subflow, (before, after) in enumerate([(100e6, 20e6), (100e6, 150e6)]):
                times = np.arange(1, 400) / 10
                rates = np.where((times > moment) & (times <= 20.0), after, before)
                part = pl.DataFrame({"time_s": times, "goodput_bps": rates}).with_columns(
                    pl.lit(beta).alias("beta"),
                    pl.lit(seed).alias("seed"),
                    pl.lit(fig4.SHIFTING).alias("label"),
                    pl.lit(subflow).alias("subflow"),
                )
                parts.append(part.select(*columns).cast(columns))  # type: ignore[arg-type]
    return pl.concat(parts)


@pytest.mark.parametrize(
    ("longest", "stalls"), [(11.0, "not"), (12.4, "partly"), (14.0, "reproduced")]
)
def test_fig4_a_shift_stalls_if_one_seed_takes_far_longer(longest: float, stalls: str) -> None:
    data = shifts({4: [11.0, 11.0, 11.0], 6: [11.0, 11.0, longest]})
    found = {claim.id: claim.verdict.value for claim in fig4.EXPERIMENT.claims(data)}
    assert found["X-fig4.stalls"] == stalls
    assert found["X-fig4.slower"] == "not"


def test_fig4_without_data() -> None:
    empty = shifts({4: [11.0]}).clear()
    assert {c.verdict.value for c in fig4.EXPERIMENT.claims(empty)} == {"not"}


def recovered(factor: dict[str, float], slow: float) -> pl.DataFrame:
    """Return X-recovery's rows with so many times the paper's goodputs, by recovery."""
    columns = {c.name: KINDS[c.type] for c in recovery.Recovery.columns}
    rows = [
        {
            "recovery": name,
            **cell._asdict(),
            "seed": seed,
            "flows": 300,
            # Two seeds whose mean is the paper's times the factor.
            "goodput_bps": cell.paper_bps * times * (0.9 if seed == 1 else 1.1),
            "timeouts": 30.0,
            "slow_jobs": slow if cell.pattern == "incast" else None,
        }
        for name, times in factor.items()
        for cell in recovery.CELLS
        for seed in (1, 2)
    ]
    return pl.DataFrame(rows, schema=columns)


@pytest.mark.parametrize(
    ("timeouts", "reno", "between"),
    [(0.9, 1.3, "reproduced"), (1.1, 1.3, "not"), (0.7, 0.9, "not")],
)
def test_recovery_brackets_the_paper(timeouts: float, reno: float, between: str) -> None:
    data = recovered({"timeouts": timeouts, "reno": reno}, slow=0.1)
    found = {claim.id: claim for claim in recovery.EXPERIMENT.claims(data)}
    assert found["X-recovery.between"].verdict.value == between
    for name, factor in (("timeouts", timeouts), ("reno", reno)):
        claims = [found[f"X-recovery.{cell.name}@{name}"] for cell in recovery.CELLS]
        near = "reproduced" if abs(factor - 1) <= 0.15 else "partly"
        assert {claim.verdict.value for claim in claims} == {near}
    lia = found["X-recovery.permutation-lia-2@timeouts"]
    assert (lia.paper, lia.measured) == ("400.8 Mbps", f"{timeouts * 400.8:.4g} Mbps")
    assert found["X-recovery.slow-lia-2@reno"].verdict.value == "reproduced"


def test_recovery_without_data() -> None:
    empty = recovered({"reno": 1.0}, slow=0.0).clear()
    assert {c.verdict.value for c in recovery.EXPERIMENT.claims(empty)} == {"not"}


def test_recovery_repairs_losses_of_all_transports_of_a_run() -> None:
    points = recovery.EXPERIMENT.points([1])
    assert len(points) == len(recovery.RECOVERIES) * len(recovery.CELLS)
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
