"""The claims of MMPTCP's tables: verdicts on data made to fit the paper, or not."""

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from linkpool.experiments import columns
from linkpool.experiments.mmptcp import mixed, phases, summary, sweeps, tables
from linkpool.study import pool
from linkpool.study.claims import Claim
from linkpool.study.experiment import Experiment
from tables import KINDS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Row(NamedTuple):
    """A row of a table of the paper: means and deviations, ms and Mbit/s; the core in per cent."""

    fct: float
    fct_sd: float
    goodput: float
    goodput_sd: float
    utilisation: float
    loss: float


def published(experiment: tables.Table, setting: str = "") -> dict[str, Row]:
    """Return the rows of a table of the paper, by scheme."""
    at = {"at": setting} if setting else {}
    rows = {row["scheme"]: row for row in experiment.table("row", **at)}
    return {name: Row(*(row[key] for key in Row._fields)) for name, row in rows.items()}


TAB1, TAB2, TAB3, TAB8 = (
    tables.Tab1.named("M-tab1"),
    tables.Tab2.named("M-tab2"),
    tables.Tab3.named("M-tab3"),
    tables.Tab8.named("M-tab8"),
)
TABLE_1 = {
    (rate, scheme): row
    for reading, (rate, _) in tables.LOADS.items()
    for scheme, row in published(TAB1, reading).items()
}
FLOWS = 100
SCHEMA = {column.name: KINDS[column.type] for column in mixed.COLUMNS}


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {c.id.partition(".")[2]: c.verdict.value for c in claims}


def run(row: Row, timeouts: Mapping[int, int] | None = None) -> pl.DataFrame:
    """Return what a run with the numbers of `row` gives; `timeouts`: how many flows met so many.

    Of n flows, n - 1 take x and one takes x + d: their mean is x + d / n, their variance d^2 / n.
    """
    met = [count for count, flows in (timeouts or {}).items() for _ in range(flows)]
    met = [0] * (FLOWS - len(met)) + met
    times, goodputs = spread(row.fct, row.fct_sd), spread(row.goodput, row.goodput_sd)
    short = [
        {"kind": "short", "established": True, "fct_established_s": t / 1e3, "timeouts": n}
        for t, n in zip(times, met, strict=True)
    ]
    long = [{"kind": "long", "established": True, "goodput_bps": 1e6 * g} for g in goodputs]
    # Two ports with different loads and the same shares.
    ports = [
        {
            "kind": "core",
            "utilisation": (row.utilisation + part) / 100,
            "offered": offered,
            "drops": round(offered * row.loss / 100),
        }
        for part, offered in ((-5.0, 10**7), (5.0, 3 * 10**7))
    ]
    return pl.DataFrame([*short, *long, *ports], schema=SCHEMA)


def spread(mean: float, sd: float) -> list[float]:
    d = sd * FLOWS**0.5
    x = mean - d / FLOWS
    return [x] * (FLOWS - 1) + [x + d]


def labelled(frame: pl.DataFrame, **keys: "str | int") -> pl.DataFrame:
    return frame.select(
        *[pl.lit(v).alias(k) for k, v in keys.items()], pl.lit(1).alias("seed"), "*"
    )


_TAIL = {3: 3, 25: 1}
TIMEOUTS = {"mptcp": _TAIL, "mptcp-faults": _TAIL, "mmptcp": {4: 1, 1: 5}}


def table_1(changes: Mapping[tuple[int, str], Row] | None = None) -> pl.DataFrame:
    rows = {**TABLE_1, **(changes or {})}
    return pl.concat(
        labelled(run(row, TIMEOUTS[scheme]), rate_mbps=rate, long_percent=percent, scheme=scheme)
        for rate, percent in tables.LOADS.values()
        for scheme, row in ((s, rows[rate, s]) for s in TAB1.schemes)
    )


def by_scheme(rows: Mapping[str, Row]) -> pl.DataFrame:
    return pl.concat(labelled(run(row), scheme=scheme) for scheme, row in rows.items())


