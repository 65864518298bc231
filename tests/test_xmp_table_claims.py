"""The claims of XMP's tables in a fat-tree, and of NDP's experiments, on made-up data."""

from collections.abc import Mapping

import polars as pl
import pytest

from linkpool.experiments.ndp.experiments import InOut, Permutation
from linkpool.experiments.xmp import fabric, fattree, goodputs
from linkpool.study.experiment import Experiment
from tables import KINDS


def verdicts(experiment: Experiment, rows: list[dict[str, object]]) -> dict[str, str]:
    schema = {c.name: KINDS[c.type] for c in experiment.columns}
    found = experiment.claims(pl.DataFrame(rows, schema=schema))
    return {c.id.partition(".")[2]: c.verdict.value for c in found}


def table_1(changes: Mapping[str, float]) -> list[dict[str, object]]:
    """Return Table 1, but for these goodputs of Random."""
    return [
        {
            "pattern": pattern,
            "scheme": scheme,
            "seed": seed,
            "place": "inter-pod",
            "goodput_bps": 1e6 * (changes.get(scheme, mbps) if pattern == "random" else mbps),
        }
        for row in goodputs.Tab1.named("X-tab1").table("means")
        for pattern, scheme, mbps in [(row["at"], row["scheme"], row["paper"])]
        for seed in (1, 2)
    ]


def test_table_1_as_published() -> None:
    found = verdicts(goodputs.Tab1.named("X-tab1"), table_1({}))
    # Of the text's 10%, Table 1 has 14% in Permutation.
    assert {name for name, of in found.items() if of != "reproduced"} == {"xmp-4@permutation"}


@pytest.mark.parametrize(
    ("changes", "claim", "verdict"),
    [
        ({"dctcp": 460.0}, "xmp-dctcp", "partly"),
        ({"dctcp": 490.0}, "xmp-dctcp", "not"),
        ({"lia-2": 360.0}, "xmp-lia", "partly"),
        ({"lia-2": 480.0}, "xmp-lia", "not"),
        ({"lia-4": 560.0}, "xmp-lia-4", "partly"),  # XMP-2 is behind
        ({"lia-4": 650.0}, "xmp-lia-4", "not"),
        ({"lia-4": 510.0}, "xmp-lia-4", "reproduced"),
        ({"xmp-4": 498.0}, "xmp-4", "not"),
        ({"lia-4": 330.0}, "lia-4", "not"),
        ({"lia-4": 400.0}, "lia-4", "partly"),
    ],
)
def test_comparisons_of_table_1_are_of_effects(
    changes: dict[str, float], claim: str, verdict: str
) -> None:
    assert verdicts(goodputs.Tab1.named("X-tab1"), table_1(changes))[f"{claim}@random"] == verdict


@pytest.mark.parametrize(
    ("gain", "verdict"), [(1.24, "reproduced"), (1.15, "partly"), (1.1, "not"), (1.0, "not")]
)
def test_table_2_a_larger_queue_helps_as_much(gain: float, verdict: str) -> None:
    rows: list[dict[str, object]] = [
        {"beside": "lia-2", "limit": limit, "seed": 1, "scheme": "lia-2", "goodput_bps": bps}
        for limit, bps in ((50, 1e8), (100, gain * 1e8))
    ]
    assert verdicts(goodputs.Tab2.named("X-tab2"), rows)["queue-lia-2"] == verdict


def table_3(slow: float, beside_xmp: float = 1.0) -> list[dict[str, object]]:
    """Return jobs of which a share takes 400 ms; beside XMP-2 the others take so many times 10."""
    many = 10_000
    return [
        {
            "pattern": "incast",
            "scheme": scheme,
            "seed": 1,
            "jct_s": 0.4 if i < many * slow else 0.01 * (beside_xmp if scheme == "xmp-2" else 1),
        }
        for scheme in fattree.SCHEMES
        for i in range(many)
    ]


