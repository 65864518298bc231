"""What repeats: how messages, groups, replays and steady rates are counted, by hand."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import repeats
import repeats_messages as messages
import repeats_rates as rates
import repeats_replay as replay
import repeats_runs as runs
import repeats_tables as tables


def ints(*values: int) -> messages.Ints:
    return np.array(values, np.int64)


def test_messages_meet_while_they_are_on_a_port_together() -> None:
    start, end = ints(0, 5, 10, 0), ints(10, 15, 20, 99)
    on = messages.Ports(ints(2, 1, 0, 3), ints(7, 7, 7, 8))
    a, b = messages.together(on, start, end)
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1), (1, 2)]


def test_a_long_message_meets_all_that_begin_before_its_end() -> None:
    start, end = ints(0, 1, 3, 6), ints(7, 2, 4, 8)
    on = messages.Ports(ints(0, 1, 2, 3), ints(7, 7, 7, 7))
    a, b = messages.together(on, start, end)
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3)]


def test_two_shared_ports_are_two_pairs() -> None:
    on = messages.Ports(ints(0, 1, 0, 1), ints(7, 7, 8, 8))
    a, b = messages.together(on, ints(0, 1), ints(5, 5))
    assert (a.tolist(), b.tolist()) == ([0, 0], [1, 1])


def test_pictures_are_of_offsets_and_kinds() -> None:
    # Messages 0 and 1 meet, 2 and 3 do a second later; 4 and 5 two picoseconds further apart.
    start = ints(0, 5, 1000, 1005, 2000, 2007)
    pairs = (ints(0, 2, 4), ints(1, 3, 5))
    kind = ints(1, 2, 1, 2, 1, 2)
    picture = messages.pictures(kind, start, pairs)
    assert picture[0] == picture[2] != picture[4]
    assert picture[1] == picture[3] != picture[5]
    assert picture[0] != picture[1]
    coarse = messages.pictures(kind, start, pairs, grain=10)
    assert coarse[0] == coarse[4]
    other = messages.pictures(ints(1, 2, 1, 3, 1, 2), start, pairs)
    assert other[0] != other[2]


def test_a_picture_knows_who_was_there_before() -> None:
    # 0 begins 5 before 1 of the same kind: the other is later for 0, and was there for 1.
    picture = messages.pictures(ints(1, 1), ints(0, 5), (ints(0), ints(1)))
    assert picture[0] != picture[1]
    assert messages.rounded(ints(4, 5, 14, -4, -6), 10).tolist() == [0, 1, 1, 0, -1]


def test_members_stand_for_each_other_by_kind() -> None:
    # With a grain of 10 the groups are alike, though the second begins with the other kind.
    start, kind = ints(0, 4, 100, 104), ints(8, 3, 3, 8)
    block = messages.components(4, (ints(0, 2), ints(1, 3)))
    key = messages.blocks(block, kind, start, grain=10)
    assert messages.first_like(block, key, kind, start).tolist() == [0, 1, 1, 0]


def test_groups_that_come_again_stand_for_each_other() -> None:
    # Two groups of two; their members begin in another order of kinds than of numbers.
    start = ints(0, 4, 100, 104, 200, 203)
    kind = ints(8, 3, 8, 3, 8, 3)
    block = messages.components(6, (ints(0, 2, 4), ints(1, 3, 5)))
    key = messages.blocks(block, kind, start)
    assert messages.first_like(block, key, kind, start).tolist() == [0, 1, 0, 1, 4, 5]
    key = messages.blocks(block, kind, start, grain=10)
    assert messages.first_like(block, key, kind, start).tolist() == [0, 1, 0, 1, 0, 1]


def test_sprayed_packets_share_the_uplinks_of_racks_and_pods() -> None:
    # k = 4: two hosts a rack, four a pod. In a rack; in a pod; between pods.
    found = messages._sprayed(ints(0, 0, 1), ints(1, 2, 4), 4)
    ports = [sorted(found.port[found.message == m].tolist()) for m in range(3)]
    rack, pod = 1 << 20, 2 << 20
    assert ports == [
        [0, 3],
        [0, 5, rack, rack + 3],
        [2, 9, rack, rack + 5, pod, pod + 3],
    ]


def test_first_ones_of_a_key_are_models() -> None:
    keys = messages.mix(ints(1, 2, 1, 1, 2, 1))
    assert repeats.memo(keys).tolist() == [0, 1, 0, 0, 1, 0]
    drawn = repeats.memo(keys, 2, np.random.default_rng(1))
    assert drawn[[0, 1, 2, 4]].tolist() == [0, 1, 2, 4]
    assert set(drawn[[3, 5]].tolist()) <= {0, 2}
    many = repeats.memo(messages.mix(np.zeros(400, np.int64)), 2, np.random.default_rng(1))
    assert 100 < int((many[2:] == 1).sum()) < 300
    assert repeats.memo(messages.mix(ints(1, 2)), 16, np.random.default_rng(1)).tolist() == [0, 1]
    assert repeats.later(keys).tolist() == [False, False, True, True, True, True]


def test_iterations_take_their_times_from_the_last_that_is_simulated() -> None:
    # Two messages of a pair in each of three iterations; those of the third end first.
    read = lone(1, 1)
    zero = np.zeros(6, np.int64)
    six = replace(
        read, flow=np.arange(6), label=zero, src=zero, dst=zero, iteration=ints(0, 0, 1, 1, 2, 2)
    )
    assert repeats.iterations(six, 1).tolist() == [0, 1, 0, 1, 0, 1]
    assert repeats.iterations(six, 2).tolist() == [0, 1, 2, 3, 2, 3]
    six = replace(six, ended=ints(3, 9, 12, 11, 5, 4))
    assert repeats.ends(six) == {"job 0": [9, 12, 12]}


def test_ends_of_iterations_by_the_first_of_them() -> None:
    # Simulated to 130: the second and the third took 10 and 20. Two more make 160, not 150.
    assert tables.extrapolated([100, 110, 130, 140, 150], 3) == pytest.approx(160 / 150 - 1)
    many = [{"job": "j", "transport": t, "ends": {"job 0": [10, 20, 40]}} for t in ("a", "b")]
    assert tables.by_iterations(many, "j", ["b", "a"]) == [
        "| iterations | b | a |",
        "|---|---|---|",
        "| 2 simulated | 25% | 25% |",
        "| one takes, ms | 1e-08 to 2e-08 | 1e-08 to 2e-08 |",
    ]


def test_hosts_of_ranks() -> None:
    spread: runs.Table = {"placement": "spread", "first_host": 6}
    assert repeats.hosts_of(spread, np.arange(4), 4).tolist() == [12, 14, 1, 3]
    rings: runs.Table = {"groups": 2, "stride": 4, "group_stride": 1, "first_host": 1}
    assert repeats.hosts_of(rings, np.arange(4), 4).tolist() == [1, 5, 2, 6]
    assert repeats.hosts_of({"groups": 2, "stride": 4}, np.arange(4), 4).tolist() == [0, 4, 8, 12]


PROGRAMS = """num_ranks 2