QUANTITY = tables.Tab1.named("M-tab1").quantity


def test_invented_runs_have_the_numbers_asked_for() -> None:
    row = TABLE_1[1000, "mptcp"]
    cell = mixed.Cell(run(row))
    assert cell.fct.mean == pytest.approx(row.fct)
    assert cell.fct.sd == pytest.approx(row.fct_sd)
    assert cell.goodput.mean == pytest.approx(row.goodput)
    assert cell.utilisation == pytest.approx(row.utilisation)
    assert cell.loss == pytest.approx(row.loss)
    assert QUANTITY("dropped")(cell.rows) == pytest.approx(row.loss)


def test_loss_of_ports_and_of_packets_are_told_apart() -> None:
    ports = [
        {"kind": "core", "offered": 100, "drops": 10},
        {"kind": "core", "offered": 900, "drops": 0},
        {"kind": "core", "offered": 0, "drops": 0},
    ]
    cell = mixed.Cell(pl.DataFrame(ports, schema=SCHEMA))
    assert cell.loss == pytest.approx(5.0)
    assert QUANTITY("dropped")(cell.rows) == pytest.approx(1.0)


def test_flows_in_their_handshake_do_not_count_and_are_told() -> None:
    flows = [
        {"kind": "short", "established": True, "fct_established_s": 0.1, "timeouts": 0},
        {"kind": "short", "established": True, "fct_established_s": None, "timeouts": 2},
        {"kind": "short", "established": False, "fct_established_s": None, "timeouts": 7},
    ]
    cell = mixed.Cell(pl.DataFrame(flows, schema=SCHEMA))
    assert cell.fct.count == 1
    assert str(cell) == "100 ms, 1 unfinished, 1 not established"
    assert (cell.short["timeouts"] > 1).mean() == 0.5


def flows_of(random: np.random.Generator, count: int) -> pl.DataFrame:
    """Return `count` short flows, of which some never end or never begin, long ones and ports."""
    rows: list[dict[str, object]] = []
    for _ in range(count):
        short = {
            "kind": "short",
            "established": random.random() < 0.9,
            "fct_established_s": random.exponential() if random.random() < 0.8 else None,
            "timeouts": int(random.integers(3)),
        }
        if not short["established"]:
            short["fct_established_s"] = None
        offered = int(random.integers(4)) * 10
        drops = int(random.integers(offered + 1))
        core = {"kind": "core", "utilisation": random.random(), "offered": offered, "drops": drops}
        rows += [short, {"kind": "long", "goodput_bps": random.uniform(1e6, 9e7)}, core]
    return pl.DataFrame(rows, schema=SCHEMA)


def test_summaries_of_runs_say_of_all_flows_the_same_as_the_flows() -> None:
    random = np.random.default_rng(1)
    for sizes in ((50, 1, 200), (1,), (1, 1), (2, 3)):
        runs = [flows_of(random, size) for size in sizes]
        whole = mixed.Cell(pl.concat(runs))
        cell = summary.Cell(pl.concat(summary.summarise(run) for run in runs))
        for of_all, pooled in ((whole.fct, cell.fct), (whole.goodput, cell.goodput)):
            assert pooled.count == of_all.count
            assert pooled.mean == pytest.approx(of_all.mean)
            assert pooled.sd == pytest.approx(of_all.sd)
        assert cell.utilisation == pytest.approx(whole.utilisation)
        assert cell.loss == pytest.approx(whole.loss)
        assert QUANTITY("with-timeout")(cell.rows) == (whole.short["timeouts"] > 0).mean()
        assert str(cell) == str(whole)


def test_no_run_has_no_numbers() -> None:
    nothing = summary.Cell(columns.nothing(summary.COLUMNS))
    assert nothing.fct.mean is nothing.goodput.sd is nothing.loss is None
    assert QUANTITY("with-timeout")(nothing.rows) is None
    assert str(nothing) == str(mixed.Cell(columns.nothing(mixed.COLUMNS))) == "no finished flow"