@pytest.mark.parametrize(
    ("slow", "verdict"),
    [
        (0.0006, "reproduced"),  # rounds to 0.1%
        (0.0018, "reproduced"),
        (0.0029, "partly"),
        (0.0031, "not"),
        (0.0002, "not"),
        (0.01, "not"),
    ],
)
def test_table_3_a_published_tenth_of_a_per_cent(slow: float, verdict: str) -> None:
    found = verdicts(fabric.Jobs.named("X-tab3"), table_3(slow))
    assert found["slow-dctcp"] == found["slow-xmp-2"] == verdict


@pytest.mark.parametrize(
    ("times", "verdict"), [(2.0, "reproduced"), (1.6, "partly"), (1.4, "not"), (1.0, "not")]
)
def test_table_3_xmp_doubles(times: float, verdict: str) -> None:
    assert verdicts(fabric.Jobs.named("X-tab3"), table_3(0.0, times))["xmp-dctcp"] == verdict


@pytest.mark.parametrize(
    ("times", "verdict"), [(0.5, "reproduced"), (0.7, "partly"), (0.8, "not"), (1.0, "not")]
)
def test_figure_9_half_of_lia(times: float, verdict: str) -> None:
    assert verdicts(fabric.Fig9.named("X-fig9"), table_3(0.0, times))["half"] == verdict


@pytest.mark.parametrize(
    ("gain", "verdict"), [(1.1, "reproduced"), (1.06, "partly"), (1.04, "not"), (1.0, "not")]
)
def test_figure_11_uses_a_tenth_more(gain: float, verdict: str) -> None:
    rows: list[dict[str, object]] = [
        {
            "pattern": "random",
            "scheme": scheme,
            "seed": 1,
            "layer": layer,
            "utilisation": 0.5 * (gain if scheme.startswith("xmp") else 1.0),
        }
        for scheme in fattree.SCHEMES
        for layer in fabric.LAYERS
    ]
    assert verdicts(fabric.Fig11.named("X-fig11"), rows)["xmp-lia-2@random"] == verdict


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.93, "reproduced"), (0.85, "partly"), (0.8, "not"), (0.46, "not")]
)
def test_ndp_a_mean_near_the_line_rate(share: float, verdict: str) -> None:
    rows: list[dict[str, object]] = [
        {"k": 8, "scheme": "ndp", "seed": 1, "flow": 0, "goodput_bps": share * 1e10}
    ]
    assert verdicts(Permutation.named("N-perm"), rows)["mean@k=8"] == verdict


@pytest.mark.parametrize(
    ("first", "verdict"), [(2.5, "reproduced"), (3.0, "partly"), (1.5, "partly"), (6.0, "not")]
)
def test_ndp_each_flow_has_a_quarter(first: float, verdict: str) -> None:
    rows: list[dict[str, object]] = [
        {"scheme": "ndp", "seed": 1, "flow": flow, "goodput_bps": 1e9 * gbps}
        for flow, gbps in enumerate((first, 2.5, 2.5, 2.5, 7.5))
    ]
    assert verdicts(InOut.named("N-inout"), rows)["quarters"] == verdict


def medians(dctcp: tuple[float, float, float]) -> list[dict[str, object]]:
    """Return goodputs of flows in a rack: of DCTCP as given by seed, of the others alike."""
    return [
        {
            "pattern": "random",
            "scheme": scheme,
            "seed": seed,
            "place": "inner-rack",
            "goodput_bps": 1e6 * (mbps if scheme == "dctcp" else 900.0 + 10 * seed),
        }
        for seed, mbps in enumerate(dctcp, 1)
        for scheme in fattree.SCHEMES
    ]


@pytest.mark.parametrize(
    ("dctcp", "verdict"),
    [
        ((912.0, 922.5, 931.5), "reproduced"),  # by 0.2%, but in each seed
        ((950.0, 921.0, 925.0), "partly"),
        ((905.0, 915.0, 925.0), "not"),  # within 1% of the best
    ],
)
def test_figure_8_best_is_best_over_the_seeds(
    dctcp: tuple[float, float, float], verdict: str
) -> None:
    found = verdicts(goodputs.Fig8.named("X-fig8"), medians(dctcp))
    assert found["dctcp-inner@random"] == verdict
    assert found["lia-inner@random"] == "not"