rank 0 {
l0: calc 100
l1: send 8b to 1 tag 0
l2: send 8b to 1 tag 0
l1 requires l0
l2 irequires l1
}

rank 1 {
l0: recv 8b from 0 tag 0
l1: calc 7
l2: send 8b to 0 tag 5
l3: recv 8b from 0 tag 0
l1 requires l0
l2 requires l1
l2 requires l3
}
"""


@pytest.fixture
def two_ranks(tmp_path: Path) -> replay.Programs:
    goal = tmp_path / "two.goal"
    goal.write_text(PROGRAMS, encoding="utf-8")
    return replay.parse(goal, 10)


def test_a_replay_by_hand(two_ranks: replay.Programs) -> None:
    play = replay.Replay(two_ranks)
    # Rank 0 sends both at 1,000. They come at 1,050 and 1,500; rank 1 computes until 1,120 and
    # sends at 1,500, which nobody receives; its ACK comes 30 later. Rank 0 has its at 2,600.
    started, done = play.iteration(ints(0, 0), ints(50, 500, 20), ints(60, 1600, 30))
    assert started.tolist() == [1000, 1000, 1500]
    assert done.tolist() == [2600, 1530]
    # A second iteration begins at each rank by itself; what rank 0 sends comes later.
    ends = play.run([ints(50, 500, 20), ints(50, 60, 20)], [ints(60, 1600, 30), ints(60, 70, 30)])
    assert ends[1].tolist() == [2600 + 1000 + 70, 3600 + 50 + 70 + 30]


def test_programs_that_wait_in_a_circle(tmp_path: Path) -> None:
    goal = tmp_path / "circle.goal"
    goal.write_text("rank 0 {\nl0: calc 1\nl1: calc 1\nl0 requires l1\nl1 requires l0\n}\n")
    with pytest.raises(ValueError, match="circle"):
        replay.Replay(replay.parse(goal, 1))


def test_messages_of_a_pair_are_numbered() -> None:
    assert replay.numbered(ints(1, 2, 1, 1), ints(4, 4, 4, 5)).tolist() == [0, 0, 1, 0]


@pytest.mark.core
def test_a_replay_with_the_times_of_the_run_is_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two jobs of 16 ranks share a fabric: all messages start at the picosecond of the run."""
    small: runs.Table = {
        "tp": 2,
        "pp": 2,
        "dp": 2,
        "iterations": 2,
        "tensor": "20KB",
        "activations": "20KB",
    }
    small |= {"gradients": "80KB", "placement": "spread"}
    jobs = [runs._training(**small, first_host=first) for first in (0, 8)]
    monkeypatch.setitem(runs.JOBS, "small", runs.Job(4, "50ms", "training", jobs))
    out = tmp_path / "small" / "dctcp"
    runs.simulate("dctcp", "small", out)
    read = messages.read(out, 4)
    assert read.work.sum() == pytest.approx(1)
    for job in repeats.jobs_of(read, "small", tmp_path):
        assert repeats.apart(read, job) == 0
        moved = read.start.copy()
        moved[job.order[1][5]] += 1
        later = replace(read, start=moved, ended=read.ended + moved - read.start)
        assert repeats.apart(later, job) > 0
        fewer = replace(read, label=np.where(read.flow == read.flow[0], 7, read.label))
        with pytest.raises(ValueError, match="longer"):
            repeats.jobs_of(fewer, "small", tmp_path)


