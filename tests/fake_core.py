"""A stand-in for the simulator: plausible tables at once, the same for the same scenario and seed.

It is for tests of what is around the simulator: caching, threads, figures, the command line.
"""

import random
import re
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import rtoml

from linkpool import _core, publish
from linkpool._core import ScenarioError, seconds
from linkpool.result import Result
from tables import finished, table, unfinished, write_result

LAYERS = {"h": "host", "e": "edge", "a": "aggregation", "c": "core"}
SIZES = {
    "64KiB": 1 << 16,
    "128KiB": 1 << 17,
    "256KiB": 1 << 18,
    "512KiB": 1 << 19,
    "1MiB": 1 << 20,
}
MEASURE = '[measure]\nwarm_up = "0s"\ncut_off = "1s"\n'
Document = Mapping[str, Any]
Progress = Callable[[float, float, int], "bool | None"]


class FakeCore:
    """The functions of the extension module that a run needs; `runs` counts those made.

    `summarises`: write a summary, which takes as long as all else that is done for a run.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.fail_on: str | None = None
        self.summarises = True
        self.hosts = 2
        self.threads: list[int | None] = []
        self.before_run: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def check(
        self, text: str, path: str, seed: int | None, overrides: list[tuple[str, str]]
    ) -> str:
        """Put seed and overrides before the text."""
        if any(key == "nonsense" for key, _ in overrides):
            error = ScenarioError(f"{path}: nonsense: unknown key")
            error.errors = [(path, None, "nonsense", "unknown key")]
            raise error
        lines = [f"# {key} = {value}" for key, value in overrides]
        if "[measure]" in text and "cut_off" not in text:
            text = text.replace("[measure]\n", '[measure]\ncut_off = "1s"\n')
        own = re.search(r"^\[measure\]\n(?:[^\[\n].*\n?|\n)*", text, re.MULTILINE)
        measure = MEASURE if own is None else own[0]
        # As in a scenario as run, the measured period stands before the topology: first of all.
        others = text if own is None else text.replace(own[0], "")
        keys, bracket, tables = f"\n{others}".partition("\n[")
        head = [f"seed = {1 if seed is None else seed}", *lines, keys, measure]
        return "\n".join(head) + bracket + tables

    def load(
        self,
        text: str,
        path: str,
        seed: int | None,
        overrides: list[tuple[str, str]],
        run_code: bool = False,
    ) -> "FakeScenario":
        """Check a scenario."""
        return FakeScenario(self, text, self.check(text, path, seed, overrides))

    def run(
        self,
        text: str,
        document: Document,
        resolved: str,
        out_dir: str,
        progress: Progress | None,
        threads: int | None,
    ) -> dict[str, object]:
        """Invent a result."""
        with self._lock:
            self.runs += 1
            self.threads.append(threads)
        self.before_run()
        duration = seconds(document["duration"])
        if progress is not None:
            progress(duration / 2, duration, 1000)
        if self.fail_on is not None and self.fail_on in text:
            raise RuntimeError("the fake was told to fail")
        _invent(Path(out_dir), document, random.Random(resolved), resolved)
        (Path(out_dir) / "scenario.toml").write_text(resolved, encoding="utf-8")
        summary = Result(out_dir).summary_text if self.summarises else "{}"
        (Path(out_dir) / "summary.json").write_text(f"{summary}\n", encoding="utf-8")
        return {"version": "0"}


def replace_core(patch: pytest.MonkeyPatch) -> FakeCore:
    """Put a stand-in where the simulator is, and return it."""
    fake = FakeCore()
    patch.setattr(_core, "load", fake.load)
    patch.setattr(_core, "check", fake.check)
    # What is invented need not outlive a power cut, and waiting for the disk takes longest of all.
    patch.setattr(publish, "_sync", lambda _: None)
    return fake


class FakeScenario:
    """A scenario of the stand-in."""

    def __init__(self, core: FakeCore, text: str, resolved: str) -> None:
        self._core, self._text, self.toml = core, text, resolved
        self.hosts = core.hosts
        self._document = rtoml.loads(text)
        self.duration_s = seconds(self._document["duration"])
        self.needs: dict[str, list[tuple[str, float]]] = {"memory": [], "disk": []}

    def identity(self) -> str:
        """As if all of it counted."""
        return self.toml

    def threads(self, threads: int) -> int:
        """All."""
        return threads

    def worthwhile_threads(self, cores: int) -> int:
        """As the true one."""
        return max(1, min(cores, self.hosts // 64))

    def estimate(self) -> dict[str, list[tuple[str, float]]]:
        """Return what the stand-in needs: nothing."""
        return self.needs

    def expected_hops(self) -> float:
        """As many as there are bytes in the scenario: something."""
        return float(len(self._text))

    def plan(self) -> Any:
        """Return the fabric and the flows, which the true one knows."""
        return _core.plan(self._text, "fake.toml", None, [])

    def offered_loads(self) -> list[tuple[str, str, float, float]]:
        """Return what its workloads offer: nothing."""
        return []

    def headrooms(self) -> list[tuple[str, str, int, float, int, int, int, bool]]:
        """Return the links whose ports pause: none."""
        return []

    def run(
        self, out_dir: str, progress: Progress | None = None, threads: int | None = 1
    ) -> dict[str, object]:
        """Invent a result."""
        document, resolved = self._document, self.toml
        return self._core.run(self._text, document, resolved, out_dir, progress, threads)


def _invent(out: Path, document: Document, rng: random.Random, text: str) -> None:
    flows = [{"flow": number, **flow} for number, flow in enumerate(_flows(document, rng, text))]
    way = _ways(text, rng) if "rate" in document.get("record", {}) else _detour
    links = [
        {"link": link, "utilisation": 0.9, "packets": 1000, "marks": 990, "drops": 3}
        for link in ("W->R", "L->R")
    ]
    if "fat-tree" in document.get("topology", {}):
        links += [
            {
                "link": f"{a}->{b}",
                "from": a,
                "to": b,
                "layer": LAYERS[a[0]],
                "to_layer": LAYERS[b[0]],
                "rate_bps": 1e10,
                "packets": 1000,
                "bytes": rng.randrange(10**6),
            }
            for one, other in (("h0", "e0.0"), ("e0.0", "a0.0"), ("a0.0", "c0"))
            for a, b in ((one, other), (other, one))
        ]
    subflows = [
        {"flow": flow["flow"], "subflow": i, "path": way(flow, i), "established_s": 1e-3}
        for flow in flows
        for i in range(flow["subflows"])
    ]
    series = _series(document, flows, links, rng)
    write_result(out, table("flows", flows), table("links", links), **series)
    table("subflows", subflows).write_parquet(out / "subflows.parquet")
    if "partition-aggregate" in document["workload"]:
        jobs = [
            {
                "label": "short",
                "workload": 0,
                "kind": "partition-aggregate",
                "job": n,
                "jct_s": rng.uniform(0.8e-3, 2e-3),
            }
            for n in range(40)
        ]
        table("jobs", jobs).write_parquet(out / "jobs.parquet")


def _detour(flow: Mapping[str, Any], subflow: int) -> str:
    return f"S2 A{subflow % 2 + 1} B{subflow % 2 + 1} D2"


def _ways(text: str, rng: random.Random) -> Callable[[Mapping[str, Any], int], str]:
    """Return what finds a random one of the shortest paths of a flow."""
    plan = _core.plan(text, "fake.toml", None, [])
    names = [name for name, _ in plan["nodes"]]
    out: dict[str, list[str]] = {}
    into: dict[str, list[str]] = {}
    for a, b, _, _ in plan["links"]:
        out.setdefault(names[a], []).append(names[b])
        into.setdefault(names[b], []).append(names[a])

    @cache
    def hops_from(host: str) -> dict[str, int]:
        hops = {host: 0}
        queue = [host]
        for node in queue:
            for to in out[node]:
                if to not in hops:
                    hops[to] = hops[node] + 1
                    queue.append(to)
        return hops

    def way(flow: Mapping[str, Any], subflow: int) -> str:
        hops = hops_from(flow["src"])
        path = [flow["dst"]]
        while left := hops[path[-1]]:
            path.append(rng.choice([node for node in into[path[-1]] if hops[node] == left - 1]))
        return " ".join(reversed(path))

    return way


def _flows(document: Document, rng: random.Random, text: str) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = []
    for kind, items in document["workload"].items():
        for item in items:
            transport = document["transport"][item["transport"]]
            same = {
                "label": item.get("label", kind),
                "transport": item["transport"],
                "control": transport["control"],
                "subflows": transport.get("subflows", 1),
                "suppressions": rng.randrange(3) if transport["control"] == "amp" else 0,
            }
            make = {"incast": _incast, "poisson": _short}.get(
                kind, _short if "size" in item else _long
            )
            made = [{**flow, **same} for flow in make(item, document, rng)]
            if kind in ("permutation", "stride") and "rate" in document.get("record", {}):
                plan = _core.plan(text, "fake.toml", None, [])
                names = [name for name, _ in plan["nodes"]]
                ends = [{"src": names[f[0]], "dst": names[f[1]]} for f in plan["flows"]]
                made = [{**flow, **pair} for pair in ends for flow in made]
            elif kind == "flow":
                made = [{**flow, "src": item["from"], "dst": item["to"]} for flow in made]
            flows += made
    return flows


def _incast(item: Document, document: Document, rng: random.Random) -> list[dict[str, Any]]:
    bursts = round(seconds(document["duration"]))
    size = SIZES.get(item["size"]) or int(item["size"].removesuffix("B"))
    fair = 8 * size * item["senders"] / 10e9
    return [
        {
            **finished(fair * rng.uniform(0.8, 1.2) + 1e-5, 1e-5, size),
            "burst": burst,
            "start_s": float(burst),
        }
        for burst in range(bursts)
        for _ in range(item["senders"])
    ]


def _short(item: Document, document: Document, rng: random.Random) -> list[dict[str, Any]]:
    return [finished(rng.uniform(1e-4, 1e-3), 1e-5) for _ in range(5)]


def _long(item: Document, document: Document, rng: random.Random) -> list[dict[str, Any]]:
    start = seconds(item.get("start", "0s"))
    active = seconds(document["duration"]) - start
    rate = rng.uniform(0.9e9, 1.1e9)
    acked = int(rate * active / 8)
    flow = unfinished(
        active, None, start_s=start, goodput_bps=rate, acked_bytes=acked, measured_bytes=acked
    )
    return [flow]


def _series(
    document: Document,
    flows: list[dict[str, Any]],
    links: list[dict[str, Any]],
    rng: random.Random,
) -> dict[str, pl.DataFrame]:
    wanted = document.get("record", {})
    found: dict[str, pl.DataFrame] = {}
    if "queue" in wanted:
        rows = [
            {"time_s": time, "link": link, "queue_pkts": rng.randrange(8, 13)}
            for link in wanted["queue"]["links"]
            for time in _times(wanted["queue"], document)
        ]
        found["queue"] = table("queue", rows)
    if "cwnd" in wanted:
        labels = wanted["cwnd"].get("labels")
        times = _times(wanted["cwnd"], document)
        parts = [
            _window(flow["flow"], subflow, times)
            for flow in flows
            if labels is None or flow["label"] in labels
            for subflow in range(flow["subflows"])
        ]
        found["cwnd"] = pl.concat(parts)
    if "rate" in wanted:
        found["rate"] = _rates(wanted["rate"], document, flows)
    if "rtt" in wanted:
        # A few samples will do: the times of a run that ends early are not known here.
        rows = [
            {"time_s": time, "flow": flow["flow"], "subflow": 0, "rtt_s": rng.uniform(1e-4, 1e-3)}
            for flow in flows
            for time in (1.0, 2.0, 3.0)
        ]
        found["rtt"] = table("rtt", rows)
    if "counters" in wanted:
        every = seconds(wanted["counters"]["every"])
        rows = [
            {
                "time_s": time + every,
                "link": link["link"],
                "packets": 1000,
                "drops": rng.randrange(9),
                "utilisation": rng.random(),
            }
            for link in links
            for time in _times(wanted["counters"], document)
        ]
        found["counters"] = table("counters", rows)
    return found


def _rates(item: Document, document: Document, flows: list[dict[str, Any]]) -> pl.DataFrame:
    times = [time + seconds(item["every"]) for time in _times(item, document)]
    labels = item.get("labels")
    rows = [
        {
            "time_s": time,
            "flow": flow["flow"],
            "subflow": i,
            "goodput_bps": flow["goodput_bps"] / 20,
        }
        for flow in flows
        if labels is None or flow["label"] in labels
        for i in range(flow["subflows"])
        for time in times
        if time > flow["start_s"]
    ]
    return table("rate", rows)


def _times(item: Document, document: Document) -> list[float]:
    start, step = seconds(item.get("from", "0s")), seconds(item["every"])
    until = seconds(item.get("until", document["duration"]))
    return [start + step * i for i in range(round((until - start) / step))]


def _window(flow: int, subflow: int, times: list[float]) -> pl.DataFrame:
    """Return a window that changes over within 2 ms after 2 s, in a direction by subflow."""
    share = np.clip((np.array(times) - 2.0) / 2e-3, 0.0, 1.0)
    cwnd = 25.0 - 22.0 * share if subflow == 0 else 3.0 + 22.0 * share
    columns: dict[str, Any] = {
        "time_s": times,
        "flow": flow,
        "subflow": subflow,
        "cwnd_pkts": cwnd,
        "ssthresh_pkts": cwnd,
        "srtt_s": 2e-5,
        "suppressed": False,
    }
    return pl.DataFrame(columns, schema=table("cwnd", []).schema)
