"""Traces for Perfetto: the run of a result is made again, with all that happens to some flows.

Requests to models stand in a table of the result, and need no such run.
"""

from collections.abc import Sequence
from pathlib import Path

from linkpool.loading import Value
from linkpool.publish import publish_file
from linkpool.replay import ReplayError, difference, require_same_times, traceable
from linkpool.request_tracks import request_tracks
from linkpool.result import Result

MOST_CONNECTIONS = 1000
"""Flows of more are not traced unless they are named: a browser would not show them."""


def perfetto(
    result: Result,
    out: str | Path,
    *,
    flows: Sequence[int] | None = None,
    queues: Sequence[str] = (),
    every: str = "10us",
    ranks: bool = False,
    requests: bool = False,
) -> str:
    """Make the run of a result again, and write what happened to flows for Perfetto.

    Args:
        result: the result.
        out: the file, for https://ui.perfetto.dev; one that is there is replaced.
        flows: numbers of flows; None: all, which may have 1,000 connections; with `ranks` or
            `requests` none.
        queues: links, as in `S1->W`, whose queue lengths are traced, too.
        every: the sampling interval of queues.
        ranks: what ranks of jobs do, too, to the end of the run.
        requests: what requests to models do, too; alone, the run is not made again.

    Returns:
        A sentence about the simulator if it is not known to be the one that made the result;
        empty: it is.

    Raises:
        ReplayError: there is no such flow, it cannot be traced, or the run is not the same.
        ScenarioError: there is no such link.

    """
    if ranks and not result.has("ranks"):
        raise ReplayError(f"{result.dir} has no ranks: no workload is a program or training")
    if requests and not result.has("requests"):
        raise ReplayError(f"{result.dir} has no requests: no workload is inference")
    rows = _rows(result, () if (ranks or requests) and flows is None else flows)
    if requests and not ranks and not rows:
        if queues:
            raise ReplayError(
                "queues are traced while flows or ranks are, and requests stand in a table of the "
                "result: name a flow, or ask for ranks"
            )
        with publish_file(Path(out)) as file:
            file.write_bytes(b"".join(request_tracks(result)))
        return ""
    note = difference(result, result.load())
    recorded: dict[str, Value] = {"record.ranks": ranks}
    if queues:
        recorded["record.queue"] = {"links": list(queues), "every": every}
    scenario = result.load(recorded)
    with publish_file(Path(out)) as file:
        try:
            traced = scenario.perfetto([(f, row[0]) for f, row in rows.items()], str(file))
        except ValueError as error:
            raise ReplayError(str(error)) from None
        times = {flow: (opened, finished) for flow, opened, finished in traced}
        for flow, (_, start, end) in rows.items():
            require_same_times(result, flow, (start, end), times.get(flow), note)
        if requests:
            with file.open("ab") as trace:
                trace.writelines(request_tracks(result))
    return note


def _rows(
    result: Result, flows: Sequence[int] | None
) -> dict[int, tuple[int, float, float | None]]:
    """Return the connections of flows, and when they began and ended, seconds, by number."""
    rows = traceable(result, flows).select("flow", "connection", "start_s", "end_s").collect()
    count = rows["connection"].n_unique()
    if flows is None and count > MOST_CONNECTIONS:
        raise ReplayError(
            f"{result.dir} has flows on {count} connections: choose some, as in --flow 0 --flow 7"
        )
    return {flow: (of, start, end) for flow, of, start, end in rows.iter_rows()}
