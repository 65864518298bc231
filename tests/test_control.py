"""Congestion control algorithms in Python: the tables of the built-in ones, and clear errors."""

import importlib
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import linkpool
import linkpool.control as lc
from linkpool import loading
from linkpool.cli import app
from linkpool.control.load import declarations
from linkpool.identity import run_key
from linkpool.manifest import Manifest
from linkpool.study.plan import Plan
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
CONTROLS = ROOT / "docs" / "controls"
PAGE = (ROOT / "docs" / "python-algorithm.md").read_text(encoding="utf-8")
FILES = {"amp": CONTROLS / "amp.py", "dctcp": CONTROLS / "dctcp.py"}

PERMUTATION = """
duration = "8ms"
[topology.fat-tree]
k = 4
rate = "1Gbps"
delay = "5us"
[queue]
limit = 60
mark = 5
[transport.t]
control = "CONTROL"
preset = "PRESET"
subflows = 8
[[workload.permutation]]
transport = "t"
size = "unlimited"
[record]
cwnd = { every = "100us" }
"""

INCAST = """
duration = "60ms"
drain = "1s"
[topology.many-to-one]
senders = 16
rate = "1Gbps"
delay = "2us"
[queue]
limit = 30
mark = 5
[transport.t]
control = "CONTROL"
preset = "PRESET"
subflows = 4
[[workload.incast]]
transport = "t"
senders = 16
receiver = "R"
size = "100KB"
every = "20ms"
bursts = 3
"""

FAILURE = """
duration = "300ms"
[topology.fat-tree]
k = 4
rate = "100Mbps"
delay = "5us"
[queue]
limit = 40
mark = 4
[transport.t]
control = "CONTROL"
preset = "PRESET"
subflows = 4
paths = "distinct"
fail_after = 2
[[workload.permutation]]
transport = "t"
size = "unlimited"
[routing]
reconverge = "never"
[[change]]
at = "30ms"
layer = "core"
share = 0.3
state = "down"
"""

SIMPLE = """duration = "2ms"
controls = ["mine.py"]

[topology.many-to-one]
senders = 2
rate = "1Gbps"
delay = "2us"

[queue]
limit = 30
mark = 5

[transport.t]
control = "mine"

[[workload.flow]]
transport = "t"
from = 0
to = "R"
"""

MINE = """import linkpool.control as lc
import numpy as np

@lc.control("mine")
class Mine:
    growth = lc.parameter(1.0, above=0.0, most=10.0, doc="Growth.")
    count = 0

    class Subflow:
        mean = 0.0

    def in_ack_event(self, states, s, ack):
        self.count += 1
        return False

    def cong_avoid(self, states, s, acked):
        states[s].cwnd += self.growth
"""


def at(folder: Path, mine: str = MINE, scenario: str = SIMPLE) -> Path:
    (folder / "mine.py").write_text(mine, encoding="utf-8")
    (folder / "scenario.toml").write_text(scenario, encoding="utf-8")
    return folder / "scenario.toml"


def complaint(folder: Path, mine: str = MINE, scenario: str = SIMPLE) -> str:
    with pytest.raises(linkpool.ScenarioError) as error:
        linkpool.check(at(folder, mine, scenario), run_code=True)
    return str(error.value)


def tables(folder: Path, text: str, controls: str, name: str, threads: int = 1) -> dict[str, bytes]:
    """Return the tables of a run, but for the column of the algorithm's name, as bytes."""
    file = folder / "scenario.toml"
    file.write_text(controls + text.replace("CONTROL", name), encoding="utf-8")
    result = linkpool.run(file, threads=threads, out=folder / f"{name}-{threads}")
    frames = {path.name: pl.read_parquet(path) for path in sorted(result.dir.glob("*.parquet"))}
    return {name: frame.drop("control", strict=False).serialize() for name, frame in frames.items()}


