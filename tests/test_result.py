"""Results are read, pickled, and refused with a line where they are damaged."""

import concurrent.futures
import json
import multiprocessing
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool import cli, forks
from linkpool.columns import TABLES
from linkpool.publish import seal
from linkpool.result import NotRecordedError, Result, ResultError
from linkpool.study.remarks import counts_of
from tables import finished, table, unfinished, write_result


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a small result without a manifest."""
    flows = [{**finished(0.5, size=5000 * (i + 1)), "flow": i} for i in range(3)]
    flows.append({**unfinished(1.0), "flow": 3})
    links = [{"link": "W->R", "layer": "host", "rate_bps": 1e9, "utilisation": 0.5}]
    rtts = [{"flow": i % 3, "rtt_s": 1e-4 * i} for i in range(20)]
    place = tmp_path / "result"
    write_result(place, table("flows", flows), table("links", links), rtt=table("rtt", rtts))
    return place


def test_a_result_is_named_by_a_text_or_a_path(directory: Path) -> None:
    assert Result(str(directory)).flows.height == 4
    assert Result(str(directory)) == Result(directory)
    assert hash(Result(str(directory))) == hash(Result(directory))
    assert Result(directory) != directory
    assert repr(Result(directory)) == f"Result({str(directory)!r})"


def test_the_written_summary_is_read_and_else_computed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = Result(directory).summary.as_dict()
    assert Result(directory).written_summary == computed, "there is no file"
    (directory / "summary.json").write_text(json.dumps(computed), encoding="utf-8")
    seal(directory, "key")
    monkeypatch.setattr("linkpool._core.summarise", None)
    assert Result(directory).written_summary == json.loads(json.dumps(computed))
    segments = computed["overall"]["segments"]
    counted = {"flows": 4, "unfinished": 1, "segments": segments, "retransmits": 0}
    assert counts_of(Result(directory)) == counted
    (directory / "summary.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ResultError, match=r"summary\.json changed since it was written"):
        counts_of(Result(directory))


def test_a_pickled_result_is_its_absolute_path(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(directory.parent)
    relative = Result("result")
    assert relative.flows.height == 4
    pickled = pickle.dumps(relative)
    assert len(pickled) < 500, "no tables"
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).flows.equals(relative.flows)


def test_a_column_of_numbers_is_read_once(directory: Path) -> None:
    result = Result(directory)
    (times,) = result.numbers("flows", "fct_s")
    sizes, again = result.numbers("flows", "size_bytes", "fct_s")
    assert again is times
    assert sizes.tolist() == result.flows["size_bytes"].to_list()
    assert times[:3].tolist() == result.flows["fct_s"][:3].to_list()


def finished_of(result: Result) -> tuple[Result, int]:
    """What a worker is asked for."""
    return result, result.summary.overall.finished


def flows_of(result: Result) -> int:
    return result.flows.height


def test_results_go_to_other_processes_and_back(directory: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        back, count = pool.submit(finished_of, Result(directory)).result(timeout=100)
    assert count == 3
    assert back.flows.height == 4


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_was_forked_after_polars_says_so(directory: Path) -> None:
    assert Result(directory).flows.height == 4  # polars has its threads now
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        _, count = pool.submit(finished_of, Result(directory)).result(timeout=60)
        assert count == 3, "a summary needs no polars"
        answer = pool.submit(flows_of, Result(directory))
        with pytest.raises(forks.ForkedError, match="spawn"):
            answer.result(timeout=60)
    forks.require_polars()  # not here


FORKS = """
import concurrent.futures, multiprocessing, sys
from linkpool import Result, run

