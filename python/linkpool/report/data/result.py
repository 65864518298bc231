"""All that the page shows about one result."""

from collections.abc import Callable, Sequence
from typing import Any

from linkpool.job_plan import job_plan
from linkpool.notices import notices
from linkpool.report.data.fabric import fabric
from linkpool.report.data.flows import MOST as MOST_FLOWS
from linkpool.report.data.flows import SLOWEST, flows
from linkpool.report.data.lanes import MOST as MOST_LANES
from linkpool.report.data.lanes import chosen, lanes
from linkpool.report.data.numbers import columns
from linkpool.report.data.ranks import ranks
from linkpool.report.data.requests import MOST_REQUESTS, requests
from linkpool.report.data.tables import overview, tables
from linkpool.report.data.time import active_end, failures, goodput, heat
from linkpool.report.data.traced import add_traces, how_many
from linkpool.result import Result
from linkpool.study.arms import Arm, slowest_run
from linkpool.unfinished import slowest


def result_data(
    arm: Arm,
    asked: Sequence[int],
    trace: int | None = 0,
    stage: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Return the page's data of the result of an arm that has the slowest flow.

    Args:
        arm: whose.
        asked: numbers of flows that have lanes and are traced in any case.
        trace: how many of the slowest flows to trace; None: some, if the run was quick.
        stage: is told, in a line, what is done that takes a while.

    """
    result = slowest_run(arm.results)
    picture = fabric(result)
    of_ranks, of_requests = ranks(result), requests(result)
    end = max([active_end(result), *(of["end"] for of in (of_ranks, of_requests) if of)])
    with_lanes, recorded = chosen(result, list(asked))
    of_flows = flows(result, with_lanes)
    strip = heat(result, end)
    of_lanes = lanes(result, with_lanes)
    traced = list(
        dict.fromkeys([*asked, *slowest(result.scan("flows"), how_many(result, trace))["flow"]])
    )
    if traced:
        few = "the slowest flow" if len(traced) == 1 else f"the {len(traced)} slowest flows"
        what = f"flows {', '.join(map(str, traced))}" if asked else few
        stage(f"tracing {what} of {arm.name}: its run is made again")
    note = add_traces(result, of_lanes, traced)
    return {
        "name": arm.name,
        "seeds": len(arm.results),
        "run": result.run,
        "scenario": result.scenario,
        "end": end,
        "overview": overview(result),
        "flows": of_flows,
        "lanes": of_lanes,
        "heat": strip,
        "ranks": of_ranks,
        "requests": of_requests,
        "failures": columns(failures(result), 10) if result.has("changes") else None,
        "goodput": goodput(result, end),
        "fabric": picture,
        "tables": tables(result),
        "notes": [
            *_of_several(arm, result),
            *(f"{notice[:1].upper()}{notice[1:]}." for notice in notices(result)),
            *([note] if note else []),
            *_notes(result, of_flows, recorded, len(with_lanes), strip),
            *_of_ranks(result, of_ranks),
            *_of_requests(of_requests),
        ],
    }


def _of_several(arm: Arm, shown: Result) -> list[str]:
    """Say which run of an arm is shown, if there are several."""
    if len(arm.results) == 1:
        return []
    place = "/".join(shown.dir.parts[-2:])
    return [
        f"Of the {len(arm.results)} runs of {arm.name} the page shows the one that has the slowest "
        f"flow, that of seed {shown.seed}, in {place}."
    ]


def _of_ranks(result: Result, of_ranks: dict[str, Any] | None) -> list[str]:
    """Name the ranks that the page leaves out, or the key that asks for ranks."""
    if of_ranks is None:
        if not result.has("ranks"):
            return []
        asks = "The run did not record what ranks did over time; record.ranks asks for it."
        return [asks, *(f"{line}." for line in job_plan(result.scenario))]
    notes = []
    for job in of_ranks["jobs"]:
        shown = len(job["ranks"])
        if shown < job["of"]:
            notes.append(
                f"{shown:,} of the {job['of']:,} ranks of {job['name']} are drawn: those that "
                "waited least for others. Shares of an iteration's time are means over all."
            )
        if job["parts"]:
            notes.append(
                f"The time of {job['name']} is drawn in {job['parts']} parts: of each, what a rank "
                "did for most of it."
            )
    return notes


def _of_requests(of_requests: dict[str, Any] | None) -> list[str]:
    """Say which requests the page leaves out."""
    return [
        f"{len(job['requests']):,} of the {job['of']:,} requests of {job['name']} are drawn: the "
        f"{MOST_REQUESTS // 2} slowest, and others spread evenly by arrival. Percentiles and means "
        "are those of all."
        for job in (of_requests or {"jobs": []})["jobs"]
        if len(job["requests"]) < job["of"]
    ]


def _notes(
    result: Result, of_flows: dict[str, Any], recorded: int, lanes_shown: int, strip: Any
) -> list[str]:
    """Name the data that the page leaves out, and the series that the run did not record."""
    notes = []
    shown = len(of_flows["columns"]["flow"])
    if shown < of_flows["total"]:
        notes.append(
            f"The scatter shows {shown:,} of {of_flows['total']:,} flows: the {SLOWEST} slowest, "
            f"the flows with lanes, and others spread evenly by size, {MOST_FLOWS:,} in all. "
            "Its lines are percentiles of all flows."
        )
    if recorded > lanes_shown:
        notes.append(
            f"{lanes_shown} of the {recorded:,} recorded flows have lanes: the {MOST_LANES // 2} "
            "slowest, and others spread evenly by number. To see another: --flow N."
        )
    if strip is not None and len(strip["links"]) < strip["of"]:
        notes.append(
            f"The strip shows {len(strip['links'])} of {strip['of']:,} recorded links: those that "
            "changed, those that were paused, and those that carried most."
        )
    notes.append(
        "Of each interval a line shows the first, last, least and largest sample, where there are "
        "more samples than a screen has room for."
    )
    for table, what in (("cwnd", "windows"), ("rate", "goodputs"), ("counters", "links over time")):
        if not result.has(table):
            notes.append(f"The run did not record {what}; record.{table} asks for them.")
    return notes
