"""Flows that had not finished when the run ended: how slow they are, what is said of them."""

from pathlib import Path

import pytest

from linkpool.cli import app
from linkpool.report.data.result import result_data
from linkpool.result import Result
from linkpool.study.arms import Arm
from linkpool.study.measuring import measure
from linkpool.study.remarks import counts_of, remarks
from linkpool.unfinished import slowest
from tables import finished, table, unfinished, write_result

FLOWS = [
    finished(1.0, slowdown=5.0),
    unfinished(2.0, ideal_fct_s=0.25),
    unfinished(2.0, ideal_fct_s=8.0),
    unfinished(9.0, size=None),
    unfinished(9.0, ideal_fct_s=0.1, measured=False),
    finished(1.0, slowdown=8.0),
]


def result(directory: Path, flows: list[dict[str, object]], **series: object) -> Result:
    numbered = [{"flow": i, **flow} for i, flow in enumerate(flows)]
    write_result(directory, table("flows", numbered), **series)  # type: ignore[arg-type]
    return Result(directory)


def test_the_slowest_flow_may_be_an_unfinished_one(tmp_path: Path) -> None:
    """At least 2 / 0.25; of equal ones the first. One that is younger than ideal is at 1."""
    flows = result(tmp_path, FLOWS).scan("flows")
    assert slowest(flows, 9).rows() == [
        *((1, 8.0, True), (5, 8.0, False), (0, 5.0, False), (2, 1.0, True)),
    ]
    assert slowest(flows, 1).height == 1


def test_the_report_shows_unfinished_flows(tmp_path: Path) -> None:
    """`test_study_run.py` has an arm of several results, one of which has the slowest flow."""
    shown = result_data(Arm("one", (result(tmp_path, FLOWS),)), [])
    columns = shown["flows"]["columns"]
    assert columns["at_least"] == [False, True, True, False, False]
    assert columns["slowdown"] == [5, 8, 1, None, 8]
    assert columns["fct_s"] == [1, 2, 2, None, 1]
    assert shown["overview"]["overall"]["at_least"] == ["fct_mean_s", "fct_p50_s", "fct_max_s"]
    assert shown["flows"]["slowdowns"]["unfinished"] == [2]


def test_measures_count_unfinished_flows_as_old_as_they_are(tmp_path: Path) -> None:
    jobs = [
        {"label": "ask", "measured": True, "start_s": 0.25, "end_s": 1.0, "jct_s": 0.75},
        {"label": "ask", "measured": True, "start_s": 0.5},
        {"label": "ask", "measured": False, "start_s": 0.0},
    ]
    of_each: list[dict[str, object]] = [
        # Two answered, of which one has a single token; one has its first, of 5, since 0.6 s; one
        # has none.
        {"output_tokens": 3, "arrival_s": 0.0, "first_token_s": 0.1, "end_s": 0.5},
        {"output_tokens": 1, "arrival_s": 0.0, "first_token_s": 0.3, "end_s": 0.3},
        {"output_tokens": 5, "arrival_s": 0.4, "first_token_s": 0.6},
        {"output_tokens": 2, "arrival_s": 0.25},
    ]
    times = [{"ttft_s": 0.1, "tpot_s": 0.2}, {"ttft_s": 0.3}, {"ttft_s": 0.2}, {}]
    same: dict[str, object] = {"label": "chat", "measured": True}
    requests = [{**same, **of, **time} for of, time in zip(of_each, times, strict=True)]
    requests.append({**same, "measured": False, "output_tokens": 9, "arrival_s": 0.0})
    tables = {"jobs": table("jobs", jobs), "requests": table("requests", requests)}
    one = result(tmp_path, FLOWS, **tables)
    names = ["fct.max@all", "slowdown.p50@all", "fct_established.mean@all", "fct.p99@all"]
    more = ["ttft.mean", "ttft.max", "tpot.mean@chat", "tpot.p0"]
    rows = measure(one, [*names, "jct.mean", "flows.unfinished", "goodput.p0", *more])
    assert rows.drop("part", "unit").rows() == [
        ("fct", "max", 2.0, 4, 2, True),
        ("slowdown", "p50", 6.5, 4, 2, True),
        ("fct_established", "mean", 0.5, 4, 2, True),
        ("fct", "p99", None, 4, 2, False),
        # The run ended after 1 s.
        ("jct", "mean", 0.625, 2, 1, True),
        ("flows", "unfinished", 2.0, None, None, False),
        ("goodput", "p0", 0.0, 5, None, False),
        ("ttft", "mean", pytest.approx(1.35 / 4), 4, 1, True),
        ("ttft", "max", 0.75, 4, 1, True),
        # 0.2, and at least 0.4 / 4 and 0.
        ("tpot", "mean", pytest.approx(0.1), 3, 2, True),
        ("tpot", "p0", 0.0, 3, 2, True),
    ]


def test_what_makes_numbers_doubtful_is_said(tmp_path: Path) -> None:
    counts = counts_of(result(tmp_path, [*FLOWS, finished(1.0, segments=9, retransmits=5)]))
    assert counts == {"flows": 5, "unfinished": 2, "segments": 9, "retransmits": 5}
    well = {"flows": 10, "unfinished": 0, "segments": 100, "retransmits": 50}
    assert remarks([("a", well), ("b", well)]) == ["every flow finished before the run ended"]
    assert remarks([("a", {**well, "flows": 0, "segments": 0, "retransmits": 0})]) == []
    one = {"flows": 1, "unfinished": 0, "segments": 1, "retransmits": 1}
    assert remarks([("a", one)])[1] == "more than half of all data segments were sent again: a 100%"
    worse = {"flows": 10, "unfinished": 1, "segments": 100, "retransmits": 51}
    worst = {"flows": 10, "unfinished": 2, "segments": 100, "retransmits": 75}
    assert remarks([("a", well), ("b", worse), ("b", well), ("b", worst), ("c", worse)]) == [
        "not finished when the run ended: b 3 of 30 flows (10%), c 1 of 10 flows (10%)",
        "more than half of all data segments were sent again: b up to 75% in 2 of 3 runs, c 51%",
    ]
    (line,) = remarks([("a", {**worst, "unfinished": 0}), ("a", well)])[1:]
    assert line.endswith(": a 75% in 1 of 2 runs")


@pytest.mark.core
def test_explain_chooses_the_slowest_flow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that ends before the last packets of an incast are acknowledged."""
    scenario = Path(__file__).parents[1] / "docs/workloads/incast.toml"
    command = ["run", str(scenario), "--out", str(tmp_path / "r"), "--set", "measure.warm_up=3.9ms"]
    app([*command, "--set", "duration=4.4ms"], standalone_mode=False)
    printed = capsys.readouterr().out
    one = Result(tmp_path / "r")
    assert one.summary.overall.unfinished > 0
    assert "unfinished flows count as old as they were when the run ended; ≥" in printed
    app(["explain", str(tmp_path / "r")], standalone_mode=False)
    printed = capsys.readouterr().out
    flow, _, at_least = slowest(one.scan("flows"), 1).row(0)
    assert at_least
    assert printed.startswith(f"the slowest flow is {flow}: slowdown ")
    assert f"Flow {flow}: " in printed
    assert "It did not finish" in printed
