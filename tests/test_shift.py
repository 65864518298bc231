"""When a traffic shift is complete."""

import numpy as np
import polars as pl
import pytest

from linkpool.experiments.amp.shift import SHIFT_S, Floats, Shift, settling_time
from linkpool.study.experiment import Experiment
from tables import KINDS

TIMES: Floats = 1.9 + 10e-6 * np.arange(110_000, dtype=np.float64)


def ramp(low: float, high: float, seconds: float) -> Floats:
    """Return a window that goes from one value to another in a straight line from 2 s on."""
    share = np.clip((TIMES - SHIFT_S) / seconds, 0.0, 1.0)
    window: Floats = low + (high - low) * share
    return window


@pytest.mark.parametrize(("low", "high"), [(25.0, 3.0), (3.0, 25.0)])
@pytest.mark.parametrize("seconds", [2e-3, 7e-3])
def test_a_ramp_settles_at_nine_tenths(low: float, high: float, seconds: float) -> None:
    found = settling_time(TIMES, ramp(low, high, seconds))
    assert found == pytest.approx(0.9 * seconds, abs=50e-6)


def test_a_jump_settles_at_once() -> None:
    found = settling_time(TIMES, np.where(TIMES < SHIFT_S, 25.0, 3.0))
    assert found == pytest.approx(0.25e-3 * 0.8, abs=20e-6)  # half a window, less the last tenth


def test_a_saw_tooth_does_not_delay_it() -> None:
    tooth = 1.0 + 0.25 * ((TIMES / 150e-6) % 1.0)
    found = settling_time(TIMES, ramp(3.0, 25.0, 4e-3) * tooth)
    assert found == pytest.approx(3.6e-3, abs=0.2e-3)


def test_passing_through_is_not_settling() -> None:
    window = ramp(3.0, 25.0, 1e-3)
    overshoot = (TIMES >= 2.0015) & (TIMES < 2.006)
    window[overshoot] = 40.0
    found = settling_time(TIMES, window)
    assert found is not None
    assert found > 5.5e-3


def test_a_window_that_only_wanders_is_never_settled() -> None:
    window = np.where(TIMES < SHIFT_S, 25.0, 3.0 + 20.0 * (np.sin(40 * TIMES) > 0))
    assert settling_time(TIMES, window) is None


def data(experiment: Shift, ms: dict[str, list[float | None]]) -> pl.DataFrame:
    rows = [
        {
            "delay": "2us",
            "scheme": scheme,
            "seed": seed,
            "path": path,
            "time_s": 2.0,
            "cwnd_pkts": 10.0,
            "shift_s": None if time is None else time / 1e3,
        }
        for scheme, times in ms.items()
        for seed, time in enumerate(times)
        for path in ("upper", "lower")
    ]
    return pl.DataFrame(rows, schema={c.name: KINDS[c.type] for c in experiment.columns})


def verdicts(experiment: Experiment, table: pl.DataFrame) -> dict[str, str]:
    return {
        claim.id.removeprefix(f"{experiment.id}.").removesuffix("@2us"): claim.verdict.value
        for claim in experiment.claims(table)
        if claim.id.endswith("@2us")
    }


def test_fig6_reproduces_on_the_paper_s_numbers() -> None:
    table = data(Shift.named("A-fig6"), {"mptcp-cut": [2.9, 3.1], "dcm": [6.8, 7.4]})
    assert set(verdicts(Shift.named("A-fig6"), table).values()) == {"reproduced"}


def test_fig6_all_alike_does_not_reproduce() -> None:
    table = data(Shift.named("A-fig6"), {"mptcp-cut": [2.0], "dcm": [2.0]})
    assert verdicts(Shift.named("A-fig6"), table) == {
        "mptcp-cut": "partly",
        "dcm": "not",
        "slower": "not",
    }


@pytest.mark.parametrize(
    ("cut", "dcm", "slower"), [(3.0, 5.5, "partly"), (1.0, 1.33, "not"), (7.0, 3.0, "not")]
)
def test_fig6_judges_how_much_later(cut: float, dcm: float, slower: str) -> None:
    table = data(Shift.named("A-fig6"), {"mptcp-cut": [cut], "dcm": [dcm]})
    assert verdicts(Shift.named("A-fig6"), table)["slower"] == slower


def test_a_shift_that_never_completes_in_one_seed_has_no_time() -> None:
    table = data(Shift.named("A-fig6"), {"mptcp-cut": [3.0, None], "dcm": [7.0, 7.0]})
    found = verdicts(Shift.named("A-fig6"), table)
    assert (found["mptcp-cut"], found["slower"], found["dcm"]) == ("not", "not", "reproduced")


@pytest.mark.parametrize(
    ("amp", "xmp", "dcm", "alike", "slower"),
    [
        (3.0, 3.1, 7.0, "reproduced", "reproduced"),
        (2.0, 3.5, 6.0, "partly", "partly"),
        (3.0, 3.0, 4.1, "reproduced", "not"),
        (1.0, 3.0, 2.0, "not", "not"),
        (1.0, 1.0, 8.0, "reproduced", "not"),
    ],
)
def test_fig11(amp: float, xmp: float, dcm: float, alike: str, slower: str) -> None:
    table = data(Shift.named("A-fig11"), {"amp": [amp], "xmp": [xmp], "dcm": [dcm]})
    found = verdicts(Shift.named("A-fig11"), table)
    assert (found["alike"], found["slower"]) == (alike, slower)
