"""Bad input is never "a bug in linkpool": a corpus of it, through every command that reads it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.study.toml import dumps
from test_cli import Captured, call

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]

FABRIC = """
duration = "2ms"
drain = "50ms"
topology.leaf-spine = { leaves = 2, spines = 2, hosts_per_leaf = 2, rate = "10Gbps", delay = "1us" }
transport.t.control = "dctcp"
"""
FLOW = '[[workload.flow]]\ntransport = "t"\nfrom = "h0"\nto = "h3"\nsize = "20KB"\n'
GRAPH = '{"nodes": [NODES], "links": [LINKS]}'
CABLE = '{"source": "a", "target": "b", "rate": "1Gbps", "delay": "1us"}'


def graph(nodes: str, links: str = CABLE) -> dict[str, str]:
    text = FABRIC.replace(FABRIC.splitlines()[3], 'topology.graph.file = "graph.json"') + FLOW
    return {
        "s.toml": text.replace('"h0"', '"a"').replace('"h3"', '"b"'),
        "graph.json": GRAPH.replace("NODES", nodes).replace("LINKS", links),
    }


def trace(content: str, form: str = "csv") -> dict[str, str]:
    workload = f'[[workload.trace]]\ntransport = "t"\nfile = "flows"\nformat = "{form}"\n'
    return {"s.toml": FABRIC + workload, "flows": content}


HEADER = "src,dst,size_bytes,start_s\n"

SCENARIOS: dict[str, dict[str, str]] = {
    "empty": {"s.toml": ""},
    "no toml": {"s.toml": "= ["},
    "nested": {"s.toml": "a = " + "[" * 5000},
    "binary": {"s.toml": "\x00\x01\x02"},
    "a name of controls": {"s.toml": f'name = "\\u001b[31m\\u0000"\n{FABRIC}{FLOW}'},
    "a label of formulas": {"s.toml": f"{FABRIC}{FLOW}label = '$\\frac$ {{}} %s <b>'\n"},
    "a long label": {"s.toml": f"{FABRIC}{FLOW}label = '{'x' * 5000}'\n"},
    "an empty label": {"s.toml": f"{FABRIC}{FLOW}label = ''\n"},
    "a transport of blanks": {"s.toml": FABRIC.replace("t.control", '" ".control') + FLOW},
    "a loop": graph('{"id": "a", "kind": "host"}', CABLE.replace('"b"', '"a"')),
    "an empty graph": graph("", ""),
    "no graph": graph("null", "3"),
    "a large seed": {"s.toml": f"seed = 9223372036854775808\n{FABRIC}{FLOW}"},
    "numbers": {"s.toml": f"{FABRIC}{FLOW}start = 1e400\n".replace('"20KB"', "nan")},
    "no rows": trace(HEADER),
    "no columns": trace("\n,,,\n"),
    "a host that is not there": trace(f"{HEADER}h0,h99,10,0\n"),
    "a mark of byte order": trace(f"\ufeff{HEADER}h0,h1,10,0\n"),
    "quotes": trace('"src","dst","size_bytes","start_s"\n"h0","h1","10","0"\n'),
    "a matrix without starts": trace("Nodes 4\nConnections 1\n0->1 id 1 size 9\n", "htsim"),
    "a matrix of words": trace("Nodes a\n0->1 id\n", "htsim"),
    "hpcc with more": trace("1\n0 1 3 100 60000 0.0\n0 2 3 100 70 0.0\n", "hpcc"),
    "hpcc of nothing": trace("", "hpcc"),
    "controls": {"s.toml": f'controls = ["a.py"]\n{FABRIC}{FLOW}', "a.py": "raise SystemExit(9)\n"},
    "controls of an error": {"s.toml": f'controls = ["a.py"]\n{FABRIC}{FLOW}', "a.py": "1 / 0"},
    "a study": {"s.toml": 'base = "x.toml"\nseeds = 3\n'},
    "a file of nothing": {"s.toml": FABRIC + FLOW.replace('"20KB"', '{ cdf = "none" }')},
}
"""Files by name, of which `s.toml` is read."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_scenario_is_a_bug(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    for file, content in SCENARIOS[name].items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    scenario, out = tmp_path / "s.toml", tmp_path / "out"
    (tmp_path / "study.toml").write_text(
        dumps({"base": "s.toml", "figures": ["fct-cdf"], "report": True}), encoding="utf-8"
    )
    commands: list[tuple[object, ...]] = [
        ("topology", scenario, "--plot", tmp_path / "t.svg"),
        ("optimum", scenario),
        ("convert", scenario, tmp_path / "x.goal"),
        ("study", "status", scenario),
        ("run", scenario, "--out", out),
    ]
    if (tmp_path / "graph.json").exists():
        commands.append(("topology", tmp_path / "graph.json"))
    through(commands, monkeypatch, capsys)
    if out.exists():
        through(
            [
                ("study", "run", tmp_path / "study.toml", "--out", tmp_path / "results"),
                ("show", out),
                ("compare", out, out, "--measures", "jct,queue_max,loss"),
                ("explain", out, "--flow", 0),
                ("plot", out, "fct-cdf", "--by", "label", "-o", tmp_path / "f.svg"),
                ("plot", out, "goodput", "-o", tmp_path / "f.png"),
                ("report", out, "-o", tmp_path / "r.html"),
                ("perfetto", out, "-o", tmp_path / "p"),
                ("export", out, "--format", "htsim", "-o", tmp_path / "e"),
                ("optimum", out),
            ],
            monkeypatch,
            capsys,
        )


