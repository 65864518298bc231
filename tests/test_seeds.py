"""What another seed changes in a scenario, and what it leaves, in words."""

import pytest

from linkpool.study.seeds import varied

HASHES = "hashes by which paths are chosen"


@pytest.mark.parametrize(
    ("routing", "first"),
    [
        ({}, HASHES),
        ({"kind": "ecmp"}, HASHES),
        ({"kind": "two-level"}, HASHES),
        ({"kind": "spray"}, "random choices of paths"),
    ],
)
def test_routing_that_draws_for_each_packet_is_told(routing: dict[str, str], first: str) -> None:
    assert varied({"routing": routing})[0][0] == first


@pytest.mark.parametrize(
    ("change", "is_drawn"),
    [
        ({"links": ["a<->b"]}, False),
        ({"links": ["*"], "share": 1}, False),
        ({"links": ["*"], "share": 0}, False),
        ({"links": ["*"], "share": 0.5}, True),
        ({"links": ["*"], "count": 2}, True),
    ],
)
def test_links_are_drawn_where_some_of_several_change(
    change: dict[str, object], is_drawn: bool
) -> None:
    changed, same = varied({"change": [change]})
    assert ("which links change" in changed) == is_drawn
    assert ("which links change" in same) != is_drawn
    assert "which packets are lost on the wire" not in changed
    for loss in ("loss", "bit_errors"):
        assert "which packets are lost on the wire" in varied({"change": [{loss: 0.1}]})[0]


@pytest.mark.parametrize(
    ("tables", "what"),
    [
        ([{"size": "1MB"}, {"size": {"mean": "1MB"}}], "sizes"),
        ([{}, {"jitter": "1us"}], "starts"),
        ([{"placement": "random"}], "hosts of ranks"),
        ([{"stragglers": {"number": 1}}], "stragglers"),
        ([{"failures": {"mtbf": "1s"}}], "failures"),
    ],
)
def test_what_a_workload_draws_is_told(tables: list[dict[str, object]], what: str) -> None:
    assert varied({"workload": {"flow": tables}})[0][2:] == [f"{what} of flow"]
