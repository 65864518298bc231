"""How the cores are shared out, and how progress lines say so."""

import pytest

from linkpool.cores import describe, explain, share


@pytest.mark.parametrize(
    ("runs", "cores", "each", "how"),
    [
        (0, 2, 2, "all made before"),
        (1, 2, 2, "each on up to 2 threads"),
        (2, 2, 1, "2 at a time"),
        (3, 8, 2, "each on up to 2 threads"),
        (9, 8, 1, "8 at a time"),
        (3, 4, 1, "3 at a time"),
    ],
)
def test_few_runs_share_the_cores_that_many_take_one_by_one(
    runs: int, cores: int, each: int, how: str
) -> None:
    assert share(runs, cores) == each
    assert describe(runs, cores) == how


def test_a_lone_simulation_says_why_it_has_its_threads() -> None:
    assert explain(1024, 2, 2, None) == "on 2 threads (1,024 hosts, all cores)"
    assert explain(12, 1, 2, None) == "on 1 thread (12 hosts, one per 64 that send or receive)"
    assert explain(12, 1, 2, 2) == "on 2 threads (as asked)"