@pytest.mark.core
@pytest.mark.parametrize("preset", ["linux", "paper-2013"])
@pytest.mark.parametrize(
    "text", [PERMUTATION, INCAST, FAILURE], ids=["permutation", "incast", "failure"]
)
@pytest.mark.parametrize("name", ["amp", "dctcp"])
def test_it_has_the_tables_of_the_built_in_one(
    tmp_path: Path, name: str, text: str, preset: str
) -> None:
    if name == "amp" and preset == "paper-2013":
        text = text.replace('preset = "PRESET"', 'preset = "PRESET"\nORDER')
        built_in = text.replace("ORDER", 'ack_order = "cut-instead-of-growth"')
        text = text.replace("ORDER", "")
    else:
        built_in = text
    if name == "dctcp":
        text, built_in = (re.sub(r"(subflows|paths) = .*\n", "", t) for t in (text, built_in))
    text, built_in = text.replace("PRESET", preset), built_in.replace("PRESET", preset)
    controls = f'controls = ["{FILES[name]}"]\n'
    mine = tables(tmp_path, text, controls, f"my-{name}")
    theirs = tables(tmp_path, built_in, "", name)
    assert len(mine) > 2
    assert mine == theirs
    if text.startswith(PERMUTATION[:20]):
        assert tables(tmp_path, text, controls, f"my-{name}", threads=2) == theirs


@pytest.mark.core
def test_the_scenario_as_run_repeats_the_run_alone(tmp_path: Path) -> None:
    """Without the file, in another process, with the same key."""
    result = linkpool.run(at(tmp_path), out=tmp_path / "result")
    (tmp_path / "mine.py").unlink()
    again = tmp_path / "again"
    arguments = [str(result.dir / "scenario.toml"), "--out", str(again)]
    program = "from linkpool.entry import main; main()"
    subprocess.run([sys.executable, "-c", program, "run", *arguments], check=True)
    assert Manifest.read(again).key == Manifest.read(result.dir).key
    for table in result.dir.glob("*.parquet"):
        assert (again / table.name).read_bytes() == table.read_bytes()


@pytest.mark.core
def test_who_only_shows_a_result_runs_no_code_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "result"
    linkpool.run(at(tmp_path), out=place)
    ran = tmp_path / "ran"
    document = tomllib.loads((place / "scenario.toml").read_text(encoding="utf-8"))
    document["controls"][0]["source"] = f"open({str(ran)!r}, 'w').close()\n{MINE}"
    for name in ("one", "other"):
        shutil.copytree(place, tmp_path / name)
        (tmp_path / name / "scenario.toml").write_text(dumps(document), encoding="utf-8")
        (tmp_path / name / "manifest.json").unlink()
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    assert command("show", one) == command("compare", one, other) == 0
    assert command("plot", one, "goodput", "--out", str(tmp_path / "fct.svg")) == 0
    page = str(tmp_path / "page.html")
    capsys.readouterr()
    assert command("report", one, "-o", page) == 2
    said = capsys.readouterr().err.replace("\n", " ")
    assert "is code in Python" in said
    assert "add --run-code" in said
    assert not ran.exists()
    assert command("report", one, "-o", page, "--run-code") == 0
    assert ran.exists()


def command(*words: str) -> int:
    """Run a command, and return its exit code."""
    try:
        app(list(words), standalone_mode=False)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.core
def test_another_text_is_another_run(tmp_path: Path) -> None:

    def key(source: str = MINE) -> str:
        return run_key(loading.load(at(tmp_path, source), overrides=[], run_code=True))

    first = key()
    assert key() == first
    assert key(MINE.replace("+= 1\n", "+= 2\n")) != first


@pytest.mark.core
def test_counters_are_measures_of_flows(tmp_path: Path) -> None:
    result = linkpool.run(at(tmp_path, MINE.replace("count = 0", "count = lc.counter()")))
    metrics = pl.read_parquet(result.dir / "metrics.parquet")
    assert metrics["metric"].to_list() == ["count"]
    assert metrics["value"].item() > 50


@pytest.mark.core
def test_files_that_no_transport_uses_do_not_matter(tmp_path: Path) -> None:
    text = linkpool.check(at(tmp_path, scenario=SIMPLE.replace('"mine"', '"reno"')), run_code=True)
    assert "controls" not in text


