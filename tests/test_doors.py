"""What comes from others, names, results, files of workers: shown, and neither obeyed nor run."""

import ast
import io
import shutil
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer
from rich.table import Table

import linkpool
from linkpool import _core, api, loading
from linkpool.cli import terminal
from linkpool.cli.commands import app
from linkpool.cli.group import Command, Commands
from linkpool.identity import simulator
from linkpool.plain import plain
from linkpool.study.remote import RemoteError, run_there, write_files
from linkpool.study.toml import Value, dumps
from test_cli import Captured, call

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
RED = "\x1b[31m"

GRAPH = r"""{"nodes": [{"id": "$\\frac$", "kind": "host"}, {"id": "$x^{", "kind": "host"},
{"id": "s", "kind": "switch"}],
"links": [{"source": "$\\frac$", "target": "s", "rate": "10Gbps", "delay": "1us"},
{"source": "$x^{", "target": "s", "rate": "10Gbps", "delay": "1us"}]}"""

NAMED = """
duration = "2ms"
drain = "100ms"
topology.graph = { file = "graph.json" }
transport."$\\\\frac$" = { control = "dctcp" }
transport."$a_{" = { control = "reno" }
[record]
queue = { every = "10us", links = ["$\\\\frac$->s", "s->$x^{"] }
cwnd = { every = "10us" }
rate = { every = "10us" }
rtt = { every = "10us" }
[[workload.flow]]
transport = "$\\\\frac$"
label = "$\\\\notacommand$ \\u001b[31mred\\u001b]0;title\\u0007"
from = "$\\\\frac$"
to = "$x^{"
size = "300KB"
[[workload.flow]]
transport = "$a_{"
label = "_hidden"
from = "$x^{"
to = "$\\\\frac$"
size = "300KB"
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the result of a run whose names are formulas and orders to a terminal."""
    folder = tmp_path_factory.mktemp("named")
    (folder / "graph.json").write_text(GRAPH, encoding="utf-8")
    (folder / "s.toml").write_text(NAMED, encoding="utf-8")
    return linkpool.run(folder / "s.toml", out=folder / "$\\frac$").dir


@pytest.mark.core
@pytest.mark.parametrize(
    "kind",
    [
        "fct-cdf",
        "slowdown",
        "goodput",
        "queue-cdf",
        "utilisation",
        "windows",
        "rates",
        "queues",
        "rtts",
    ],
)
def test_names_are_shown_as_they_are_in_every_figure(kind: str, named: Path) -> None:
    """Formulas of TeX are none here, and what XML does not know is not in it."""
    drawing = linkpool.plot([named], kind, by="label")
    ET.fromstring(drawing.svg)


