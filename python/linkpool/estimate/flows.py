"""The flows of a scale model: those of hosts of the fabric, sent to hosts of the model.

Of a flow of the fabric the model keeps the size, the start, and how far it goes: within the rack,
within the pod, or between pods. Among the hosts that are as far, its destination is drawn anew. So
the load of every tier stays.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from linkpool import _core
from linkpool.estimate.domain import OutsideError
from linkpool.estimate.shape import Shape, Table
from linkpool.study.toml import dumps

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

UNEVEN = 1.5
"""A rack that sends or receives this many times the mean number of flows is not like others,"""

NOISE = 5.0
"""if that is more than so many standard deviations of as many independent flows."""

AT_ONCE_S = 100e-6
FEW = 8
"""In so many seconds more flows than independent ones would be, and than this, are an incast."""

SAMPLED = 100
"""Of at most so many times as many flows as a model has are those of a model."""

CHOICES = 20
"""Of hosts of a trace, of which one is taken."""

SCHEMA = {"src": pl.Int64, "dst": pl.Int64, "size_bytes": pl.Int64, "start_s": pl.Float64}


class Source:
    """Where the flows of models come from.

    Args:
        document: the scenario with every default written out.
        file: its file, in messages and for the files that it names.
        fabric: its shape.
        run_code: run the code that it brings.

    """

    def __init__(self, document: Table, file: str, fabric: Shape, run_code: bool) -> None:
        """Take a scenario; the flows of its traces are read, once for all models."""
        self._document = document
        self._file = file
        self._fabric = fabric
        self._run_code = run_code
        self._traces: dict[int, pl.DataFrame] = {}
        self._arrivals: dict[tuple[int, Shape], pl.DataFrame] = {}
        for i, keys in enumerate(document["workload"].get("trace", [])):
            _require_free(f"workload.trace.{i}", keys, Path(file).parent)
            flows = self._planned(document["topology"], {"trace": [keys]})
            self._require_even(f"workload.trace.{i}", flows)
            self._traces[i] = flows

    def write(self, model: Shape, seed: int, directory: Path) -> Table:
        """Write the flows of a model to files, and return its table `workload`.

        Models of different seeds have different racks of the fabric.
        """
        draw = np.random.default_rng([seed, model.size])
        traces = []
        for kind, several in self._document["workload"].items():
            for i, keys in enumerate(several):
                flows = (
                    self._poisson(i, keys, model, draw)
                    if kind == "poisson"
                    else self._trace(self._traces[i], model, draw)
                )
                place = directory / f"{kind}{i}.parquet"
                flows.write_parquet(place)
                kept = {
                    name: keys[name] for name in ("label", "transport", "small") if name in keys
                }
                traces.append({**kept, "file": str(place), "format": "parquet"})
        return {"trace": traces}

    def _planned(self, topology: Table, workload: Table) -> pl.DataFrame:
        """Return the flows of a workload, as a scenario on its own would have them."""
        document = {**self._document, "topology": topology, "workload": workload}
        document.pop("record", None)
        scenario = _core.load(dumps(document), self._file, None, [], self._run_code)
        rows = [(*flow[:2], flow[2], flow[3]) for flow in scenario.plan()["flows"]]
        return pl.DataFrame(rows, SCHEMA, orient="row")

    def _poisson(
        self, i: int, keys: Mapping[str, Any], model: Shape, draw: np.random.Generator
    ) -> pl.DataFrame:
        """Draw arrivals at the model's hosts, each with the rate of a host of the fabric.

        Heavy tails make the load of a few hundred flows vary by a tenth, and that of a large fabric
        does not. So the flows are as many as are expected, and their sizes are evenly spread over
        those of a large sample.
        """
        fabric = self._fabric
        whole = float(keys["flows_per_second"])
        wanted = whole * model.size / fabric.size
        rate = min(whole, SAMPLED * wanted)
        if (i, model) not in self._arrivals:
            poisson = {**keys, "to": "random", "flows_per_second": rate, "allow_overload": True}
            planned = self._planned(model.topology(), {"poisson": [poisson]})
            self._arrivals[i, model] = planned
        sample = self._arrivals[i, model]
        number = round(sample.height * wanted / rate)
        flows = sample[np.sort(draw.permutation(sample.height)[:number])]
        strata = (np.arange(number) + draw.random(number)) * sample.height / max(number, 1)
        sizes = np.sort(sample["size_bytes"].to_numpy())[strata.astype(int)]
        flows = flows.with_columns(size_bytes=pl.Series(draw.permutation(sizes)))
        others = np.array(
            [
                0 if keys["to"] == "other-racks" else fabric.hosts - 1,
                (fabric.racks - 1) * fabric.hosts,
                (fabric.pods - 1) * fabric.racks * fabric.hosts,
            ],
            float,
        )
        far = draw.choice(3, number, p=others / others.sum())
        return _to(model, flows, flows["src"].to_numpy(), far, draw)

    def _trace(self, flows: pl.DataFrame, model: Shape, draw: np.random.Generator) -> pl.DataFrame:
        """Take the flows of some hosts of some racks of some pods.

        Of some choices of hosts the one is taken whose flows have about their share of the bytes.
        """
        fabric = self._fabric
        src, dst = flows["src"].to_numpy(), flows["dst"].to_numpy()
        sent = np.bincount(src, flows["size_bytes"].to_numpy(), fabric.size)
        share = sent.sum() * model.size / fabric.size
        choices = [self._hosts(model, draw) for _ in range(CHOICES)]
        hosts = min(choices, key=lambda chosen: abs(float(sent[chosen].sum()) - share))
        stands_for = np.full(fabric.size, -1)
        stands_for[hosts] = np.arange(model.size)
        racks = src // fabric.hosts, dst // fabric.hosts
        other_pod = racks[0] // fabric.racks != racks[1] // fabric.racks
        far = np.where(other_pod, 2, (racks[0] != racks[1]).astype(int))
        kept = stands_for[src] >= 0
        return _to(model, flows.filter(pl.Series(kept)), stands_for[src[kept]], far[kept], draw)

    def _hosts(self, model: Shape, draw: np.random.Generator) -> Ints:
        """Draw the hosts of the fabric for which those of a model stand."""
        fabric = self._fabric
        return np.array(
            [
                (pod * fabric.racks + rack) * fabric.hosts + host
                for pod in draw.permutation(fabric.pods)[: model.pods]
                for rack in draw.permutation(fabric.racks)[: model.racks]
                for host in draw.permutation(fabric.hosts)[: model.hosts]
            ]
        )

    def _require_even(self, key: str, flows: pl.DataFrame) -> None:
        """Refuse a trace whose racks are not alike, or with incasts."""
        racks = self._fabric.pods * self._fabric.racks
        mean = flows.height / racks
        for column, does in (("src", "sends"), ("dst", "receives")):
            counts = np.bincount(flows[column].to_numpy() // self._fabric.hosts, minlength=racks)
            most = int(counts.max())
            if most > UNEVEN * mean and most > mean + NOISE * np.sqrt(mean):
                what = f"is uneven: a rack {does} {most} of its flows, and the mean is {mean:.0f}"
                raise OutsideError(key, what, "racks that are alike")
        start = flows["start_s"].to_numpy()
        instant = ((start - start.min()) / AT_ONCE_S).astype(np.int64)
        at_once = int(
            np.unique(np.stack([flows["dst"], instant]), axis=1, return_counts=True)[1].max()
        )
        mean = flows.height / self._fabric.size / (int(instant.max()) + 1)
        if at_once > mean + NOISE * np.sqrt(mean) + FEW:
            what = (
                f"has incasts: a host receives {at_once} flows that start within "
                f"{AT_ONCE_S * 1e6:.0f} us, and the mean is {mean:.2g}"
            )
            raise OutsideError(key, what, "flows that start independently of each other")


def _require_free(key: str, keys: Mapping[str, Any], directory: Path) -> None:
    """Refuse a trace whose flows wait for others, or have a priority of their own."""
    format_ = keys.get("format")
    if format_ == "htsim":
        raise OutsideError(f"{key}.format", "is 'htsim'", "flows that start by themselves")
    named: set[str] = set()
    if "flows" in keys:
        named = {name for flow in keys["flows"] for name, value in flow.items() if value != []}
    elif format_ in READERS:
        table = READERS[format_](directory / keys["file"])
        named = {column.name for column in table if column.null_count() < column.len()}
    for name in ("after", "priority"):
        if name in named:
            right = "flows that start by themselves, with their transport's priority"
            raise OutsideError(key, f"has flows with {name!r}", right)


def _read_csv(file: Path) -> pl.DataFrame:
    return pl.read_csv(file, comment_prefix="#", infer_schema=False)


READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "csv": _read_csv,
    "json-lines": pl.read_ndjson,
    "parquet": pl.read_parquet,
}
"""Formats whose flows may have more than ends, a size and a start."""


def _to(
    model: Shape, flows: pl.DataFrame, src: Ints, far: Ints, draw: np.random.Generator
) -> pl.DataFrame:
    """Send flows from hosts of the model to hosts of it that are as far.

    Args:
        model: the model.
        flows: the flows.
        src: their sources in the model.
        far: 0: within the rack; 1: to another rack of the pod; 2: to another pod.
        draw: draws destinations.

    """
    host, rack = src % model.hosts, src // model.hosts
    pod, in_pod = rack // model.racks, rack % model.racks

    def other(of: Ints, number: int) -> Ints:
        """Draw another of so many."""
        step = draw.integers(1, max(number, 2), src.size)
        return (of + step) % number

    any_host = draw.integers(0, model.hosts, src.size)
    any_rack = draw.integers(0, model.racks, src.size)
    to_pod = np.where(far == 2, other(pod, model.pods), pod)
    near_rack = np.where(far == 1, other(in_pod, model.racks), in_pod)
    to_rack = np.where(far == 2, any_rack, near_rack)
    to_host = np.where(far == 0, other(host, model.hosts), any_host)
    dst = (to_pod * model.racks + to_rack) * model.hosts + to_host
    return flows.with_columns(src=pl.Series(src), dst=pl.Series(dst))
