"""The MPTCP talk: a BCube, where longer paths avoid what the direct one collides with."""

import random
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl
from matplotlib.axes import Axes

from linkpool.experiments.declared import Published
from linkpool.experiments.formulas import Found
from linkpool.experiments.rows import mean, spread
from linkpool.experiments.talk import trees
from linkpool.optimum.problem import Measured
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.claims import grade
from linkpool.study.frame import Frame, Panel
from linkpool.study.point import Point
from linkpool.study.statistics import Spread
from linkpool.study.toml import Table, Value

COLLISION, PERMUTATION = "collision", "permutation"
SCHEMES: dict[str, tuple[str, Table]] = {
    "tcp": ("TCP", trees.tcp()),
    "ewtcp": ("EWTCP", {**trees.mptcp(1), "control": "ewtcp"}),
    "uncoupled": ("uncoupled", {**trees.mptcp(1), "control": "uncoupled"}),
    "mptcp": ("MPTCP", trees.mptcp(1)),
}
"""TCP takes the shortest path that its hash chooses, the others one subflow on each of the k + 1
parallel paths of the BCube paper (Guo et al., SIGCOMM 2009, section 4.2)."""

SHARED, LOSS = "s0.0->h1", 0.002
"""The link that the direct routes of the collision share, and its random losses."""

JOINS_S = 5.0
"""When the second flow of the collision starts."""


def _rate(rows: pl.DataFrame, best: bool = False) -> float | None:
    """Return the mean rate of the flows over that of a NIC: theirs, or that of the best sharing."""
    whole = pl.col("best_bps").first() if best else pl.col("goodput_bps").sum()
    of_flow = (whole / pl.col("nic_bps").first()).alias("nics")
    return mean(rows.group_by("flow", maintain_order=True).agg(of_flow), "nics")


@dataclass(frozen=True)
class BCube(Published):
    """Two flows that collide in a BCube(4, 1), and a permutation in a BCube(5, 2)."""

    small: tuple[int, int] = (4, 1)
    large: tuple[int, int] = (5, 2)
    after_s: float = 20.0
    duration_s: float = 20.0
    cases: ClassVar = (COLLISION, PERMUTATION)
    schemes: ClassVar = tuple(SCHEMES)
    over: ClassVar = ("cases", "schemes")
    terms: ClassVar = {"rate": _rate, "best": partial(_rate, best=True)}
    said: ClassVar = "{after_s:g} s and {duration_s:g} s simulated"
    cuts: ClassVar = {"after_s": (3, 0.004), "duration_s": (3, 0.004)}

    def point(self, seed: int, case: str, scheme: str) -> Point:
        """Return the collision, or the permutation.

        The collision is h0 to h1, and later h2 to h1; both direct paths end on the link s0.0->h1.
        """
        collides = case == COLLISION
        n, k = self.small if collides else self.large
        start, end = (JOINS_S, JOINS_S + self.after_s) if collides else (0.0, self.duration_s)
        several: Table = {} if scheme == "tcp" else {"subflows": k + 1, "paths": "disjoint"}
        transports: dict[str, Value] = {scheme: {**SCHEMES[scheme][1], **several}}
        if collides:
            transports["tcp"] = SCHEMES["tcp"][1]
            second: Table = {**_flow(scheme, 2, 1), "start": trees.seconds(JOINS_S)}
            flows: list[Value] = [_flow("tcp", 0, 1), second]
        else:
            rng = random.Random(f"T-bcube, seed {seed}")
            pairs = trees.permutation(range(int(n ** (k + 1))), rng)
            flows = [_flow(scheme, a, b) for a, b in pairs]
        return self.run(
            "T-bcube",
            {"case": case, "scheme": scheme},
            seed,
            end,
            trees.packets((k + 1) * len(flows), end),
            duration=trees.seconds(end),
            topology={"bcube": {"n": n, "k": k, "rate": trees.RATE, "delay": trees.DELAY}},
            transports=transports,
            flows=flows,
            record=trees.record(end, start),
            losses=[{"links": [SHARED], "loss": LOSS}] if collides else None,
        )

    def measure(self, point: Point, result: Result) -> pl.DataFrame:
        """Return what each subflow got, and what all flows could have had at once."""
        problem = Measured.of(result).problem
        flows = result.flows.sort("flow").select(
            "flow",
            pl.lit(trees.concurrent(problem)).alias("best_bps"),
            pl.Series("nic_bps", problem.payload * trees.RATE_BPS),
        )
        rates = trees.subflow_goodputs(result).join(flows, on="flow", maintain_order="left")
        return rates.select("flow", "subflow", "goodput_bps", "best_bps", "nic_bps")

    def first(self, data: pl.DataFrame) -> Found:
        """Judge what the flow that was there first keeps."""
        left = {s: _nics(data, s, 0, 0) for s in ("mptcp", "tcp")}
        kept, shared = left["mptcp"].value, left["tcp"].value
        more = kept is not None and shared is not None and kept > shared
        note = "at least 0.8 of the NIC, and more than beside TCP; partly: 0.65"
        judged = grade(more and (kept or 0) >= 0.8, more and (kept or 0) >= 0.65, note)
        return Found.of(f"{left['mptcp']} of a NIC, beside TCP {left['tcp']}", judged)

    def frame(self) -> Frame:
        """Return the collision on the left, the permutation on the right."""
        panels = [Panel(_draw_collision), Panel(_draw_permutation)]
        title = f"{self.title}, links of {trees.RATE}"
        return Frame(panels, title, (4.2, 3.0), sharey=False, legend=0)


