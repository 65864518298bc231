"""The sharing problem of a scenario, and the rates that a run of it reached."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from linkpool import _core
from linkpool.columns import nodes_of
from linkpool.optimum.fair import concurrent, max_min
from linkpool.optimum.network import Floats, Flow, Network
from linkpool.result import Result


class NoLongFlowsError(ValueError):
    """A scenario without unlimited flows: shares of links are for flows that last."""


@dataclass(frozen=True)
class Problem:
    """The unlimited flows of a scenario, all at once, on its fabric.

    Attributes:
        network: the fabric; rates on the wire.
        flows: the flows, free to take any path.
        payload: the share of each flow's full segments that is payload.

    """

    network: Network
    flows: list[Flow]
    payload: Floats

    @classmethod
    def of(cls, plan: "_core.Plan", path: str) -> "Problem":
        """Return the problem that a scenario poses; `path` is its name in messages.

        Raises:
            NoLongFlowsError: it has no unlimited flows.

        """
        ends = [(a, b) for a, b, _, _ in plan["links"]]
        capacity = np.array([rate for _, _, rate, _ in plan["links"]], dtype=np.float64)
        closed = frozenset(range(plan["hosts"])).difference(plan["forwarding"])
        network = Network([name for name, _ in plan["nodes"]], ends, capacity, closed)
        long = [flow for flow in plan["flows"] if flow[2] is None]
        if not long:
            raise NoLongFlowsError(f"{path}: no flow is unlimited; shares are for flows that last")
        share = [mss / (mss + header) for _, mss, header in plan["transports"]]
        payload = np.array([share[flow[4]] for flow in long])
        return cls(network, [Flow(flow[0], flow[1]) for flow in long], payload)

    def concurrent(self) -> float:
        """Return the payload rate, bit/s, that all flows can have at once."""
        return concurrent(self.network, self.flows, list(1.0 / self.payload))

    def max_min(self) -> Floats:
        """Return the max-min fair payload rates, bit/s."""
        return max_min(self.network, self.flows) * self.payload


@dataclass(frozen=True)
class Measured:
    """A run beside the optimum of its scenario.

    Attributes:
        problem: the scenario's, with any paths.
        restricted: the same over the paths that the subflows of each flow took.
        goodput: of each flow, bit/s.

    """

    problem: Problem
    restricted: Problem
    goodput: Floats

    @classmethod
    def of(cls, result: Result) -> "Measured":
        """Read a result; subflows that were never established have no path.

        Flows whose packets choose paths one by one may use any path.
        """
        path = str(result.dir / "scenario.toml")
        problem = Problem.of(result.load().plan(), path)
        table = result.flows.filter(pl.col("size_bytes").is_null()).sort("flow")
        network, number = problem.network, problem.network.node
        ends = zip(table["src"].to_list(), table["dst"].to_list(), strict=True)
        flows = [Flow(number(src), number(dst)) for src, dst in ends]
        if [(f.src, f.dst) for f in flows] != [(f.src, f.dst) for f in problem.flows]:
            raise ValueError(f"{result.dir}: its flows do not match its scenario")
        taken = result.subflows.filter(pl.col("established_s").is_not_null())
        paths: dict[int, list[tuple[int, ...]]] = {}
        spread = set(taken.filter(pl.col("path").is_null())["flow"].to_list())
        for flow, path in taken.drop_nulls("path").select("flow", "path").iter_rows():
            paths.setdefault(flow, []).append(network.path(nodes_of(path)))
        own = [
            flow if i in spread else replace(flow, paths=tuple(dict.fromkeys(paths.get(i, ()))))
            for i, flow in zip(table["flow"].to_list(), flows, strict=True)
        ]
        goodput = table["goodput_bps"].fill_null(0.0).to_numpy()
        return cls(problem, replace(problem, flows=own), goodput)

    def share(self, optimum: float) -> float:
        """Return the goodput of all flows over that of as many at `optimum` each."""
        return float(self.goodput.sum()) / (optimum * len(self.goodput))


def spread(rates: Sequence[float] | Floats) -> tuple[float, float, float]:
    """Return the least, the mean and the largest rate."""
    x = np.asarray(rates, dtype=np.float64)
    return float(x.min()), float(x.mean()), float(x.max())