def test_steady_windows() -> None:
    # Bytes in each interval: two windows of four, of which the second rises.
    got = np.array([[10.0, 10, 10, 10, 10, 10, 10, 14]])
    sums = np.concatenate([np.zeros((1, 1)), got.cumsum(axis=1)], axis=1)
    found = rates.steady_from(sums, 4, 0.05)[0].tolist()
    assert found == [False] * 4 + [True] * 4 + [False]
    # The last window has a mean of 11 and a span of 4.
    assert rates.steady_from(sums, 4, 4 / 11 + 1e-9)[0, -1]
    assert not rates.steady_from(sums, 4, 4 / 11 - 1e-9)[0, -1]
    assert not rates.steady_from(np.zeros((1, 9)), 4, 0.05).any()


def test_episodes_end_where_a_message_of_the_group_starts_or_ends() -> None:
    # 0 and 1 share a port, 1 and 2 another; 3 is alone.
    beside = rates.neighbours(4, (ints(0, 1), ints(1, 2)))
    found = [
        (sorted(e.members), e.begin, e.end)
        for e in rates.episodes(ints(0, 10, 0, 0), ints(40, 20, 30, 50), beside)
    ]
    assert sorted(found) == [
        ([0], 0, 10),
        ([0], 20, 40),
        ([0, 1, 2], 10, 20),
        ([2], 0, 10),
        ([2], 20, 30),
        ([3], 0, 50),
    ]


