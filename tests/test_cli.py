"""The command line, with the simulator replaced."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from fake_core import FakeCore
from linkpool import cli
from linkpool.columns import TABLES
from linkpool.experiments import all_experiments

INCAST = """
duration = "2s"
drain = "1s"
[transport.amp]
control = "amp"
subflows = 4
[[workload.incast]]
transport = "amp"
senders = 3
receiver = "R"
size = "64KiB"
every = "1s"
"""

Scenario = Callable[[str], Path]
Captured = pytest.CaptureFixture[str]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the command line and return its exit code."""
    monkeypatch.setattr("sys.argv", ["linkpool", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    code = caught.value.code
    return code if isinstance(code, int) else 1 if code else 0


@pytest.fixture
def linkpool_(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return the command line as a function."""
    return lambda *arguments: call(monkeypatch, *arguments)


Command = Callable[..., int]


def test_version(linkpool_: Command, capsys: Captured) -> None:
    assert linkpool_("--version") == 0
    assert capsys.readouterr().out == f"linkpool {linkpool.__version__}\n"


def test_run_writes_a_result_and_prints_its_summary(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    assert linkpool_("run", scenario(INCAST), "--out", out) == 0
    printed = capsys.readouterr()
    assert "amp" in printed.out
    assert "incast" in printed.out
    assert "SYN-ACK (fct_established_s)" in printed.out
    assert "W->R" in printed.out
    assert printed.err == "", "a log of a short run has no lines of progress"
    assert "packet-hops" not in printed.out
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["overall"]["finished"] == 6
    assert [group["label"] for group in summary["groups"]] == ["incast"]


@pytest.mark.core
def test_results_and_pages_have_names_of_their_own(
    linkpool_: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Without `--out`, as `study run` has a directory, too."""

    def said() -> list[str]:
        both = capsys.readouterr()
        return (both.err + both.out).splitlines()

    monkeypatch.chdir(tmp_path)
    fabric = 'topology.many-to-one = { senders = 3, rate = "10Gbps", delay = "1us" }'
    Path("mine.toml").write_text(fabric + INCAST, encoding="utf-8")
    assert linkpool_("run", "mine.toml") == 0
    assert said()[-1] == "results/mine"
    assert linkpool_("run", "mine.toml", "--seed", 9) == 0
    assert said()[0].startswith("results/mine will be replaced when the run is done: it holds ")
    assert linkpool_("report", "results/mine", "--trace", 0) == 0
    assert said()[-1].startswith("results/mine.html, ")
    assert linkpool_("report", "results/mine", "--trace", 0) == 0
    assert said()[0] == "results/mine.html is replaced"
    monkeypatch.chdir("results/mine")
    assert linkpool_("report", ".", "--trace", 0) == 0
    assert said()[-1].startswith(f"{tmp_path}/results/mine.html, ")
    (tmp_path / "results/mine.html").write_text("mine", encoding="utf-8")
    assert linkpool_("report", ".", "--trace", 0) == 2
    assert said()[-1].endswith(
        "mine.html is no page of linkpool: name another, as in --out FILE.html"
    )
    assert linkpool_("report", ".", ".") == 2
    assert "several results: name the page, as in --out FILE.html" in said()[-1]


def test_show_prints_what_run_printed(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    linkpool_("run", scenario(INCAST), "--out", out)
    of_run = capsys.readouterr().out
    assert linkpool_("show", out) == 0
    of_show = capsys.readouterr().out
    assert of_show
    assert of_run.startswith(of_show)


def test_results_are_compared_side_by_side(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    for name in ("one", "two"):
        linkpool_("run", scenario(INCAST), "--out", tmp_path / name)
    capsys.readouterr()
    assert linkpool_("compare", tmp_path / "one", tmp_path / "two") == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["one", "two"] in lines
    assert ["measured", "period", "of", "two:", "0", "s", "to", "1", "s"] in lines
    assert "fct p99" in printed
    assert linkpool_("compare", tmp_path / "one", tmp_path / "three") == 2
    assert f"there is no directory {tmp_path / 'three'}" in capsys.readouterr().err


def test_results_of_the_same_name_are_told_apart(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    for name in ("one", "two"):
        linkpool_("run", scenario(INCAST), "--out", tmp_path / name / "run")
    capsys.readouterr()
    assert linkpool_("compare", tmp_path / "one" / "run", tmp_path / "two" / "run") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["one/run", "two/run"] in lines


def test_show_names_transport_and_algorithm(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    """Whatever the transport is called."""
    out = tmp_path / "out"
    linkpool_("run", scenario(INCAST), "--out", out)
    flows = pl.read_parquet(out / "flows.parquet").with_columns(control=pl.lit("xmp"))
    (out / "manifest.json").unlink()
    flows.write_parquet(out / "flows.parquet")
    capsys.readouterr()
    assert linkpool_("show", out) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    at = lines.index(["transport", "amp"])
    assert lines[at + 1 : at + 3] == [["algorithm", "xmp"], ["label", "incast"]]


@pytest.mark.parametrize("command", ["show", "compare"])
def test_what_an_older_version_wrote_is_to_be_repeated(
    command: str,
    linkpool_: Command,
    scenario: Scenario,
    fake_core: FakeCore,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    out = tmp_path / "old"
    linkpool_("run", scenario(INCAST), "--out", out)
    flows, workloads = (out / f"{name}.parquet" for name in ("flows", "workloads"))
    (out / "manifest.json").unlink()
    told = f"repeat the run: linkpool run {out}/scenario.toml --out {out}\n"
    whole = workloads.read_bytes()
    workloads.unlink()
    capsys.readouterr()
    assert linkpool_(command, out) == 2
    assert capsys.readouterr().err == f"{workloads} is missing; {told}"
    workloads.write_bytes(whole)
    pl.read_parquet(flows).drop("measured").write_parquet(flows)
    assert linkpool_(command, out) == 2
    because = "has no column measured, as another version of linkpool wrote it"
    assert capsys.readouterr().err == f"{flows} {because}; {told}"


def test_seed_and_settings_reach_the_simulator(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ("--seed", 7, "--set", "queue.mark=20", "--set", "queue.mark_when = >")
    assert linkpool_("run", scenario(INCAST), "--out", out, *arguments) == 0
    text = (out / "scenario.toml").read_text(encoding="utf-8")
    assert text.startswith("seed = 7\n# queue.mark = 20\n# queue.mark_when = >\n")


def test_a_scenario_error_is_printed_as_it_is(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    path, out = scenario(INCAST), tmp_path / "out"
    assert linkpool_("run", path, "--out", out, "--set", "nonsense=1") == 2
    printed = capsys.readouterr()
    assert printed.err == f"{path}: nonsense: unknown key\n"
    assert printed.out == ""
    assert not out.exists()
    assert fake_core.runs == 0


def test_what_is_not_a_result_is_not_overwritten(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").touch()
    assert linkpool_("run", scenario(INCAST), "--out", out) == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert fake_core.runs == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "missing.toml", "--out", "x"),
        ("run", "missing.toml"),
        ("run",),
        ("show", "missing"),
        ("optimum", "missing.toml"),
        ("reproduce",),
        ("reproduce", "B-fig1"),
        ("reproduce", "A-fig2", "--scale", "0"),
        ("reproduce", "A-fig2", "--scale", "1.5"),
        ("reproduce", "A-fig2", "--seeds", "1", "--scale", "0.1"),
        ("reproduce", "all"),
        ("reproduce", "all", "--quick", "--full"),
        ("reproduce", "A-fig2", "--quick", "--scale", "0.5"),
        ("reproduce", "A-fig2", "--from-data", "--seeds", "2"),
        ("reproduce", "A-fig2", "--from-data", "--book", "nowhere"),
        ("book", "--from", "nowhere", "--to", "nowhere"),
        ("columns", "B-fig1"),
        ("nonsense",),
        ("--nonsense",),
    ],
)
def test_usage_errors_exit_with_2(
    linkpool_: Command, arguments: tuple[str, ...], capsys: Captured
) -> None:
    assert linkpool_(*arguments) == 2
    assert capsys.readouterr().err.strip()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("run", "x.toml", "--threads", "0"),
            "linkpool run: invalid value for '--threads': Input should be greater than or equal to "
            "1; see linkpool run --help",
        ),
        (
            ("plot", "--by", "size", "DIR", "fct-cdf"),
            "linkpool plot: invalid value for '--by': 'size' is not one of 'transport', 'label'; "
            "see linkpool plot --help",
        ),
        (("run",), "linkpool run: missing argument 'FILE.toml'; see linkpool run --help"),
        (
            ("study", "run", "--job", "2", "x.toml"),
            "linkpool study run: no such option: --job (Possible options: --jobs, "
            "--on, --out); see linkpool study run --help",
        ),
        (
            ("show", "--nothing"),
            "linkpool show: no such option: --nothing; see linkpool show --help",
        ),
        (
            ("study", "nothing"),
            "linkpool study: no such command 'nothing'; see linkpool study --help",
        ),
    ],
)
def test_a_usage_error_is_one_line(
    linkpool_: Command, arguments: tuple[str, ...], said: str, capsys: Captured
) -> None:
    assert linkpool_(*arguments) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{said}\n")


def test_a_setting_must_have_a_value(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    path = scenario(INCAST)
    assert linkpool_("run", path, "--out", tmp_path / "o", "--set", "queue.mark") == 2
    assert "KEY=VALUE" in capsys.readouterr().err


def test_show_names_what_is_missing(linkpool_: Command, tmp_path: Path, capsys: Captured) -> None:
    assert linkpool_("show", tmp_path) == 2
    assert "not a linkpool result" in capsys.readouterr().err


def test_an_interrupt_leaves_nothing(
    linkpool_: Command, scenario: Scenario, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    fake_core.before_run = interrupt
    out = tmp_path / "results" / "out"
    assert linkpool_("run", scenario(INCAST), "--out", out) == 130
    assert list(out.parent.iterdir()) == []


def test_columns_explains_every_column(linkpool_: Command, capsys: Captured) -> None:
    assert linkpool_("columns") == 0
    printed = capsys.readouterr().out
    for table in TABLES.values():
        for column in table.columns:
            assert column.name in printed


def test_columns_of_an_experiment(linkpool_: Command, capsys: Captured) -> None:
    assert linkpool_("columns", "A-fig7") == 0
    assert "queue_median" in capsys.readouterr().out


def test_reproduce_lists_the_experiments(linkpool_: Command, capsys: Captured) -> None:
    assert linkpool_("reproduce", "--list") == 0
    printed = capsys.readouterr().out
    for experiment in all_experiments():
        assert experiment.id in printed


def test_reproduce_prints_verdicts_and_paths_whatever_the_verdicts(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    assert linkpool_("reproduce", "a-fig6", "--out", tmp_path, "--seeds", 1, "--jobs", 2) == 0
    printed = capsys.readouterr().out
    claims = json.loads((tmp_path / "A-fig6" / "claims.json").read_text(encoding="utf-8"))
    for claim in claims:
        assert claim["verdict"] in printed
    assert str(tmp_path / "A-fig6" / "figure.svg") in printed.splitlines()
    assert "4 runs, 0 of them from the cache" in printed


def test_a_full_reproduction_is_estimated_and_made_once(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    command = ("reproduce", "N-inout", "--full", "--seeds", 2, "--out", tmp_path, "--jobs", 1)
    assert linkpool_(*command) == 0
    assert "6 of 6" in capsys.readouterr().err
    made = fake_core.runs
    assert linkpool_(*command) == 0
    assert "done" in capsys.readouterr().err
    assert fake_core.runs == made == 6


def test_a_failed_run_does_not_keep_other_experiments_from_being_made(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    fake_core.fail_on = 'name = "one sender'
    command = ("reproduce", "N-inout", "X-fig6", "--full", "--seeds", 1, "--out", tmp_path)
    assert linkpool_(*command) == 1
    assert "a run failed in N-inout;" in capsys.readouterr().err
    assert (tmp_path / "X-fig6" / "claims.json").exists()


def test_a_quick_reproduction_is_marked(
    linkpool_: Command,
    fake_core: FakeCore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.setattr("linkpool.cores.HOPS_PER_S", 1.0)
    assert linkpool_("reproduce", "N-inout", "--quick", "--out", tmp_path, "--jobs", 1) == 0
    record = json.loads((tmp_path / "quick" / "N-inout" / "record.json").read_text("utf-8"))
    assert record["shortened"]
    assert f"shortened: {record['shortened']}" in capsys.readouterr().out


def test_data_of_the_book_is_judged_without_a_run(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    command = ("reproduce", "N-inout", "--out", tmp_path / "made", "--seeds", 2)
    assert linkpool_(*command) == 0
    assert linkpool_("book", "--from", tmp_path / "made", "--to", tmp_path / "book") == 0
    made = fake_core.runs
    out = ("--out", tmp_path / "out", "--book", tmp_path / "book")
    assert linkpool_("reproduce", "N-inout", "--from-data", *out) == 0
    assert fake_core.runs == made
    assert "from the data of 6 runs by version" in capsys.readouterr().out
    claims = [tmp_path / at / "N-inout" / "claims.json" for at in ("made", "out/from-data")]
    assert claims[0].read_bytes() == claims[1].read_bytes()


def test_reproduce_fails_where_a_run_fails(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    fake_core.fail_on = "dcm"
    assert linkpool_("reproduce", "A-fig6", "--out", tmp_path, "--seeds", 1) == 1
    assert "scheme dcm, seed 1: the fake was told to fail" in capsys.readouterr().err
    assert not (tmp_path / "A-fig6").exists()


@pytest.mark.core
def test_the_optimum_of_a_scenario_and_of_its_run(
    linkpool_: Command, scenario: Scenario, tmp_path: Path, capsys: Captured
) -> None:
    """Two flows over a bottleneck of 1 Gbps, segments of 1,400 B in 1,500 B on the wire."""
    flows = """
duration = "10ms"
topology.dumbbell = { pairs = 2, rate = "1Gbps", delay = "1us" }
transport.t = { control = "dctcp", mss = "1400B", header = "100B" }
[[workload.flow]]
transport = "t"
from = "S1"
to = "D1"
[[workload.flow]]
transport = "t"
from = "S2"
to = "D2"
"""
    file, out = scenario(flows), tmp_path / "out"
    assert linkpool_("optimum", file) == 0
    assert "467 Mbit/s" in capsys.readouterr().out
    assert linkpool_("run", file, "--out", out) == 0
    capsys.readouterr()
    assert linkpool_("optimum", out) == 0
    printed = capsys.readouterr().out
    assert printed.count("467 Mbit/s") == 8
    assert "of the maximum concurrent flow" in printed
    assert linkpool_("optimum", out, "--seed", 2) == 2
    assert linkpool_("optimum", file, "--set", "workload.flow=[]") == 2


def test_reproduce_names_a_damaged_run_in_one_line(
    linkpool_: Command, fake_core: FakeCore, tmp_path: Path, capsys: Captured
) -> None:
    command = ("reproduce", "A-fig6", "--out", tmp_path, "--seeds", 1)
    assert linkpool_(*command) == 0
    damaged = next((tmp_path / "runs").glob("[0-9a-f]*")) / "flows.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    capsys.readouterr()
    assert linkpool_(*command) == 0
    printed = capsys.readouterr()
    assert "4 runs, 3 of them from the cache" in printed.out
    (line,) = [line for line in printed.err.splitlines() if "is damaged and is made again" in line]
    assert line.endswith(f"moved to {tmp_path}/runs/damaged/{damaged.parent.name}.1")