STUDIES = {
    "no measure has a value": 'measures = ["fct@above 10 MB"]\nfigures = ["sweep"]',
    "a layer that is not there": 'measures = ["loss.share@$x$"]\nreport = true',
    "jobs without jobs": 'measures = ["jct.mean"]',
    "names of controls": 'title = "\\u001b[2J"\n[[arm]]\nname = "$\\\\frac$ <b> %s {}"',
    "an arm of another base": '[[arm]]\nname = "a"\nbase = "none.toml"',
    "nothing varies": 'figures = ["sweep", "windows", "queues"]',
    "a key that is none": "vary.nothing = [1, 2]",
    "values of no order": "vary.queue.mark = [[1], { a = 1 }]",
    "a name that is taken": 'name = "runs"',
    "above": 'name = ".."',
}


@pytest.mark.parametrize("name", STUDIES)
def test_no_study_is_a_bug(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "s.toml").write_text(FABRIC + FLOW, encoding="utf-8")
    study = tmp_path / "mine.toml"
    study.write_text(f'base = "s.toml"\n{STUDIES[name]}\n', encoding="utf-8")
    out = tmp_path / "results"
    words = ("--out", out)
    through(
        [
            ("study", "status", study, *words),
            ("study", "run", study, *words),
            ("study", "show", study, *words),
            ("study", "show", study, *words, "--format", "latex"),
            ("study", "show", study, *words, "--pooled"),
            ("study", "show", study, *words, "--measures", "jct,queue"),
            ("plot", out / "mine", "sweep", "-o", tmp_path / "x.svg"),
            ("report", out / "mine", "-o", tmp_path / "x.html"),
            ("run", study, "--out", tmp_path / "out"),
        ],
        monkeypatch,
        capsys,
    )


def _rename(result: Path) -> None:
    (result / "links.parquet").replace(result / "subflows.parquet")


def _column(result: Path) -> None:
    flows = pl.read_parquet(result / "flows.parquet")
    flows.drop("fct_s").write_parquet(result / "flows.parquet")


def _numbers(result: Path) -> None:
    flows = pl.read_parquet(result / "flows.parquet")
    flows.with_columns(pl.lit("x").alias("flow")).write_parquet(result / "flows.parquet")


def _no_rows(result: Path) -> None:
    for file in result.glob("*.parquet"):
        pl.read_parquet(file).clear().write_parquet(file)


def _other_scenario(result: Path) -> None:
    (result / "scenario.toml").write_text('duration = "1s"\n', encoding="utf-8")


def _no_json(result: Path) -> None:
    (result / "run.json").write_text(json.dumps([1, {"a": None}]), encoding="utf-8")


def _directory(result: Path) -> None:
    (result / "links.parquet").unlink()
    (result / "links.parquet").mkdir()


def _link(result: Path) -> None:
    (result / "links.parquet").unlink()
    (result / "links.parquet").symlink_to("links.parquet")


RESULTS: dict[str, Callable[[Path], object]] = {
    "a table of another": _rename,
    "a column less": _column,
    "a column of another type": _numbers,
    "tables without rows": _no_rows,
    "another scenario": _other_scenario,
    "another run.json": _no_json,
    "no table": lambda result: (result / "flows.parquet").write_bytes(b"PAR1"),
    "a table cut off": lambda result: os.truncate(result / "flows.parquet", 900),
    "a directory for a table": _directory,
    "a link for a table": _link,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a result of which each test damages a copy."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "s.toml").write_text(FABRIC + FLOW, encoding="utf-8")
    return linkpool.run(folder / "s.toml", out=folder / "result").dir


@pytest.mark.parametrize("name", RESULTS)
def test_no_damaged_result_is_a_bug(
    name: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Without a manifest, which would tell of the damage before anything is read."""
    result = tmp_path / "result"
    shutil.copytree(whole, result)
    (result / "manifest.json").unlink()
    RESULTS[name](result)
    through(
        [
            ("show", result),
            ("compare", result, whole),
            ("plot", result, "fct-cdf", "-o", tmp_path / "f.svg"),
            ("plot", result, "utilisation", "-o", tmp_path / "f.svg"),
            ("report", result, "-o", tmp_path / "r.html", "--flow", 0),
            ("explain", result, "--flow", 0),
            ("replay", result, "--record", "cwnd.every=1ms", "--out", tmp_path / "again"),
            ("perfetto", result, "-o", tmp_path / "p"),
            ("export", result, "--format", "hpcc-fct", "-o", tmp_path / "e"),
            ("optimum", result),
        ],
        monkeypatch,
        capsys,
    )


def test_no_path_is_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Files that are none, names that are no text, places where nothing can be written."""
    (tmp_path / "s.toml").write_text(FABRIC + FLOW, encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    odd = [
        tmp_path,
        tmp_path / "none",
        tmp_path / "loop",
        "/dev/null",
        "/proc/self/mem",
        "\udcff",
        "x" * 300,
    ]
    for path in odd:
        through(
            [
                ("run", path, "--out", tmp_path / "out"),
                ("run", tmp_path / "s.toml", "--out", path),
                ("show", path),
                ("topology", path),
                ("report", path, "-o", tmp_path / "r.html"),
                ("study", "run", path, "--out", tmp_path / "results"),
                ("study", "show", path),
                ("convert", path, tmp_path / "x.bin"),
            ],
            monkeypatch,
            capsys,
        )


def through(
    commands: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Run commands: each ends with a line, whose exit code says whose fault it is."""
    for words in commands:
        capsys.readouterr()
        code = call(monkeypatch, *words)
        printed = capsys.readouterr()
        assert "bug in linkpool" not in printed.err + printed.out, (words, printed.err)
        assert "Traceback" not in printed.err, words
        assert "panicked" not in printed.err, words
        assert code in (0, 1, 2), words
        assert code == 0 or printed.err.strip(), f"{words} says nothing"
