"""The rates that a network can give to flows, as a linear programme for HiGHS.

One variable per flow is its rate. Behind it stands the traffic on each of its paths, or, if it may
take any, the traffic on each link summed over the flows of its source: what one source sends to
several destinations need not be told apart on the way, which leaves sources times links variables
instead of flows times links.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import highspy
import numpy as np

from linkpool.optimum.network import Floats, Flow, Network


class OptimumError(RuntimeError):
    """The solver found no optimum."""


@dataclass
class _Matrix:
    """A sparse matrix, and the bounds of its rows, as they grow."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    width: int = 0

    def column(self) -> int:
        """Add a variable."""
        self.width += 1
        return self.width - 1

    def row(self, lower: float, upper: float) -> int:
        """Add a constraint."""
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1

    def put(self, row: int, column: int, value: float) -> None:
        """Set a coefficient, once: the solver does not end where one is there twice."""
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)


class Region:
    """All rates that are feasible at once, in units of the largest capacity."""

    def __init__(self, network: Network, flows: Sequence[Flow]) -> None:
        """Write down the constraints of `flows` on `network`."""
        self.unit = float(network.capacity.max())
        self.flows = flows
        self._m = _Matrix()
        for _ in flows:
            self._m.column()
        for capacity in network.capacity:
            self._m.row(-highspy.kHighsInf, float(capacity) / self.unit)
        for i, flow in enumerate(flows):
            if flow.paths is not None:
                self._over_paths(i, flow.paths)
        free: dict[int, list[int]] = {}
        for i, flow in enumerate(flows):
            if flow.paths is None:
                free.setdefault(flow.src, []).append(i)
        for source, members in free.items():
            self._anywhere(network, source, members)

    def _over_paths(self, flow: int, paths: Sequence[tuple[int, ...]]) -> None:
        """Rate = sum of the traffic on the paths; a link carries the sum of all paths over it."""
        total = self._m.row(0.0, 0.0)
        self._m.put(total, flow, -1.0)
        for path in paths:
            traffic = self._m.column()
            self._m.put(total, traffic, 1.0)
            for link, times in Counter(path).items():
                self._m.put(link, traffic, float(times))

    def _anywhere(self, network: Network, source: int, members: Sequence[int]) -> None:
        """At each node, traffic from this source goes out again, or is for the node."""
        targets = {self.flows[i].dst for i in members}
        passed = {n for n in range(len(network.names)) if n not in network.closed or n in targets}
        balance = {node: self._m.row(0.0, 0.0) for node in sorted(passed - {source})}
        for link, (a, b) in enumerate(network.ends):
            leaves = a == source or (a in balance and a not in network.closed)
            # Over a link from a node to itself traffic gets nowhere.
            if b not in balance or not leaves or a == b:
                continue
            traffic = self._m.column()
            self._m.put(link, traffic, 1.0)
            self._m.put(balance[b], traffic, 1.0)
            if a != source:
                self._m.put(balance[a], traffic, -1.0)
        for i in members:
            self._m.put(balance[self.flows[i].dst], i, -1.0)

    def raise_together(self, weights: Floats, fixed: Floats) -> tuple[float, Floats]:
        """Raise the rates that are not fixed, in proportion to their weights, as far as it goes.

        Args:
            weights: of each flow.
            fixed: the rates of the flows that are to keep theirs, bit/s; NaN: raise it.

        Returns:
            The largest t, in bit/s, such that each of these flows can have t times its weight; and
            for each flow the price of its share: above zero, it holds t down.

        """
        m = self._m
        t = m.width
        index = [i for i in range(len(self.flows)) if np.isnan(fixed[i])]
        base = len(m.lower)
        rows = np.array([*m.rows, *(base + r for r in range(len(index)) for _ in range(2))])
        extra_columns = [c for i in index for c in (i, t)]
        extra_values = [v for i in index for v in (1.0, -float(weights[i]))]
        columns = np.array([*m.columns, *extra_columns])
        values = np.array([*m.values, *extra_values])
        order = np.lexsort((rows, columns))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = t + 1, base + len(index)
        cost = np.zeros(t + 1)
        cost[t] = -1.0
        lower, upper = np.zeros(t + 1), np.full(t + 1, highspy.kHighsInf)
        held = ~np.isnan(fixed)
        lower[: len(fixed)][held] = upper[: len(fixed)][held] = fixed[held] / self.unit
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
        lp.row_lower_ = np.array([*m.lower, *(0.0 for _ in index)])
        lp.row_upper_ = np.array([*m.upper, *(highspy.kHighsInf for _ in index)])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(t + 2))
        lp.a_matrix_.index_ = rows[order]
        lp.a_matrix_.value_ = values[order]
        solution = _solve(lp)
        prices = np.zeros(len(self.flows))
        prices[index] = np.abs(np.array(solution.row_dual)[base:]) * weights[index]
        return float(solution.col_value[t]) * self.unit, prices


class _Quiet(highspy.Highs):
    """HiGHS without callbacks: to enable them prints its banner, which no option prevents."""

    def __init__(self) -> None:
        super(highspy.Highs, self).__init__()


def _solve(lp: highspy.HighsLp) -> highspy.HighsSolution:
    """Solve by interior points, which take seconds where the simplex method takes minutes.

    Without crossover the solution lies amid all optimal ones: each flow that can do better in none
    of them has a price. Where rates that are kept leave no interior, the simplex method takes over.
    """
    solver = _Quiet()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("run_crossover", "off")
    solver.passModel(lp)
    for method in ("ipm", "simplex"):
        solver.setOptionValue("solver", method)
        solver.run()
        if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            return solver.getSolution()
        solver.clearSolver()
    raise OptimumError("HiGHS found no optimum")
