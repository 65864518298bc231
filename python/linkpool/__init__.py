"""linkpool: a packet-level simulator workbench for multipath transport in data centres.

import linkpool

result = linkpool.run("incast.toml", out="results/incast", set={"queue.mark": 20})
print(result.summary.overall.fct_established.mean_s)
print(result.flows.group_by("transport").len())
"""

from typing import TYPE_CHECKING

from linkpool.shown import shown as _shown
from linkpool.verbs import attach as _attach

if TYPE_CHECKING:
    from linkpool._core import (
        InternalError,
        ScenarioError,
        SimulationError,
        __version__,
        schema,
    )
    from linkpool.api import check, run
    from linkpool.explain.explanation import Explanation
    from linkpool.explain.replay import ExplainError
    from linkpool.figures.drawing import plot
    from linkpool.figures.kind import FigureError
    from linkpool.forks import ForkedError
    from linkpool.limits import TooLargeError
    from linkpool.publish import BusyError, NotAResultError
    from linkpool.replay import ReplayError
    from linkpool.result import NotRecordedError, ReplayWarning, Result, ResultError
    from linkpool.scenario import Scenario
    from linkpool.session import Answer, Event, Session, Timer
    from linkpool.study.model import Arm, Study, StudyError
    from linkpool.study.result import StudyResult
    from linkpool.summary import Summary

_HOMES = {
    "Answer": "linkpool.session",
    "Arm": "linkpool.study.model",
    "BusyError": "linkpool.publish",
    "Event": "linkpool.session",
    "ExplainError": "linkpool.explain.replay",
    "Explanation": "linkpool.explain.explanation",
    "FigureError": "linkpool.figures.kind",
    "ForkedError": "linkpool.forks",
    "InternalError": "linkpool._core",
    "NotAResultError": "linkpool.publish",
    "NotRecordedError": "linkpool.result",
    "ReplayError": "linkpool.replay",
    "ReplayWarning": "linkpool.result",
    "Result": "linkpool.result",
    "ResultError": "linkpool.result",
    "Scenario": "linkpool.scenario",
    "ScenarioError": "linkpool._core",
    "Session": "linkpool.session",
    "SimulationError": "linkpool._core",
    "Study": "linkpool.study.model",
    "StudyError": "linkpool.study.model",
    "StudyResult": "linkpool.study.result",
    "Summary": "linkpool.summary",
    "Timer": "linkpool.session",
    "TooLargeError": "linkpool.limits",
    "__version__": "linkpool._core",
    "check": "linkpool.api",
    "plot": "linkpool.figures.drawing",
    "run": "linkpool.api",
    "schema": "linkpool._core",
}
"""The module of each public name: it is loaded when it is used first, so that a command that is
interrupted while it starts has loaded little."""

__getattr__, __dir__ = _shown(__name__, _HOMES)

_attach(
    {
        "Result.explain": "linkpool.explain.explanation:Explanation.of",
        "Result.perfetto": "linkpool.perfetto:perfetto",
        "Result.replay": "linkpool.replay:replay",
        "Study.run": "linkpool.study.perform:perform",
    }
)

__all__ = [
    "Answer",
    "Arm",
    "BusyError",
    "Event",
    "ExplainError",
    "Explanation",
    "FigureError",
    "ForkedError",
    "InternalError",
    "NotAResultError",
    "NotRecordedError",
    "ReplayError",
    "ReplayWarning",
    "Result",
    "ResultError",
    "Scenario",
    "ScenarioError",
    "Session",
    "SimulationError",
    "Study",
    "StudyError",
    "StudyResult",
    "Summary",
    "Timer",
    "TooLargeError",
    "__version__",
    "check",
    "plot",
    "run",
    "schema",
]
