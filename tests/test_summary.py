"""The summary of a result."""

import json
import random
from dataclasses import replace

import pytest

from linkpool.summary import FctStats, LinkUse
from linkpool.units import show_number, show_seconds
from tables import finished, summarise, table, unfinished

LINKS = table("links", [{"link": "W->R", "utilisation": 0.5, "drops": 3, "marks": 7}])
PERIOD = (0.0, 10.0)
BUSIEST = 20
NOTHING = FctStats(0, None, None, None, None, None, None)


def test_fct_by_hand_in_both_definitions() -> None:
    flows = table("flows", [finished(t, handshake_s=0.1) for t in (1.1, 2.1, 6.1)])
    overall = summarise(flows, LINKS, PERIOD).overall
    assert overall.fct.finished == 3
    assert overall.fct.mean_s == pytest.approx(3.1)
    assert overall.fct_established.mean_s == pytest.approx(3.0)
    assert overall.fct_established.sd_s == pytest.approx(7**0.5)  # (4 + 1 + 9) / 2
    assert overall.fct_established.p50_s == pytest.approx(2.0)
    assert overall.fct_established.p90_s is None, "of ten flows on"
    assert overall.fct_established.shown("p90_s", show_seconds) == "needs 10 flows"
    assert overall.fct_established.at_least == ()
    assert overall.fct_established.max_s == pytest.approx(6.0)


def test_unfinished_flows_are_as_old_as_they_were() -> None:
    """Once 2 s, and two flows of at least 9 s; a flow without a size has no completion time."""
    flows = table(
        "flows",
        [
            finished(2.0, slowdown=4.0),
            unfinished(9.0, failed=True, ideal_fct_s=0.5),
            unfinished(9.0, ideal_fct_s=20.0),
            unfinished(9.0, size=None),
        ],
    )
    overall = summarise(flows, LINKS, PERIOD).overall
    assert (overall.flows, overall.finished, overall.unfinished) == (4, 1, 2)
    assert (overall.unlimited, overall.failed) == (1, 1)
    bounds = ("mean_s", "p50_s", "max_s")
    fct = FctStats(1, 20 / 3, None, 9.0, None, None, 9.0, unfinished=2, at_least=bounds)
    assert overall.fct == fct
    # The slowdowns are 4, at least 18, and at least 1, as any is.
    small = overall.slowdowns[0]
    assert (small.finished, small.unfinished) == (1, 2)
    assert small.mean == pytest.approx(23 / 3)
    assert (small.p50, small.max) == (4.0, 18.0)
    assert small.at_least == ("mean", "p50", "max")
    assert small.shown("p50", show_number) == "≥ 4"


def test_what_is_known_of_unfinished_flows_is_no_lower_bound() -> None:
    """Of 100 flows one hangs: the 99th percentile lies between the last and that one."""
    flows = [finished(1.0 + i / 100, handshake_s=0.5) for i in range(99)]
    flows += [unfinished(9.0, start_s=0.25, established_s=0.75)]
    fct = summarise(table("flows", flows), LINKS, PERIOD).overall
    assert fct.fct.at_least == ("mean_s", "p99_s", "max_s")
    assert fct.fct.p50_s == pytest.approx(1.495)
    assert fct.fct.p90_s == pytest.approx(1.891)
    assert fct.fct.shown("p90_s", show_seconds) == "1.89 s"
    assert fct.fct.shown("max_s", show_seconds) == "≥ 9 s"
    assert fct.fct_established.max_s == pytest.approx(8.5), "0.25 + 9 - 0.75"
    never = [*flows[:99], unfinished(9.0)]
    fct = summarise(table("flows", never), LINKS, PERIOD).overall
    assert fct.fct_established.max_s == pytest.approx(1.48), "of a flow without a SYN-ACK 0"
    assert fct.fct_established.at_least == ("mean_s", "p50_s", "p90_s", "p99_s", "max_s")


def test_flows_without_a_size_have_no_completion_time() -> None:
    overall = summarise(table("flows", [unfinished(1.0, size=None)]), LINKS, PERIOD).overall
    assert (overall.finished, overall.unfinished, overall.unlimited) == (0, 0, 1)
    assert overall.fct == NOTHING


def test_goodput_by_hand() -> None:
    flows = table(
        "flows",
        [
            finished(1.0, size=1000),  # 8,000 bit/s over [0, 1]
            finished(3.0, size=1500, start_s=1.0),  # 4,000 bit/s over [1, 4]
        ],
    )
    overall = summarise(flows, LINKS, PERIOD).overall
    assert overall.goodput_mean_bps == 6000.0
    assert overall.delivered_bps == 8 * 2500 / 10
    assert overall.jain == pytest.approx(12_000**2 / (2 * (8000**2 + 4000**2)))


