"""Every field of a summary, by hand."""

from dataclasses import asdict, is_dataclass
from itertools import pairwise
from typing import Any

import pytest

from linkpool.summary import (
    Distribution,
    FctStats,
    Group,
    JobStats,
    LayerUse,
    LinkUse,
    RequestStats,
    RttStats,
    Slowdowns,
)
from tables import finished, summarise, table, unfinished

LINKS = table("links", [{"link": "W->R", "utilisation": 0.5, "drops": 3, "marks": 7}])
PERIOD = (0.0, 10.0)
NOTHING = FctStats(0, None, None, None, None, None, None)


def flat(value: object, name: str = "") -> dict[str, Any]:
    """Return every number and text within a value, by the way to it."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        value = list(value.items())
        return {k: v for key, one in value for k, v in flat(one, f"{name}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, one in enumerate(value) for k, v in flat(one, f"{name}.{i}").items()}
    return {name: value}


def same(found: object, expected: object) -> None:
    """Compare all fields; floats to rounding."""
    mine, theirs = flat(found), flat(expected)
    assert list(mine) == list(theirs)
    for name, value in theirs.items():
        assert mine[name] == (pytest.approx(value) if isinstance(value, float) else value), name
        assert type(mine[name]) is type(value), name


def no_slowdowns() -> list[Slowdowns]:
    ends = (0, 10_000, 100_000, 1_000_000, 10_000_000, None)
    return [
        Slowdowns(above or 0, upto, 0, None, None, None, None) for above, upto in pairwise(ends)
    ]


def test_every_field_of_the_groups_by_hand() -> None:
    """A period of 2 s; hosts send 10 and 30 kbit/s; flows of a group need not stand together."""
    links = table(
        "links",
        [{"layer": "host", "rate_bps": rate} for rate in (10e3, 30e3)]
        + [{"layer": "core", "rate_bps": 1e9}],
    )
    short: dict[str, Any] = {"transport": "mine", "control": "amp", "label": "short"}
    more: dict[str, Any] = {
        "timeouts": 100,
        "segments": 101,
        "retransmits": 102,
        "marked_acks": 103,
        "suppressions": 104,
    }
    flows = [
        finished(9.0, size=7000, measured=False, measured_bytes=50, slowdown=9.0, **short, **more),
        finished(
            *(1.0, 0.25, 1000),
            **short,
            slowdown=2.0,
            measured_bytes=900,
            subflow_goodput_bps=9000.0,
            timeouts=2,
            segments=10,
            retransmits=1,
            marked_acks=3,
            suppressions=5,
        ),
        unfinished(
            *(2.0, None),
            transport="yours",
            control="dctcp",
            label="long",
            failed=True,
            measured_bytes=4000,
            measured_subflow_bytes=5000,
            timeouts=4,
            segments=40,
            retransmits=8,
            marked_acks=9,
        ),
        finished(
            *(4.0, 1.0, 20_000),
            **short,
            slowdown=4.0,
            measured_bytes=10_000,
            subflow_goodput_bps=41_000.0,
            timeouts=1,
            segments=20,
            retransmits=2,
            marked_acks=4,
            suppressions=6,
        ),
        unfinished(2.0, 500, **short, failed=True, measured_bytes=50, slowdown=9.0),
    ]
    found = summarise(table("flows", flows), links, (1.0, 3.0))
    # Of 1, 4 and at least 2 s; of 0.75, 3 and at least 0 s, as it was never established.
    bounds = ("mean_s", "p50_s", "max_s")
    fct = FctStats(2, 7 / 3, None, 2.0, None, None, 4.0, unfinished=1, at_least=bounds)
    established = FctStats(2, 1.25, None, 0.75, None, None, 3.0, unfinished=1, at_least=bounds)
    slowdowns = no_slowdowns()
    slowdowns[0] = Slowdowns(0, 10_000, 1, 2.0, None, None, 2.0)
    slowdowns[1] = Slowdowns(10_000, 100_000, 1, 4.0, None, None, 4.0)
    same(
        found.groups,
        [
            Group(
                *("mine", "amp", "short"),
                left_out=1,
                flows=3,
                finished=2,
                unfinished=1,
                unlimited=0,
                failed=1,
                fct=fct,
                fct_established=established,
                slowdowns=slowdowns,
                goodput_mean_bps=48_000 / 3,  # 8, 40 and 0 kbit/s
                subflow_goodput_mean_bps=25_000.0,
                jain=48**2 / (3 * (8**2 + 40**2)),
                delivered_bps=44_000.0,  # 50, 900, 10,000 and 50 bytes in 2 s
                offered_load=8 * 21_500 / 2 / 40e3,
                delivered_load=44 / 40,
                timeouts=3,
                timeouts_max=2,
                segments=30,
                retransmits=3,
                marked_acks=7,
                suppressions=11,
            ),
            Group(
                *("yours", "dctcp", "long"),
                left_out=0,
                flows=1,
                finished=0,
                unfinished=0,
                unlimited=1,
                failed=1,
                fct=NOTHING,
                fct_established=NOTHING,
                slowdowns=no_slowdowns(),
                goodput_mean_bps=16_000.0,
                subflow_goodput_mean_bps=20_000.0,
                jain=1.0,
                delivered_bps=16_000.0,
                offered_load=None,
                delivered_load=16 / 40,
                timeouts=4,
                timeouts_max=4,
                segments=40,
                retransmits=8,
                marked_acks=9,
                suppressions=0,
            ),
        ],
    )
    same(
        found.overall,
        Group(
            *("", "", ""),
            left_out=1,
            flows=4,
            finished=2,
            unfinished=1,
            unlimited=1,
            failed=2,
            fct=fct,
            fct_established=established,
            slowdowns=slowdowns,
            goodput_mean_bps=64_000 / 4,
            subflow_goodput_mean_bps=70_000 / 3,
            jain=64**2 / (4 * (8**2 + 40**2 + 16**2)),
            delivered_bps=60_000.0,
            offered_load=None,
            delivered_load=60 / 40,
            timeouts=7,
            timeouts_max=4,
            segments=70,
            retransmits=11,
            marked_acks=16,
            suppressions=11,
        ),
    )
    assert (found.period_start_s, found.period_end_s) == (1.0, 3.0)


def test_without_host_links_there_is_no_load() -> None:
    """And with no flow that is left over, no statistics: of a sum, 0 is the right one."""
    flows = table("flows", [finished(1.0, measured=False, measured_bytes=1000, timeouts=3)])
    (group,) = summarise(flows, LINKS, PERIOD).groups
    assert (group.left_out, group.flows, group.timeouts, group.timeouts_max) == (1, 0, 0, 0)
    assert (group.fct, group.goodput_mean_bps, group.jain) == (NOTHING, None, None)
    assert group.delivered_bps == 800.0
    assert (group.offered_load, group.delivered_load) == (None, None)


def test_slowdowns_of_a_class_by_hand() -> None:
    flows = [finished(1.0, size=10**6, slowdown=float(i)) for i in (1, 2, 6)]
    found = summarise(table("flows", flows), LINKS, PERIOD).overall.slowdowns
    same(found[2], Slowdowns(100_000, 1_000_000, 3, 3.0, 2.0, None, 6.0))
    same([*found[:2], *found[3:]], [*no_slowdowns()[:2], *no_slowdowns()[3:]])


def test_every_field_of_jobs_by_hand() -> None:
    """Flows of a job that was left out, too, may not have started."""
    same_label: dict[str, Any] = {"label": "train", "measured": True}
    rows: list[dict[str, Any]] = [
        {**same_label, "kind": "ring", "jct_s": 1.0, "not_started": 1},
        {**same_label, "kind": "tree", "jct_s": 9.0},
        {**same_label, "kind": "ring", "jct_s": 3.0, "not_started": 2},
        {**same_label, "kind": "ring", "jct_s": 7.0, "measured": False, "not_started": 4},
        {"label": "other", "kind": "ring", "measured": True, "start_s": 2.0},
    ]
    jobs = table("jobs", rows)
    found = summarise(table("flows", []), LINKS, PERIOD, jobs=jobs, end_s=13.0).jobs
    (until,) = summarise(table("flows", []), LINKS, PERIOD, jobs=jobs).jobs[2:]
    assert until.jct.max_s == PERIOD[1] - 2.0
    bounds = ("mean_s", "max_s")
    same(
        found,
        [
            JobStats("train", "ring", 1, 2, 7, FctStats(2, 2.0, 2**0.5, 2.0, None, None, 3.0)),
            JobStats("train", "tree", 0, 1, 0, FctStats(1, 9.0, None, None, None, None, 9.0)),
            JobStats(
                *("other", "ring", 0, 1, 0),
                FctStats(0, 11.0, None, None, None, None, 11.0, unfinished=1, at_least=bounds),
            ),
        ],
    )


def test_every_field_of_requests_by_hand() -> None:
    """The run ended at 13 s: one has waited for its first token for 3 s; another has its first, of
    5, for 4 s.
    """
    chat: dict[str, object] = {"label": "chat", "measured": True}
    answered: dict[str, object] = {"first_token_s": 1.5, "end_s": 9.0, "ttft_s": 0.5, "tpot_s": 2.5}
    one_token = {"first_token_s": 3.0, "end_s": 3.0, "ttft_s": 1.0}
    rows: list[dict[str, object]] = [
        {**chat, "output_tokens": 4, "arrival_s": 1.0, **answered},
        {"label": "code", "measured": True, "output_tokens": 1, "arrival_s": 2.0, **one_token},
        {**chat, "output_tokens": 5, "arrival_s": 8.0, "first_token_s": 9.0, "ttft_s": 1.0},
        {**chat, "output_tokens": 3, "arrival_s": 10.0},
        {**chat, "output_tokens": 3, "arrival_s": 0.0, **answered, "measured": False},
    ]
    requests = table("requests", rows)
    found = summarise(table("flows", []), LINKS, PERIOD, requests=requests, end_s=13.0).requests
    bounds = ("mean_s", "p50_s", "max_s")
    times = [0.5, 1.0, 3.0]
    ttft = FctStats(2, 1.5, None, 1.0, None, None, 3.0, unfinished=1, at_least=("mean_s", "max_s"))
    each = [2.5, 4.0 / 4, 0.0]
    assert (sum(times) / 3, sum(each) / 3) == (1.5, 3.5 / 3)
    tpot = FctStats(1, 3.5 / 3, None, 1.0, None, None, 2.5, unfinished=2, at_least=bounds)
    one = FctStats(1, 1.0, None, None, None, None, 1.0)
    same(
        found,
        [RequestStats("chat", 1, 3, 1, ttft, tpot), RequestStats("code", 0, 1, 1, one, NOTHING)],
    )


def test_every_field_of_round_trip_times_by_hand() -> None:
    """Groups are in order of their names; one without samples is not there."""
    where = [("b", "far"), ("a", "near"), ("a", "far"), ("c", "far"), ("b", "far")]
    flows = [
        {**finished(1.0, transport=transport), "flow": i, "locality": locality}
        for i, (transport, locality) in enumerate(where)
    ]
    samples = [(0, 1.0), (1, 5.0), (4, 3.0), (2, 7.0), (0, 8.0)]
    rtts = table("rtt", [{"flow": flow, "rtt_s": rtt} for flow, rtt in samples])
    found = summarise(table("flows", flows), LINKS, PERIOD, rtt=rtts).rtts
    same(
        found,
        [
            RttStats("a", "far", 1, 7.0, 7.0, 7.0, 7.0, 7.0),
            RttStats("a", "near", 1, 5.0, 5.0, 5.0, 5.0, 5.0),
            RttStats("b", "far", 3, 4.0, 3.0, 7.0, 7.9, 8.0),
        ],
    )


def test_every_field_of_layers_and_links_by_hand() -> None:
    """A port that was offered nothing lost nothing; 5 of 25 and 20 of 20 are lost by the others."""
    up: dict[str, Any] = {"layer": "edge", "to_layer": "core"}
    rows: list[dict[str, Any]] = [
        {**up, "link": "a", "utilisation": 0.1, "packets": 20, "drops": 5, "marks": 1},
        {"link": "z", "layer": "core", "to_layer": "edge", "max_queue_pkts": 8, "packets": 3},
        {**up, "link": "b", "utilisation": 0.7, "drops": 20, "drops_down": 2, "marks": 4},
        {**up, "link": "c", "utilisation": 0.4, "drops_loss": 3, "max_queue_pkts": 9},
    ]
    found = summarise(table("flows", []), table("links", rows), PERIOD)
    same(
        found.layers,
        [
            LayerUse("edge", "core", 3, 0.4, 0.7, 25, 2, 3, 25 / 45, (0.2 + 1.0) / 3, 5),
            LayerUse("core", "edge", 1, None, None, 0, 0, 0, 0.0, 0.0, 0),
        ],
    )
    same(
        found.links,
        [
            LinkUse("b", 0.7, 0, 20, 4, 0),
            LinkUse("c", 0.4, 0, 0, 0, 9),
            LinkUse("a", 0.1, 20, 5, 1, 0),
            LinkUse("z", None, 3, 0, 0, 8),
        ],
    )
    assert (found.drops, found.drops_down, found.drops_loss, found.marks) == (25, 2, 3, 5)


def test_workloads_are_as_their_table_has_them() -> None:
    rows: list[dict[str, Any]] = [
        {
            "label": "short",
            "kind": "poisson",
            "transport": "amp",
            "sizes": "30KB",
            "interpolation": "linear",
            "mean_bytes": 3e4,
            "load": 0.5,
            "not_started": 3,
        },
        {"label": "long", "kind": "flow", "transport": "xmp", "sizes": "none"},
    ]
    found = summarise(table("flows", []), LINKS, PERIOD, workloads=table("workloads", rows))
    same(
        found.workloads,
        [
            Distribution("short", "poisson", "amp", "30KB", "linear", 3e4, 0.5, 3),
            Distribution("long", "flow", "xmp", "none", None, None, None, 0),
        ],
    )
    left_out = summarise(table("flows", []), LINKS, PERIOD)
    assert (left_out.workloads, left_out.jobs, left_out.rtts) == ([], [], [])


def test_a_period_of_less_than_a_second_has_rates() -> None:
    links = table("links", [{"layer": "host", "rate_bps": 0.5}])
    overall = summarise(table("flows", [finished(0.25, size=2)]), links, (0.0, 0.5)).overall
    assert (overall.delivered_bps, overall.delivered_load) == (32.0, 64.0)


def test_the_largest_size_of_a_class_is_in_no_other() -> None:
    flows = [finished(1.0, size=10_000_000, slowdown=2.0)]
    found = summarise(table("flows", flows), LINKS, PERIOD).overall.slowdowns
    assert [one.finished for one in found] == [0, 0, 0, 1, 0]


def test_a_port_that_was_offered_a_single_packet_may_lose_all() -> None:
    rows = [{"layer": "edge", "to_layer": "core", "utilisation": 0.0, "drops": 1}]
    (found,) = summarise(table("flows", []), table("links", rows), PERIOD).layers
    assert (found.loss, found.loss_mean) == (1.0, 1.0)


def test_without_flows_nobody_met_a_timeout() -> None:
    overall = summarise(table("flows", []), LINKS, PERIOD).overall
    assert (overall.timeouts, overall.timeouts_max) == (0, 0)


def test_jobs_are_in_order_of_their_first() -> None:
    labels = [f"l{7 * i % 20}" for i in range(20)]
    rows: list[dict[str, Any]] = [{"label": one, "kind": "ring"} for one in [*labels, *labels]]
    found = summarise(table("flows", []), LINKS, PERIOD, jobs=table("jobs", rows)).jobs
    assert [one.label for one in found] == labels
