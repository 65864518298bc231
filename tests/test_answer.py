"""The answer of a study: which arm is best, by how much, how sure; in notebooks."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import linkpool
from linkpool.first_screen import first_screen
from linkpool.report.page import write_report
from linkpool.study import Study
from linkpool.study.answer import MOST_LINES, answer, asked
from linkpool.study.arms import arms_of
from linkpool.units import show_number
from tables import finished, summarise, table, unfinished

ROOT = Path(__file__).resolve().parent.parent


def study(**more: Any) -> Study:
    arms = [{"name": name} for name in "abc"]
    document = {
        "base": "x.toml",
        "arm": arms,
        "measures": ["flows.all", "goodput.mean"],
        "seeds": 3,
    }
    return Study.from_dict({**document, **more})


def data(values: dict[tuple[Any, ...], list[float]], **more: Any) -> pl.DataFrame:
    """Return goodputs by arm, varied value and seed."""
    row = {"measure": "goodput", "part": "all", "statistic": "mean", "unit": "bit/s", **more}
    counted = {"count": 10, "unfinished": 0, "at_least": False}
    names = ("arm", "queue.mark")
    return pl.DataFrame(
        [
            {**dict(zip(names, keys, strict=False)), "seed": i, **counted, **row, "value": value}
            for keys, of in values.items()
            for i, value in enumerate(of)
        ]
    )


def test_the_best_arm_is_compared_with_the_next() -> None:
    # The ratio is 0.5; Fieller's interval is that of `ratio_interval`, 1 / 2.026 to 1 / 1.979.
    table = data({("a",): [10.0, 11.0, 12.0], ("b",): [20.0, 22.1, 23.9], ("c",): [1.0, 2.0, 3.0]})
    (line,) = answer(study(), table)
    assert line.startswith(
        "b has the largest goodput.mean, 22 bit/s; a, the next, has 0.5 times that "
        "(95%: 0.49 to 0.51): sure over 3 seeds, p = "
    )
    assert asked(study()) == "3 arms × 3 seeds, by flows.all, goodput.mean"


def test_small_measures_are_won_by_the_least_and_unfinished_flows_leave_it_open() -> None:
    of = {"measure": "timeouts", "statistic": "total", "unit": ""}
    small = study(measures=["timeouts.total"])
    table = data({("a",): [4.0], ("b",): [2.0]}, **of)
    assert answer(small, table) == [
        "b has the least timeouts.total, 2; a, the next, has 2 times that: one seed, so chance is "
        "not told from effect"
    ]
    (line,) = answer(small, table.with_columns(at_least=pl.lit(True)))
    assert line.startswith(
        "open: b has the least timeouts.total so far, 2, but flows of it had not"
    )


def test_each_setting_has_its_answer_and_many_are_adjusted_together() -> None:
    marks = list(range(1, 9))
    varied = study(vary={"queue.mark": marks})
    values = {("a", m): [1.0, 1.1, 1.3] for m in marks} | {("b", m): [1.2, 1.4, 1.5] for m in marks}
    lines = answer(varied, data(values))
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "2 more settings: see the table"
    assert lines[0].startswith(
        "queue.mark 1: b has the largest goodput.mean, 1.37 bit/s; a, the next"
    )
    # Student's t of 0.2, 0.3 and 0.2 is 7, p 0.0198: one comparison is sure, eight are not.
    assert lines[0].endswith("not sure over 3 seeds, p = 0.158")
    (one,) = answer(study(), data({(a,): values[(a, 1)] for a in "ab"}))
    assert one.endswith(": sure over 3 seeds, p = 0.0198")
    # Student's t of 1, 1.01 and 0.99 is 173, p 0.0000333.
    (one,) = answer(study(), data({("a",): [1.0, 1.1, 1.3], ("b",): [2.0, 2.11, 2.29]}))
    assert one.endswith(": sure over 3 seeds, p < 0.001")


def test_names_of_a_zip_stand_for_what_goes_with_them() -> None:
    zipped = study(zip=[{"name": ["slow", "fast"], "queue.mark": [1, 2]}])
    assert zipped.told == {"queue.mark"}
    values = {(arm, 1): [1.0 + i] for i, arm in enumerate("ab")}
    table = data(values).with_columns(name=pl.lit("slow"))
    (line,) = answer(zipped, table)
    assert line.startswith("slow: b has the largest goodput.mean")
    assert study(zip=[{"queue.limit": [3, 4], "queue.mark": [1, 2]}]).told == set()


def test_nobody_wins_alone_or_by_a_measure_without_a_direction() -> None:
    assert answer(study(arm=[{"name": "a"}]), data({("a",): [1.0]})) == []
    assert answer(study(measures=["flows.all"]), data({("a",): [1.0], ("b",): [2.0]})) == []
    assert answer(study(), data({("a",): [1.0]})) == []


@pytest.mark.parametrize("of_a", [None, 5.0])
def test_a_measure_that_one_arm_has_is_not_what_is_answered_by(of_a: float | None) -> None:
    """A percentile of too few flows has no value: the next measure has the answer."""
    few = data({("a",): [of_a], ("b",): [None]}, measure="slowdown", statistic="p99", unit="")  # type: ignore[list-item]
    few = few.with_columns(pl.col("value").cast(pl.Float64))
    table = pl.concat([few, data({("a",): [1.0], ("b",): [2.0]})])
    (line,) = answer(study(measures=["slowdown.p99", "goodput.mean"]), table)
    assert line.startswith("b has the largest goodput.mean")


def test_jobs_are_answered_by_label_before_a_later_measure() -> None:
    """Times of jobs have no value of the whole run, only one for each label."""
    of = {"measure": "jct", "statistic": "mean", "unit": "s"}
    job = {("a",): [2.0], ("b",): [1.0]}
    timeouts = data({("a",): [0.0], ("b",): [0.0]}, measure="timeouts", statistic="total", unit="")
    asked_for = study(measures=["jct.mean", "timeouts.total"])
    one = data(job, part="train", **of)
    (line,) = answer(asked_for, pl.concat([one, timeouts]))
    assert line.startswith("b has the least jct.mean@train, 1 s; a, the next, has 2 times that")
    other = data({("a",): [3.0], ("b",): [4.0]}, part="serve", **of)
    lines = answer(asked_for, pl.concat([one, other, timeouts]))
    assert [line.partition(",")[0] for line in lines] == [
        "b has the least jct.mean@train",
        "a has the least jct.mean@serve",
    ]
    named = study(measures=["jct.mean@serve", "timeouts.total"])
    (line,) = answer(named, pl.concat([one, other, timeouts]))
    assert line.startswith("a has the least jct.mean@serve, 3 s")


def test_no_arm_is_called_best_that_others_equal() -> None:
    of = {"measure": "timeouts", "statistic": "total", "unit": ""}
    table = data({("a",): [0.0], ("b",): [0.0], ("c",): [3.0]}, **of)
    (line,) = answer(study(measures=["timeouts.total"]), table)
    assert line == "a and b have the same, the least, timeouts.total: 0"


@pytest.mark.core
def test_a_notebook_shows_the_answer_first(tmp_path: Path) -> None:
    senders = {"few": 2, "<many>": 8}
    arms = [
        {"name": name, "set": {"workload.incast.0.senders": count}}
        for name, count in senders.items()
    ]
    base = str(ROOT / "docs/workloads/incast.toml")
    made = Study.from_dict(
        {
            "base": base,
            "title": "How many?",
            "arm": arms,
            "measures": ["fct.mean"],
            "claim": [{"measure": "jain", "above": 0.1}],
        }
    ).run(tmp_path)
    shown = made._repr_html_()
    order = [
        shown.index(part)
        for part in (
            "<h4>How many?</h4><p>2 arms × 1 seed, by fct.mean</p>",
            "<li>few has the least fct.mean, ",
            "<li>holds: jain above 0.1: few ",
            "every flow finished before the run ended",
            "<details><summary>statistics</summary>",
        )
    ]
    assert order == sorted(order)
    assert "&lt;many&gt;, the next, has" in shown
    arms_of_it = arms_of([made.dir])
    write_report(arms_of_it, tmp_path / "page.html", study=made.study)
    (packed,) = re.findall(r'id="data">([^<]*)<', (tmp_path / "page.html").read_text("utf-8"))
    lines = json.loads(gzip.decompress(base64.b64decode(packed)))["answers"]
    assert lines[:2] == [asked(made.study), *made.answer()]
    assert lines[2].startswith("holds: jain above 0.1: few ")
    assert lines[-1] == "every flow finished before the run ended"
    of_run = linkpool.run(base, set={"drain": "0s", "duration": "4360us"})
    shown = of_run._repr_html_()
    assert shown.startswith("<h4>incast</h4><p>seed 1, measured from 0 s to 4.36 ms</p><div>")
    left = of_run.summary.overall.unfinished
    assert left > 0
    assert f"{left} of {of_run.summary.overall.flows} flows had not finished when" in shown


def test_a_notebook_shows_of_a_result_what_the_report_shows_first() -> None:
    flows: list[dict[str, object]] = [
        finished(0.001 * n, slowdown=float(n), size=2000, flow=n, src="a", dst="b") for n in (1, 2)
    ]
    late = unfinished(0.5, size=9_000_000, flow=7, slowdown=9.0, src="<a>", dst="b")
    rows = [*flows, {**late, "transport": "<b>"}]
    summary = summarise(table("flows", rows), table("links", []), (0.0, 1.0))
    slowest = [{**row, "at_least": row is rows[2], "fct_s": row["active_s"]} for row in rows[::-1]]
    shown = first_screen("<name>", "seed 1", summary, slowest, ["look"], "results/one")
    assert shown.startswith("<h4>&lt;name&gt;</h4><p>seed 1</p>")
    assert shown.endswith("<p><small>results/one</small></p>")
    assert "<p>look</p>" in shown
    cards = re.findall(r"<b style=[^>]*>([^<]*)</b><br>([^<]*)<br><small>([^<]*)<", shown)
    assert [what for _, what, _ in cards] == [
        "measured flows",
        "median FCT",
        "mean goodput of a flow",
        "timeouts",
        "packets dropped",
    ]
    assert cards[0] == ("3", "measured flows", "1 did not finish")
    assert cards[1][::2] == ("2 ms", "too few flows for a 99th percentile")
    assert cards[2][2] == f"Jain's index {show_number(summary.overall.jain)}".replace("'", "&#x27;")
    assert cards[3] == ("0", "timeouts", "0 of 0 segments sent again")
    assert cards[4] == ("0", "packets dropped", "0 marked")
    first, second = re.findall(r"<table>(.*?)</table>", shown)
    groups = [re.findall(r"<td>(.*?)</td>", row) for row in first.split("<tr>")[2:]]
    assert [group[0] for group in groups] == ["t, dctcp, incast", "&lt;b&gt;, dctcp, incast"]
    assert [group[1:4] for group in groups] == [["2", "0", "1.5 ms"], ["1", "1", "≥ 500 ms"]]
    slow = [re.findall(r"<td>(.*?)</td>", row) for row in second.split("<tr>")[2:]]
    assert slow[0] == ["7", "&lt;a&gt;", "b", "9 MB", "≥ 500 ms", "≥ 9"]
    assert slow[1:] == [["2", "a", "b", "2 KB", "2 ms", "2"], ["1", "a", "b", "2 KB", "1 ms", "1"]]
    one = summarise(table("flows", flows), table("links", []), (0.0, 1.0))
    assert "by transport" not in first_screen("x", "", one, [], [], "")
    assert "slowest" not in first_screen("x", "", one, [], [], "")
    lost = replace(one, drops_down=1, drops_loss=1000)
    assert "1,001 lost on links, 0 marked" in first_screen("x", "", lost, [], [], "")
