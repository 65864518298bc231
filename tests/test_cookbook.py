"""The cookbook's commands do what it says, on its own files."""

import copy
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

import linkpool
from linkpool.cli import app

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def test_its_files_are_those_shown() -> None:
    scenario = (ROOT / "docs" / "cookbook" / "scenario.toml").read_text(encoding="utf-8")
    assert f"```toml\n{scenario}```" in PAGE
    flows = (ROOT / "docs" / "cookbook" / "flows.csv").read_text(encoding="utf-8")
    assert "```\n" + "\n".join(flows.splitlines()[:4]) + "\n```" in PAGE


def test_its_commands_give_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has the rows that it shows; the numbers are the simulator's matter."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "cookbook").symlink_to(ROOT / "docs" / "cookbook")
    monkeypatch.chdir(tmp_path)
    every = commands()
    assert [command[0] for command in every] == ["run"] * 4 + ["compare"]
    for command in every:
        capsys.readouterr()
        app(command, standalone_mode=False)
    printed = capsys.readouterr().out
    shown = re.findall(r"```\n(measured period.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 1
    assert _names(printed) == _names(shown[0])


def _names(table: str) -> list[str]:
    rows = (re.split(r"  +", line.strip())[0] for line in table.splitlines())
    return [name for name in rows if re.match(r"[a-zA-Z9]", name)]


FAT_TREE: dict[str, Any] = {
    "topology": {"fat-tree": {"k": 4, "rate": "100Gbps", "delay": "1us"}},
}
TRIMMING: dict[str, Any] = {
    "discipline": "trimming",
    "limit": "125KB",
    "trimming": {
        "headers": "250KB",
        "return_to_sender": False,
        "mark_min": "25KB",
        "mark_max": "100KB",
    },
}


UET: dict[str, Any] = {
    "queue": TRIMMING,
    "transport.t": {"control": "uet", "balancer": "reps"},
}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="one path"),
        pytest.param(FAT_TREE, id="ECMP"),
        pytest.param({**FAT_TREE, "transport.t.paths": "scatter"}, id="host spraying"),
        pytest.param({**FAT_TREE, "routing.kind": "spray"}, id="switch spraying"),
        pytest.param({**FAT_TREE, **UET}, id="UET"),
    ],
)
def test_a_program_outside_plays_a_trace_to_the_picosecond(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    """The ranks of ranks.goal, run by linkpool and by ranks.py, with requests beside them."""
    folder = ROOT / "docs" / "cookbook"
    played = runpy.run_path(str(folder / "ranks.py"))
    racks, hosts_per_rack = (8, 2) if settings else (4, 3)
    hosts = [hosts_per_rack * (rank % racks) + rank // racks for rank in range(8)]
    trace = folder / "ranks.goal"
    scenario = linkpool.Scenario.load(folder / "ranks.toml").set(settings)
    ranks = played["play"](scenario, trace, hosts, 2, out=tmp_path / "outside")
    outside = linkpool.Result(tmp_path / "outside")
    traced = linkpool.Scenario.load(folder / "ranks-trace.toml").set(settings)
    inside = traced.run(out=tmp_path / "inside")
    ends = [max(rank.ends[iteration] for rank in ranks) * 1e-12 for iteration in range(2)]
    assert inside.jobs["end_s"].to_list() == pytest.approx(ends, rel=1e-12)
    assert_equal(inside, outside, messages=184, requests=24)


def assert_equal(
    inside: linkpool.Result, outside: linkpool.Result, *, messages: int, requests: int
) -> None:
    """Both have the same messages and requests, to the picosecond."""
    columns = ["src", "dst", "start_s", "delivered_s", "end_s", "size_bytes", "label"]
    flows = [result.flows.select(columns).sort(columns) for result in (inside, outside)]
    assert flows[0].equals(flows[1])
    assert len(flows[0]) == messages
    waits = [result.requests["ttft_s"] for result in (inside, outside)]
    assert waits[0].equals(waits[1])
    assert len(waits[0]) == requests


@pytest.mark.parametrize("arm", ["DCTCP", "LIA", "AMP", "NSCC", "DCQCN and PFC", "NDP"])
def test_the_study_of_gpus_from_a_trace_and_from_outside(
    arm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gpus.py at an eighth of its size: 16 ranks on two planes, beside four instances."""
    folder = ROOT / "docs" / "cookbook"
    monkeypatch.syspath_prepend(folder)
    run_both = runpy.run_path(str(folder / "gpus.py"))["run_both"]
    study = linkpool.Study.load(folder / "gpus.toml")
    [of_name] = [one for one in study.arms if one.name == arm]
    base = copy.deepcopy(study.base)
    assert isinstance(base, dict)
    base["topology"]["multi-plane"] |= {"planes": 2, "leaves": 4, "spines": 2, "hosts_per_leaf": 6}
    base["workload"]["training"][0] |= {"dp": 4, "micro_batches": 2, "gradients": "4MB"}
    [inference] = base["workload"]["inference"]
    inference |= {"prefill": 2, "decode": 2, "first_host": 16}
    inference |= {"requests_per_second": 1000, "stop": "10ms"}
    inside, outside = run_both(base, of_name, tmp_path / "runs")
    assert inside.flows["src"].n_unique() == 20
    train = inside.flows["label"].eq("train").sum()
    # Activations there and back between three pairs of stages, and rings of four that add up.
    assert train == 2 * (4 * 3 * 2 * 2 + 16 * 2 * 3)
    assert_equal(inside, outside, messages=len(inside.flows), requests=len(inside.requests))
    assert len(inside.requests) > 5