@pytest.mark.core
def test_names_are_shown_as_they_are_in_pictures_of_fabrics_and_flows(
    named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    graph = named.parent / "graph.json"
    assert call(monkeypatch, "topology", graph, "--plot", tmp_path / "t.svg") == 0
    assert call(monkeypatch, "explain", named, "--flow", 0, "--plot", tmp_path / "e.svg") == 0
    assert call(monkeypatch, "report", named, "-o", tmp_path / "r.html") == 0
    for picture in ("t.svg", "e.svg"):
        ET.fromstring((tmp_path / picture).read_text(encoding="utf-8"))


@pytest.mark.core
def test_no_name_gives_orders_to_the_terminal(
    named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    study = {"base": str(named.parent / "s.toml"), "title": f"a {RED} title"}
    (tmp_path / "study.toml").write_text(dumps(study), encoding="utf-8")
    out = tmp_path / "results"
    for words in [
        ("show", named),
        ("compare", named, named),
        ("compare", named, named, "--format", "csv"),
        ("explain", named, "--flow", 0),
        ("optimum", named),
        ("study", "run", tmp_path / "study.toml", "--out", out),
        ("study", "show", tmp_path / "study.toml", "--out", out),
        ("run", named.parent / "s.toml", "--out", tmp_path / "again"),
        ("run", tmp_path / f"{RED}.toml", "--out", tmp_path / "again"),
        ("plot", named, RED),
        (RED,),
    ]:
        call(monkeypatch, *words)
        printed = "".join(capsys.readouterr())
        assert printed, words
        assert "\x1b" not in printed, words
        assert "\x07" not in printed, words
    assert "\\x1b[31m.toml" in plain(str(tmp_path / f"{RED}.toml"))


def test_what_is_not_shown_is_written_out() -> None:
    assert plain("a\x1bb\x9bc\x7f\u202ed\udcff\te\n") == ("a\\x1bb\\x9bc\\x7f\\u202ed\\udcff\te\n")
    assert plain("größer × 10 µs ─ 例") == "größer × 10 µs ─ 例"


def test_a_terminal_gets_colours_and_no_orders_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal.PlainConsole(file=io.StringIO(), force_terminal=True, markup=False, width=60)
    table = Table(RED, title=f"{RED}title")
    table.add_row(f"{RED}cell")
    screen.print(table, style="bold")
    printed = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1m" in printed, "its own"
    assert RED not in printed
    assert printed.count("\\x1b[31m") == 3


def test_all_that_commands_print_passes_the_console() -> None:
    """It is there that names are made plain."""
    folder = ROOT / "python" / "linkpool" / "cli"
    for file in sorted(folder.glob("*.py")):
        if file.name == "console.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            assert name not in ("echo", "secho", "write_stdout"), f"{file.name}: {name}"
            assert not isinstance(called, ast.Name) or name != "print", f"{file.name}: use say"


def with_code(folder: Path) -> tuple[Path, Path, Path]:
    """Return a result and a scenario that bring code, and the file that the code makes."""
    result, ran = folder / "theirs", folder / "ran"
    linkpool.run(ROOT / "docs/workloads/incast.toml", out=result)
    document = tomllib.loads((result / "scenario.toml").read_text(encoding="utf-8"))
    document["controls"] = [{"file": "a.py", "source": f"open({str(ran)!r}, 'w').close()\n"}]
    for file in (result / "scenario.toml", folder / "s.toml"):
        file.write_text(dumps(document), encoding="utf-8")
    (result / "manifest.json").unlink()
    return result, folder / "s.toml", ran


def commands_that_ask() -> set[str]:
    """Return the commands with `--run-code`, those of `study` as one."""

    def asks(one: Command | typer.Typer, name: str) -> bool:
        if isinstance(one, Command):
            return any(param.name == "run_code" for param in one.load(name).params)
        return any(asks(inner, inner_name) for inner_name, inner in listed(one).items())

    def listed(group: typer.Typer) -> Commands:
        of: Commands = group.info.cls.listed  # type: ignore[union-attr]
        return of

    return {name for name, one in listed(app).items() if asks(one, name)}


@pytest.mark.core
def test_no_command_but_run_runs_the_code_of_others_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    result, scenario, ran = with_code(tmp_path)
    study = tmp_path / "study.toml"
    asked: dict[str, Value] = {"base": str(scenario), "seeds": 1, "measures": ["fct.mean"]}
    study.write_text(dumps(asked), encoding="utf-8")
    # The study ran before its scenario brought code.
    made, code = tmp_path / "made", scenario.read_text(encoding="utf-8")
    scenario.write_text((ROOT / "docs/workloads/incast.toml").read_text(), encoding="utf-8")
    assert call(monkeypatch, "study", "run", study, "--out", made) == 0
    scenario.write_text(code, encoding="utf-8")
    capsys.readouterr()
    asking: list[tuple[object, ...]] = [
        ("explain", result, "--flow", 0),
        ("replay", result, "--record", "cwnd.every=1ms", "--out", tmp_path / "again"),
        ("perfetto", result, "-o", tmp_path / "trace.json"),
        ("report", result, "-o", tmp_path / "page.html"),
        ("optimum", result),
        ("optimum", scenario),
        ("topology", scenario),
        ("study", "status", study),
        ("study", "show", study, "--out", made),
        ("check", scenario),
        ("check", study),
        ("estimate", scenario),
        ("estimate", study),
    ]
    # `run` and `study run` are what the code is for; tests/test_serve.py has `serve`.
    assert {words[0] for words in asking} == commands_that_ask() - {"serve"}
    for words in asking:
        assert call(monkeypatch, *words) == 2, words
        said = capsys.readouterr().err
        assert "a.py is code in Python" in said, words
        assert "add --run-code" in said, words
        assert not ran.exists(), words
    silent: list[tuple[object, ...]] = [
        ("show", result),
        ("compare", result, result),
        ("plot", result, "goodput", "-o", tmp_path / "g.svg"),
        ("export", result, "--format", "htsim", "-o", tmp_path / "flows"),
        ("convert", scenario, tmp_path / "x.goal"),
        ("study", "show", made / "study"),
    ]
    for words in silent:
        call(monkeypatch, *words)
        assert not ran.exists(), words
    theirs = linkpool.Result(result)
    for ask in (
        lambda: linkpool.check(scenario),
        lambda: linkpool.Scenario.load(scenario).check(),
        lambda: theirs.explain(0),
        lambda: theirs.replay({"capture": {}}),
        lambda: theirs.perfetto(tmp_path / "x"),
    ):
        with pytest.raises(_core.ScenarioError, match="run_code=True"):
            ask()
    assert not ran.exists()
    for words in asking:
        call(monkeypatch, *words, "--run-code")
        assert ran.exists(), words
        ran.unlink()


def test_the_files_of_a_worker_are_those_of_a_result(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    for name in ("../stolen", "/tmp/stolen", "notes.txt", "flows.parquet/../../stolen", ""):
        with pytest.raises(RemoteError, match="which is not part of a result"):
            write_files(place, {"flows.parquet": b"1", name: b"2"})
    assert list(place.iterdir()) == []
    assert list(tmp_path.iterdir()) == [place]
    write_files(place, {"flows.parquet": b"1", "run.json": b"2"})
    assert sorted(path.name for path in place.iterdir()) == ["flows.parquet", "run.json"]


@pytest.mark.core
@pytest.mark.parametrize("name", ["trace", "program"])
def test_a_worker_gets_the_files_that_a_scenario_names(name: str, tmp_path: Path) -> None:
    """Of Chakra a file for each rank; the worker has no other way to them."""
    shutil.copytree(ROOT / "docs" / "workloads", tmp_path / "here")
    scenario = loading.load(tmp_path / "here" / f"{name}.toml", overrides=[])
    theirs = {
        key: {part[len(file) :]: Path(part).read_bytes() for part in parts}
        for key, file, parts in scenario.files()
    }
    assert sum(map(len, theirs.values())) >= 3
    here = api.simulate_loaded(scenario, tmp_path / "result", None, threads=1).dir
    shutil.rmtree(tmp_path / "here")
    files = run_there(scenario.toml, name, simulator(), theirs)
    for table in here.glob("*.parquet"):
        assert files[table.name] == table.read_bytes(), table.name
