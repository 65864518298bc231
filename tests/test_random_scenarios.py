"""Random scenarios, judged by arithmetic of its own (`invariants.py`).

`LINKPOOL_CASES=N` makes N cases; `LINKPOOL_SEED=S` repeats those that a failure names.
"""

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

import linkpool
from invariants import Judge, Row, table
from linkpool.explain.blocked import blocked
from linkpool.explain.replay import replay
from linkpool.explain.story import tell
from linkpool.explain.wires import Wires
from linkpool.intervals import mean_interval, percentile_interval
from linkpool.units import PS
from random_scenarios import scenario

pytestmark = pytest.mark.core

# The same in each run: a change is judged by itself. `./x test --long` draws others.
FIXED = int(os.environ.get("LINKPOOL_CASES", "30"))
LONG = int(os.environ.get("LINKPOOL_CASES", "500"))
# What differs from run to run on purpose.
OF_THE_RUN = {"run.json", "manifest.json"}


def contents(directory: Path) -> dict[str, bytes]:
    """Return the files that must not depend on the number of threads."""
    files = (path for path in directory.iterdir() if path.name not in OF_THE_RUN)
    return {path.name: path.read_bytes() for path in files}


def check(name: str, number: int, place: Path) -> None:
    """Run a scenario on one thread and on several, and judge it."""
    place.mkdir(exist_ok=True)
    file = place / "scenario.toml"
    file.write_text(scenario(name), encoding="utf-8")
    result = linkpool.run(file, out=place / "alone", threads=1)
    wrong = Judge(place / "alone").judge()
    assert not wrong, f"{len(wrong)} in the scenario of {name!r}:\n" + "\n".join(wrong[:20])
    linkpool.run(file, out=place / "divided", threads=2 + number % 2)
    assert contents(place / "alone") == contents(place / "divided"), f"{name!r} by threads"
    if number % 3 == 0:
        check_explained(result)


def check_explained(result: linkpool.Result) -> None:
    """Both breakdowns of a flow add up to its completion time."""
    flows = result.flows.drop_nulls("end_s")
    finished = flows["flow"].to_list()
    wires = Wires(result)
    for life in replay(result, finished[:2]):
        told = tell(life, wires)
        fct = life.end - life.start
        assert fct == round(life.row["fct_s"] * PS)
        assert sum(told.breakdown.values()) == fct
        assert sum(blocked(life).values()) == fct


@pytest.mark.parametrize("number", range(FIXED))
def test_what_must_hold_in_any_run(number: int, tmp_path: Path) -> None:
    check(f"fixed {number}", number, tmp_path / "case")


@pytest.mark.long
def test_what_must_hold_in_any_of_many_runs(tmp_path: Path) -> None:
    seed, failed = os.environ["LINKPOOL_SEED"], []
    for number in range(LONG):
        try:
            check(f"{seed} {number}", number, tmp_path / str(number))
        except Exception as error:
            failed.append(f"{seed} {number}: {error}")
    assert not failed, f"{len(failed)} of {LONG} scenarios:\n" + "\n".join(failed[:10])


def more(key: str, by: float) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        row[key] += by

    return change


WRONG: dict[str, tuple[str, Callable[[Row], None]]] = {
    "times": ("flows", more("delivered_s", 1e-3)),
    "beyond": ("flows", more("end_s", 100.0)),
    "acked": ("flows", more("acked_bytes", -1)),
    "segments": ("flows", more("segments", 1)),
    "retransmits": ("flows", more("retransmits", 1)),
    "fct_s": ("flows", more("fct_s", -1e-5)),
    "ideal": ("flows", more("ideal_fct_s", -1e-5)),
    "slowdown": ("flows", more("slowdown", 1e-3)),
    "goodput": ("flows", more("goodput_bps", 1.0)),
    "came": ("links", more("packets", 1)),
    "went": ("links", more("drops", 1)),
    "utilisation": ("links", more("utilisation", 1.0)),
    "captured": ("links", more("drops_loss", 1)),
    "rows": ("flows", more("flow", 1)),
    "gap": ("spans", more("end_s", -1e-12)),
    "begin": ("spans", more("start_s", 1e-12)),
    "iteration": ("spans", more("iteration", 1)),
}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result with counters, queues and a capture, in which nothing is wrong."""
    place = tmp_path_factory.mktemp("right")
    (place / "scenario.toml").write_text(PLAIN, encoding="utf-8")
    linkpool.run(place / "scenario.toml", out=place / "out", threads=1)
    assert not Judge(place / "out").judge()
    return place / "out"


PLAIN = """
duration = "1ms"
drain = "1s"
[topology.many-to-one]
senders = 2
rate = "1Gbps"
delay = "1us"
[queue]
limit = 100
[transport.t]
control = "reno"
[[workload.incast]]
transport = "t"
senders = 2
receiver = "R"
size = "100KB"
bursts = 1
[[workload.training]]
transport = "t"
dp = 2
persistent = false
gradients = "3KB"
[record]
ranks = true
counters = { every = "50us", until = "3ms" }
queue = { links = ["W->R"], every = "20us", until = "3ms" }
capture = { links = ["W->R"] }
"""


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_number_is_noticed(what: str, right: Path) -> None:
    of, change = WRONG[what]
    judge = Judge(right)
    rows: list[Row] = getattr(judge, of)
    if of == "links":
        rows = [row for row in rows if row["link"] == "W->R"]
    change(rows[0])
    assert judge.judge()


@pytest.mark.parametrize("count", [3, 11, 61])
def test_statistics_of_completion_times_agree_with_scipy(count: int, tmp_path: Path) -> None:
    """On completion times of runs, which have heavy tails."""
    times: list[float] = []
    number = 0
    while len(times) < count:
        file = tmp_path / "scenario.toml"
        file.write_text(scenario(f"times {number}"), encoding="utf-8")
        linkpool.run(file, out=tmp_path / str(number), threads=1)
        rows = table(tmp_path / str(number), "flows")
        times += sorted({row["fct_s"] for row in rows} - {None})[-20:]
        number += 1
    times = times[:count]
    mean = stats.t.interval(0.95, count - 1, statistics.fmean(times), stats.sem(times))
    assert mean_interval(times) == pytest.approx((statistics.fmean(times), *mean), rel=1e-9)
    # The median of a resample, its k-th value, is at most the sample's i-th if k values are.
    value, low, high = percentile_interval(times, 50)
    numbers = range(1, count + 1)
    share = [stats.binom.sf((count + 1) // 2 - 1, count, number / count) for number in numbers]
    ends = [next(i for i, p in enumerate(share) if p >= end) for end in (0.025, 0.975)]
    assert value == statistics.median(times)
    assert [low, high] == [sorted(times)[end] for end in ends]
