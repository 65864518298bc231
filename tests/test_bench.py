"""The benchmark tasks: scenarios that run, and series that differ in one thing."""

import re

import pytest

from linkpool import _core
from linkpool.bench.tasks import all_tasks, series, tasks


@pytest.mark.parametrize("name", all_tasks())
def test_every_task_is_a_scenario(name: str) -> None:
    _core.check(all_tasks()[name].scenario, name, None, [])


def test_names_tell_tasks_apart() -> None:
    assert len(all_tasks()) == len(tasks()) + len(series())


def test_rates_send_for_as_many_packet_times() -> None:
    found = []
    for name, task in series().items():
        if name.startswith("rate-"):
            milliseconds = re.search(r'duration = "(\d+)ms"', task.scenario)
            assert milliseconds is not None
            found.append(int(milliseconds.group(1)) * int(name.removeprefix("rate-")))
    assert set(found) == {2000}