def simulate(seed):
    result = run(sys.argv[1], seed=seed, out=f"{sys.argv[2]}/{seed}")
    return result.summary.overall.finished, Result(result.dir).flows.height

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(list(pool.map(simulate, [1, 2, 3])))
    print(simulate(4))
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        print(type(pool.submit(simulate, 5).exception()).__name__)
"""
"""A program that forks after it has imported linkpool, with polars, and again after a run."""


def test_a_pool_of_forked_processes_runs_scenarios_before_the_first_table(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(FORKS, encoding="utf-8")
    scenario = Path(__file__).parents[1] / "docs/workloads/incast.toml"
    command = [sys.executable, "-W", "ignore", *map(str, (script, scenario, tmp_path / "results"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == [
        "[(24, 24), (24, 24), (24, 24)]",
        "(24, 24)",
        "ForkedError",
    ], done.stderr


@pytest.mark.parametrize(
    "what",
    ["pl.col('a') + 1", "pl.read_parquet(file)", "pl.scan_parquet(file).collect_schema()"],
)
def test_only_an_import_leaves_polars_without_threads_for_its_answers(
    what: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(file)
    uses = what.startswith("pl.col") is False
    # A thread gets its name when it first runs, which may be after polars has answered.
    lines = f"""
import time
import polars as pl
from linkpool import forks
file = {str(file)!r}
before = forks._polars_has_threads()
{what}
given_up = time.monotonic() + (30 if {uses} else 0.2)
while not (has := forks._polars_has_threads()) and time.monotonic() < given_up:
    time.sleep(0.01)