def figure_1(timeouts: int) -> pl.DataFrame:
    """Return M-fig1: with eight subflows twice the goodput, and so many flows with a timeout."""
    parts = []
    for point in sweeps.Fig1.named("M-fig1").points([1]):
        row = TABLE_1[100, "mptcp"]
        met = {1: timeouts}
        if point.keys["subflows"] == 1:
            row, met = row._replace(goodput=row.goodput / 2, fct=row.fct / 1.2, fct_sd=1.0), {1: 10}
        parts.append(pool.labelled(point, summary.summarise(run(row, met))))
    return pl.concat(parts)


@pytest.mark.parametrize(("timeouts", "verdict"), [(16, "reproduced"), (12, "partly"), (9, "not")])
def test_figure_1_is_judged(timeouts: int, verdict: str) -> None:
    found = verdicts(sweeps.Fig1.named("M-fig1").claims(figure_1(timeouts)))
    assert found.pop("timeouts@1:1") == found.pop("timeouts-faults@4:1") == verdict
    assert found["doubles@4:1"] == found["sd-faults@1:1"] == "reproduced"
    assert found["mean@1:1"] == "partly"


@pytest.mark.parametrize(
    ("experiment", "data", "count"),
    [
        (tables.Tab1.named("M-tab1"), table_1(), 62),
        (tables.Tab2.named("M-tab2"), by_scheme(published(TAB2)), 29),
        (tables.Tab3.named("M-tab3"), by_scheme(published(TAB3)), 37),
    ],
    ids=["M-tab1", "M-tab2", "M-tab3"],
)
def test_the_papers_own_tables_reproduce(
    experiment: Experiment, data: pl.DataFrame, count: int
) -> None:
    found = verdicts(experiment.claims(data))
    assert set(found.values()) == {"reproduced"}
    assert len(found) == count


@pytest.mark.parametrize(
    ("changes", "claim", "verdict"),
    [
        ({"fct": 96.0}, "fct-mmptcp@100Mbps", "reproduced"),
        ({"fct": 80.0}, "fct-mmptcp@100Mbps", "partly"),
        ({"fct": 50.0}, "fct-mmptcp@100Mbps", "not"),
        ({"fct_sd": 300.0}, "no-tail@100Mbps", "partly"),
        ({"fct_sd": 430.0}, "no-tail@100Mbps", "not"),
        ({"goodput": 50.0}, "goodput-mmptcp@100Mbps", "partly"),
        ({"goodput": 55.0}, "goodput-alike@100Mbps", "partly"),
        ({"goodput": 45.0}, "goodput-alike@100Mbps", "not"),
        ({"fct": 95.0}, "shorter@100Mbps", "not"),  # three times the effect
        ({"fct": 110.0}, "shorter@100Mbps", "partly"),
        ({"fct": 123.0}, "shorter@100Mbps", "not"),
        ({"fct": 130.0}, "shorter@100Mbps", "not"),
        ({"loss": 0.001}, "loss-mmptcp@100Mbps", "not"),
        ({"utilisation": 60.0}, "core-mmptcp@100Mbps", "partly"),
    ],
)
def test_table_1_is_judged(changes: dict[str, float], claim: str, verdict: str) -> None:
    row = TABLE_1[100, "mmptcp"]._replace(**changes)
    assert verdicts(TAB1.claims(table_1({(100, "mmptcp"): row})))[claim] == verdict


def test_orders_of_tables_2_and_3_are_judged() -> None:
    tcp = published(TAB2)["tcp"]._replace(utilisation=90.0, loss=0.00005)
    found = verdicts(TAB2.claims(by_scheme({**published(TAB2), "tcp": tcp})))
    assert found["tcp-worst"] == "not"
    assert found["ps-best"] == "partly"  # by its completion times
    ps_tcp = published(TAB3)["ps-tcp"]._replace(fct=42.0, goodput=56.0)
    found = verdicts(TAB3.claims(by_scheme({**published(TAB3), "ps-tcp": ps_tcp})))
    assert found["scatter-beside-tcp"] == "not"
    assert found["scatter-suffers"] == "not"
    assert found["mmptcp-shorter"] == "reproduced"