def test_counts_add_up_and_the_worst_flow_is_named() -> None:
    flows = table(
        "flows",
        [
            finished(1.0, timeouts=2, retransmits=5, marked_acks=7, segments=10, suppressions=1),
            finished(1.0, timeouts=1, retransmits=1, marked_acks=0, segments=11, suppressions=2),
        ],
    )
    overall = summarise(flows, LINKS, PERIOD).overall
    assert (overall.timeouts, overall.timeouts_max) == (3, 2)
    assert (overall.retransmits, overall.marked_acks, overall.segments) == (6, 7, 21)
    assert overall.suppressions == 3


def test_what_the_kernel_does_not_tell_is_not_zero() -> None:
    """Marked ACKs are null on Linux's network stack; a flow that is left out does not count."""

    def marked(*flows: dict[str, object]) -> int | None:
        return summarise(table("flows", flows), LINKS, PERIOD).overall.marked_acks

    known, unknown = finished(1.0, marked_acks=7), finished(1.0, marked_acks=None)
    assert [marked(known, known), marked(known, unknown), marked(unknown)] == [14, None, None]
    assert [marked(known, {**unknown, "measured": False}), marked()] == [7, 0]


def test_groups_are_by_transport_and_label_in_order_of_appearance() -> None:
    flows = table(
        "flows",
        [
            finished(1.0, transport="xmp", label="long"),
            finished(2.0, transport="dctcp", label="short"),
            finished(4.0, transport="xmp", label="long"),
            finished(8.0, transport="xmp", label="short"),
        ],
    )
    summary = summarise(flows, LINKS, PERIOD)
    assert [(g.transport, g.label, g.flows) for g in summary.groups] == [
        ("xmp", "long", 2),
        ("dctcp", "short", 1),
        ("xmp", "short", 1),
    ]
    assert summary.groups[0].fct.mean_s == 2.5
    assert summary.overall.fct.mean_s == 3.75


def test_links_are_listed_busiest_first() -> None:
    counts = {"drops": 1, "marks": 2, "trims": 3}
    rows = [{"link": f"l{i:02}", "utilisation": i / 100, **counts} for i in range(30)]
    summary = summarise(table("flows", []), table("links", rows), PERIOD)
    assert len(summary.links) == BUSIEST
    assert summary.links[0] == LinkUse("l29", 0.29, 0, 1, 2, 0)
    assert (summary.drops, summary.marks, summary.trims) == (30, 60, 90)


def test_a_run_without_flows_has_a_summary() -> None:
    summary = summarise(table("flows", []), LINKS, PERIOD)
    assert summary.groups == []
    assert summary.overall.flows == 0
    assert summary.overall.fct == NOTHING
    assert summary.overall.delivered_bps == 0.0


def test_the_summary_is_json_without_nan() -> None:
    flows = table("flows", [finished(2.0), unfinished(9.0)])
    text = json.dumps(summarise(flows, LINKS, PERIOD).as_dict(), allow_nan=False)
    assert json.loads(text)["overall"]["unfinished"] == 1


def test_slowdowns_by_size() -> None:
    """Sizes at the upper end of a class belong to it."""
    sizes = {10_000: 3.0, 10_001: 5.0, 100_000: 7.0, 10_000_001: 1.5}
    flows = table("flows", [finished(1.0, size=n, slowdown=s) for n, s in sizes.items()])
    found = summarise(flows, LINKS, PERIOD).overall.slowdowns
    assert [s.finished for s in found] == [1, 2, 0, 0, 1]
    assert [s.mean for s in found] == [3.0, 6.0, None, None, 1.5]
    assert (found[1].p50, found[1].max) == (6.0, 7.0)
    assert found[1].p99 is None
    assert found[1].shown("p99", show_number) == "needs 100 flows"
    assert (found[0].shown("p50", show_number), found[2].shown("p50", show_number)) == (
        *("needs 2 flows", "-"),
    )
    assert (found[0].above_bytes, found[0].upto_bytes) == (0, 10_000)
    assert (found[4].above_bytes, found[4].upto_bytes) == (10_000_000, None)


def test_layers_up_and_down() -> None:
    """Losses of 1 in 10 and of none: 1 of 110 packets, and 5% in the mean over ports."""
    up = {"layer": "edge", "to_layer": "core", "marks": 2}
    down = {"layer": "core", "to_layer": "edge", "utilisation": 0.25}
    rows = [
        {**up, "utilisation": 0.2, "packets": 9, "drops": 1},
        {**up, "utilisation": 0.8, "packets": 100, "drops": 0},
        down,
    ]
    found = summarise(table("flows", []), table("links", rows), PERIOD).layers
    assert [(use.layer, use.to_layer, use.links) for use in found] == [
        ("edge", "core", 2),
        ("core", "edge", 1),
    ]
    assert (found[0].utilisation, found[0].utilisation_max) == (0.5, 0.8)
    assert found[0].loss == pytest.approx(1 / 110)
    assert found[0].loss_mean == pytest.approx(0.05)
    assert (found[0].drops, found[0].marks) == (1, 4)
    assert (found[1].loss, found[1].loss_mean) == (None, 0.0)