print(before, has)
"""
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False", str(uses)], done.stderr


def test_what_was_not_recorded_says_how_to_record_it(directory: Path) -> None:
    with pytest.raises(NotRecordedError, match=r"no queue; to record it, write `queue = \{ links"):
        _ = Result(directory).queue
    with pytest.raises(NotRecordedError, match="no jobs; no workload of its scenario has jobs"):
        _ = Result(directory).jobs


def test_a_directory_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"no directory .*gone; a result of linkpool.run without"):
        _ = Result(tmp_path / "gone").flows


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def write(text: str | bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    return damage


def without_column(path: Path) -> None:
    pl.read_parquet(path).drop("start_s").write_parquet(path)


def other_type(path: Path) -> None:
    pl.read_parquet(path).with_columns(pl.all().cast(pl.String)).write_parquet(path)


DAMAGES: list[tuple[str, Callable[[Path], None], str]] = [
    ("flows.parquet", cut, "flows.parquet is damaged"),
    ("flows.parquet", empty, "flows.parquet is damaged"),
    ("flows.parquet", remove, "it has no flows.parquet"),
    ("flows.parquet", without_column, "flows.parquet has no column start_s, as another version"),
    ("flows.parquet", other_type, "flows.parquet has another type of column flow than u32"),
    ("links.parquet", cut, "links.parquet is damaged"),
    ("links.parquet", remove, "links.parquet is missing"),
    ("workloads.parquet", cut, "workloads.parquet is damaged"),
    ("rtt.parquet", cut, "rtt.parquet is damaged"),
    ("subflows.parquet", empty, "subflows.parquet is damaged"),
    ("run.json", write("{"), "run.json is damaged"),
    ("run.json", empty, "run.json is damaged"),
    ("run.json", write("[" * 100_000), "run.json is damaged"),
    ("run.json", write("[1]"), "run.json is no JSON object"),
    ("run.json", write("{}"), "run.json does not say how long the run was"),
    ("run.json", write('{"simulated_s": null}'), "run.json does not say how long the run was"),
    ("run.json", remove, "it has no run.json"),
    ("scenario.toml", write("= ="), "scenario.toml is not a scenario as run"),
    ("scenario.toml", empty, "scenario.toml is not a scenario as run"),
    ("scenario.toml", write("measure = 3"), "scenario.toml is not a scenario as run"),
    ("scenario.toml", write("[measure]\nwarm_up = 1\ncut_off = 2"), "scenario.toml is not a sc"),
    ("scenario.toml", write(b"\xff\xfe"), "cannot be read"),
    ("scenario.toml", remove, "it has no scenario.toml"),
]


@pytest.mark.parametrize(("file", "damage", "message"), DAMAGES)
@pytest.mark.parametrize("command", ["show", "compare"])
def test_a_damaged_result_is_one_line_and_exit_2(
    directory: Path,
    file: str,
    damage: Callable[[Path], None],
    message: str,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damage(directory / file)
    monkeypatch.setattr("sys.argv", ["linkpool", command, str(directory)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert "linkpool run " in printed.err
    assert str(directory) in printed.err


def test_random_damage_is_a_line_or_nothing(directory: Path) -> None:
    """Bytes that are changed, cut off or doubled: a summary, or an error that names the remedy."""
    files = {path: path.read_bytes() for path in sorted(directory.iterdir())}
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    messages: list[str] = []
    for _ in range(150):
        path = rng.choice(list(files))
        content = bytearray(files[path])
        at = rng.randrange(len(content))
        match rng.randrange(3):
            case 0:
                content[at] ^= 1 << rng.randrange(8)
            case 1:
                del content[at:]
            case _:
                content[at:at] = content[: rng.randrange(1, 40)]
        path.write_bytes(content)
        try:
            result = Result(directory)
            result.check()
            json.dumps(result.summary.as_dict())
        except ResultError as error:
            messages.append(str(error))
        path.write_bytes(files[path])
    assert Result(directory).summary.overall.finished == 3
    assert all(str(directory) in message for message in messages)
    assert len(messages) > 50, "most damage is found"


def test_a_run_that_was_just_made_is_read_without_its_manifest(directory: Path) -> None:
    """Its files are as they were written, so nobody reads all of them once more to compare."""
    summary = Result(directory).summary_text
    (directory / "summary.json").write_text("{}", encoding="utf-8")
    seal(directory, "key")
    (directory / "summary.json").write_text(summary, encoding="utf-8")
    with pytest.raises(ResultError, match=r"summary\.json changed since it was written"):
        counts_of(Result(directory))
    made = Result.of_run(directory).trust()
    assert counts_of(made)["flows"] == 4
    assert made.summary_text == summary
    made.check()
    with pytest.raises(ResultError, match=r"summary\.json changed since it was written"):
        counts_of(Result.of_run(directory))


@pytest.mark.core
def test_damage_without_a_manifest_is_no_bug(
    scenario: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Tables of a run that are cut off or changed: a line that names the file, and no panic."""
    text = """
duration = "1ms"
drain = "1s"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
[[workload.permutation]]
transport = "t"
size = "20KB"
"""
    directory = tmp_path / "result"
    linkpool.run(scenario(text), out=directory, threads=1)
    (directory / "manifest.json").unlink()
    tables = {path: path.read_bytes() for path in sorted(directory.glob("*.parquet"))}
    commands = {
        "report": ["--out", str(tmp_path / "page.html")],
        "replay": ["--out", str(tmp_path / "again"), "--record", "cwnd.every=1ms"],
        "explain": ["--flow", "0"],
    }
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    refused = 0
    for round_ in range(24):
        path = rng.choice(list(tables))
        content = bytearray(tables[path])
        if round_ % 2:
            for _ in range(8):
                content[rng.randrange(len(content))] ^= 0xFF
        else:
            del content[rng.randrange(len(content)) :]
        path.write_bytes(content)
        command = rng.choice(list(commands))
        arguments = ["linkpool", command, str(directory), *commands[command]]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capfd.readouterr()
        path.write_bytes(tables[path])
        assert not any(word in said.err for word in ("bug", "panick", "Traceback")), (seed, said)
        assert caught.value.code in (0, None, 1, 2), (seed, said)
        if "damaged" in said.err:
            refused += 1
            assert path.name in said.err, (seed, path, said)
    assert refused > 4


