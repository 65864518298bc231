"""What claims and figures of experiments compute from rows, by hand."""

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl
import pytest

from linkpool.experiments import rows
from linkpool.experiments.columns import columns, nothing
from linkpool.experiments.declared import Kept, Published
from linkpool.experiments.papers import EXPERIMENTS
from linkpool.experiments.scenarios import scenario, transport
from linkpool.study.point import Point
from linkpool.study.reproduce import shorten
from linkpool.study.statistics import Spread

DATA = pl.DataFrame(
    {
        "scheme": ["amp", "amp", "amp", "xmp", "xmp"],
        "seed": [2, 2, 1, 1, 2],
        "rate": [1.0, 5.0, 4.0, 10.0, None],
    }
)


def test_statistics_of_the_rows_with_keys() -> None:
    assert rows.values(DATA, "rate", scheme="xmp").tolist() == [10.0]
    assert rows.mean(DATA, "rate", scheme="amp") == pytest.approx(10 / 3)
    assert rows.median(DATA, "rate", scheme="amp") == 4.0
    assert rows.mean(DATA, "rate", scheme="amp", seed=2) == 3.0
    assert rows.mean(DATA, "rate", scheme="dcm") is None
    assert rows.median(DATA, "rate", scheme="xmp", seed=2) is None


def test_seeds_that_have_no_value_are_left_out() -> None:
    assert rows.by_seed(DATA, "rate", scheme="amp") == {2: 3.0, 1: 4.0}
    assert rows.by_seed(DATA, "rate", scheme="xmp") == {1: 10.0}
    most = pl.col("rate").max()
    assert rows.by_seed(DATA, most, scheme="amp") == {2: 5.0, 1: 4.0}
    none = pl.col("rate").sum() * float("nan")
    assert rows.by_seed(DATA, none) == {}


def test_code_computes_something_of_each_seed() -> None:
    def of(run: pl.DataFrame) -> float | None:
        return float(run.height) if run["scheme"][0] == "amp" else None

    assert rows.by_seed(DATA, of) == {2: 3.0, 1: 2.0}
    assert rows.by_seed(DATA, of, scheme="xmp") == {}
    assert rows.by_seed(DATA, of, scheme="dcm") == {}


def test_the_spread_is_over_seeds_not_over_rows() -> None:
    assert rows.spread(DATA, "rate", scheme="amp") == Spread(3.5, 3.0, 4.0)
    assert rows.spread(DATA, "rate", scheme="dcm") == Spread(None, None, None)


def test_ratios_and_differences_need_both() -> None:
    assert rows.ratio(3.0, 2.0) == 1.5
    assert rows.ratio(0.0, 2.0) == 0.0
    assert rows.ratio(3.0, 0.0) is rows.ratio(None, 2.0) is rows.ratio(3.0, None) is None
    assert rows.difference(3.0, 2.0) == 1.0
    assert rows.difference(None, 2.0) is rows.difference(3.0, None) is None


def test_how_a_span_is_written() -> None:
    assert rows.span([]) == "no data"
    assert rows.span([0.5, 0.123456, 2.0]) == "0.123 to 2"


def test_percentiles_lie_on_a_line_between_values() -> None:
    assert rows.percentile(DATA.select(rate=pl.Series([1.0, 2.0, None, 4.0])), "rate", 75) == 3.0
    assert rows.percentile(DATA.clear(), "rate", 50) is None


def test_columns_may_be_those_that_several_have() -> None:
    of_tab1 = columns("mmptcp", "M-tab1")
    assert [column.name for column in of_tab1[:5]] == [
        "rate_mbps",
        "long_percent",
        "scheme",
        "seed",
        "kind",
    ]
    empty = nothing(of_tab1)
    assert empty.height == 0
    assert empty.schema["rate_mbps"] == pl.Int32
    assert empty.schema["established"] == pl.Boolean