def _flow(scheme: str, src: int, dst: int) -> dict[str, Value]:
    return {"transport": scheme, "from": f"h{src}", "to": f"h{dst}"}


def _nics(data: pl.DataFrame, scheme: str, flow: int, subflow: int) -> Spread:
    nics = (pl.col("goodput_bps") / pl.col("nic_bps")).sum()
    return spread(data, nics, case=COLLISION, scheme=scheme, flow=flow, subflow=subflow)


def _draw_collision(at: Axes, data: pl.DataFrame) -> None:
    parts = {
        "first flow": (0, 0, "#7f7f7f"),
        "second flow, direct route": (1, 0, "#0072b2"),
        "second flow, longer route": (1, 1, "#56b4e9"),
    }
    for i, (label, (flow, subflow, colour)) in enumerate(parts.items()):
        x = [j + 0.27 * (i - 1) for j in range(len(SCHEMES))]
        y = [_nics(data, scheme, flow, subflow).value or 0.0 for scheme in SCHEMES]
        at.bar(x, y, 0.25, color=colour, label=label)
    at.set_xticks(range(len(SCHEMES)), [f"{name}" for name, _ in SCHEMES.values()])
    at.set_xlabel("transport of the second flow")
    at.set_ylabel("goodput (NICs)")
    style.from_zero(at)
    at.set_ylim(0.0, 1.4 * at.get_ylim()[1])
    at.set_title("two flows that collide")
    at.legend(loc="upper left", fontsize=8)
    at.grid(visible=False, axis="x")


def _draw_permutation(at: Axes, data: pl.DataFrame) -> None:
    found = [spread(data, _rate, case=PERMUTATION, scheme=scheme) for scheme in SCHEMES]
    y = [spread.value or 0.0 for spread in found]
    at.bar(range(len(SCHEMES)), y, 0.6, color="#0072b2")
    best = spread(data, partial(_rate, best=True), case=PERMUTATION, scheme="mptcp").value
    if best is not None:
        at.axhline(best, color="black", lw=1.0, ls="--", label="best sharing, any paths")
        at.legend(loc="upper left", fontsize=8)
    at.set_xticks(range(len(SCHEMES)), [name for name, _ in SCHEMES.values()])
    at.set_ylabel("mean goodput of a flow (NICs)")
    at.set_title("a permutation")
    at.grid(visible=False, axis="x")
    style.from_zero(at)
    at.set_ylim(0.0, 1.2 * at.get_ylim()[1])