def test_jobs_by_label_and_kind() -> None:
    """One under way has no completion time."""
    ask = {"label": "ask", "kind": "partition-aggregate", "measured": True}
    rows: list[dict[str, object]] = [
        {**ask, "jct_s": 1.0},
        {"label": "train", "kind": "ring-all-reduce", "measured": True, "jct_s": 5.0},
        {**ask, "jct_s": 3.0},
        ask,
    ]
    found = summarise(table("flows", []), LINKS, PERIOD, jobs=table("jobs", rows)).jobs
    assert [(j.label, j.kind, j.jobs, j.jct.finished) for j in found] == [
        ("ask", "partition-aggregate", 3, 2),
        ("train", "ring-all-reduce", 1, 1),
    ]
    assert (found[0].jct.mean_s, found[0].jct.max_s) == (2.0, 3.0)


def test_losses_have_their_causes() -> None:
    up = {"layer": "edge", "to_layer": "core"}
    rows: list[dict[str, object]] = [
        {**up, "drops_down": 3},
        {**up, "drops_loss": 4, "drops_down": 1},
        {"drops": 2},
    ]
    summary = summarise(table("flows", []), table("links", rows), PERIOD)
    assert (summary.drops, summary.drops_down, summary.drops_loss) == (2, 4, 4)
    assert [(u.drops, u.drops_down, u.drops_loss) for u in summary.layers] == [(0, 4, 4), (2, 0, 0)]


def test_what_warms_up_and_what_comes_late_is_left_out() -> None:
    """Sizes and ends are of measured flows; what others delivered in the period counts as load."""
    links = table("links", [{"layer": "host", "rate_bps": 4e3}, {"layer": "edge", "rate_bps": 9e9}])
    flows = table(
        "flows",
        [
            finished(1.0, size=500, measured=False, measured_bytes=300),
            finished(2.0, size=1000, measured_bytes=900),
            finished(4.0, size=2000, measured_bytes=0),
            unfinished(9.0, measured=False),
        ],
    )
    overall = summarise(flows, links, (1.0, 3.0)).overall
    assert (overall.flows, overall.left_out, overall.unfinished) == (2, 2, 0)
    assert overall.fct.mean_s == 3.0
    assert overall.goodput_mean_bps == 4000.0
    # 4 kbit/s for two seconds are 1,000 B.
    assert (overall.offered_load, overall.delivered_load) == (3.0, 1.2)


def test_unlimited_flows_have_the_goodput_of_the_period() -> None:
    """One from 0 to 9 s and one from 2 s, of a period from 1 to 3 s."""
    size = {"size": None, "acked_bytes": 10**6}
    rows = [
        unfinished(9.0, **size, goodput_bps=9.0, measured_s=2.0, measured_bytes=1000),
        unfinished(7.0, **size, goodput_bps=9.0, start_s=2.0, measured_s=1.0, measured_bytes=250),
    ]
    overall = summarise(table("flows", rows), LINKS, (1.0, 3.0)).overall
    assert overall.goodput_mean_bps == 3000.0
    assert overall.delivered_bps == 8 * 1250 / 2
    assert overall.jain == pytest.approx(6000**2 / (2 * (4000**2 + 2000**2)))
    assert overall.offered_load is None


def test_round_trip_times_by_transport_and_locality() -> None:
    """Those of a flow that is left out are too."""
    flows = table(
        "flows",
        [
            {**finished(1.0), "flow": 0, "locality": "between-pods"},
            {**finished(1.0), "flow": 1, "locality": "in-rack"},
            {**finished(1.0), "flow": 2, "locality": "in-rack", "measured": False},
        ],
    )
    samples = [(0, 4.0), (1, 1.0), (0, 2.0), (2, 9.0)]
    rtts = table("rtt", [{"flow": flow, "rtt_s": rtt} for flow, rtt in samples])
    found = summarise(flows, LINKS, PERIOD, rtt=rtts).rtts
    assert [(r.transport, r.locality, r.samples, r.mean_s) for r in found] == [
        ("t", "between-pods", 2, 3.0),
        ("t", "in-rack", 1, 1.0),
    ]
    assert (found[0].p50_s, found[0].max_s) == (3.0, 4.0)