def test_messages_that_start_together_have_no_episode_before() -> None:
    beside = rates.neighbours(2, (ints(0), ints(1)))
    found = list(rates.episodes(ints(5, 5), ints(9, 9), beside))
    assert [(sorted(e.members), e.begin, e.end) for e in found] == [([0, 1], 5, 9)]


def lone(size: int, end: int) -> messages.Messages:
    none = messages.Ports(ints(), ints())
    one = ints(0)
    return messages.Messages(
        *(one, one, one, one, ints(size), one, one, ints(end), ints(end)),
        cold=np.array([True]),
        distance=one,
        work=np.array([1.0]),
        data=none,
        acks=none,
    )


def test_what_extrapolation_skips() -> None:
    # 10 bytes an interval for 8 intervals, then 20 for 8: 240 bytes in 1,600 ps.
    sums = np.concatenate([[0], np.cumsum([10.0] * 8 + [20.0] * 8)])[None, :]
    series = rates.Series(100, {0: 0}, sums)
    message = lone(240, 1600)
    whole = [rates.Episode([0], 0, 1600)]
    found = rates.skip(message, ints(0), series, whole, 4, 0.01)
    # Steady at 400 ps, with 200 bytes to go, for which 10 an interval need 2,000 ps, not 1,200.
    assert found.share == pytest.approx(200 / 240)
    assert found.late.tolist() == pytest.approx([800])
    halves = [rates.Episode([0], 0, 800), rates.Episode([0], 800, 1600)]
    found = rates.skip(message, ints(0), series, halves, 4, 0.01)
    assert found.share == pytest.approx((40 + 80) / 240)
    assert found.late.tolist() == pytest.approx([0])
    thirds = [rates.Episode([0], 0, 1000), rates.Episode([0], 1000, 1600)]
    found = rates.skip(message, ints(0), series, thirds, 4, 0.01)
    # From 400 to 1,000 ps 80 bytes come, for which 10 an interval need 200 ps more.
    assert found.share == pytest.approx((80 + 40) / 240)
    assert found.late.tolist() == pytest.approx([200])


def test_a_group_is_steady_when_all_are() -> None:
    # The second flow never is; the first is from 400 ps on.
    sums = np.cumsum([[0, *[10.0] * 12], [0, *[1.0, 9.0, 5.0] * 4]], axis=1)
    series = rates.Series(100, {0: 0, 1: 1}, sums)
    two = replace(lone(120, 1200), flow=ints(0, 1), size=ints(120, 60))
    groups = [rates.Episode([0, 1], 0, 1200)]
    assert rates.skip(two, ints(0, 1), series, groups, 4, 0.01).share == 0
    alone = rates.skip(two, ints(0, 1), series, groups, 4, 0.01, alone=True)
    assert alone.share == pytest.approx(80 / 180)


def test_the_best_rule_within_the_bound() -> None:
    rules = [
        {"rule": "group, a", "speedup": 2.5, "error": 0.009},
        {"rule": "group, b", "speedup": 9.0, "error": 0.02},
        {"rule": "pair", "speedup": 50.0, "error": 0.0},
    ]
    assert tables.best_group({"rules": rules}) == "2.5, 0.9%"
    row = {"rule": "whole group", "speedup": 4.0, "mean error of a flow": 0.001}
    late = [{**row, "error of the last": e, "speedup": g} for e, g in ((0.02, 8.0), (0.004, 4.0))]
    assert tables.best_steady({"rates": late}) == "4, 0.4%"
    assert tables.best_steady({"rates": late[:1]}) == ""
    assert [tables.percent(x) for x in (0.123, 0.0994, 0.00012)] == ["12%", "9.9%", "0.012%"]