def other_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("file", ["flows.parquet", "rtt.parquet", "run.json", "scenario.toml"])
@pytest.mark.parametrize("damage", [other_bit, cut])
def test_a_published_result_is_read_only_as_it_was_written(
    directory: Path, file: str, damage: Callable[[Path], None]
) -> None:
    """Also by whoever asks for one table only."""
    seal(directory, "key")
    assert Result(directory).summary.overall.finished == 3
    Result(directory).check()
    damage(directory / file)
    with pytest.raises(ResultError, match=rf"damaged: {file} .*; repeat the run: linkpool run"):
        Result(directory).check()
    with pytest.raises(ResultError, match=f"{file} changed since it was written"):
        _ = Result(directory).summary
    assert Result(directory).links.height == 1


def test_a_table_of_another_run_is_refused(directory: Path) -> None:
    seal(directory, "key")
    table("jobs", []).write_parquet(directory / "jobs.parquet")
    with pytest.raises(ResultError, match=r"jobs\.parquet is not part of it"):
        _ = Result(directory).jobs
    (directory / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ResultError, match=r"manifest\.json is not a manifest"):
        _ = Result(directory).flows


@pytest.mark.core
def test_traces_beyond_the_end_and_messages_that_do_not_start_are_counted(
    scenario: Callable[[str], Path],
) -> None:
    """The second flow comes too late; the third waits, until it is too late."""
    head = """
duration = "1ms"
drain = "1s"
topology.many-to-one = { senders = 4, rate = "1Gbps", delay = "1us" }
transport.t = { control = "reno" }
"""
    trace = """
[[workload.trace]]
transport = "t"
beyond_end = "drop"
flows = [
    { from = "S1", to = "R", size = "1MB" },
    { from = "S2", to = "R", size = "1KB", start = "1ms" },
    { from = "S3", to = "R", size = "1KB", after = [0] },
    { from = "S3", to = "R", size = "1KB", start = "999us" },
]
"""
    result = linkpool.run(scenario(head + trace))
    assert result.flows["src"].to_list() == ["S3", "S1"]
    assert result.workloads["not_started"].to_list() == [2]
    with pytest.raises(linkpool.ScenarioError, match="1 of its 4 flows would start at or after"):
        linkpool.run(scenario(head + trace.replace('beyond_end = "drop"', "")))
    collective = """
[[workload.collective]]
transport = "t"
algorithm = "all-to-all"
ranks = 4
size = "400KB"
iterations = 3
"""
    result = linkpool.run(scenario(head + collective))
    # Of three operations with 12 messages each, the first is under way when the last flows start.
    started = result.flows.height
    assert 4 <= started < 12
    assert result.jobs["not_started"].to_list() == [12 - started]
    assert result.jobs["end_s"].to_list() == [None]
    assert result.workloads["not_started"].to_list() == [36 - started]
    assert result.summary.jobs[0].not_started == 12 - started
    assert TABLES["jobs"].lacking is not None


@pytest.mark.core
def test_workload_and_job_identify_a_job_where_workloads_are_called_alike(
    scenario: Callable[[str], Path],
) -> None:
    """Two workloads without labels have two operations each, and each operation 2 messages."""
    collective = """
[[workload.collective]]
transport = "t"
algorithm = "all-to-all"
ranks = 2
size = "10KB"
iterations = 2
"""
    head = """
duration = "2ms"
drain = "100ms"
topology.many-to-one = { senders = 3, rate = "1Gbps", delay = "1us" }
transport.t.control = "reno"
"""
    result = linkpool.run(scenario(head + 2 * collective))
    jobs = result.jobs.select("workload", "job").sort("workload", "job").rows()
    assert jobs == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert result.jobs["label"].n_unique() == 1
    of_jobs = result.flows.group_by("workload", "job").len()
    assert of_jobs["len"].to_list() == [2] * 4


