"""The pages of workloads: every kind has one, and their examples and pictures are true."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import linkpool
from linkpool import Study, _core
from linkpool.cli import app
from linkpool.study.points import points_of
from linkpool.study.seeds import varied

ROOT = Path(__file__).parents[1]
DIRECTORY = ROOT / "docs" / "workloads"
PAGES = sorted(path for path in DIRECTORY.glob("*.md") if path.name != "README.md")

pytestmark = pytest.mark.core


def kinds() -> set[str]:
    """Return those that the schema knows."""
    schema: dict[str, Any] = json.loads(linkpool.schema())
    return set(schema["properties"]["workload"]["properties"])


def test_every_kind_has_an_example_and_a_line_in_the_index() -> None:
    index = (DIRECTORY / "README.md").read_text(encoding="utf-8")
    examples = "".join(path.read_text(encoding="utf-8") for path in DIRECTORY.glob("*.toml"))
    assert len(kinds()) > 10
    assert set(re.findall(r"\[\[workload\.([a-z-]+)\]\]", examples)) == kinds()
    assert kinds() <= set(re.findall(r"`([a-z-]+)`", index))
    assert set(re.findall(r"\]\(([a-z-]+)\.md\)", index)) == {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_pages_show_scenarios_that_run(page: Path) -> None:
    """Each shows its scenario whole, and the files of flows that it reads."""
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    scenario = page.with_suffix(".toml")
    assert shown == [scenario.read_text(encoding="utf-8")]
    assert "[[workload." in linkpool.check(scenario)
    assert f"]({page.stem}.png)" in text
    for name, lines in re.findall(r"\[(\S+)\]\(\1\):\n\n```text\n(.*?)```", text, re.DOTALL):
        assert lines == (DIRECTORY / name).read_text(encoding="utf-8")


def test_a_program_takes_the_same_time_in_each_format(tmp_path: Path) -> None:
    """GOAL as text, in binary form, and Chakra; and as a collective after 20 us of computation."""
    result = linkpool.run(DIRECTORY / "program.toml", out=tmp_path / "result")
    jobs = result.jobs
    assert jobs is not None
    assert jobs["label"].to_list() == ["GOAL", "binary GOAL", "Chakra"]
    times = [round(1e12 * jct) for jct in jobs["jct_s"]]
    assert times[0] == times[1] == times[2] > 20_000_000
    text = (DIRECTORY / "program.toml").read_text(encoding="utf-8")
    head = text.partition("[[workload")[0]
    keys = 'algorithm = "doubling-all-reduce"\nranks = 4\nsize = "400KB"\nstart = "20us"\n'
    scenario = tmp_path / "collective.toml"
    scenario.write_text(f'{head}[[workload.collective]]\ntransport = "dctcp"\n{keys}')
    collective = linkpool.run(scenario, out=tmp_path / "collective").jobs
    assert collective is not None
    assert round(1e12 * collective["end_s"][0]) == times[0]


def test_requests_are_shown_with_their_percentiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Medians are those of the table; a step of one to eight sequences takes 2.1 to 2.8 ms."""
    result = linkpool.run(DIRECTORY / "inference.toml", out=tmp_path / "result")
    requests = result.requests
    (summary,) = result.summary.requests
    assert summary.ttft.p50_s == pytest.approx(requests["ttft_s"].median())
    assert summary.tpot.p50_s == pytest.approx(requests["tpot_s"].median())
    assert (summary.requests, summary.answered) == (requests.height, requests.height)
    assert min(requests["tpot_s"].to_list()) > 2.1e-3
    flows = result.flows.filter(pl.col("label") == "chat").sort("job")
    sizes = requests.sort("request")["prompt_tokens"] * 131_072
    assert flows["size_bytes"].to_list() == sizes.to_list()
    app(["show", str(tmp_path / "result")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert re.search(r"chat +0 +16 +16 +TTFT +[0-9.]+ ms", shown)
    assert re.search(r"TPOT .* needs 100 requests", shown)


def test_a_seed_draws_requests() -> None:
    drawn: dict[str, Any] = {"requests_per_second": 9.0, "output_tokens": {"uniform": [1, 2]}}
    for tables, what in (
        ([drawn], "arrivals and lengths of inference"),
        ([{"file": "r.csv"}, {"experts": {}}], "choices of experts of inference"),
        ([{"file": "r.csv", "placement": "random"}], "hosts of ranks of inference"),
    ):
        assert varied({"workload": {"inference": tables}})[0][2:] == [what]
    same = varied({"workload": {"inference": [{"file": "r.csv"}]}})[1]
    assert same == ["the fabric", "hosts, sizes and starts of inference"]


def test_the_page_of_jobs_shows_its_study() -> None:
    """Both studies have the same fabric and jobs, each job alone in one of them."""
    page = (ROOT / "docs" / "jobs.md").read_text(encoding="utf-8")
    files = [ROOT / "docs" / "cookbook" / f"{name}.toml" for name in ("jobs", "jobs-requests")]
    assert f"```toml\n{files[0].read_text(encoding='utf-8')}```" in page
    both = []
    for file in files:
        points = points_of(Study.load(file))
        alone, beside = (points[i].load().toml.partition("\n")[2] for i in (0, len(points) // 2))
        assert alone.count("[[workload.") == 1
        both.append(beside)
    assert both[0] == both[1]
    assert "[[workload.training]]" in both[0]
    assert "[[workload.inference]]" in both[0]


def test_programs_are_converted(tmp_path: Path) -> None:
    """The binary form of the page is that of its text; the text comes back; errors name lines."""
    binary, text = tmp_path / "p.bin", tmp_path / "p.goal"
    _core.convert(str(DIRECTORY / "program.goal"), str(binary))
    assert binary.read_bytes() == (DIRECTORY / "program.bin").read_bytes()
    _core.convert(str(binary), str(text))
    again = tmp_path / "again.bin"
    _core.convert(str(text), str(again))
    assert again.read_bytes() == binary.read_bytes()
    ring = tmp_path / "ring.goal"
    _core.convert(str(DIRECTORY / "collective.toml"), str(ring))
    assert ring.read_text(encoding="utf-8").startswith("num_ranks 4\n")
    ring.write_text("num_ranks 1\nrank 0 {\nsend x\n}\n")
    with pytest.raises(ValueError, match=r"ring.goal:3: \"x\" instead of a size"):
        _core.convert(str(ring), str(binary))
    ring.write_text("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\n}\n")
    with pytest.raises(ValueError, match=r"ring.goal:3: .*1 send, 0 receives"):
        _core.convert(str(ring), str(binary))
    crossed = "rank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n"
    ring.write_text(f"num_ranks 2\n{crossed}{crossed.translate(str.maketrans('01', '10'))}")
    with pytest.raises(ValueError, match=r"ring.goal:3: .*waits"):
        _core.convert(str(ring), str(binary))
    with pytest.raises(ValueError, match=r"must end in .goal"):
        _core.convert(str(text), str(tmp_path / "p.txt"))


@pytest.mark.parametrize(
    "keys",
    [
        'schedule = "gpipe"',
        'order = "tp-pp-dp"',
        "sequence_parallel = true",
    ],
)
def test_training_and_its_goal_take_the_same_time(keys: str, tmp_path: Path) -> None:
    """The programs of `linkpool convert` are on the same hosts, and end to the picosecond then."""
    text = (DIRECTORY / "training.toml").read_text(encoding="utf-8")
    text = text.replace('schedule = "1f1b"', keys).replace(
        'gradients = "10MB"', 'gradients = "2MB"'
    )
    training, goal, program = (tmp_path / name for name in ("t.toml", "t.goal", "p.toml"))
    training.write_text(text)
    _core.convert(str(training), str(goal))
    trace = 'file = "t.goal"\nformat = "goal"\ncalc_unit = "1ps"\niterations = 3\n'
    workload = f'[[workload.program]]\ntransport = "dctcp"\n{trace}'
    program.write_text(text.partition("[[workload")[0] + workload)
    jobs = [linkpool.run(file, out=file.with_suffix("")).jobs for file in (training, program)]
    assert jobs[0] is not None
    assert jobs[1] is not None
    assert len(jobs[0]) == 3
    assert list(jobs[0]["jct_s"]) == list(jobs[1]["jct_s"])


def test_a_chakra_trace_without_the_file_of_one_rank_is_refused(tmp_path: Path) -> None:
    for rank in (0, 1, 3):
        shutil.copy(DIRECTORY / f"program.{rank}.et", tmp_path)
    head = (DIRECTORY / "program.toml").read_text(encoding="utf-8").partition("[[workload")[0]
    scenario = tmp_path / "chakra.toml"
    keys = 'transport = "dctcp"\nfile = "program"\nformat = "chakra"\n'
    scenario.write_text(f"{head}[[workload.program]]\n{keys}")
    with pytest.raises(ValueError, match=r"program.2.et: is missing, and there is program.3.et"):
        linkpool.run(scenario)


def test_a_rank_of_a_chakra_trace_has_one_send_at_a_time(tmp_path: Path) -> None:
    """Two sends that may start at once: with "serial" that with the lowest id, then the other."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    chakra = importlib.import_module("chakra")

    def message(number: int, kind: int, peer: str, other: int) -> bytes:
        ends = (("comm_size", 1000 * number), ("comm_tag", number), (peer, other))
        rest = b"".join(chakra.integer(*end) for end in ends)
        return bytes(chakra.node(number, "m", kind, rest=rest))

    sends = [message(number, 5, "comm_dst", 1) for number in (2, 1)]
    receives = [message(number, 6, "comm_src", 0) for number in (1, 2)]
    for rank, nodes in enumerate((sends, receives)):
        (tmp_path / f"two.{rank}.et").write_bytes(chakra.trace(*nodes))
    head = (DIRECTORY / "program.toml").read_text(encoding="utf-8").partition("[[workload")[0]
    scenario = tmp_path / "two.toml"
    keys = 'transport = "dctcp"\nfile = "two"\nformat = "chakra"\ncommunication = "serial"\n'
    scenario.write_text(f"{head}[[workload.program]]\n{keys}")
    serial = linkpool.run(scenario).flows.sort("size_bytes")
    assert list(serial["start_s"]) == [0, serial["end_s"][0]]
    with pytest.raises(ValueError, match="GOAL cannot say that a rank has one message at a time"):
        _core.convert(str(scenario), str(tmp_path / "two.goal"))
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("serial", "parallel"))
    assert list(linkpool.run(scenario).flows["start_s"]) == [0, 0]


def test_the_chakra_traces_are_those_of_the_script(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "chakra.py"), "--out", str(tmp_path)]
    subprocess.run(script, check=True)
    for rank in range(4):
        name = f"program.{rank}.et"
        assert (tmp_path / name).read_bytes() == (DIRECTORY / name).read_bytes()


def test_pictures_are_small() -> None:
    for page in PAGES:
        assert 5000 < (DIRECTORY / f"{page.stem}.png").stat().st_size < 40_000


@pytest.mark.long
def test_pictures_can_be_drawn(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "workloads.py"), "--out", str(tmp_path)]
    subprocess.run(script, check=True)
    drawn = {path.stem for path in tmp_path.glob("*.png")}
    assert drawn == {page.stem for page in PAGES}
    for name in drawn:
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
