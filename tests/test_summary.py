import json

import pytest

from linkpool.summary import BUSIEST, FctStats, LinkUse, summarise
from tables import finished, table, unfinished

LINKS = table("links", [{"link": "W->R", "utilisation": 0.5, "drops": 3, "marks": 7}])
NOTHING = FctStats(0, None, None, None, None, None, None)


def test_fct_by_hand_in_both_definitions() -> None:
    flows = table("flows", [finished(t, handshake_s=0.1) for t in (1.1, 2.1, 6.1)])
    overall = summarise(flows, LINKS).overall
    assert overall.fct.finished == 3
    assert overall.fct.mean_s == pytest.approx(3.1)
    assert overall.fct_established.mean_s == pytest.approx(3.0)
    assert overall.fct_established.sd_s == pytest.approx(7**0.5)  # (4 + 1 + 9) / 2
    assert overall.fct_established.p50_s == pytest.approx(2.0)
    assert overall.fct_established.p90_s == pytest.approx(2.0 + 0.8 * 4.0)
    assert overall.fct_established.max_s == pytest.approx(6.0)


def test_unfinished_flows_stand_beside_the_mean_not_in_it() -> None:
    flows = table(
        "flows",
        [finished(2.0), unfinished(9.0, failed=True), unfinished(9.0), unfinished(9.0, size=None)],
    )
    overall = summarise(flows, LINKS).overall
    assert (overall.flows, overall.finished, overall.unfinished) == (4, 1, 2)
    assert (overall.unlimited, overall.failed) == (1, 1)
    assert overall.fct.mean_s == 2.0


def test_flows_without_a_size_have_no_completion_time() -> None:
    overall = summarise(table("flows", [unfinished(1.0, size=None)]), LINKS).overall
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
    overall = summarise(flows, LINKS).overall
    assert overall.goodput_mean_bps == 6000.0
    assert overall.goodput_total_bps == 8 * 2500 / 4
    assert overall.jain == pytest.approx(12_000**2 / (2 * (8000**2 + 4000**2)))


def test_counts_add_up_and_the_worst_flow_is_named() -> None:
    flows = table(
        "flows",
        [
            finished(1.0, timeouts=2, retransmits=5, marked_acks=7, segments=10, suppressions=1),
            finished(1.0, timeouts=1, retransmits=1, marked_acks=0, segments=11, suppressions=2),
        ],
    )
    overall = summarise(flows, LINKS).overall
    assert (overall.timeouts, overall.timeouts_max) == (3, 2)
    assert (overall.retransmits, overall.marked_acks, overall.segments) == (6, 7, 21)
    assert overall.suppressions == 3


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
    summary = summarise(flows, LINKS)
    assert [(g.transport, g.label, g.flows) for g in summary.groups] == [
        ("xmp", "long", 2),
        ("dctcp", "short", 1),
        ("xmp", "short", 1),
    ]
    assert summary.groups[0].fct.mean_s == 2.5
    assert summary.overall.fct.mean_s == 3.75


def test_links_are_listed_busiest_first() -> None:
    rows = [{"link": f"l{i:02}", "utilisation": i / 100, "drops": 1, "marks": 2} for i in range(30)]
    summary = summarise(table("flows", []), table("links", rows))
    assert len(summary.links) == BUSIEST
    assert summary.links[0] == LinkUse("l29", 0.29, 0, 1, 2, 0)
    assert (summary.drops, summary.marks) == (30, 60)


def test_a_run_without_flows_has_a_summary() -> None:
    summary = summarise(table("flows", []), LINKS)
    assert summary.groups == []
    assert summary.overall.flows == 0
    assert summary.overall.fct == NOTHING
    assert summary.overall.goodput_total_bps is None


def test_the_summary_is_json_without_nan() -> None:
    flows = table("flows", [finished(2.0), unfinished(9.0)])
    text = json.dumps(summarise(flows, LINKS).as_dict(), allow_nan=False)
    assert json.loads(text)["overall"]["unfinished"] == 1


def test_slowdowns_by_size() -> None:
    """Sizes at the upper end of a class belong to it."""
    sizes = {10_000: 3.0, 10_001: 5.0, 100_000: 7.0, 10_000_001: 1.5}
    flows = table("flows", [finished(1.0, size=n, slowdown=s) for n, s in sizes.items()])
    found = summarise(flows, LINKS).overall.slowdowns
    assert [s.finished for s in found] == [1, 2, 0, 0, 1]
    assert [s.mean for s in found] == [3.0, 6.0, None, None, 1.5]
    assert (found[1].p50, found[1].max) == (6.0, 7.0)
    assert found[1].p99 == pytest.approx(5.0 + 0.99 * 2.0)
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
    found = summarise(table("flows", []), table("links", rows)).layers
    assert [(use.layer, use.to_layer, use.links) for use in found] == [
        ("edge", "core", 2),
        ("core", "edge", 1),
    ]
    assert (found[0].utilisation, found[0].utilisation_max) == (0.5, 0.8)
    assert found[0].loss == pytest.approx(1 / 110)
    assert found[0].loss_mean == pytest.approx(0.05)
    assert (found[0].drops, found[0].marks) == (1, 4)
    assert (found[1].loss, found[1].loss_mean) == (None, 0.0)
