"""Runs whose flows are explained, and what holds for each explanation."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import linkpool
from linkpool import Result
from linkpool.explain.blocked import blocked
from linkpool.explain.story import Story
from linkpool.units import PS

Run = Callable[[str], Result]

SLOW_RECEIVER = """
duration = "20ms"
[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "2us"
[queue.pfc]
buffer = "900KB"
[[slow_host]]
hosts = ["R"]
buffer = "20KB"
from = "50us"
until = "1050us"
[transport.t]
"""
"""R takes nothing for 1 ms, and pauses W."""


def runner(folder: Path) -> Run:
    """Return a function that runs a scenario in a folder."""

    def of(text: str) -> Result:
        (folder / "scenario.toml").write_text(text, encoding="utf-8")
        return linkpool.run(folder / "scenario.toml", out=folder / "result", threads=1)

    return of


def check_sum(told: Story) -> None:
    """Spans adjoin, from the begin to the last ACK; both breakdowns add up to the FCT."""
    life, spans = told.life, told.spans
    assert (spans[0].start, spans[-1].end) == (life.start, life.end)
    assert all(a.end == b.start for a, b in pairwise(spans))
    fct = life.end - life.start
    assert fct == round(life.row["fct_s"] * PS)
    assert sum(told.breakdown.values()) == fct
    assert sum(told.held.values()) == fct
    assert sum(blocked(life).values()) == fct
