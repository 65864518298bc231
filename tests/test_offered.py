"""What is said of the load that workloads offer to each tier."""

from pathlib import Path

import pytest

from linkpool import api, loading
from linkpool.offered import TierLoad, remarks

TREE = """
duration = "1ms"
[topology.fat-tree]
k = 4
hosts_per_edge = 8
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "reno"
[[workload.poisson]]
transport = "t"
size = "10KB"
load = 0.6
"""


def test_a_tier_that_cannot_carry_its_load_is_named() -> None:
    access = TierLoad("host", "edge", 0.6, 0.6)
    uplinks = TierLoad("edge", "core", 2.4, 2.4)
    assert remarks([]) == []
    assert remarks([access]) == ["offered load (payload over capacity): host->edge 0.60"]
    said, warning = remarks([access, uplinks])
    assert said.endswith("host->edge 0.60, edge->core 2.40")
    assert warning.startswith("warning: edge->core is offered 2.40 times what it carries")
    assert 'load_of = "edge->core"' in warning


def test_a_tier_is_warned_of_by_its_own_load() -> None:
    warning = remarks([TierLoad("edge", "core", 2.0, 4.03)])[1]
    assert "edge->core is offered 2.00 times what it carries (a link of it 4.03 times)" in warning


def test_a_link_may_be_fuller_than_its_tier() -> None:
    said, warning = remarks([TierLoad("switch", "switch", 0.4, 1.2)])
    assert said.endswith("switch->switch 0.40 (busiest link 1.20)")
    assert warning.startswith("warning: a link of switch->switch is offered 1.20 times")
    assert warning.endswith("lower the load")
    assert remarks([TierLoad("switch", "switch", 0.4, 0.41)]) == [
        "offered load (payload over capacity): switch->switch 0.40"
    ]
    assert len(remarks([TierLoad("switch", "switch", 1.0, 1.0)])) == 1


@pytest.mark.core
def test_a_scenario_offers_what_its_result_says(tmp_path: Path) -> None:
    file = tmp_path / "tree.toml"
    file.write_text(TREE, encoding="utf-8")
    scenario = loading.load(file, overrides=[])
    loads = [TierLoad(*tier) for tier in scenario.offered_loads()]
    # 64 hosts on 16 uplinks of one rate, of 63 other hosts 56 in other racks.
    assert loads[1].name == "edge->aggregation"
    assert loads[1].load == pytest.approx(0.6 * 4 * 56 / 63)
    result = api.simulate_loaded(scenario, tmp_path / "out", None, 1)
    assert result.offered == loads
    assert result.tiers["rate_bps"][0] == 64 * 10e9