def test_links_of_the_same_utilisation_are_listed_by_name() -> None:
    """Those that could send nothing come last."""
    use: list[float | None] = [0.5, None, 0.5, 0.75, 0.5]
    rows = [{"link": name, "utilisation": u} for name, u in zip("cxbza", use, strict=True)]
    found = summarise(table("flows", []), table("links", rows), PERIOD).links
    assert [(link.link, link.utilisation) for link in found] == [
        ("z", 0.75),
        ("a", 0.5),
        ("b", 0.5),
        ("c", 0.5),
        ("x", None),
    ]


def test_flows_of_one_transport_by_two_algorithms_are_two_groups() -> None:
    flows = [
        finished(1.0, control="xmp"),
        finished(2.0, control="amp"),
        finished(4.0, control="xmp"),
    ]
    found = summarise(table("flows", flows), LINKS, PERIOD).groups
    assert [(g.transport, g.control, g.flows) for g in found] == [("t", "xmp", 2), ("t", "amp", 1)]
    assert found[0].fct.mean_s == 2.5


def test_what_subflows_carried_stands_beside_the_goodput() -> None:
    """Of an unlimited flow, in the measured period."""
    rows = [
        finished(1.0, size=1000, subflow_goodput_bps=9000.0),  # a goodput of 8,000
        unfinished(
            9.0, size=None, measured_s=2.0, measured_bytes=1000, measured_subflow_bytes=1500
        ),
    ]
    overall = summarise(table("flows", rows), LINKS, (1.0, 3.0)).overall
    assert overall.goodput_mean_bps == (8000 + 4000) / 2
    assert overall.subflow_goodput_mean_bps == (9000 + 6000) / 2


def test_delivered_is_over_the_measured_period_not_to_the_last_straggler() -> None:
    """Of 2,000 B that end after 5 s, 1,500 B come in a period of 2 s; a link has 12 kbit/s."""
    links = table("links", [{"layer": "host", "rate_bps": 12e3}])
    rows = [
        finished(1.0, size=1000, measured_bytes=1000),
        finished(5.0, size=1000, measured_bytes=500),
    ]
    overall = summarise(table("flows", rows), links, (0.0, 2.0)).overall
    assert overall.delivered_bps == 8 * 1500 / 2
    assert overall.delivered_load == 0.5
    assert overall.offered_load == 8 * 2000 / (2 * 12e3)


def test_a_period_without_length_has_no_rates() -> None:
    overall = summarise(table("flows", [finished(1.0)]), LINKS, (2.0, 2.0)).overall
    assert (overall.delivered_bps, overall.offered_load, overall.delivered_load) == (None,) * 3


def test_jobs_outside_the_measured_period_are_left_out() -> None:
    same = {"label": "train", "kind": "all-to-all"}
    rows: list[dict[str, object]] = [
        {**same, "jct_s": 9.0, "not_started": 0, "measured": False},
        {**same, "jct_s": 1.0, "not_started": 0, "measured": True},
        {**same, "not_started": 5, "measured": True},
    ]
    found = summarise(table("flows", []), LINKS, PERIOD, jobs=table("jobs", rows)).jobs[0]
    assert (found.left_out, found.jobs, found.not_started) == (1, 2, 5)
    assert (found.jct.finished, found.jct.mean_s) == (1, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_many_flows_are_as_one_by_one(seed: int) -> None:
    """Statistics of each group, and in the order of first rows, as of its rows alone."""
    rng = random.Random(seed)
    rows = [
        finished(
            rng.expovariate(1.0),
            size=rng.choice([1, 10_000, 10_001, 5_000_000, 20_000_000]),
            transport=rng.choice("ab"),
            control=rng.choice("xyz"),
            label=rng.choice(["one", "two", "three"]),
            slowdown=rng.uniform(1.0, 9.0),
            subflow_goodput_bps=rng.random(),
            timeouts=rng.randrange(3),
            failed=rng.random() < 0.2,
            measured=rng.random() < 0.8,
        )
        for _ in range(200)
    ]
    whole = summarise(table("flows", rows), LINKS, PERIOD)
    names = list(dict.fromkeys((r["transport"], r["control"], r["label"]) for r in rows))
    assert [(g.transport, g.control, g.label) for g in whole.groups] == names
    for group in whole.groups:
        key = (group.transport, group.control, group.label)
        mine = [r for r in rows if (r["transport"], r["control"], r["label"]) == key]
        alone = summarise(table("flows", mine), LINKS, PERIOD).overall
        assert replace(alone, transport=key[0], control=key[1], label=key[2]) == group
    assert sum(g.flows for g in whole.groups) == whole.overall.flows
    assert sum(g.left_out for g in whole.groups) == whole.overall.left_out
    assert max(g.timeouts_max for g in whole.groups) == whole.overall.timeouts_max
