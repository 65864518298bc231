"""linkpool: a packet-level simulator workbench for multipath transport in data centres.

import linkpool

result = linkpool.run("incast.toml", out="results/incast", set={"queue.mark": 20})
print(result.summary.overall.fct_established.mean_s)
print(result.flows.group_by("transport").len())
"""

from linkpool._core import ScenarioError, __version__, schema
from linkpool.api import check, run
from linkpool.publish import NotAResultError
from linkpool.result import NotRecordedError, Result
from linkpool.summary import Summary

__all__ = [
    "NotAResultError",
    "NotRecordedError",
    "Result",
    "ScenarioError",
    "Summary",
    "__version__",
    "check",
    "run",
    "schema",
]
