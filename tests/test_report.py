"""The report: its data by hand, what it leaves out and says so, its bundle."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from linkpool.report.data import ranks, requests, time
from linkpool.report.data.flows import MOST, SLOWEST
from linkpool.report.data.result import result_data
from linkpool.report.page import write_report
from linkpool.request_spans import DOING
from linkpool.result import Result
from linkpool.study.arms import Arm, arms_of
from tables import finished, table, write_result
from test_cli import call
from test_request_spans import lives

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
BUNDLE = ROOT / "python/linkpool/report/bundle"


def written(directory: Path, flows: list[dict[str, object]], **series: pl.DataFrame) -> Result:
    numbered = [{"flow": i, **flow} for i, flow in enumerate(flows)]
    write_result(directory, table("flows", numbered), **series)
    return Result(directory)


def data(result: Result, *asked: int) -> dict[str, Any]:
    return result_data(Arm("one", (result,)), asked)


def content(page: Path) -> dict[str, Any]:
    """Return what a page holds, as the browser reads it."""
    found = re.search(r'id="data">([^<]*)<', page.read_text(encoding="utf-8"))
    assert found is not None
    read: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return read


def test_thinning_keeps_the_slowest_and_says_so(tmp_path: Path) -> None:
    slowdowns = np.random.default_rng(1).permutation(5000) + 1.0
    result = written(tmp_path, [finished(0.1, slowdown=float(s)) for s in slowdowns])
    page = data(result)
    shown = page["flows"]["columns"]
    assert (page["flows"]["total"], len(shown["flow"])) == (5000, MOST)
    assert len(set(shown["flow"])) == MOST
    assert sorted(shown["slowdown"])[-SLOWEST:] == list(range(5001 - SLOWEST, 5001))
    assert page["flows"]["slowdowns"]["flows"] == [5000], "percentiles are those of all"
    assert any(f"{MOST:,} of 5,000 flows" in note for note in page["notes"])


def test_flows_asked_for_have_lanes(tmp_path: Path) -> None:
    flows = [finished(0.5, slowdown=1.0 + i) for i in range(100)]
    samples = [
        {"time_s": t / 100, "flow": flow, "cwnd_pkts": 2.0, "suppressed": 1 < t < 4}
        for t in range(6)
        for flow in range(100)
    ]
    result = written(tmp_path, flows, cwnd=table("cwnd", samples))
    lanes = data(result, 3)["lanes"]
    assert "3" in lanes
    assert {str(n) for n in range(70, 100)} <= set(lanes), "the thirty slowest"
    assert lanes["3"]["suppressed"] == {0: [[0.02, 0.03]]}
    assert lanes["99"]["cwnd"][0] == [[t / 100 for t in range(6)], [2] * 6]


def test_goodput_adds_up_to_what_was_acknowledged(tmp_path: Path) -> None:
    flows = [
        finished(0.4, size=1000, start_s=0.1),
        finished(0.25, size=3000, start_s=0.33, transport="u"),
    ]
    goodput = time.goodput(written(tmp_path, flows), 0.6)
    assert goodput["spread"]
    for transport, size in (("t", 1000), ("u", 3000)):
        total = sum(goodput["series"][transport]) * goodput["step"] / 8
        assert total == pytest.approx(size, rel=1e-3)
    busy = [v for t, v in zip(goodput["t"], goodput["series"]["t"], strict=True) if 0.11 < t < 0.49]
    assert busy == pytest.approx([20_000] * len(busy), rel=1e-3), "1000 bytes in 0.4 s"


def test_goodput_of_recorded_rates(tmp_path: Path) -> None:
    rates = [{"time_s": t, "goodput_bps": r} for t, r in ((0.1, 800.0), (0.2, 1600.0), (0.25, 0.0))]
    result = written(tmp_path, [finished(0.25, size=30)], rate=table("rate", rates))
    goodput = time.goodput(result, 0.3)
    assert not goodput["spread"]
    assert goodput["series"]["t"] == pytest.approx([800.0, 1600.0, 0.0], abs=1e-6)


def counters() -> pl.DataFrame:
    rows = [
        {"time_s": t / 10, "link": link, "bytes": b, "utilisation": u, "drops": d}
        | ({"paused_s": {1: 1e-6, 2: 0.0, 3: 0.05}[t]} if link == "B->A" else {})
        for t in (1, 2, 3)
        for link, b, u, d in (("A->B", 10, t / 10, 2 * (t == 2)), ("B->A", 1, None, 0))
    ]
    return table("counters", rows)


def changes() -> pl.DataFrame:
    rows = [
        {"time_s": 0.1, "link": "B->A", "change": "down"},
        {"time_s": 0.2, "link": "B->A", "change": "up"},
        {"time_s": 0.25, "link": "A->B", "change": "down"},
        {"time_s": 0.3, "change": "routes"},
    ]
    return table("changes", rows)


def test_the_strip_of_links(tmp_path: Path) -> None:
    result = written(tmp_path, [finished(0.3)], counters=counters(), changes=changes())
    page = data(result)
    assert page["heat"] == {
        "links": ["A->B", "B->A"],
        "of": 2,
        "edges": [0, 0.1, 0.2, 0.3],
        "used": [[10, 20, 30], [-1, -1, -1]],
        "lost": [[0, 1, 2]],
        "paused": [[1, 0, 1], [1, 2, 50]],
    }
    assert page["failures"] == {
        "link": ["A->B", "B->A"],
        "state": ["down", "down"],
        "start_s": [0.25, 0.1],
        "end_s": [None, 0.2],
    }


def test_slow_links_are_marked(tmp_path: Path) -> None:
    """A link is slow below the rate of the topology, whether or not it fails meanwhile."""
    links = [{"link": link, "rate_bps": 1e9} for link in ("A->B", "B->A")]
    rows = [
        {"time_s": t, "link": link, "change": change, "value": value}
        for t, link, change, value in (
            (0.1, "A->B", "rate", 1e8),
            (0.1, "B->A", "rate", 2e9),
            (0.15, "A->B", "limit", 5.0),
            (0.2, "A->B", "down", None),
            (0.3, "A->B", "up", None),
            (0.4, "A->B", "rate", 1e9),
            (0.5, "B->A", "rate", 5e8),
        )
    ]
    write_result(
        tmp_path,
        table("flows", [{"flow": 0, **finished(0.3)}]),
        table("links", links),
        changes=table("changes", rows),
    )
    assert time.failures(Result(tmp_path)).rows() == [
        ("A->B", "slow", 0.1, 0.4),
        ("A->B", "down", 0.2, 0.3),
        ("B->A", "slow", 0.5, None),
    ]


ZERO = "computation 100 communication 198.24 checkpoint 208.24 | computation 300 recovery 350 | "
ZERO += "computation 450 straggling 500 communication 556.64"
ONE = "wait 100 communication 177.6 checkpoint 187.6 | wait 300 recovery 350 | "
ONE += "wait 500 communication 536 wait 556.64"


def rank_spans() -> pl.DataFrame:
    """Return the spans of docs/scenario/record.md, of ranks 0 and 1: until when, in us."""
    rows = []
    for rank, told in enumerate((ZERO, ONE)):
        at = 0.0
        for attempt, of in enumerate(told.split(" | ")):
            words = of.split()
            for doing, until in zip(words[::2], words[1::2], strict=True):
                end = float(until) * 1e-6
                key = {"iteration": min(attempt, 1), "restart": max(attempt - 1, 0)}
                span = {"label": "job", "rank": rank, "host": f"h{rank}", "doing": doing}
                rows.append({**span, **key, "start_s": at, "end_s": end})
                at = end
    return table("rank_spans", rows)


def test_where_the_time_of_iterations_went(tmp_path: Path) -> None:
    """What the failure cut off, and the recovery, are lost; means over both ranks."""
    page = data(written(tmp_path, [finished(1e-4)], rank_spans=rank_spans()))
    found = page["ranks"]["table"]
    assert found["names"][:3] == ["label", "iteration", "time_s"]
    assert found["names"][3:] == [f"{kind}_share" for kind in ranks.SPENT]
    zero, one = (208.24 + 187.6, 348.4 + 369.04)
    first = [100, 0, 98.24 + 77.6, 100, 20, 0]
    second = [100, 50, 56.64 + 36, 150 + 20.64, 0, 91.76 + 112.4 + 100]
    both = [a + b for a, b in zip(first, second, strict=True)]
    expected = [("all", zero + one, both), ("0", zero, first), ("1", one, second)]
    for row, (iteration, total, spent) in zip(found["rows"], expected, strict=True):
        assert row[:2] == ["job", iteration]
        shares = [us / total for us in spent]
        assert row[2:] == pytest.approx([total / 2 * 1e-6, *shares], rel=5e-5, abs=1e-9)
        assert sum(row[3:]) == pytest.approx(1.0, rel=5e-5)
    when = [(0.0, 556.64), (0.0, 208.24), (187.6, 556.64)]
    assert page["ranks"]["when"] == [pytest.approx([1e-6 * t for t in two]) for two in when]
    assert page["end"] == pytest.approx(556.64e-6), "the page is as long as the job"


def test_a_recovery_is_lost_though_no_iteration_is(tmp_path: Path) -> None:
    """The failure comes in the checkpoint after iteration 0, which is there already."""
    told = [("computation", 0, 0, 3.0), ("checkpoint", 0, 0, 4.0), ("recovery", 0, 0, 8.0)]
    rows, at = [], 0.0
    for doing, iteration, restart, end in [*told, ("computation", 1, 1, 16.0)]:
        key = {"label": "job", "host": "h0", "iteration": iteration, "restart": restart}
        rows.append({**key, "doing": doing, "start_s": at, "end_s": end})
        at = end
    page = data(written(tmp_path, [finished(1e-4)], rank_spans=table("rank_spans", rows)))
    [whole, first, second] = page["ranks"]["table"]["rows"]
    assert whole == ["job", "all", 16, 0.6875, 0, 0, 0, 0.0625, 0.25]
    assert first == ["job", "0", 8, 0.375, 0, 0, 0, 0.125, 0.5]
    assert second == ["job", "1", 8, 1, 0, 0, 0, 0, 0]


def test_ranks_that_others_wait_for_come_first(tmp_path: Path) -> None:
    [job] = data(written(tmp_path, [finished(1e-4)], rank_spans=rank_spans()))["ranks"]["jobs"]
    assert (job["name"], job["of"], job["ranks"], job["hosts"]) == ("job", 2, [0, 1], ["h0", "h1"])
    [zero, one] = job["rows"]
    kinds = [ranks.KINDS[kind] for kind in zero["k"]]
    assert kinds == ZERO.replace("| ", "").split()[::2]
    times = [0.0, *map(float, ONE.replace("| ", "").split()[1::2])]
    assert one["t"] == pytest.approx([1e-6 * t for t in times])
    assert one["i"] == [0, 0, 0, 1, 1, 1, 1, 1]


def test_many_ranks_and_many_spans_are_thinned_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "MOST_RANKS", 1)
    monkeypatch.setattr(ranks, "MOST_SPANS", 7)
    monkeypatch.setattr(ranks, "PARTS", 5)
    page = data(written(tmp_path, [finished(1e-4)], rank_spans=rank_spans()))
    [job] = page["ranks"]["jobs"]
    assert (job["of"], job["ranks"], job["parts"]) == (2, [0], 5)
    # Parts of 111.328 us, by what takes most of each.
    [row] = job["rows"]
    kinds = ["computation", "communication", "computation", "computation", "communication"]
    expected = ["computation", "communication", "computation", "communication"]
    assert kinds.count("computation") == 3
    assert [ranks.KINDS[kind] for kind in row["k"]] == expected
    assert row["t"] == pytest.approx([111.328e-6 * part for part in (0, 1, 2, 4, 5)])
    assert any("1 of the 2 ranks of job" in note for note in page["notes"])
    assert any("drawn in 5 parts" in note for note in page["notes"])


def test_what_first_tokens_were_made_of(tmp_path: Path) -> None:
    """Of eleven requests, those in docs of `LIVES`; four have no first token, and count so far."""
    page = data(written(tmp_path, [finished(0.1)], requests=lives()))
    found = page["requests"]["bands"]
    # Tenths of a second: sums over the requests of wait, prefill, transfer and step.
    expected = [
        ("all", 11, 4, (2.5, 10, 13, 6.5)),
        ("fastest 50%", 6, 2, (2, 5, 0, 0)),
        ("50% to 90%", 4, 2, (0, 4, 9, 4.5)),
        ("slowest 10%", 1, 0, (0.5, 1, 4, 2)),
    ]
    for band, (name, count, waiting, sums) in zip(found, expected, strict=True):
        numbers = (band["label"], band["band"], band["requests"], band["waiting"])
        assert numbers == ("chat", name, count, waiting)
        means = [total / count / 10 for total in sums]
        assert band["parts"] == pytest.approx(means, rel=5e-5, abs=1e-12)
        assert band["ttft_s"] == pytest.approx(sum(means), rel=5e-5)
    assert requests.BEFORE == ("wait", "prefill", "transfer", "step")
    [times] = page["requests"]["times"]
    assert (times["requests"], times["answered"]) == (11, 4)
    assert (times["ttft"]["max_s"], times["ttft"]["at_least"]) == (
        pytest.approx(0.75),
        ["mean_s", "p50_s", "p90_s", "max_s"],
    )
    assert page["end"] == 1.0, "some requests last to the end of the run"


def test_the_table_of_steps_is_by_size_of_the_batch(tmp_path: Path) -> None:
    """Two of one sequence, one of two; the last was cut off."""
    of = {"label": "chat", "host": "h0"}
    rows: list[dict[str, object]] = [
        {**of, "start_s": 0.0, "end_s": 2e-5, "computed_s": 1e-5, "sequences": 1, "tokens": 1},
        {**of, "start_s": 2e-5, "end_s": 6e-5, "computed_s": 2e-5, "sequences": 1, "tokens": 1},
        {**of, "start_s": 6e-5, "end_s": 7e-5, "computed_s": 1e-5, "sequences": 2, "tokens": 2},
        {**of, "start_s": 7e-5, "computed_s": 1e-5, "sequences": 2},
    ]
    steps = table("decode_steps", rows)
    page = data(written(tmp_path, [finished(1e-4)], decode_steps=steps))
    [found] = [one for one in page["tables"] if one["title"] == "Decode steps"]
    assert found["names"] == [
        *("label", "sequences", "steps", "mean_s", "p50_s", "max_s", "computed_share", "tokens")
    ]
    assert found["rows"] == [
        ["chat", 1, 2, 3e-5, 3e-5, 4e-5, 0.5, 2],
        ["chat", 2, 1, pytest.approx(1e-5), pytest.approx(1e-5), pytest.approx(1e-5), 1.0, 2],
    ]


def test_the_table_of_requests_is_by_time_to_the_first_token(tmp_path: Path) -> None:
    found = data(written(tmp_path, [finished(0.1)], requests=lives()))["requests"]
    names = found["table"]["names"]
    rows = [dict(zip(names, row, strict=True)) for row in found["table"]["rows"]]
    assert [row["request"] for row in rows[:3]] == [1, 8, 0]
    parts = {"wait_s": 0.05, "prefill_s": 0.1, "transfer_s": 0.4, "step_s": 0.2}
    assert {name: rows[0][name] for name in parts} == pytest.approx(parts)
    assert found["when"][0] == [0.05, 0.8]
    times = [row["ttft_s"] for row in rows]
    assert times == sorted(times, reverse=True)
    note = "a request without tokens counts as old as it was when the run ended"
    assert found["table"]["note"] == note


def test_jobs_come_in_the_order_of_their_workloads(tmp_path: Path) -> None:
    """Also if that of the second workload is answered first, as its rows are then."""
    first = lives().head(4)
    second = first.with_columns(label=pl.lit("code"), workload=pl.lit(1, first["workload"].dtype))
    both = pl.concat([second, first])
    found = data(written(tmp_path, [finished(0.1)], requests=both))["requests"]
    for part, name in (("times", "label"), ("bands", "label"), ("jobs", "name")):
        assert [one[name] for one in found[part]] == ["chat", "code"]
    assert found["table"]["note"] == ""


def test_requests_are_drawn_in_order_of_arrival(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = written(tmp_path, [finished(0.1)], requests=lives())
    page = data(result)
    [job] = page["requests"]["jobs"]
    assert (job["name"], job["of"], job["requests"]) == ("chat", 11, list(range(11)))
    assert (job["hosts"][0], job["hosts"][3]) == (["p", "d"], ["p", None])
    assert job["first"][:2] == [0.45, 0.8]
    kinds = page["requests"]["kinds"]
    assert [kinds[kind] for kind in job["rows"][0]["k"]] == list(DOING[1:])
    assert job["rows"][0]["t"] == [0, 0.1, 0.3, 0.45, 0.7]
    assert not any("are drawn" in note for note in page["notes"])
    # Of five the two slowest are drawn, and of the others every third.
    monkeypatch.setattr(requests, "MOST_REQUESTS", 5)
    page = data(result)
    [job] = page["requests"]["jobs"]
    assert (job["of"], job["requests"]) == (11, [0, 1, 4, 7, 8])
    assert any("5 of the 11 requests of chat are drawn" in note for note in page["notes"])


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    notes = " ".join(data(written(tmp_path, [finished(0.1)]))["notes"])
    for key in ("cwnd", "rate", "counters"):
        assert f"record.{key} asks for them" in notes


def test_the_page_holds_its_data_and_needs_nothing_else(tmp_path: Path) -> None:
    written(tmp_path / "<one>", [finished(0.1, label="</script><b>")])
    page = tmp_path / "page.html"
    size = write_report(arms_of([tmp_path / "<one>"]), page)
    text = page.read_text(encoding="utf-8")
    assert size == page.stat().st_size
    assert "<title>linkpool: &lt;one&gt;</title>" in text
    assert content(page)["results"][0]["flows"]["columns"]["label"] == ["</script><b>"]
    assert not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=|@import", text)
    assert text.count("</script>") == 2
    before = page.read_bytes()
    write_report(arms_of([tmp_path / "<one>"]), page)
    assert page.read_bytes() == before


def test_a_large_result_makes_a_small_page(tmp_path: Path) -> None:
    flows = table("flows", [finished(0.1, slowdown=2.0, src="h1", dst="h2")])
    n = 100_000
    many = pl.concat([flows] * n).with_columns(
        flow=pl.Series(np.arange(n), dtype=pl.UInt32),
        size_bytes=pl.Series(1000 + np.arange(n) * 7919 % 1_000_003),
        slowdown=pl.Series(1.0 + np.arange(n) % 977 / 10),
    )
    write_result(tmp_path / "r", many)
    assert write_report(arms_of([tmp_path / "r"]), tmp_path / "page.html") < 2_000_000
    assert len(content(tmp_path / "page.html")["results"][0]["flows"]["columns"]["flow"]) == MOST


def test_the_bundle_is_made_of_these_sources() -> None:
    """`npm run build` in web/ writes the same hash, without which the page would be an old one."""
    names = [f"src/{path.name}" for path in (WEB / "src").iterdir()]
    names += ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\n".encode())
        digest.update((WEB / name).read_bytes())
    for name in ("report.js", "report.css"):
        head = (BUNDLE / name).read_text(encoding="utf-8").splitlines()[0]
        remedy = "build it: cd web && npm ci && npm run build"
        assert head == f"/* built from web/, sha256 {digest.hexdigest()} */", remedy


def test_versions_of_the_front_end_are_pinned() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    for name, version in {**package["dependencies"], **package["devDependencies"]}.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), f"{name} is not pinned"


def test_report_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "r", [finished(0.1)])
    assert call(monkeypatch, "report", tmp_path / "r", "-o", tmp_path / "page.html") == 0
    assert content(tmp_path / "page.html")["title"] == "r"
    capsys.readouterr()
    assert call(monkeypatch, "report", tmp_path / "r", "-o", tmp_path / "page.pdf") == 2
    assert "write a name that ends in .html" in capsys.readouterr().err
