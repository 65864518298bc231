"""The experiments in the fat-tree: their workloads, and verdicts on data made to fit or not."""

import itertools
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

from linkpool.experiments.amp import fattree, fig13
from linkpool.study.claims import Claim

YES, PARTLY, NO = "reproduced", "partly", "not"


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {c.id.partition(".")[2]: c.verdict.value for c in claims}


def jobs(p90_ms: Mapping[tuple[str, int], float], reading: str = "text") -> pl.DataFrame:
    """Return jobs whose 90th percentile is as given, by scheme and subflows."""
    parts = [
        pl.DataFrame(
            {
                "reading": reading,
                "scheme": scheme,
                "subflows": subflows,
                "seed": 1,
                # Linear interpolation between 0 and the largest: the 90th percentile is 0.9 of it.
                "jct_s": np.linspace(0.0, value * 1e-3 / 0.9, 101),
            }
        )
        for (scheme, subflows), value in p90_ms.items()
    ]
    return pl.concat(parts)


PAPER = {
    ("dctcp", 1): 1.15,
    ("dcm", 4): 1.2,
    ("dcm", 6): 1.5,
    ("dcm", 8): 1.8,
    ("xmp", 4): 1.2,
    ("xmp", 6): 1.5,
    ("xmp", 8): 1.8,
    ("amp", 4): 1.05,
    ("amp", 6): 1.1,
    ("amp", 8): 1.1,
}


def test_the_papers_own_numbers_reproduce_figure_12() -> None:
    found = verdicts(fattree.Fig12("A-fig12", readings=("text",)).claims(jobs(PAPER)))
    assert set(found.values()) == {"reproduced"}
    assert len(found) == 7


@pytest.mark.parametrize(
    ("changes", "claim", "verdict"),
    [
        ({("amp", 8): 1.16}, "amp-baseline", "not"),
        ({("xmp", 8): 1.3}, "growth", "partly"),
        ({("xmp", 8): 1.3, ("dcm", 8): 1.3}, "growth", "not"),
        ({("xmp", 8): 4.0}, "xmp-8", "not"),
        ({("amp", 8): 1.4}, "improvement", "partly"),
        ({("amp", 8): 1.7}, "improvement", "not"),
    ],
)
def test_other_numbers_do_not(
    changes: dict[tuple[str, int], float], claim: str, verdict: str
) -> None:
    found = verdicts(
        fattree.Fig12("A-fig12", readings=("text",)).claims(jobs({**PAPER, **changes}))
    )
    assert found[f"{claim}@text"] == verdict


def mixed(fct: Mapping[str, np.ndarray], gbps: Mapping[str, float], share: float) -> pl.DataFrame:
    """Return data of figure 13."""
    rows: list[dict[str, Any]] = []
    for scheme in fattree.SCHEMES:
        same = {"scheme": scheme, "seed": 1, "name": ""}
        rows += [{**same, "kind": "fct", "value": float(value)} for value in fct[scheme]]
        rows += [{**same, "kind": "goodput", "value": gbps[scheme] * 1e9}] * 3
        rows += [
            {**same, "kind": "utilisation", "name": name, "value": share}
            for _, _, name in fattree.LAYERS
        ]
    return pl.DataFrame(rows)


def test_figure_13_as_the_text_has_it() -> None:
    base = np.linspace(1e-4, 1e-3, 1001)
    slow = np.where(np.linspace(0, 1, 1001) > 0.9, base * 1.5, base)
    fct = {"amp": base, "xmp": base, "dcm": slow, "dctcp": base * 3}
    gbps = {"amp": 8.0, "xmp": 8.2, "dcm": 8.6, "dctcp": 5.0}
    found = verdicts(fig13.Fig13.named("A-fig13").claims(mixed(fct, gbps, 0.5)))
    assert set(found.values()) == {"reproduced"}
    fct["dctcp"] = base * 1.01
    gbps["dcm"] = 7.9
    found = verdicts(fig13.Fig13.named("A-fig13").claims(mixed(fct, gbps, 0.5)))
    assert found["fct-worst"] == "not"
    assert found["goodput-dcm"] == "not"
    assert found["goodput-dctcp"] == "reproduced"


@pytest.mark.parametrize(("times", "verdict"), [(1.04, YES), (1.07, PARTLY), (1.3, NO)])
def test_figure_13_equally_well_is_within_a_twentieth(times: float, verdict: str) -> None:
    base = dict.fromkeys(fattree.SCHEMES, np.linspace(1e-4, 1e-3, 11))
    data = mixed(base, dict.fromkeys(fattree.SCHEMES, 8.0), 0.5)
    more = (pl.col("scheme") == "dcm") & (pl.col("name") == fattree.LAYERS[0][2])
    value = pl.when(more).then(times * pl.col("value")).otherwise("value").alias("value")
    found = verdicts(fig13.Fig13.named("A-fig13").claims(data.with_columns(value)))
    assert found["utilisation"] == verdict


