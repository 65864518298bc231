"""The claims of the XMP paper's figures, judged on made-up rates."""

import numpy as np
import polars as pl
import pytest

from linkpool.experiments.xmp import fig4
from tables import KINDS


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