def test_a_transport_is_like_another() -> None:
    small = transport("ndp", {"like": "mptcp", "subflows": 4, "beta": 2}, min_rto="1ms")
    assert list(small)[:4] == ["control", "subflows", "paths", "min_rto"]
    assert (small["subflows"], small["min_rto"], small["beta"]) == (4, "1ms", 2)
    assert transport("xmp", "xmp-4") == {**transport("xmp", "xmp-2"), "subflows": 4}
    assert "like" not in transport("xmp", "xmp-4")


@dataclass(frozen=True)
class Made(Published):
    """An experiment whose attributes say what it runs, keeps, judges apart and cuts."""

    flows: int = 7
    duration_s: float = 2.0
    schemes: ClassVar = ("amp", "xmp")
    marks: ClassVar = (10, 20)
    over: ClassVar = ("schemes", "marks")
    apart: ClassVar = ("mark", "marks")
    said: ClassVar = "{flows} flows for {duration_s:g} s"
    cuts: ClassVar = {"flows": (0, 2), "duration_s": (2, 0.05)}
    kept: ClassVar = Kept("flows", ["rate"], pl.col("scheme") == "amp")
    columns: ClassVar = ()

    def point(self, seed: int, scheme: str, mark: int) -> Point:
        """Return a run without a scenario."""
        return Point({"scheme": scheme, "mark": mark}, "", seed)


WORDS: dict[str, Any] = dict.fromkeys(["first", "second", "every", "start", "until"], "1us")
WORDS |= {"transport": {"control": "amp"}, "dctcp": {"control": "dctcp"}}
MADE = Made("A-fig2", declared=EXPERIMENTS["A-fig2"])


def test_a_run_is_of_a_scenario_and_its_keys_are_words() -> None:
    run = MADE.run("shift", {"scheme": "amp", "delay": "2us"}, 3, 3.0, 1e6, **WORDS)
    assert (run.keys, run.seed, run.active_s) == ({"scheme": "amp", "delay": "2us"}, 3, 3.0)
    assert 'name = "traffic shifting, amp, 2us links"' in run.scenario
    like = scenario("xmp", "X-fig6", beta=5)["transport"]["xmp-3"]
    assert like == {**transport("xmp", "xmp-2"), "beta": 5, "subflows": 3, "join_at": ["5s", "15s"]}


def test_quantities_that_are_declared_may_use_each_other() -> None:
    quantities = {"rate": "1e-6 * mean bps", "gain": "rate scheme=amp / rate scheme=xmp"}
    made = Made("A-fig2", declared=EXPERIMENTS["A-fig2"]._replace(quantities=quantities))
    data = pl.DataFrame({"scheme": ["amp", "amp", "xmp"], "bps": [1e6, 5e6, 2e6]})
    assert made.quantity("gain")(data) == 1.5
    assert made.of("rate scheme=xmp")(data) == 2.0


def test_runs_are_all_combinations_the_first_attribute_outermost() -> None:
    runs = [(*point.keys.values(), point.seed) for point in MADE.points([3, 5])]
    assert runs[:4] == [("amp", 10, 3), ("amp", 10, 5), ("amp", 20, 3), ("amp", 20, 5)]
    assert len(runs) == 8
    assert list(MADE.parts()) == ["10", "20"]


def test_what_is_kept_of_a_run() -> None:
    class Run:
        flows = DATA

    kept = MADE.measure(MADE.points([1])[0], Run())  # type: ignore[arg-type]
    assert kept.to_dict(as_series=False) == {"rate": [1.0, 5.0, 4.0]}


@pytest.mark.parametrize(
    ("scale", "flows", "duration_s"), [(0.5, 4, 1.0), (0.1, 2, 0.2), (0.01, 2, 0.05)]
)
def test_what_is_cut_has_places_and_a_least_value(
    scale: float, flows: int, duration_s: float
) -> None:
    short, words = shorten(MADE, scale)
    assert isinstance(short, Made)
    assert (short.flows, short.duration_s) == (flows, duration_s)
    assert isinstance(short.flows, int)
    assert words == f"{flows} flows for {duration_s:g} s instead of 7 flows for 2 s"