@pytest.mark.core
def test_its_parameters_are_keys_of_the_transport(tmp_path: Path) -> None:
    text = linkpool.check(at(tmp_path), set={"transport.t.growth": 2}, run_code=True)
    assert "growth = 2.0" in text
    grown = SIMPLE.replace('"mine"', '"mine"\ngrwth = 2')
    assert "scenario.toml:15: transport.t.grwth: unknown key" in complaint(tmp_path, scenario=grown)
    large = SIMPLE.replace('"mine"', '"mine"\ngrowth = 11')
    assert "15: transport.t.growth: 11 is out of bounds; it must be above 0 and at most 10" in (
        complaint(tmp_path, scenario=large)
    )
    text = SIMPLE.replace('"mine"', '"mime"')
    assert "scenario.toml:14: transport.t.control" in complaint(tmp_path, scenario=text)
    assert "did you mean `mine`?" in complaint(tmp_path, scenario=text)


@pytest.mark.core
def test_a_study_makes_the_runs_again_whose_algorithm_has_changed(tmp_path: Path) -> None:
    scenario = at(tmp_path, scenario=SIMPLE.replace('"mine"', '"reno"').replace("controls", "# "))
    mine = {"controls": ["mine.py"], "transport.t.control": "mine"}
    study = linkpool.Scenario.load(scenario).study(
        name="mine", arms=[{"name": "reno"}, {"name": "mine", "set": mine}], seeds=2
    )
    out = tmp_path / "results"
    study.run(out, jobs=2)
    assert Plan.of(study, out).missing == []
    at(tmp_path, MINE.replace("self.growth", "2 * self.growth"), scenario.read_text())
    arms = [entry.point.keys["arm"] for entry in Plan.of(study, out).missing]
    assert arms == ["mine", "mine"]


@pytest.mark.core
def test_it_needs_no_file_of_a_scenario(tmp_path: Path) -> None:
    """Of one in Python, which is pickled, too."""
    from linkpool.settings import Flow, ManyToOne, Queue

    at(tmp_path)
    scenario = linkpool.Scenario.of(
        duration="1ms",
        controls=[str(tmp_path / "mine.py")],
        topology=ManyToOne(senders=2, rate="1Gbps", delay="2us"),
        queue=Queue(limit=100, mark=10),
        transport={"t": {"control": "mine", "growth": 2}},
        workload=[Flow(transport="t", from_="S1", to="R", size="14KB")],
    )
    result = pickle.loads(pickle.dumps(scenario)).run()
    assert result.flows["acked_bytes"].to_list() == [14000]


BAD = [
    ("+= self.growth", "+= self.grwth", r"mine.py:17: cong_avoid cannot be compiled: .*grwth"),
    ("+= self.growth", "+= missing(1)", r"mine.py:17: cong_avoid cannot be compiled: .*missing"),
    ("+= self.growth", "= states[s].cwnd.x", r"mine.py:17: cong_avoid cannot be compiled"),
    ("+= self.growth", "= self.subflows[s].x", r"mine.py:17: cong_avoid .*: there is no field 'x'"),
    (
        "+= self.growth\n",
        "= helper(states)\n\n\ndef helper(states):\n    return states.x\n",
        r"mine.py:21: cong_avoid cannot be compiled: Unknown attribute 'x' of type states",
    ),
    ("states[s].cwnd +=", "states[s].snd_nxt = 1 #", r"mine.py:17: cong_avoid sets snd_nxt"),
    ("states[s].cwnd +=", "states[s].srtt = 1 #", r"mine.py:17: cong_avoid sets srtt"),
    ("states[s].cwnd +=", "states[0] = states[s] #", r"mine.py:17: cong_avoid sets a whole record"),
    ("states[s].cwnd +=", "self.count = 0.5 #", r"mine.py:17: cong_avoid stores a float in count"),
    ("return False", "return 1.5", r"mine.py:12: in_ack_event returns float64; .* a bool"),
    ("return False", "pass", r"mine.py:12: in_ack_event returns none; .* a bool"),
    ("return False", "return False\n   x", r"mine.py:15: unindent"),
    ("s, acked", "s", r"mine.py:4: class Mine: cong_avoid takes self, states, s; write def"),
    ("cong_avoid", "avoid", r"mine.py:4: class Mine: avoid is no hook; there are init, "),
    ("count = 0", "count = 'a'", r"mine.py:4: class Mine: count is str; state is"),
    ("lc.parameter(1.0", "lc.parameter(0.0", r"class Mine: growth has the default 0.0 is out"),
    ("growth", "mss", r"\"mine\" has a parameter `mss`, which is a key of all transports"),
    ('"mine"', '"lia"', r"\"lia\" is an algorithm of linkpool"),
    ('@lc.control("mine")', "", r"mine.py: defines no algorithm"),
    ("count = 0", "count = 1 / 0", r"mine.py:7: ZeroDivisionError"),
    ("import linkpool", "import nothing_here\nimport linkpool", r"mine.py:1: ModuleNotFoundError"),
    (
        "states[s].cwnd += self",
        "states[s].cwnd += np.random.random() #",
        "cannot be compiled|draws random",
    ),
    ("self.count += 1", "self.count += np.random.randint(3)", r"mine.py:13: in_ack_event draws ra"),
]


