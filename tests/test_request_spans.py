"""What requests to models did over time: by hand, in small runs, and what it adds up to."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.request_spans import DOING, request_spans
from linkpool.result import Result
from tables import finished, table, write_result

TIMES = [
    *("arrival_s", "prefill_start_s", "prefill_end_s", "kv_sent_s", "kv_arrived_s"),
    *("first_token_s", "end_s"),
]

LIVES = {
    # Times in tenths of a second, and what the request did until when. The run ends at 10.
    "answered": ((0, 0, 1, 1, 3, 4.5, 7), "prefill 1 transfer 3 step 4.5 decode 7"),
    "one token": ((0.5, 1, 2, 2, 6, 8, 8), "wait 1 prefill 2 transfer 6 step 8"),
    "early": ((2, 2, 3, 3, 5, 3, 9), "prefill 3 transfer 5 decode 9"),
    "one early token": ((4, 4, 5, None, None, 5, 5), "prefill 5"),
    "waits": ((9, None, None, None, None, None, None), "wait 10"),
    "is computed": ((8, 9, None, None, None, None, None), "wait 9 prefill 10"),
    "is sent": ((6, 6, 7, 7, None, None, None), "prefill 7 transfer 10"),
    "early, is sent": ((6, 6, 7, 7, None, 7, None), "prefill 7 transfer 10"),
    "steps": ((5, 5, 6, 6, 8, None, None), "prefill 6 transfer 8 step 10"),
    "has tokens": ((5, 5, 6, 6, 8, 9, None), "prefill 6 transfer 8 step 9 decode 10"),
    "early, has tokens": ((5, 5, 6, 6, 8, 6, None), "prefill 6 transfer 8 decode 10"),
}


def lives() -> pl.DataFrame:
    """Return a table of the requests of `LIVES`, in its order."""
    rows = []
    for number, (times, _) in enumerate(LIVES.values()):
        known = dict(zip(TIMES, (None if t is None else t / 10 for t in times), strict=True))
        hosts = {"prefill_host": "p", "decode_host": None if times[3] is None else "d"}
        at = {"label": "chat", "request": number, "prompt_tokens": 10, "output_tokens": 4}
        first = None if times[5] is None else (times[5] - times[0]) / 10
        rows.append({**at, **hosts, **known, "ttft_s": first, "measured": True})
    return table("requests", rows)


@pytest.mark.parametrize("life", LIVES)
def test_what_a_request_did(life: str, tmp_path: Path) -> None:
    write_result(tmp_path, table("flows", [finished(0.1)]), requests=lives())
    number = list(LIVES).index(life)
    (arrival, *_), told = LIVES[life]
    spans = request_spans(Result(tmp_path)).filter(request=number)
    words = told.split()
    assert spans["doing"].to_list() == words[::2]
    ends = [float(word) / 10 for word in words[1::2]]
    assert spans["end_s"].to_list() == ends
    assert spans["start_s"].to_list() == [arrival / 10, *ends[:-1]]


RUN = """
duration = "9ms"
drain = "9ms"
[topology.many-to-one]
senders = 3
rate = "1Gbps"
delay = "10us"
[transport.t]
control = "reno"
mss = "960B"
header = "40B"
ack_size = "40B"
ack_every = 1
initial_window = 1000
[[workload.inference]]
transport = "t"
label = "chat"
file = "r.csv"
prefill = 1
decode = 1
persistent = false
prefill_time = "5us"
prefill_time_per_token = "1us"
kv_per_token = "96B"
decode_time = "48us"
decode_time_per_sequence = "2us"
"""
LINES = "arrival_s,prompt_tokens,output_tokens\n0,100,5\n0.00001,150,1\n"


@pytest.fixture
def run(scenario: Callable[[str], Path], tmp_path: Path) -> Result:
    (tmp_path / "r.csv").write_text(LINES, encoding="utf-8")
    return linkpool.run(scenario(RUN))


def transfer(packets: int) -> float:
    """Return the time of a transfer on a new connection, us: its handshake, two links of 10 us.

    A packet has 1,000 B, and takes 8 us on a link, SYN and ACK 0.32 us.
    """
    return 4 * 10.32 + 0.32 + packets * 8 + 10 + 8 + 10


@pytest.mark.core
def test_two_requests_by_hand(run: Result) -> None:
    """The second waits for the prompt of the first, and for the end of its fourth step.

    The steps of the first begin when its keys and values are there. A step of one sequence takes
    50 us, one of two 52.
    """
    begin = 105 + transfer(10)
    sent = 260 + transfer(15)
    assert begin + 150 < sent < begin + 200
    last = begin + 200 + 52
    expected = [
        (0, "prefill", 0, 105),
        (0, "transfer", 105, begin),
        (0, "step", begin, begin + 50),
        (0, "decode", begin + 50, last),
        (1, "wait", 10, 105),
        (1, "prefill", 105, 260),
        (1, "transfer", 260, sent),
        (1, "step", sent, last),
    ]
    found = request_spans(run).select("request", "doing", "start_s", "end_s").rows()
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    for row, at in zip(found, expected, strict=True):
        assert [1e6 * time for time in row[2:]] == pytest.approx(at[2:], abs=1e-6)


@pytest.mark.core
@pytest.mark.parametrize("first", ["prefill", "decode"])
@pytest.mark.parametrize("drain", ["0s", "40ms"])
def test_spans_of_a_request_add_up_to_its_time(tmp_path: Path, first: str, drain: str) -> None:
    """Also where the run cuts requests off, and before and behind the first token."""
    result = linkpool.run(
        "docs/workloads/inference.toml",
        out=tmp_path / "out",
        set={"drain": drain, "workload.inference.0.first_token": first},
    )
    requests = result.requests
    assert requests["end_s"].has_nulls() == (drain == "0s")
    spans = request_spans(result)
    assert set(spans["doing"]) == set(DOING) - ({"step"} if first == "prefill" else set())
    end = float(result.run["simulated_s"])
    for row in requests.iter_rows(named=True):
        own = spans.filter(workload=row["workload"], request=row["request"])
        assert own["start_s"][0] == row["arrival_s"]
        assert own["end_s"].to_list()[:-1] == own["start_s"].to_list()[1:]
        assert own["end_s"][-1] == (end if row["end_s"] is None else row["end_s"])
        order = [DOING.index(doing) for doing in own["doing"]]
        assert order == sorted(set(order))
        if row["ttft_s"] is not None:
            before = own.filter(pl.col("end_s") <= row["first_token_s"])
            time = (before["end_s"] - before["start_s"]).sum()
            assert time == pytest.approx(row["ttft_s"], abs=1e-12)
