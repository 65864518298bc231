"""Flows of SimCCL as programs of ranks."""

from pathlib import Path

import pytest

import linkpool

HEADER = (
    "collective,op,data_size,algorithm,protocol,channel_id,flow_id,src,dest,flow_size,chunk_id,"
    "chunk_count,conn_type,parent_flow_ids,prev_flow_ids"
)
FABRIC = """
duration = "10ms"
topology.many-to-one = { senders = 3, rate = "10Gbps", delay = "1us" }
queue = { limit = 1000, mark = 200 }
transport.t = { control = "dctcp" }
"""
PROGRAM = """
[[workload.program]]
transport = "t"
file = "flows.csv"
format = "simccl"
"""
COLLECTIVE = """
[[workload.collective]]
transport = "t"
algorithm = "ring-all-reduce"
ranks = 4
persistent = true
size = "400KB"
"""


def ring(ranks: int, size: int, name: str = "TP_0_0_0_1_400000", first: int = 0) -> list[str]:
    """Return a ring all-reduce as SimCCL writes it, with one channel: by sender, then by step.

    In each of 2 (n - 1) steps a rank passes on what came to it in the step before.
    """
    steps = 2 * (ranks - 1)

    def flow(src: int, step: int) -> str:
        number = first + step * ranks + src
        before = (src - 1) % ranks
        parent = "" if step == 0 else str(first + (step - 1) * ranks + before)
        ends = f"{src},{(src + 1) % ranks},{size // ranks}"
        return f"{name},1,{size},1,0,0,{number},{ends},{step},{steps},RING,{parent},{before}"

    return [flow(src, step) for src in range(ranks) for step in range(steps)]


def jct(folder: Path, text: str) -> float:
    (folder / "s.toml").write_text(FABRIC + text, encoding="utf-8")
    jobs = linkpool.run(folder / "s.toml").jobs
    assert jobs.height == 1
    return float(jobs["jct_s"][0])


def write(folder: Path, rows: list[str]) -> None:
    (folder / "flows.csv").write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")


def test_a_ring_takes_the_time_of_the_collective(tmp_path: Path) -> None:
    write(tmp_path, ring(4, 400_000))
    alone = jct(tmp_path, PROGRAM)
    assert alone == jct(tmp_path, COLLECTIVE)
    # A second operation begins at each rank when it has done with the first.
    write(tmp_path, [*ring(4, 400_000), *ring(4, 400_000, "TP_0_1_0_1_400000", 24)])
    both = jct(tmp_path, PROGRAM)
    assert 1.5 * alone < both < 2 * alone


def test_what_is_wrong_names_file_and_line(tmp_path: Path) -> None:
    rows = ring(4, 400_000)
    write(tmp_path, [*rows[:3], rows[3].replace(",RING,", ",NVLS,")])
    with pytest.raises(linkpool.ScenarioError, match=r"flows\.csv:5: .*AS_NVLS_ENABLE=0"):
        jct(tmp_path, PROGRAM)
    write(tmp_path, rows)
    with pytest.raises(linkpool.ScenarioError, match=r"calc_unit.*GOAL"):
        jct(tmp_path, PROGRAM + 'calc_unit = "1us"')