PERIOD = """
duration = "2ms"
drain = "8ms"
measure = { warm_up = "500us", cut_off = "1500us" }
topology.dumbbell = { pairs = 2, rate = "1Gbps", delay = "1us" }
transport.t = { control = "lia", subflows = 2 }
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
stop = "2ms"
[[workload.flow]]
transport = "t"
from = "S2"
to = "D2"
size = "1MB"
[[change]]
at = "1ms"
links = ["S1->L"]
rate = "500Mbps"
[record]
counters = { every = "100us" }
rate = { every = "100us" }
"""


@pytest.mark.core
def test_utilisation_and_rates_are_of_the_measured_period(scenario: Callable[[str], Path]) -> None:
    """As the counters of its intervals add up; a drain of four times the duration is no part."""
    result = linkpool.run(scenario(PERIOD))
    inside = (pl.col("time_s") > 0.00055) & (pl.col("time_s") < 0.00155)
    counted = result.counters.filter(inside).group_by("link").agg(pl.col("bytes").sum())
    links = result.links.join(counted, on="link")
    assert links.height == result.links.height
    assert links["measured_bytes"].to_list() == links["bytes_right"].to_list()
    busy = dict(result.links.select("link", "utilisation").iter_rows())
    sent = dict(result.links.select("link", "measured_bytes").iter_rows())
    link = next(name for name in busy if name.startswith("S1->"))
    # 1 Gbit/s for 0.5 ms, and 0.5 Gbit/s for 0.5 ms.
    assert busy[link] == pytest.approx(8 * sent[link] / 0.75e6)
    assert max(use for use in busy.values() if use is not None) > 0.9
    flows = result.flows.sort("flow")
    rates = result.rate.filter(inside).group_by("flow").agg(pl.col("goodput_bps").sum() * 1e-4 / 8)
    found = dict(rates.iter_rows())
    for flow, measured, on_subflows in flows.select(
        "flow", "measured_bytes", "measured_subflow_bytes"
    ).iter_rows():
        assert on_subflows == pytest.approx(found[flow])
        assert 0 < measured <= on_subflows + 100_000
    carried = result.subflows.group_by("flow").agg(pl.col("acked_bytes").sum().alias("carried"))
    both = flows.join(carried, on="flow")
    rate = 8 * both["carried"] / both["active_s"]
    assert (rate - both["subflow_goodput_bps"]).abs().max() == pytest.approx(0.0, abs=1e-3)


@pytest.mark.core
def test_run_json_has_what_the_page_promises(scenario: Callable[[str], Path]) -> None:
    result = linkpool.run(scenario(PERIOD))
    page = (Path(__file__).parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    table = page.partition("## run.json")[2].partition("\n## ")[0]
    promised = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(promised) == sorted(result.run)
    assert result.run["cpu_s"] >= 0.0


@pytest.mark.core
def test_a_run_does_not_count_the_time_of_other_runs(
    scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """Runs side by side in one process: none has used more than the time that passed."""
    file = scenario(PERIOD)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        places = [tmp_path / f"{n}" for n in range(4)]
        runs = list(pool.map(lambda out: linkpool.run(file, out=out, threads=1).run, places))
    for run in runs:
        assert 0 < run["cpu_s"] <= run["wall_s"] + 0.001  # the two clocks are not read at once


def test_the_period_is_read_without_the_rest_of_the_scenario(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scenario as run may hold a graph or a table of a million lines."""
    scenario = directory / "scenario.toml"
    rest = (
        "[topology.many-to-one]\nsenders = 3\n[[workload.poisson]]\nsize = { cdf = [[1, 1.0]] }\n"
    )
    scenario.write_text(scenario.read_text(encoding="utf-8") + rest, encoding="utf-8")
    parser = vars(sys.modules["linkpool.result"])["tomllib"]
    whole = parser.loads
    parsed: list[str] = []

    def loads(text: str) -> object:
        parsed.append(text)
        return whole(text)

    monkeypatch.setattr(parser, "loads", loads)
    assert Result(directory).period == (0.0, 1.0)
    assert len(parsed) == 1
    assert "topology" not in parsed[0]