@pytest.mark.core
@pytest.mark.parametrize(("good", "bad", "message"), BAD)
def test_a_mistake_is_found_before_the_run(
    tmp_path: Path, good: str, bad: str, message: str
) -> None:
    mine = MINE.replace(good, bad)
    mine = mine.replace("__import__('numpy')", "np")
    if "np." in mine:
        mine = mine.replace(
            "import linkpool.control as lc\n", "import linkpool.control as lc; import numpy as np\n"
        )
    said = complaint(tmp_path, mine)
    assert re.search(message, said), said
    assert "scenario.toml:2: controls.0: " in said
    assert len(said.splitlines()) == 1


FAULTY = """import linkpool.control as lc


@lc.control("mine")
class Mine:
    fault = lc.parameter(0)
    zero = 0

    class Subflow:
        mean = 0.0

    def in_ack_event(self, states, s, ack):
        if self.fault == 6:
            states[9].cwnd = 1.0
        elif self.fault == 7:
            self.subflows[1].mean = 1.0
        elif self.fault == 8:
            self.zero = 1 // self.zero
        elif self.fault == 9:
            raise ValueError("no")
        return False

    def cong_avoid(self, states, s, acked):
        state = states[s]
        if self.fault == 1:
            state.cwnd = state.srtt * float("nan")
        elif self.fault == 2:
            state.cwnd = -1.0
        elif self.fault == 3:
            state.cwnd *= 1e300
        elif self.fault == 4:
            state.cwnd = 0.5
        elif self.fault == 5:
            state.ssthresh = 0.0

    def is_active(self, s):
        return self.fault != 10 or 1 // self.zero == 0
"""

FAULTS = [
    (1, r"cong_avoid of control .mine. left subflow 0 with cwnd NaN and .*"),
    (2, r"cong_avoid of control .mine. left subflow 0 with cwnd -1.0 and .*"),
    (3, r"cong_avoid of control .mine. left subflow 0 with cwnd 1e301 and .*"),
    (4, r"cong_avoid of control .mine. left subflow 0 with cwnd 0.5 and .*"),
    (5, r"cong_avoid of control .mine. left subflow 0 with cwnd 10.0 and ssthresh 0.0; .*"),
    *((n, r"in_ack_event of control .mine. raised an exception, .*") for n in (6, 7, 8, 9)),
    (10, r"is_active of control .mine. raised an exception, .*"),
]


@pytest.mark.core
@pytest.mark.parametrize(("fault", "what"), FAULTS)
def test_a_hook_that_does_what_it_must_not_ends_the_run(
    tmp_path: Path, fault: int, what: str
) -> None:
    messages = []
    for threads in (1, 2):
        with pytest.raises(linkpool.SimulationError) as error:
            linkpool.run(at(tmp_path, FAULTY), threads=threads, set={"transport.t.fault": fault})
        messages.append(str(error.value))
    expected = rf'flow 0 of transport "t", at [0-9.]+[nu]s: {what}'
    assert re.fullmatch(expected, messages[0]), messages
    assert messages[0] == messages[1]


