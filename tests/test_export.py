"""Exports of completed flows, read as the scripts of other simulators read them."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import linkpool
from linkpool.export import ExportError, export

pytestmark = pytest.mark.core

SCENARIO = """
duration = "2ms"
drain = "1s"
[topology.many-to-one]
senders = 6
rate = "1Gbps"
delay = "5us"
[queue]
limit = 20
[transport.t]
control = "reno"
[[workload.incast]]
transport = "t"
senders = 4
receiver = "R"
size = "60KB"
every = "1ms"
label = "burst"
[[workload.many-to-one]]
transport = "t"
flows = 2
first = 4
receiver = "R"
size = "1448B"
label = "short"
"""


@pytest.fixture
def result(scenario: Callable[[str], Path]) -> linkpool.Result:
    """Run an incast beside two short flows."""
    return linkpool.run(scenario(SCENARIO))


def test_fct_txt_has_the_columns_of_hpcc(result: linkpool.Result, tmp_path: Path) -> None:
    out = tmp_path / "fct.txt"
    export(result, "hpcc-fct", out)
    rows = [line.split(" ") for line in out.read_text(encoding="utf-8").splitlines()]
    flows = result.flows.drop_nulls("end_s")
    assert len(rows) == flows.height > 6
    hosts = [f"S{i + 1}" for i in range(6)] + ["R"]
    for row, flow in zip(rows, flows.iter_rows(named=True), strict=True):
        src, dst, sport, dport, size, start, fct, alone = row
        # Node i has the address 11.(i / 256).(i % 256).1.
        assert src == f"0b00{hosts.index(flow['src']):02x}01"
        assert dst == f"0b00{hosts.index(flow['dst']):02x}01"
        assert int(sport) == 10_000 + flow["flow"]
        assert dport == {"burst": "200", "short": "100"}[flow["label"]]
        assert int(size) == flow["size_bytes"]
        assert int(start) == round(flow["start_s"] * 1e9)
        assert int(fct) == round(flow["fct_s"] * 1e9)
        assert int(fct) / int(alone) == pytest.approx(flow["slowdown"], rel=1e-4)


@pytest.mark.skipif(shutil.which("awk") is None, reason="awk is not installed")
def test_awk_finds_the_slowdowns_as_usual(result: linkpool.Result, tmp_path: Path) -> None:
    out = tmp_path / "fct.txt"
    export(result, "hpcc-fct", out)
    program = "$4==200 && $6+$7<3000000000 { print ($7/$8 < 1 ? 1 : $7/$8), $5 }"
    said = subprocess.run(
        ["awk", program, str(out)], check=True, capture_output=True, text=True
    ).stdout
    found = sorted(float(line.split()[0]) for line in said.splitlines())
    expected = result.flows.filter(pl.col("label") == "burst")["slowdown"].sort().to_list()
    assert found == pytest.approx(expected, rel=1e-4)


def test_lines_of_htsim_split_as_usual(result: linkpool.Result, tmp_path: Path) -> None:
    out = tmp_path / "htsim.txt"
    export(result, "htsim", out)
    lines = out.read_text(encoding="utf-8").splitlines()
    flows = result.flows.drop_nulls("end_s")
    for line, flow in zip(lines, flows.iter_rows(named=True), strict=True):
        words = line.split()
        assert (words[0], words[2], words[4], words[6:8]) == (
            "Flow",
            "flowId",
            "uecSrc",
            ["finished", "at"],
        )
        assert int(words[3]) == flow["flow"]
        assert float(words[8]) == pytest.approx(flow["end_s"] * 1e6, abs=1e-6)
        assert int(words[words.index("bytes") + 1]) == flow["size_bytes"]
        assert int(words[words.index("packets") + 1]) == -(-flow["size_bytes"] // 1448)


def test_another_format_is_an_error(result: linkpool.Result, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="formats are hpcc-fct, htsim"):
        export(result, "ns2", tmp_path / "out")
    assert not (tmp_path / "out").exists()
