"""Limits and errors: every document runs, and whatever is wrong is a line with its exit code."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import linkpool
from linkpool import _core, limits
from linkpool.cli import main
from linkpool.loading import Value
from test_cli import Captured, Command, call
from test_core import SHORT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]
STUDIES = {
    path
    for path in (ROOT / "docs").rglob("*.toml")
    if "base" in tomllib.loads(path.read_text("utf-8"))
}
# Their programs, which tests/test_session.py and tests/test_cookbook.py run, stand beside them.
SESSIONS = {ROOT / "docs/workloads/session.toml", ROOT / "docs/cookbook/ranks.toml"}
DOCUMENTS = sorted(set((ROOT / "docs").rglob("*.toml")) - STUDIES - SESSIONS)
SMALLER: dict[Path, dict[str, Value]] = {ROOT / "docs/estimate.toml": {"topology.fat-tree.k": 8}}
"""Keys that make a large scenario one that a test can run."""

Scenario = Callable[[str], Path]


@pytest.fixture
def linkpool_(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command line as a function."""
    return lambda *arguments: call(monkeypatch, *arguments)


def test_there_are_documents() -> None:
    assert len(DOCUMENTS) > 20
    assert len(STUDIES) >= 6


@pytest.mark.parametrize("study", sorted(STUDIES), ids=lambda path: path.stem)
def test_every_study_of_the_documentation_can_be_planned(
    study: Path, linkpool_: Command, tmp_path: Path
) -> None:
    # The runs of a search depend on those before them: a command that says so has read the file.
    searches = "search" in tomllib.loads(study.read_text("utf-8"))
    assert linkpool_("study", "status", study, "--out", tmp_path) == (2 if searches else 0)


@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT / "docs"))
)
def test_every_scenario_of_the_documentation_runs(document: Path, tmp_path: Path) -> None:
    """Cut short: what starts, starts in the first tenths of the time that they simulate."""
    text = document.read_text("utf-8")
    duration = _core.load(text, str(document), None, [], run_code=True).duration_s
    cut = {} if duration <= 0.02 else {"duration": f"{max(20, round(duration * 20))}ms"}
    settings: dict[str, Value] = {**cut, **SMALLER.get(document, {})}
    result = linkpool.run(document, out=tmp_path / "out", set=settings)
    assert result.flows.height > 0


