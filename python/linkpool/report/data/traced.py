"""The slowest flows in full: the run is made again, and what happened to them is on the page."""

from typing import Any

from linkpool import _core
from linkpool.explain.replay import ExplainError, replay
from linkpool.explain.story import Story, as_text, tell
from linkpool.explain.wires import Wires
from linkpool.report.data.numbers import rounded
from linkpool.result import Result
from linkpool.units import PS

QUICK_S = 10.0
"""A run that took no longer is made again unless the user says otherwise."""
USUAL = 4
"""So many flows are traced then."""
MOST_MARKS = 2000
TOLD = {
    "mark",
    "loss",
    "trim",
    "pause",
    "timeout",
    "probe",
    "recovery",
    "suppressed",
    "released",
    "established",
}
"""Moments that have ticks."""


def how_many(result: Result, asked: int | None) -> int:
    """Return how many flows to trace."""
    if asked is not None:
        return asked
    return USUAL if float(result.run.get("cpu_s", QUICK_S + 1)) <= QUICK_S else 0


def add_traces(result: Result, lanes: dict[str, Any], flows: list[int]) -> str:
    """Add the lives of some flows to their lanes; return what the reader must know of it."""
    if not flows:
        return ""
    try:
        lives = replay(result, flows)
    except (ExplainError, _core.ScenarioError) as error:
        return f"No flow was traced: {str(error).splitlines()[0]}."
    wires = Wires(result)
    for life in lives:
        story = tell(life, wires)
        lane = lanes.setdefault(str(life.flow), {"cwnd": {}, "rate": {}, "suppressed": {}})
        lane["events"] = _events(story)
        lane["story"] = as_text(story)
        lane["cwnd"] = _windows(story)
    shown = ", ".join(map(str, flows))
    return (
        f"The run was made again with a trace of the flows {shown}: their windows are exact, and "
        "marks, losses and timeouts are ticks. To trace others: --flow N, or --trace COUNT."
    )


def _events(story: Story) -> list[dict[str, Any]]:
    told = [moment for moment in story.moments if moment.kind in TOLD]
    marks = [moment for moment in told if moment.kind == "mark"]
    left_out = set(marks[MOST_MARKS:])
    return [
        {"t": m.at / PS, "subflow": m.subflow, "kind": m.kind, "text": m.text}
        for m in told
        if m not in left_out
    ]


def _windows(story: Story) -> dict[int, list[list[Any]]]:
    """Return the window of each subflow whenever it changed."""
    found: dict[int, list[list[Any]]] = {}
    for e in story.life.events:
        if e.what == "state":
            times, windows = found.setdefault(e["subflow"], [[], []])
            window = rounded(e["cwnd"])
            if not windows or windows[-1] != window:
                times.append(e.at / PS)
                windows.append(window)
    for times, windows in found.values():
        times.append(story.life.end / PS)
        windows.append(windows[-1])
    return found
