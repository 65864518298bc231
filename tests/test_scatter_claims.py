"""The claims of T-scatter: its scenarios, and verdicts on data made to fit or not."""

from collections.abc import Mapping

import polars as pl
import pytest
import rtoml

from linkpool.experiments.talk.datamining import Scatter
from tables import KINDS

GOOD = {"ecmp": 45.0, "scatter": 80.0, "mptcp": 85.0, "central-10ms": 82.0}
GOOD |= {"central-100ms": 75.0, "central-1000ms": 60.0}


def hosts(mbps: Mapping[str, float]) -> pl.DataFrame:
    """Return two hosts in each of two seeds, with these means."""
    rows = [
        {"scheme": scheme, "seed": seed, "host": f"h{host}", "flows": 7, "goodput_bps": rate * 1e6}
        for scheme, mean in mbps.items()
        for seed in (1, 2)
        for host, rate in enumerate((mean - 5.0, mean + 5.0))
    ]
    return pl.DataFrame(
        rows, schema={c.name: KINDS[c.type] for c in Scatter.named("T-scatter").columns}
    )


def verdicts(mbps: Mapping[str, float]) -> dict[str, str]:
    claims = Scatter.named("T-scatter").claims(hosts(mbps))
    return {c.id.partition(".")[2]: c.verdict.value for c in claims}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("reproduced", "reproduced", "reproduced")),
        ({"mptcp": 60.0}, ("partly", "not", "reproduced")),
        ({"mptcp": 79.0}, ("reproduced", "not", "reproduced")),
        ({"mptcp": 40.0}, ("not", "not", "not")),
        ({"ecmp": 72.0}, ("reproduced", "reproduced", "partly")),
    ],
)
def test_mptcp_is_judged_beside_each_other(
    changes: Mapping[str, float], expected: tuple[str, str, str]
) -> None:
    found = verdicts({**GOOD, **changes})
    assert (found["central"], found["scatter"], found["ecmp"]) == expected


@pytest.mark.parametrize(
    ("ahead", "verdict"), [((1.0, 1.1), "reproduced"), ((5.0, -1.0), "partly")]
)
def test_better_than_scattered_in_each_seed(ahead: tuple[float, float], verdict: str) -> None:
    runs = [hosts({**GOOD, "mptcp": 80.0 + more}).filter(seed=1) for more in ahead]
    data = pl.concat(
        run.with_columns(seed=pl.lit(seed).cast(pl.Int32)) for seed, run in enumerate(runs, 1)
    )
    found = {c.id: c.verdict.value for c in Scatter.named("T-scatter").claims(data)}
    assert found["T-scatter.scatter"] == verdict


def test_only_the_central_scheduler_is_one() -> None:
    for point in Scatter.named("T-scatter").points([1]):
        document = rtoml.loads(point.scenario)
        scheme = str(point.keys["scheme"])
        paths = document["transport"]["flows"].get("paths", "hash")
        assert ("routing" in document) == (paths == "placed") == scheme.startswith("central")
        if "routing" in document:
            assert scheme.endswith(document["routing"]["placement"]["period"])