@pytest.mark.parametrize(
    ("shorter", "verdict"),
    [((2.0, 2.2, 1.8), "reproduced"), ((9.0, 2.0, -4.0), "partly"), ((-1.0, -2.0, 1.0), "not")],
)
def test_a_lower_mean_is_lower_over_the_seeds(
    shorter: tuple[float, float, float], verdict: str
) -> None:
    """By a fiftieth of the mean, which single seeds may or may not show."""
    row = TABLE_1[100, "mmptcp"]
    parts = []
    for seed, less in enumerate(shorter, 1):
        for scheme, fct in (("mmptcp", row.fct), ("mmptcp-as", row.fct - less)):
            one = labelled(run(row._replace(fct=fct)), scheme=scheme)
            parts.append(one.with_columns(seed=pl.lit(seed)))
    found = verdicts(phases.Fig10.named("M-fig10").claims(pl.concat(parts)))
    assert found["mean"] == found["tail-99"] == verdict
    assert found["goodput"] == "reproduced"


@pytest.mark.parametrize(
    ("uncoupled", "fully", "verdict"),
    [
        ((300.0, 310.0), (140.0, 141.0), "reproduced"),
        ((300.0, 310.0), (110.0, 111.0), "partly"),
        ((100.0, 110.0), (140.0, 141.0), "not"),  # the largest is another's
    ],
)
def test_tails_of_table_8_by_order(
    uncoupled: tuple[float, float], fully: tuple[float, float], verdict: str
) -> None:
    means = {"mmptcp-uc": uncoupled, "mmptcp-fc": fully, "mmptcp": (120.0, 121.0)}
    parts = []
    for scheme, by_seed in means.items():
        for seed, fct in enumerate(by_seed, 1):
            row = published(TAB8)[scheme]._replace(fct=fct)
            one = labelled(run(row), scheme=scheme)
            parts.append(one.with_columns(seed=pl.lit(seed)))
    assert verdicts(TAB8.claims(pl.concat(parts)))["tails"] == verdict


def test_access_loss_of_table_8_is_a_mean_of_ports_and_told_of_all_packets() -> None:
    """Ports lose 0.08% of 100,000 packets, and 0.002% of 400,000; one offers none.

    Their mean is 0.041%, the paper's; of all 500,000 packets 88 are lost, 0.0176%.
    """
    ports = [(80, 100_000), (8, 400_000), (0, 0)]
    access = [{"kind": "access", "offered": n, "drops": drops} for drops, n in ports]
    data = pl.concat(
        [
            labelled(
                pl.concat([run(row), pl.DataFrame(access, schema=SCHEMA)]), scheme=scheme
            ).with_columns(seed=pl.lit(1))
            for scheme, row in published(TAB8).items()
        ]
    )
    found = {c.id.partition(".")[2]: c for c in TAB8.claims(data)}
    claim = found["access-mmptcp-uc"]
    assert (claim.measured, claim.verdict.value) == (
        "0.041%; of all packets 0.0176%",
        "reproduced",
    )
    assert found["access-mmptcp"].verdict.value == "not", "the paper has 0.007%"


def figure_9(core: float, later: Sequence[float] = (1.0,)) -> pl.DataFrame:
    """Return Table 3 at every load; MMPTCP uses the core so many times as much as others.

    Its flows take so many ms more than those beside MPTCP at the highest load, and less before.
    """
    parts = []
    for load in sweeps.Fig9.named("M-fig9").loads:
        for seed, ms in enumerate(later, 1):
            for scheme in sweeps.Fig9.named("M-fig9").pairs:
                row = published(TAB3)["mmptcp"]._replace(utilisation=60.0)
                if scheme == "mmptcp":
                    more = ms if load == max(sweeps.Fig9.named("M-fig9").loads) else -1.0
                    row = row._replace(utilisation=60.0 * core, fct=row.fct + more)
                part = labelled(summary.summarise(run(row)), load=load, scheme=scheme)
                parts.append(part.with_columns(seed=pl.lit(seed)))
    return pl.concat(parts)