NAMES = ["seed = -1", "seed = 2^70", "threads = 0", "threads = 10000"]
ARGUMENTS = [{"seed": -1}, {"seed": 2**70}, {"threads": 0}, {"threads": 10_000}]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=NAMES)
def test_numbers_out_of_range_are_value_errors(
    arguments: dict[str, int], scenario: Scenario, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"(seed|threads) = .* 2\^63 - 1|runs on 1 to 64 threads"):
        linkpool.run(scenario(SHORT), out=tmp_path / "out", **arguments)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", "-1"),
        ("--seed", str(2**70)),
        ("--threads", "0"),
        ("--threads", "65"),
        ("--set", "duration=1000001s"),
        ("--set", "topology.many-to-one.rate=1000000Tbps"),
        ("--set", "workload.incast.0.senders=100000"),
        ("--set", "record.queue={ links = ['W->R'], every = '1ps' }"),
        ("--set", "workload.incast.0.size={ cdf = '/etc/passwd', interpolation = 'stair' }"),
    ],
    ids=lambda options: " ".join(options)[:40],
)
def test_wrong_input_is_a_line_and_exit_code_2(
    options: tuple[str, ...],
    linkpool_: Command,
    scenario: Scenario,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    assert linkpool_("run", scenario(SHORT), "--out", tmp_path / "out", *options) == 2
    message = capsys.readouterr().err
    assert message.strip()
    assert "Traceback" not in message
    assert "root:" not in message
    assert not (tmp_path / "out").exists()


def test_tables_and_lists_can_be_set(scenario: Scenario) -> None:
    """From Python as mappings and sequences, and on the command line as TOML."""
    told = linkpool.check(
        scenario(SHORT),
        set={
            "record.cwnd": {"every": "1ms", "labels": ["incast"]},
            "record.queue": {"links": ["W->R", "W->S1"], "every": "2us", "until": "1ms"},
            "workload.incast.0.size": {"cdf": [[1000, 0.5], [2000.0, 1]], "interpolation": "stair"},
        },
    )
    for part in ('"1ms"', '"W->S1"', "2000", '"stair"'):
        assert part in told
    text = scenario(SHORT).read_text("utf-8")
    inline = '{ every = "1ms", labels = ["incast"] }'
    assert '"1ms"' in _core.check(text, "x.toml", None, [("record.cwnd", inline)])


def test_texts_in_tables_are_quoted(scenario: Scenario) -> None:
    """Whatever they hold."""
    strange = 'a"b\\c\n\x7f\u2028é'
    with pytest.raises(linkpool.ScenarioError) as caught:
        linkpool.check(scenario(SHORT), set={"record.cwnd": {"every": "1ms", "labels": [strange]}})
    assert "no workload has the label" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_run_that_needs_too_much_is_refused_unless_told_otherwise(
    linkpool_: Command,
    scenario: Scenario,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    monkeypatch.setattr(limits, "memory_available", lambda: 1000.0)
    file, out = scenario(SHORT), tmp_path / "out"
    assert linkpool_("run", file, "--out", out) == 2
    message = capsys.readouterr().err
    assert "of memory" in message
    assert "--ignore-estimate" in message
    assert not out.exists()
    with pytest.raises(linkpool.TooLargeError, match="1 KB are free"):
        linkpool.run(file, out=out)
    assert linkpool_("run", file, "--out", out, "--ignore-estimate") == 0
    assert linkpool.run(file, out=out, ignore_estimate=True).flows.height > 0
    monkeypatch.setattr(limits, "memory_available", lambda: None)
    monkeypatch.setattr(limits, "disk_available", lambda _: 10.0)
    with pytest.raises(linkpool.TooLargeError, match="of disk"):
        linkpool.run(file, out=out)


def test_the_estimate_is_above_what_a_run_needs(scenario: Scenario, tmp_path: Path) -> None:
    """Of rows on disk; memory is measured where the constants come from."""
    text = SHORT + '[record]\nqueue = { links = ["W->R"], every = "1us" }\n'
    settings = [("duration", "100ms"), ("drain", "0s")]
    loaded = _core.load(text, "x.toml", None, settings)
    result = linkpool.run(scenario(text), out=tmp_path / "out", set=dict(settings))
    size = (tmp_path / "out" / "queue.parquet").stat().st_size
    told = {name.split(",")[0]: need for name, need in loaded.estimate()["disk"]}
    assert size < told["queue.parquet"] < 100 * size
    assert result.queue.height == 100_000


def test_files_that_are_too_large_or_never_end_are_refused(
    linkpool_: Command, scenario: Scenario, tmp_path: Path, capsys: Captured
) -> None:
    assert linkpool_("run", "/dev/zero", "--out", tmp_path / "out") == 2
    assert "larger than 256 MiB" in capsys.readouterr().err
    trace = '[[workload.trace]]\ntransport = "amp"\nfile = "/dev/zero"\nformat = "csv"\n'
    assert linkpool_("run", scenario(SHORT + trace), "--out", tmp_path / "out") == 2
    assert "is not a regular file" in capsys.readouterr().err


def test_a_picture_in_a_missing_folder_is_refused_before_anything_is_drawn(
    linkpool_: Command, scenario: Scenario, tmp_path: Path, capsys: Captured
) -> None:
    picture = tmp_path / "none" / "x.png"
    assert linkpool_("topology", scenario(SHORT), "--plot", picture) == 2
    printed = capsys.readouterr()
    assert "there is no folder" in printed.err
    assert not printed.out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_a_failed_run(
    linkpool_: Command, scenario: Scenario, tmp_path: Path, capsys: Captured
) -> None:
    picture = tmp_path / "x.svg"
    picture.symlink_to("/dev/full")
    assert linkpool_("topology", scenario(SHORT), "--plot", picture) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_a_bug_is_one_line_that_says_where_to_report_it(
    linkpool_: Command,
    scenario: Scenario,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
) -> None:
    def bug(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr("linkpool.cli.run.explain", bug)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert linkpool_("run", scenario(SHORT), "--out", tmp_path / "out") == 1
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("this is a bug in linkpool")
    assert f"{_core.ISSUES} with {tmp_path}" in message
    assert "IndexError" in Path(message.rsplit(" ", 1)[1]).read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        # While it is loaded: a table of a million points, which are written when the test runs.
        SHORT
        + '[[workload.incast]]\ntransport = "amp"\nsenders = 1\nreceiver = "R"\nevery = "1s"\n'
        "size = { interpolation = 'stair', cdf = [POINTS] }\n",
        # While routes are found.
        SHORT.replace("many-to-one]\nsenders = 4", "fat-tree]\nk = 50")
        .replace('receiver = "R"', "receiver = 9")
        .replace('delay = "2us"', 'delay = "2us"'),
        # While it runs.
        SHORT.replace('duration = "2s"', 'duration = "1000s"').replace('"1s"', '"100us"'),
    ],
    ids=["load", "plan", "run"],
)
def test_ctrl_c_ends_a_run_within_a_second_whatever_it_is_at(
    text: str, scenario: Scenario, tmp_path: Path
) -> None:
    if "POINTS" in text:
        points = ", ".join(f"[{n}, {n / 1e6}]" for n in range(1, 1_000_001))
        text = text.replace("POINTS", points)
    file, out = scenario(text), tmp_path / "results" / "out"
    command = [
        sys.executable,
        "-c",
        "import linkpool.cli; print('up', flush=True); linkpool.cli.main()",
    ]
    run = subprocess.Popen(
        [*command, "run", str(file), "--out", str(out), "--ignore-estimate"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "up\n"
    time.sleep(0.5)
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in errors
    assert not out.exists()


def test_help_and_documentation_say_what_exit_codes_mean(
    linkpool_: Command, capsys: Captured
) -> None:
    assert linkpool_("--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 a run failed or a claim does not hold, 2 something is wrong with your" in said
    page = (ROOT / "docs" / "limits.md").read_text("utf-8")
    for code in ("| 0 |", "| 1 |", "| 2 |", "| 130 |"):
        assert code in page
    assert main.__doc__ is not None