@pytest.mark.core
def test_without_numba_the_message_says_how_to_get_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['numba'] = None; import linkpool; "
        "linkpool.check(sys.argv[1], run_code=True)"
    )
    command = [sys.executable, "-c", program, str(at(tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (
        "controls.0: mine.py: algorithms in Python need numba: pip install 'linkpool[numba]'"
        in (ended.stderr)
    )


def test_hooks_are_plain_python_too() -> None:
    @lc.control("plain")
    class Plain:
        growth = lc.parameter(2.0)
        calls = 0

        class Subflow:
            seen = 0

        def init(self) -> None:
            self.calls = 10

        def in_ack_event(self, states: list[lc.CongestionState], s: int, ack: lc.Ack) -> bool:
            self.calls += 1
            return ack.marked

        def cong_avoid(self, states: list[lc.CongestionState], s: int, acked: float) -> None:
            states[s].cwnd += acked * self.growth

    made, states = lc.connection(Plain, subflows=2, growth=3.0), [lc.CongestionState(4.0)]
    made.cong_avoid(states, 0, 2.0)
    assert made.in_ack_event(states, 0, lc.Ack(1, marked=True))
    assert (states[0].cwnd, made.calls, len(made.subflows)) == (10.0, 11, 2)
    with pytest.raises(lc.ControlError, match="no parameter grwth"):
        lc.connection(Plain, grwth=1.0)


@pytest.mark.parametrize("each", [True, False])
def test_dctcp_of_htsim_cuts_in_each_round(each: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packets, one marked: alpha is 1/32. The round of 63/64 of 10 packets has ten, no mark.

    Its window is cut by 15/16 of that alpha, unless cuts need a mark. No ACK suppresses growth.
    """
    monkeypatch.syspath_prepend(str(CONTROLS))
    law = importlib.import_module("htsim_dctcp").HtsimDctcp
    made, [state] = lc.connection(law, each=each), [lc.CongestionState(10.0, ssthresh=50.0)]
    marks = [True, False, *[False] * 10]
    cut = [made.in_ack_event([state], 0, lc.Ack(1, marked=mark)) for mark in marks[:2]]
    assert (made.subflows[0].alpha, state.cwnd, state.ssthresh) == (1 / 32, 630 / 64, 630 / 64)
    cut += [made.in_ack_event([state], 0, lc.Ack(1, marked=False)) for _ in range(9)]
    assert state.cwnd == 630 / 64
    cut.append(made.in_ack_event([state], 0, lc.Ack(1, marked=False)))
    alpha = 15 / 16 / 32
    assert made.subflows[0].alpha == alpha
    assert state.cwnd == pytest.approx(630 / 64 * (1 - alpha / 2) if each else 630 / 64)
    assert not any(cut)


def test_declarations_are_read_in_order() -> None:
    found = declarations("two.py", MINE + MINE.replace("mine", "other").replace("Mine", "Other"))
    assert [one.name for one in found] == ["mine", "other"]
    assert found[0].state == {"count": 0}
    assert found[0].subflow == {"mean": 0.0}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_shows_the_files() -> None:
    assert (CONTROLS / "amp.py").read_text(encoding="utf-8") == blocks("python")[0]
    assert (CONTROLS / "amp.toml").read_text(encoding="utf-8") == blocks("toml")[0]


def test_the_page_tests_its_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CONTROLS))
    exec(blocks("python")[1], {})


@pytest.mark.core
def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    from linkpool.cli import app

    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("linkpool")]
    assert len(commands) == 2
    for command in commands:
        app(command, standalone_mode=False)
    text = (tmp_path / "docs" / "controls" / "amp.toml").read_text(encoding="utf-8")
    theirs = text.replace("my-amp", "amp").replace('controls = ["amp.py"]\n', "")
    (tmp_path / "amp.toml").write_text(theirs, encoding="utf-8")
    built_in = linkpool.run(tmp_path / "amp.toml")
    mine = linkpool.Result(tmp_path / "results" / "my-amp")
    assert mine.flows.drop("control").equals(built_in.flows.drop("control"))
    assert mine.flows["suppressions"].sum() > 0