@pytest.mark.parametrize(("core", "verdict"), [(1.04, "reproduced"), (1.06, "not")])
def test_figure_9_equally_well_is_within_a_twentieth(core: float, verdict: str) -> None:
    assert verdicts(sweeps.Fig9.named("M-fig9").claims(figure_9(core)))["core-alike"] == verdict


@pytest.mark.parametrize(
    ("later", "verdict"), [((3.0, 3.3), "reproduced"), ((5.0, -1.0), "partly")]
)
def test_figure_9_crosses_over_the_seeds(later: tuple[float, float], verdict: str) -> None:
    assert (
        verdicts(sweeps.Fig9.named("M-fig9").claims(figure_9(1.0, later)))["mmptcp-crosses"]
        == verdict
    )


def figure_3(loss: float, slope: float = 1.0) -> pl.DataFrame:
    """Return Table 3 at every degree; MMPTCP has this loss, that of TCP grows to `slope` times."""
    parts = []
    for degree in sweeps.Fig3.named("M-fig3").degrees:
        rows = {scheme: published(TAB3)[scheme] for scheme in tables.PAIRS}
        rows["mmptcp"] = rows["mmptcp"]._replace(loss=loss)
        grown = 1 + (slope - 1) * degree / max(sweeps.Fig3.named("M-fig3").degrees)
        for scheme in ("tcp", "ps-tcp"):
            rows[scheme] = rows[scheme]._replace(loss=rows[scheme].loss * grown)
        if degree == max(sweeps.Fig3.named("M-fig3").degrees):
            rows["tcp"] = rows["tcp"]._replace(fct=80.5, fct_sd=214.0)
        parts += [
            labelled(summary.summarise(run(row)), degree=degree, scheme=scheme)
            for scheme, row in rows.items()
        ]
    return pl.concat(parts)


def test_figure_3_as_the_text_has_it() -> None:
    found = verdicts(sweeps.Fig3.named("M-fig3").claims(figure_3(0.00001, slope=2.0)))
    assert set(found.values()) == {"reproduced"}
    assert len(found) == 9


def test_figure_3_by_table_3_contradicts_the_text() -> None:
    found = verdicts(sweeps.Fig3.named("M-fig3").claims(figure_3(0.0105)))
    assert found["mmptcp-loss"] == "not"
    assert {found["rises-tcp"], found["rises-ps-tcp"]} == {"not"}
    assert found["mmptcp-goodput"] == "reproduced"


def test_hotspots_are_short_queues_of_core_switches() -> None:
    points = {p.name: tomllib.loads(p.scenario) for p in sweeps.Fig3.named("M-fig3").points([1])}
    assert len(points) == 7 * 5
    assert "change" not in points["degree 0, scheme tcp"]
    change = points["degree 30, scheme tcp"]["change"]
    assert change == [{"layer": "core", "share": 0.3, "limit": 10}]
    transports = points["degree 0, scheme ps-tcp"]["transport"]
    assert transports["ps"]["paths"] == "scatter"
    assert sorted(transports) == ["ps", "tcp"]
    for document in points.values():
        assert document["roles"] == {"long": 168}
        assert document["workload"]["poisson"][0]["flows_per_second"] == 2560


def test_tables_share_the_runs_that_they_have_in_common() -> None:
    one = {p.scenario for p in TAB1.points([1])}
    two = {p.scenario for p in TAB2.points([1])}
    three = {p.scenario for p in TAB3.points([1])}
    hotspots = {p.scenario for p in sweeps.Fig3.named("M-fig3").points([1])}
    assert len(one & two) == 3
    assert len(three & hotspots) == len(tables.PAIRS)
