"""The open questions: what their files declare, and what is measured in a run, by hand."""

import sys
from typing import Any

import polars as pl
import pytest

from linkpool.experiments.questions import completion, transfers
from linkpool.experiments.questions.bottleneck import Delay, Migration, Rates
from linkpool.experiments.questions.completion import Completion
from linkpool.experiments.questions.handover import Handover
from linkpool.experiments.questions.question import Hypothesis, Question, between
from linkpool.experiments.questions.transfers import (
    Laws,
    Planes,
    Reps,
    SprayRdma,
    Stall,
    Trimming,
    Window,
)
from linkpool.intervals import Interval
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def scenario(question: Question, setting: str, scheme: str, seed: int = 1) -> dict[str, Any]:
    """Return the scenario of a run, as it is read."""
    case = question.case(setting, scheme, seed)
    assert case is not None
    found: dict[str, Any] = tomllib.loads(dumps(case.scenario))
    return found


def test_words_of_a_scheme_stand_above_those_of_a_setting_and_of_all() -> None:
    assert scenario(Completion.named("Q-spray"), "healthy", "reps")["queue"] == {
        "limit": 100,
        "mark": 20,
    }
    assert scenario(Completion.named("Q-spray"), "failed", "ndp")["queue"] == {
        "discipline": "trimming"
    }
    assert "change" not in scenario(Completion.named("Q-spray"), "healthy", "reps")
    (failed,) = scenario(Completion.named("Q-spray"), "failed", "reps")["change"]
    assert (failed["count"], failed["state"]) == (6, "down")


def test_a_file_is_like_another_but_for_its_own_tables() -> None:
    assert list(Window.named("Q-implementation").settings) == ["even", "slow-2", "busy-2", "dead-1"]
    assert (
        Window.named("Q-implementation").setup.figure_rows
        == Window.named("Q-window").setup.figure_rows
        == 2
    )
    assert set(Handover.named("Q-phase1").setup.scenarios) == {"", "mixed", "incast"}
    assert Handover.named("Q-phase1").case("incast 20", "reno+lia", 1) is None
    burst = scenario(Handover.named("Q-phase1"), "incast 20", "reno+amp")["workload"]
    assert burst["incast"][0]["senders"] == 20
    two = scenario(Handover.named("Q-dual"), "4:1, 2 NICs", "mmptcp")["topology"]
    assert two["fat-tree"]["nics"] == 2


