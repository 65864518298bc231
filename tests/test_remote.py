"""Runs on other machines: a real Dask scheduler and two workers, one of which is killed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from linkpool.study import remote
from test_cli import call

ROOT = Path(__file__).parents[1]

pytest.importorskip("distributed", reason="needs linkpool[cluster]")

pytestmark = pytest.mark.core
LONG = pytest.mark.long
"""A cluster takes half a minute to start."""

STUDY = """
seeds = 8
measures = ["slowdown.p99", "jain"]

[base]
duration = "20ms"
drain = "100ms"
topology.leaf-spine = { leaves = 4, spines = 4, hosts_per_leaf = 4, rate = "10Gbps", delay = "1us" }
queue = { limit = 50, mark = 10 }
transport.t.control = "dctcp"

[[base.workload.poisson]]
transport = "t"
load = 0.6
size = "30KB"
"""


def dask(*words: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "dask", *words]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )


class Cluster:
    """A scheduler and two workers of one thread each, on this machine."""

    def __init__(self, folder: Path) -> None:
        file = folder / "scheduler.json"
        where = ["--scheduler-file", str(file)]
        self.scheduler = dask(
            "scheduler", *where, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        self.workers = [
            dask(
                "worker",
                *where,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--local-directory",
                str(folder),
            )
            for _ in range(2)
        ]
        import distributed

        client: Any = distributed.Client
        self.client = client(scheduler_file=str(file), timeout=300)
        self.client.wait_for_workers(2, timeout=300)
        self.address = str(self.client.scheduler.address)

    def close(self) -> None:
        self.client.close()
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster for all tests, as that takes seconds; the last one kills a worker of it."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


def run(folder: Path, out: str, *more: str, study: str = STUDY) -> "subprocess.Popen[bytes]":
    (folder / "mine.toml").write_text(study, encoding="utf-8")
    command = [sys.executable, "-m", "linkpool", "study", "run", str(folder / "mine.toml")]
    return subprocess.Popen(
        [*command, "--out", str(folder / out), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def files(folder: Path) -> dict[str, bytes]:
    """Return every file of every run, but for what says how long a run took."""
    times = ("run.json", "manifest.json")
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in folder.glob("runs/*/*")
        if path.name not in times
    }


IN_PYTHON = """
measures = ["slowdown.p99", "jain"]

[[arm]]
name = "amp"
set = { transport.t.control = "amp" }

[[arm]]
name = "my-amp"
set = { controls = ["amp.py"], transport.t.control = "my-amp" }

[base]
duration = "4ms"
drain = "100ms"
topology.leaf-spine = { leaves = 2, spines = 2, hosts_per_leaf = 4, rate = "10Gbps", delay = "1us" }
queue = { limit = 50, mark = 10 }
transport.t = { control = "amp", subflows = 4 }

[[base.workload.poisson]]
transport = "t"
load = 0.6
size = "100KB"
"""


@LONG
@pytest.mark.filterwarnings("ignore")
def test_an_algorithm_in_python_travels_with_its_scenario(cluster: Cluster, tmp_path: Path) -> None:
    """Workers have no file amp.py: they compile the text that the scenario as run holds."""
    pytest.importorskip("numba", reason="needs linkpool[numba]")
    shutil.copy(ROOT / "docs" / "controls" / "amp.py", tmp_path)
    process = run(tmp_path, "there", "--on", cluster.address, study=IN_PYTHON)
    _, err = process.communicate()
    assert process.returncode == 0, err.decode()
    here = run(tmp_path, "here", study=IN_PYTHON)
    here.communicate()
    assert here.returncode == 0
    made = files(tmp_path / "there")
    assert made == files(tmp_path / "here")
    (key,) = [
        name.partition("/")[0]
        for name, content in made.items()
        if name.endswith("/scenario.toml") and b"class Amp:" in content
    ]
    tables = [path.parent for path in tmp_path.glob("there/runs/*/flows.parquet")]
    (mine,) = [place for place in tables if place.name == key]
    (built_in,) = [place for place in tables if place != mine]
    for table in ("flows", "subflows", "links"):
        of_mine, of_built_in = (
            pl.read_parquet(place / f"{table}.parquet").drop("control", strict=False)
            for place in (mine, built_in)
        )
        assert of_mine.equals(of_built_in), table


@LONG
@pytest.mark.filterwarnings("ignore")
def test_an_experiment_runs_on_the_workers_too(cluster: Cluster, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "experiments" / "your-own.md").read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "mine.py").write_text(example, encoding="utf-8")
    for out, more in (("there", ["--on", cluster.address]), ("here", [])):
        command = [sys.executable, "-m", "linkpool", "reproduce", "Mine-marks", "--full"]
        where = ["--from", str(tmp_path), "--out", str(tmp_path / out)]
        done = subprocess.run([*command, *where, *more], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        if more:
            assert f"on 2 threads of the workers of {cluster.address}" in done.stderr.decode()
    made = files(tmp_path / "there")
    assert len(made) >= 6 * 5
    assert made == files(tmp_path / "here")
    data = Path("Mine-marks", "data.parquet")
    assert (tmp_path / "there" / data).read_bytes() == (tmp_path / "here" / data).read_bytes()


def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remote, "CONNECT_S", 0.5)
    (tmp_path / "mine.toml").write_text(STUDY, encoding="utf-8")
    words = ("study", "run", tmp_path / "mine.toml", "--out", tmp_path / "out")
    assert call(monkeypatch, *words, "--on", "tcp://127.0.0.1:9") == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


@LONG
@pytest.mark.filterwarnings("ignore")
def test_a_killed_workers_runs_are_made_again_with_the_same_bytes(
    cluster: Cluster, tmp_path: Path
) -> None:
    process = run(tmp_path, "there", "--on", cluster.address)
    while process.poll() is None and not list(tmp_path.glob("there/runs/*/manifest.json")):
        time.sleep(0.01)
    cluster.workers[0].send_signal(signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 0, err.decode()
    assert "on 2 threads of" in out.decode()
    here = run(tmp_path, "here")
    here.communicate()
    assert here.returncode == 0
    assert len(files(tmp_path / "here")) >= 8 * 5
    assert files(tmp_path / "there") == files(tmp_path / "here")
    data = Path("mine", "data.parquet")
    assert (tmp_path / "there" / data).read_bytes() == (tmp_path / "here" / data).read_bytes()