@pytest.mark.parametrize(("third", "verdict"), [(8.5, YES), (8.2, PARTLY), (5.0, NO)])
def test_figure_13_orders_are_over_the_seeds(third: float, verdict: str) -> None:
    base = dict.fromkeys(fattree.SCHEMES, np.linspace(1e-4, 1e-3, 11))
    gbps = dict.fromkeys(fattree.SCHEMES, 8.0)
    runs = [mixed(base, {**gbps, "dcm": dcm}, 0.5) for dcm in (8.5, 8.6, third)]
    data = pl.concat(run.with_columns(seed=pl.lit(seed)) for seed, run in enumerate(runs, 1))
    assert verdicts(fig13.Fig13.named("A-fig13").claims(data))["goodput-dcm"] == verdict


def test_half_of_the_servers_send_one_long_flow_and_the_others_short_ones() -> None:
    duration = 2.0
    flows = [f for f in fig13.workload(duration, 7) if isinstance(f, dict)]
    long = [f for f in flows if f["label"] == fattree.LONG]
    short = [f for f in flows if f["label"] == fattree.SHORT]
    senders = {f["from"] for f in long}
    assert len(long) == len(senders) == 64
    assert not senders & {f["from"] for f in short}
    to = {f["from"]: f["to"] for f in flows}
    assert all(f["to"] == to[f["from"]] != f["from"] for f in flows)
    assert len(set(to.values())) == len(to)
    expected = fig13.RATE * duration
    assert abs(len(short) - expected) < 5 * expected**0.5
    sizes = [int(f["size"].removesuffix("B")) for f in short]
    assert 1_000 <= min(sizes) <= max(sizes) <= 1_000_000
    assert fig13.workload(duration, 7) == fig13.workload(duration, 7)
    assert fig13.workload(duration, 7) != fig13.workload(duration, 8)


def test_nobody_sends_to_itself(rng: random.Random) -> None:
    for hosts in range(2, 30):
        to = fig13.derangement(hosts, rng)
        assert sorted(to) == list(range(hosts))
        assert all(src != dst for src, dst in enumerate(to))


def test_a_table_in_two_parts_is_the_table() -> None:
    below, small, large = fattree.split(fattree.LIMIT_B)
    # By hand: 0.8 + 0.1 (100,000 - 10,220) / (389,820 - 10,220).
    assert below == pytest.approx(0.823651, abs=1e-6)
    for size, probability in fattree.DATA_MINING:
        part, weight, base = (
            (small, below, 0.0) if size < fattree.LIMIT_B else (large, 1 - below, below)
        )
        at = [p for p in part if isinstance(p, list) and p[0] == size]
        assert probability in [pytest.approx(base + weight * float(str(p[1]))) for p in at]
    mean = below * table_mean(small) + (1 - below) * table_mean(large)
    assert mean == pytest.approx(table_mean([list(p) for p in fattree.DATA_MINING]), rel=1e-9)


def table_mean(points: list[Any]) -> float:
    """Return the mean size of a table with sizes uniform between two points."""
    pairs = itertools.pairwise(points)
    return float(sum((p1 - p0) * (s0 + s1) / 2 for (s0, p0), (s1, p1) in pairs))


def test_figure_14_by_the_papers_numbers() -> None:
    table = fattree.Fig14.named("A-fig14").table("percentiles")
    paper = {(row["percentile"], row["scheme"]): row["paper"] for row in table}
    rows = []
    for scheme in fattree.SCHEMES:
        p90, p99 = paper.get(("p90", scheme), 1e-3), paper.get(("p99", scheme), 2e-3)
        at = [0.0, 90.0, 99.0, 100.0]
        values = np.interp(np.arange(101), at, [1e-5, p90, p99, 2 * p99])
        same = {"reading": "server", "scheme": scheme, "seed": 1}
        blank = {"fct_established_s": None, "goodput_bps": 2e9}
        rows += [{**same, **blank, "label": "short", "fct_established_s": float(v)} for v in values]
        rows += [{**same, **blank, "label": "long"}] * 3
    data = pl.DataFrame(rows)
    claims = fattree.Fig14("A-fig14", readings=("server",)).claims(data)
    assert set(verdicts(claims).values()) == {"reproduced"}
    assert len(claims) == 7