def test_elephants_run_beside_the_permutation_with_a_transport_of_their_own() -> None:
    alone, beside = (
        scenario(Window.named("Q-window"), setting, "nscc") for setting in ("even", "busy-2")
    )
    flows = [len(of["workload"]["flow"]) for of in (alone, beside)]
    # Two from each of eight leaves.
    assert flows == [64, 64 + 16]
    assert set(alone["transport"]) == {"nscc"}
    assert set(beside["transport"]) == {"nscc", "elephant"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_permutation_is_one_and_stays_out_of_racks(seed: int) -> None:
    pairs = completion.permutation(seed, tuple(range(8)), 2)
    assert sorted(b for _, b in pairs) == sorted(a for a, _ in pairs) == list(range(8))
    assert all(a // 2 != b // 2 for a, b in pairs)
    one_of_each = SprayRdma.named("Q-spray-rdma").pairs("skew-2", seed)
    assert {a % 8 for a, _ in one_of_each} == {seed % 8}
    assert len(one_of_each) == 8
    assert len(SprayRdma.named("Q-spray-rdma").pairs("full", seed)) == 64


def test_what_changes_in_a_plane() -> None:
    flaps = transfers.change("cable-flap-100us")
    assert flaps["links"] == ["h0<->l0.0"]
    assert (flaps["at"], flaps["until"]) == ("200us", "300us")
    assert flaps["repeat"] == {"every": "25000ns", "lasts": "12500ns"}
    assert transfers.change("plane-slow-1ms")["rate_factor"] == 0.1
    assert "repeat" not in transfers.change("plane-down-10us")
    assert "routing" in scenario(Planes.named("Q-planes"), "plane-down-10us", "nscc")
    assert "routing" not in scenario(Planes.named("Q-planes"), "plane-slow-10us", "nscc")
    assert "change" not in scenario(Planes.named("Q-planes"), "quiet", "nscc")


def test_flows_to_one_host_come_from_other_leaves_in_turn() -> None:
    flows = scenario(Laws.named("Q-laws"), "join", "hpcc", 1)["workload"]["flow"]
    assert [flow["from"] for flow in flows] == ["h24", "h36", "h48", "h60"]
    assert [flow["start"] for flow in flows] == ["0us", "500us", "1000us", "1500us"]
    assert {flow["size"] for flow in flows} == {f"{8 << 20}B"}


def test_targets_lie_above_the_base_round_trip_time() -> None:
    def target(setting: str, scheme: str) -> str:
        of = scenario(Delay.named("Q-delay"), setting, scheme)["transport"][scheme]
        return str(of["target_delay"])

    # Two hops of 5.85 us and of 11.7 us above 24.81 us, and above 226.41 us.
    assert target("long 2", "delay-tight") == "36510ns"
    assert target("long 2 far", "delay-tight") == f"{226_410 + 2 * 5_850}ns"
    assert target("long 8 far", "delay-loose") == f"{226_410 + 2 * 11_700}ns"


def test_beta_and_queues_grow_with_the_rate() -> None:
    found = scenario(Rates.named("Q-rates"), "fair 100 Gbps", "amp-beta")
    assert found["transport"]["amp-beta"]["beta"] == 13
    assert (found["queue"]["limit"], found["queue"]["mark"]) == (1000, 100)
    assert list(found["transport"]) == ["amp-beta", "dctcp"]


def test_laws_share_a_queue_or_have_one_each() -> None:
    shared = scenario(Migration.named("Q-migration"), "trims-4", "nscc~dctcp")
    apart = scenario(Migration.named("Q-migration"), "own-4", "dcqcn~lia")
    assert shared["transport"]["dctcp"]["trimming"] is True
    assert "trimming" not in shared["transport"]["nscc"]
    assert len(shared["workload"]["flow"]) == 8
    assert [law["priority"] for law in apart["transport"].values()] == [1, 2]
    classes = apart["queue"]["class"]
    assert [(of["priorities"], of.get("lossless")) for of in classes] == [([1], True), ([2], None)]
    assert "pfc" in apart["queue"]
    drops = scenario(Migration.named("Q-migration"), "step-1", "nscc~lia")["transport"]["nscc"]
    assert drops["sleek"] is True


def test_workloads_of_the_reps_paper_fit_the_tree() -> None:
    small = scenario(Reps.named("Q-reps"), "tornado", "ecmp")["workload"]["stride"][0]
    large = scenario(Reps.named("Q-reps1024"), "ring", "ecmp")["workload"]["collective"][0]
    assert small["step"] == 64
    assert (large["ranks"], large["groups"], large["stride"]) == (32, 32, 32)
    flows = scenario(Reps.named("Q-reps"), "incast", "ecmp")["workload"]["flow"]
    assert len(flows) == 64
    assert len({flow["from"] for flow in flows}) == 64


def test_incasts_and_what_comes_beside_them() -> None:
    flows = scenario(Trimming.named("Q-trimming"), "incast-8", "ndp")["workload"]["flow"]
    labels = [flow["label"] for flow in flows]
    assert labels.count("incast") == 8
    beside = [flow for flow in flows if flow["label"] == "beside"]
    assert all(1 <= int(flow["to"][1:]) < 32 <= int(flow["from"][1:]) for flow in beside)
    stalled = scenario(Stall.named("Q-stall"), "gate-3", "nscc-deep")
    assert stalled["queue"]["limit"] == f"{5 * 116_480}B"
    assert stalled["transport"]["nscc-deep"]["nscc_quick_adapt_gate"] == 3


FLOWS = pl.DataFrame(
    {
        "fct_s": [2e-3, 4e-3],
        "end_s": [2.5e-3, 4.5e-3],
        "timeouts": [1, 2],
        "retransmits": [3, 5],
        "segments": [30, 50],
    }
)


def test_completion_over_the_least_time() -> None:
    # 4,096 B in one packet with a header of 64 B, at 10 Gbit/s.
    assert completion.on_wire_s(4096, 10e9) == pytest.approx(8 * 4160 / 10e9)
    assert completion.on_wire_s(2048, 1e9, 1024, 76) == pytest.approx(8 * 2200 / 1e9)
    wrong = completion.trouble(FLOWS, ("resent", "unfinished", "timeouts"))
    assert wrong == {"resent": 0.1, "unfinished": 0.0, "timeouts": 3.0}
    assert completion.trouble(FLOWS, ("retransmits",), 16.0) == {"retransmits": 0.5}
    found = completion.completion(FLOWS, 1e-3, wrong, 0.5e-3)
    assert found == {"last": pytest.approx(4.0), "mean": pytest.approx(3.0), **wrong}


def test_without_the_end_of_a_flow_there_is_only_what_went_wrong() -> None:
    cut = FLOWS.with_columns(
        pl.when(pl.col("timeouts") > 1).then(None).otherwise(pl.col("fct_s")).alias("fct_s")
    )
    wrong = completion.trouble(cut, ("unfinished",))
    assert completion.completion(cut, 1e-3, wrong) == wrong == {"unfinished": 1.0}
    empty = completion.trouble(FLOWS.clear(), ("unfinished", "resent"))
    assert completion.completion(FLOWS.clear(), 1e-3, empty) == empty


@pytest.mark.parametrize(
    ("row", "of"),
    [
        (["t", "q", ["a", "b"], "above 2"], (None, 2.0, None, "above 2")),
        (["t", "q", ["a", "b"], ["c", "d"], "below 3", "less"], (("c", "d"), None, 3.0, "less")),
        (["t", "q", ["a", "b"], ["c", "d"], "0.5 to 2"], (("c", "d"), 0.5, 2.0, "0.5 to 2")),
    ],
)
def test_a_hypothesis_as_its_table_states_it(row: list[object], of: tuple[object, ...]) -> None:
    assert Hypothesis.read(row) == ("t", "q", ("a", "b"), *of)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(1.5, 1.1, 1.9), "reproduced"),
        (Interval(1.5, 0.9, 1.9), "partly"),
        (Interval(1.5, None, None), "partly"),
        (Interval(1.0, 0.9, 1.1), "not"),
        (Interval(None, None, None), "not"),
    ],
)
def test_a_hypothesis_holds_with_its_whole_interval(interval: Interval, verdict: str) -> None:
    assert between(interval, 1.0, 2.0).verdict.value == verdict
