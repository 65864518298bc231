"""Figures: their data against values by hand, their files, what is said of missing data."""

import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from linkpool.cli.plot import plot as plot_command
from linkpool.figures import look
from linkpool.figures.kind import FigureError, Kind, Request
from linkpool.figures.kinds import KINDS
from linkpool.figures.kinds import sweep as sweep_kind
from linkpool.figures.plot import FORMATS, HEIGHT, content, plot, render
from linkpool.figures.thin import extremes, order_statistics
from linkpool.result import NotRecordedError, Result
from linkpool.study.arms import Arm, arms_of, short_names
from tables import finished, table, unfinished, write_result
from test_cli import Captured, call


def result(directory: Path, flows: list[dict[str, object]], **series: pl.DataFrame) -> Path:
    numbered = [{"flow": i, **flow} for i, flow in enumerate(flows)]
    write_result(directory, table("flows", numbered), **series)
    return directory


def data(kind: str, *directories: Path, **more: object) -> pl.DataFrame:
    return KINDS[kind].data(Request(arms_of(directories), **more))  # type: ignore[arg-type]


def test_unfinished_flows_keep_the_curve_below_one(tmp_path: Path) -> None:
    flows = [finished(0.3), finished(0.1), unfinished(0.5), finished(0.2)]
    left_out = finished(0.05, measured=False)
    rows = data("fct-cdf", result(tmp_path, [*flows, left_out]))
    assert rows["fct_s"].to_list() == [0.1, 0.2, 0.3]
    assert rows["share"].to_list() == [0.25, 0.5, 0.75]
    assert set(rows["series"]) == {"t"}


def test_series_are_named_by_what_differs(tmp_path: Path) -> None:
    one = result(tmp_path / "one", [finished(0.1), finished(0.2, transport="u")])
    two = result(tmp_path / "two", [finished(0.1)])
    assert set(data("fct-cdf", one)["series"]) == {"t", "u"}
    assert set(data("fct-cdf", one, two)["series"]) == {"one, t", "one, u", "two, t"}
    assert set(data("fct-cdf", one, by="label")["series"]) == {"incast"}


def test_thousands_have_commas_at_every_axis() -> None:
    """At a logarithmic axis, at one with equal steps, and not in names."""
    with look.context():
        figure = Figure()
        even, logarithmic = figure.subplots(1, 2)
        even.plot([0, 12_000], [0, 3.5])
        even.set_yticks([0, 1], ["arm 2000", "1000"])
        logarithmic.plot([1, 20_000], [1, 1])
        look.log(logarithmic, "x")
        content(figure, ".svg")
        shown = [[t.get_text() for t in axes.get_xticklabels()] for axes in (even, logarithmic)]
        names = [t.get_text() for t in even.get_yticklabels()]
    assert "800" in shown[1] or "100" in shown[1]
    assert "10,000" in shown[0]
    assert "10,000" in shown[1]
    assert names == ["arm 2000", "1000"]


def test_slowdowns_by_size(tmp_path: Path) -> None:
    small = [finished(1.0, size=1000, slowdown=s) for s in np.linspace(1, 3, 101)]
    large = [finished(1.0, size=5000, slowdown=s) for s in (4.0, 6.0)]
    large += [finished(1.0, size=5000)]  # its slowdown is not known
    rows = data("slowdown", result(tmp_path, small + large))
    assert rows["upto_bytes"].to_list() == [1000, 5000]
    assert rows["flows"].to_list() == [101, 2]
    assert rows["p50"].to_list() == pytest.approx([2.0, 5.0])
    for name, value in (("p5", 1.1), ("p95", 2.9), ("p99", 2.98)):
        assert rows[name].to_list() == [pytest.approx(value), None], "two flows have a median only"
    assert rows["unfinished"].sum() == 0
    assert not rows.select(pl.any_horizontal(pl.selectors.ends_with("_at_least").any())).item()


def test_slowdowns_of_unfinished_flows_are_lower_bounds(tmp_path: Path) -> None:
    """Of 100 flows, five had taken 20 times their ideal time, and will take longer."""
    flows = [finished(1.0, slowdown=1.0 + i) for i in range(95)]
    flows += [unfinished(2.0, ideal_fct_s=0.1) for _ in range(5)]
    rows = data("slowdown", result(tmp_path, flows))
    assert rows.select("flows", "unfinished").row(0) == (100, 5)
    # In order: 1 to 20, five times 20, then 21 to 95.
    assert rows.select("p5", "p50", "p95", "p99").row(0) == pytest.approx(
        (5.95, 45.5, 90.05, 94.01)
    )
    marks = rows.select(f"p{p}_at_least" for p in (5, 50, 95, 99)).row(0)
    assert marks == (False, True, True, True)
    drawn = render(KINDS["slowdown"], rows, ".svg").decode()
    assert "5 of 100 unfinished" in drawn
    assert "at least (unfinished)" in drawn


def test_unfinished_flows_are_counted_in_legends(tmp_path: Path) -> None:
    for kind in ("fct-cdf", "goodput"):
        rows = data(kind, result(tmp_path, [finished(0.3), finished(0.1), unfinished(0.5)]))
        assert "1 of 3 unfinished" in render(KINDS[kind], rows, ".svg").decode()
    arms = arms_of(
        [
            result(tmp_path / name, [finished(0.1)] * 3 + [unfinished(0.5)] * count)
            for name, count in (("a", 0), ("b", 2))
        ]
    )
    rows = KINDS["fct-cdf"].data(Request(arms))
    drawn = render(KINDS["fct-cdf"], rows, ".svg").decode()
    assert "b: 2 of 5 unfinished" in drawn
    assert "a: " not in drawn
    three = pl.DataFrame({"series": list("abc"), "unfinished": [1, 2, 3], "flows": [4, 5, 6]})
    (line,) = look.unfinished(three)
    assert line.get_label() == "6 of 15 flows unfinished", "more would leave the figure no room"


def test_classes_of_sizes_hold_all_flows_once(tmp_path: Path, rng: random.Random) -> None:
    sizes = [int(10 ** rng.uniform(2, 7)) for _ in range(997)]
    flows = [finished(1.0, size=size, slowdown=1.0) for size in sizes]
    rows = data("slowdown", result(tmp_path, flows))
    assert rows["flows"].sum() == 997
    assert rows["upto_bytes"][-1] == max(sizes)
    for low, high, count in zip(
        [0, *rows["upto_bytes"]], rows["upto_bytes"], rows["flows"], strict=False
    ):
        assert sum(low < size <= high for size in sizes) == count


def test_goodputs_are_ranked(tmp_path: Path) -> None:
    unlimited = unfinished(2.0, size=None, measured_bytes=1000, measured_s=1.0)
    rows = data("goodput", result(tmp_path, [finished(0.5, size=1000), unlimited]))
    assert rows["goodput_bps"].to_list() == [8000.0, 16000.0]
    assert rows["rank"].to_list() == [1, 2]


def queue(lengths: list[int], link: str = "A->B") -> pl.DataFrame:
    rows = [{"time_s": i / 100, "link": link, "queue_pkts": n} for i, n in enumerate(lengths)]
    return table("queue", rows)


def test_queue_lengths_by_time(tmp_path: Path) -> None:
    rows = data("queue-cdf", result(tmp_path, [finished(0.1)], queue=queue([0, 0, 3, 5])))
    assert rows["queue_pkts"].to_list() == [0, 3, 5]
    assert rows["share"].to_list() == [0.5, 0.75, 1.0]
    late = data("queue-cdf", tmp_path, start=0.02)
    assert late["queue_pkts"].to_list() == [3, 5]


def test_of_many_queues_the_longest_are_drawn(tmp_path: Path) -> None:
    """Link 0 has the shortest queue and link 8 the longest; all of them are in the table."""
    several = pl.concat([queue([0, n], f"A->{n}") for n in range(9)])
    rows = data("queue-cdf", result(tmp_path, [finished(0.1)], queue=several))
    assert rows["link"].n_unique() == 9
    figure = drawn("queue-cdf", rows)
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == [f"A->{n}" for n in range(2, 9)]
    title = " ".join(figure.legends[0].get_title().get_text().split())
    assert title == "7 of 9 curves drawn, those with the longest queues"
    few = drawn("queue-cdf", rows.filter(pl.col("link") > "A->1"))
    assert few.legends[0].get_title().get_text() == ""


def test_utilisation_is_that_of_the_links(tmp_path: Path) -> None:
    links = table(
        "links",
        [{"layer": "edge", "to_layer": "core", "utilisation": u} for u in (0.1, 0.2, 0.6)],
    )
    write_result(tmp_path, table("flows", [finished(0.1)]), links)
    (row,) = data("utilisation", tmp_path).to_dicts()
    assert (row["links"], row["mean"], row["max"]) == (3, pytest.approx(0.3), 0.6)


def windows(flows: list[int], samples: int = 12) -> pl.DataFrame:
    rows = [
        {"time_s": t / 1000, "flow": f, "subflow": s, "cwnd_pkts": float(t), "suppressed": t > 5}
        for t in range(samples)
        for f in flows
        for s in (0, 1)
    ]
    return table("cwnd", rows)


def test_the_slowest_flow_is_shown_unless_one_is_named(tmp_path: Path) -> None:
    flows = [finished(0.1, slowdown=s) for s in (2.0, 9.0, 4.0)]
    result(tmp_path, flows, cwnd=windows([0, 1, 2]))
    assert data("windows", tmp_path)["flow"].unique().to_list() == [1]
    assert data("windows", tmp_path, flows=[2, 0])["flow"].unique().sort().to_list() == [0, 2]
    with pytest.raises(FigureError, match="no samples of flow 7"):
        data("windows", tmp_path, flows=[7])


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("windows", "cwnd"),
        ("rates", "rate"),
        ("rtts", "rtt"),
        ("queues", "queue"),
        ("queue-cdf", "queue"),
    ],
)
def test_what_was_not_recorded_is_said_with_the_remedy(tmp_path: Path, kind: str, key: str) -> None:
    links = table("links", [{"link": "A->B", "max_queue_pkts": 3}, {"link": "C->D"}])
    write_result(tmp_path, table("flows", [finished(0.1)]), links)
    with pytest.raises(NotRecordedError) as error:
        data(kind, tmp_path)
    message = str(error.value)
    assert f"needs record.{key}" in message
    more = ', links=["A->B"]' if key == "queue" else ""
    assert f"--set 'record.{key}={{every=\"1ms\"{more}}}'" in message


def test_thinning_keeps_extremes(rng: random.Random) -> None:
    values = [rng.random() for _ in range(5000)]
    rows = pl.DataFrame({"line": 0, "t": [i / 10 for i in range(5000)], "v": values})
    thin = extremes(rows, "line", "t", "v", 400)
    assert 100 < thin.height <= 400
    assert (thin["v"].min(), thin["v"].max()) == (min(values), max(values))
    assert (thin["t"][0], thin["t"][-1]) == (0.0, 499.9)
    assert thin["t"].is_sorted()
    assert thin.join(rows, on=["t", "v"]).height == thin.height, "each is a sample that was there"
    kept, ranks = order_statistics(np.array(values), 100)
    assert (kept[0], kept[-1], ranks[0], ranks[-1]) == (min(values), max(values), 1, 5000)


def everything(directory: Path) -> Path:
    """Write a result of which every kind can be drawn."""
    flows = [finished(0.1 * (1 + i % 5), slowdown=1.0 + i, size=1000 * 3**i) for i in range(9)]
    links = [
        {"link": "A->B", "layer": "host", "to_layer": "edge", "utilisation": 0.5},
        {"link": "B->A", "layer": "edge", "to_layer": "host", "utilisation": 0.2},
    ]
    cwnd = windows([8])
    common = cwnd.select("time_s", "flow", "subflow")
    numbered = [{"flow": i, **flow} for i, flow in enumerate(flows)]
    write_result(
        directory,
        table("flows", numbered),
        table("links", links),
        cwnd=cwnd,
        queue=queue([0, 4, 2, 8]),
        rate=common.with_columns(goodput_bps=2e9 * pl.col("time_s")),
        rtt=common.with_columns(rtt_s=1e-5 + pl.col("time_s")),
    )
    return directory


OF_RESULTS = [kind for name, kind in KINDS.items() if name not in ("sweep", "pareto")]


@pytest.mark.parametrize("kind", OF_RESULTS, ids=[kind.name for kind in OF_RESULTS])
def test_every_kind_is_drawn_with_its_data_beside_it(tmp_path: Path, kind: Kind) -> None:
    request = Request(arms_of([everything(tmp_path / "r")]))
    for suffix in FORMATS:
        table = plot(kind, request, tmp_path / f"figure{suffix}")
        assert pl.read_csv(table).height == kind.data(request).height > 0
    svg = (tmp_path / "figure.svg").read_text()
    assert re.search(rf'width="{look.COLUMN * 72:g}pt"', svg), "as wide as a column"
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    pixels = matplotlib.image.imread(tmp_path / "figure.png")[..., :3]
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edge == 1).all(), "nothing is cut off at the edge"
    assert (pixels.min(axis=2) < 0.9).mean() > 0.005, "something is drawn"


def test_the_same_data_gives_the_same_file(tmp_path: Path) -> None:
    rows = data("slowdown", everything(tmp_path))
    for suffix in FORMATS:
        assert render(KINDS["slowdown"], rows, suffix) == render(KINDS["slowdown"], rows, suffix)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_series_differ_without_colour_too() -> None:
    found = look.looks(pl.Series(range(7))).values()
    assert len({(one.dash, one.marker) for one in found}) == 7
    assert len({one.dot for one in found}) == len({one.hatch for one in found}) == 7
    assert all(1.05 / (luminance(one.colour) + 0.05) > 2 for one in found), "seen on white"


def test_help_and_documentation_explain_every_kind() -> None:
    explained = re.findall(r"^ +- `([a-z-]+)`: \w", plot_command.__doc__ or "", re.MULTILINE)
    assert explained == list(KINDS)
    page = (Path(__file__).parents[1] / "docs" / "figures.md").read_text(encoding="utf-8")
    kinds = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`([a-z-]+)`", "".join(kinds))) == sorted(KINDS)


def test_names_are_as_short_as_can_be(tmp_path: Path) -> None:
    assert short_names([tmp_path / "a" / "x", tmp_path / "b" / "x"]) == ["a/x", "b/x"]
    assert short_names([tmp_path / "a" / "x", tmp_path / "b" / "y"]) == ["x", "y"]


def linkpool(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linkpool", "plot", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_plot_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    directory = everything(tmp_path / "r")
    done = linkpool(directory, "queues", "--until", "20ms", "-o", tmp_path / "q.png")
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(tmp_path / "q.csv")["queue_pkts"].to_list() == [0, 4, 2]
    for arguments, said in (
        ((directory, "pie"), "no kind of figure is named 'pie'; there are fct-cdf, "),
        ((directory, "goodput", "-o", "x.gif"), "write a name that ends in .svg, .png, .pdf"),
        (
            (directory, "queues", "--from", "3 days"),
            '--from: "3 days": "days" is no unit of a time',
        ),
        ((tmp_path / "none", "goodput"), "there is no directory"),
    ):
        assert call(monkeypatch, "plot", *arguments) == 2
        assert said in capsys.readouterr().err


def test_a_sweep_is_over_the_seeds(tmp_path: Path) -> None:
    arms = []
    for mark, fcts in ((10, (0.1, 0.3)), (20, (0.2, 0.4))):
        of = [result(tmp_path / f"{mark}-{fct}", [finished(fct)]) for fct in fcts]
        results = tuple(arm.results[0] for arm in arms_of(of))
        arms.append(Arm(f"mark {mark}", results, {"arm": "base", "queue.mark": mark}))
    rows = KINDS["sweep"].data(Request(arms, measures=["fct.mean@all"]))
    assert rows["setting"].to_list() == [10, 20]
    assert rows["mean"].to_list() == pytest.approx([0.03**0.5, 0.08**0.5])
    # Student's t with one degree of freedom, times half the difference of the logarithms.
    factors = [np.exp(12.7062 * np.log(ratio) / 2) for ratio in (3, 2)]
    assert (rows["high"] / rows["mean"]).to_list() == pytest.approx(factors, rel=1e-3)
    with pytest.raises(FigureError, match=r"no run .* fct.p99@all; p99 needs 100 values$"):
        KINDS["sweep"].data(Request(arms))
    assert b"at least" not in render(KINDS["sweep"], rows, ".svg")
    bound = rows.with_columns(at_least=pl.Series([False, True]), unfinished=pl.Series([0, 1]))
    drawn = render(KINDS["sweep"], bound.with_columns(low=None, high=None), ".svg").decode()
    assert "at least (unfinished)" in drawn
    assert "1 of 4 unfinished" in drawn
    with pytest.raises(FigureError, match="needs the directory of one study"):
        data("sweep", tmp_path / "10-0.1")


def test_arms_are_compared_in_each_measure(tmp_path: Path) -> None:
    """Two arms of two seeds: geometric means, and Student's t with one degree of freedom."""
    several = {"slow": (0.1, 0.3), "fast": (0.2, 0.4)}
    arms = [
        Arm(name, tuple(Result(result(tmp_path / f"{name}-{fct}", [finished(fct)])) for fct in of))
        for name, of in several.items()
    ]
    asked = ["fct.mean@all", "flows", "fct.p99@all"]
    rows = KINDS["arms"].data(Request(arms, measures=asked))
    names = ["fct.mean", "flows.all", "flows.finished", "flows.unfinished", "flows.failed"]
    assert rows["name"].unique(maintain_order=True).to_list() == names, "p99 needs 100 flows"
    fct = rows.filter(name="fct.mean")
    assert fct["series"].to_list() == ["slow", "fast"]
    assert fct["mean"].to_list() == pytest.approx([0.03**0.5, 0.08**0.5])
    factors = [np.exp(12.7062 * np.log(ratio) / 2) for ratio in (3, 2)]
    assert (fct["high"] / fct["mean"]).to_list() == pytest.approx(factors, rel=1e-3)
    assert rows.filter(name="flows.finished")["mean"].to_list() == [1, 1]
    samples = ("fct", "fct_established", "goodput")
    many = [f"{sample}.{which}@all" for sample in samples for which in ("mean", "p50", "max")]
    for measures, said in (
        (["fct.p99@all"], r"arms: no run has a value of fct\.p99@all"),
        (["ftc"], "arms: no measure 'ftc'"),
        (["flows", "timeouts", "delivered", *many], "13 statistics .* room for 12; name"),
    ):
        with pytest.raises(FigureError, match=said):
            KINDS["arms"].data(Request(arms, measures=measures))
    hundred = Arm("hundred", (Result(result(tmp_path / "hundred", [finished(0.5)] * 100)),))
    without = KINDS["arms"].data(Request([*arms, hundred], measures=["fct.p99@all"]))
    assert without.select("series", "mean", "why").rows() == [
        ("slow", None, "p99 needs 100 values"),
        ("fast", None, "p99 needs 100 values"),
        ("hundred", pytest.approx(0.5), None),
    ]
    usual = data("arms", tmp_path / "slow-0.1", tmp_path / "fast-0.2")
    assert usual.select("series", "name", "mean").rows() == [
        ("slow-0.1", "fct.mean", pytest.approx(0.1)),
        ("fast-0.2", "fct.mean", pytest.approx(0.2)),
    ]


def axes_of(figure: Figure) -> list[Any]:
    return list(figure.axes)


ARMS = ("DCTCP", "DCQCN and PFC", "NDP")


def arm_rows(name: str, unit: str, means: list[float | None], **more: Any) -> pl.DataFrame:
    known = {"series": ARMS, "name": name, "unit": unit, "mean": means, "seeds": 2, "why": None}
    bounds = {"low": [0.9 * m if m else None for m in means], "high": [m and 2 * m for m in means]}
    return pl.DataFrame({**known, **bounds, "at_least": False, "unfinished": 0, "flows": 9, **more})


def test_panels_of_arms_have_a_point_an_interval_and_a_scale_each() -> None:
    jct = arm_rows("jct.mean@train", "s", [0.024, 0.045, 0.018])
    ttft = arm_rows("ttft.p99@chat", "s", [1e-4, 0.02, None])
    loss = arm_rows("timeouts.total", "", [0.0, 3.0, 5.0], low=None, high=None)
    figure = drawn("arms", pl.concat([jct, ttft, loss], how="vertical_relaxed"))
    assert len(figure.axes) == 3
    assert not figure.legends
    first, second, third = axes_of(figure)
    titles = [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes]
    assert titles == [
        "mean completion time of jobs, train, ms",
        "99th percentile of time to first token, chat, ms",
        "total timeouts",
    ]
    assert [label.get_text() for label in first.get_yticklabels()] == list(ARMS)
    assert first.get_ylim()[0] > first.get_ylim()[1], "the first arm is on top"
    points = [bars.lines[0].get_xydata()[0].tolist() for bars in first.containers]
    assert points == [pytest.approx([x, y]) for x, y in ((24, 0), (45, 1), (18, 2))]
    (interval,) = first.containers[0].lines[2]
    assert interval.get_segments()[0][:, 0] == pytest.approx([21.6, 48.0])
    assert [axes.get_xscale() for axes in figure.axes] == ["linear", "log", "linear"]
    assert first.get_xlim() == pytest.approx((-4.5, 94.5)), "0, and the end of an interval at 90"
    assert third.get_xlim() == pytest.approx((-0.25, 5.25))
    (none,) = drawn("arms", arm_rows("timeouts.total", "", [0.0] * 3)).axes
    assert none.get_xlim()[1] > 0
    assert [text.get_text() for text in second.texts] == ["none"]
    assert second.texts[0].xy[1] == 2, "beside NDP"
    assert second.texts[0].xycoords == ("axes fraction", "data")


@pytest.mark.parametrize("least", [0.001, 0.02, 0.05])
@pytest.mark.parametrize("times", [10, 12, 20, 25, 50, 100, 1e3, 3e4, 1e6])
def test_labels_below_panels_of_arms_do_not_touch(least: float, times: float) -> None:
    one = arm_rows("fct.p99@all", "s", [least, 4 * least, times * least])
    figure = Figure(figsize=(look.COLUMN, look.COLUMN * HEIGHT), layout="constrained")
    two = pl.concat([one, one.with_columns(name=pl.lit("jct.mean@train"))])
    with look.context():
        KINDS["arms"].draw(figure, two)
        figure.canvas.draw()
        for axes in figure.axes:
            left, right = axes.get_xlim()
            shown = [
                label.get_window_extent()
                for label in axes.get_xticklabels()
                if label.get_text() and left <= label.get_position()[0] <= right
            ]
            assert len(shown) >= 2
            for before, after in pairwise(shown):
                assert before.x1 + 1 < after.x0


def test_a_lower_bound_of_an_arm_is_marked_and_counted() -> None:
    """Once for each arm, though two measures are of the same flows; alone, too."""
    cut = {"unfinished": [0, 4, 0], "low": None, "high": None}
    means: list[float | None] = [0.1, 0.2, 0.3]
    fct = arm_rows("fct.mean@all", "s", means, **cut, at_least=[False, True, False])
    slowdown = arm_rows("slowdown.p50@all", "", means, **{**cut, "unfinished": [0, 2, 0]})
    (legend,) = drawn("arms", pl.concat([fct, slowdown], how="vertical_relaxed")).legends
    assert legend.get_title().get_text() == "DCQCN and PFC: 4 of 9 unfinished"
    assert [text.get_text() for text in legend.get_texts()] == [look.AT_LEAST]
    (legend,) = drawn("arms", slowdown).legends
    assert legend.get_title().get_text() == "DCQCN and PFC: 2 of 9 unfinished"
    assert not legend.get_texts()


def test_an_arm_has_one_colour_and_its_values_are_shades_of_it() -> None:
    names = [f"{arm}, queue.mark {mark}" for arm in ("dctcp", "amp") for mark in (5, 10, 20)]
    found = look.looks(pl.Series(names))
    first = [found[name] for name in names[:3]]
    assert [one.colour for one in first] == [look.COLOURS[0], "#4d9cc9", "#99c7e0"]
    assert found[names[3]].colour == look.COLOURS[1]
    assert len({one.dash for one in first}) == 1
    assert len({one.marker for one in first}) == 3
    of_one = look.looks(pl.Series(["t, 5", "t, 10"])).values()
    assert [one.colour for one in of_one] == list(look.COLOURS[:2]), "no other arm to tell it from"


def test_an_axis_is_logarithmic_from_a_factor_of_ten() -> None:
    assert look.spans([1, 10])
    assert look.spans([None, 0.2, 2.0])
    assert not look.spans([1, 9.99])
    assert not look.spans([0, 10])
    assert not look.spans([])


def drawn(kind: str, rows: pl.DataFrame) -> Figure:
    figure = Figure()
    with look.context():
        KINDS[kind].draw(figure, rows)
    return figure


def sweep(key: str, settings: list[object], means: list[float], name: str, unit: str) -> Any:
    known: Any = {"series": "a", "key": key, "setting": settings, "name": name, "unit": unit}
    rest = {"seeds": 1, "low": None, "high": None, "at_least": False, "unfinished": 0, "flows": 9}
    (axes,) = drawn("sweep", pl.DataFrame({**known, "mean": means, **rest})).axes
    return axes


@pytest.mark.parametrize(("mean", "is_bar"), [(0.05, True), (0.3, False), (0.005, False)])
def test_a_mean_beside_its_whisker_is_a_point(mean: float, is_bar: bool) -> None:
    """One busy link in twenty: the mean of all is above what nine in ten of them have."""
    row = {"arm": "a", "layer": "edge", "to_layer": "core", "links": 20, "drops": 0}
    other = {**row, "to_layer": "host", "mean": 0.5, "p10": 0.4, "p90": 0.6, "max": 0.7}
    rows = pl.DataFrame([{**row, "mean": mean, "p10": 0.01, "p90": 0.1, "max": 0.9}, other])
    (axes,) = drawn("utilisation", rows).axes
    assert bool(axes.containers) == is_bar
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [np.asarray(line.get_xdata()).tolist() for line in points] == (
        [] if is_bar else [[100 * mean, 50.0]]
    )


def test_axes_of_a_sweep_are_in_words_with_units() -> None:
    axes = sweep("queue.mark", [5, 10, 49], [0.001, 0.002, 0.003], "fct.p99@all", "s")
    assert axes.get_xlabel() == "marking threshold K, packets"
    assert axes.get_ylabel() == "99th percentile of FCT, ms"
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    axes = sweep("topology.ring.delay", ["500ns", "20us"], [1e9, 2e10], "goodput.mean", "bit/s")
    assert axes.get_xlabel() == "delay of a link, us"
    assert axes.get_ylabel() == "mean goodput, Gbit/s"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.lines[0].get_xdata() == pytest.approx([0.5, 20.0])
    axes = sweep("transport.t.control", ["amp", "xmp"], [1.0, 2.0], "jain", "")
    assert axes.get_xlabel() == "transport.t.control"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["amp", "xmp"]
    assert [sweep_kind.measure_name(f"fct.p{p}") for p in ("1", "11", "22", "99.9")] == [
        f"{p} percentile of FCT" for p in ("1st", "11th", "22nd", "99.9th")
    ]


def test_intervals_of_a_sweep_do_not_hide_each_other() -> None:
    """Two series of the same values stand 2.5 points apart, and the axes hold both."""
    known: Any = {"key": "queue.mark", "name": "fct.p99@all", "unit": "s", "flows": 9}
    rest: Any = {"mean": 0.02, "low": 0.01, "high": 0.03, "at_least": True, "unfinished": 0}
    rows = [{**known, **rest, "series": s, "setting": k} for s in "ab" for k in (5, 10)]
    figure = drawn("sweep", pl.DataFrame(rows))
    (axes,) = figure.axes
    figure.draw_without_rendering()
    lines = [line for line in axes.lines if np.size(line.get_xdata()) == 2]
    at = {
        marker: [
            line.get_transform().transform(line.get_xydata())
            for line in lines
            if line.get_marker() == marker
        ]
        for marker in "os^"
    }
    (first,), (second,) = at["o"], at["s"]
    points = (second - first) * 72 / figure.dpi
    assert points == pytest.approx(np.array([[look.APART, 0.0]] * 2))
    # A lower bound is marked on its point.
    assert np.array(at["^"]) == pytest.approx(np.array([first, second]))
    low, high = axes.viewLim.intervaly
    assert low == 0
    assert 30 < high < 40
    assert axes.viewLim.containsx(5)
    assert axes.viewLim.containsx(10)


def test_bars_and_samples_differ_without_colour(tmp_path: Path) -> None:
    row = {"layer": "edge", "to_layer": "core", "links": 20, "drops": 0, "mean": 0.3}
    rows = [{"arm": a, **row, "p10": 0.1, "p90": 0.5, "max": 0.9} for a in "abc"]
    (axes,) = drawn("utilisation", pl.DataFrame(rows)).axes
    assert len({patch.get_hatch() for patch in axes.patches}) == 3
    times = pl.DataFrame({"flow": 1, "subflow": [0, 0, 1, 1], "time_s": [0.1, 0.2] * 2})
    (axes,) = drawn("rtts", times.with_columns(rtt_s=pl.lit(1e-5))).axes
    assert len({line.get_marker() for line in axes.lines}) == 2


def test_the_tail_of_a_slowdown_is_not_drawn_as_a_median(tmp_path: Path) -> None:
    flows = [finished(1.0, size=s, slowdown=x) for s in (1, 9) for x in np.linspace(1, 3, 200)]
    (axes,) = drawn("slowdown", data("slowdown", result(tmp_path, flows))).axes
    median, tail = axes.lines[:2]
    assert (median.get_color(), tail.get_color()) == (look.COLOURS[0], look.shade(look.COLOURS[0]))
    assert median.get_marker() != tail.get_marker()
    assert axes.get_yscale() == "linear", "from 1 to 3"


def test_slowdowns_of_one_size_stand_beside_each_other_at_it() -> None:
    """The axis has that size alone: no arm seems to have other flows."""
    values = {f"p{p}": float(p) for p in (5, 50, 95, 99)}
    bounds = {f"p{p}_at_least": p == 99 for p in (5, 50, 95, 99)}
    row = {"size_median_bytes": 64e3, "flows": 100, "unfinished": 1, **values, **bounds}
    for sizes, apart in (([64_000], 12.0), ([64_000, 640_000], look.APART)):
        rows = [
            {"series": s, "upto_bytes": size, **row, "size_median_bytes": float(size)}
            for s in "abcd"
            for size in sizes
        ]
        figure = drawn("slowdown", pl.DataFrame(rows))
        (axes,) = figure.axes
        figure.draw_without_rendering()
        at = [
            line.get_transform().transform(line.get_xydata())[0]
            for line in axes.lines
            if str(line.get_label()) in "abcd"
        ]
        steps = np.diff(np.array(at), axis=0) * 72 / figure.dpi
        assert steps == pytest.approx(np.array([[apart, 0.0]] * 3))
        assert np.array(at)[:, 0].mean() == pytest.approx(axes.transData.transform((64e3, 1))[0])
        if len(sizes) == 1:
            assert [label.get_text() for label in axes.get_xticklabels()] == ["64 KB"]
        assert axes.viewLim.containsy(99.0)


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    flows = [finished(0.1), finished(0.2, transport="$x_2$ 50% & #1 \\alpha")]
    rows = data("fct-cdf", result(tmp_path, flows))
    for suffix in FORMATS:
        assert render(KINDS["fct-cdf"], rows, suffix)
    assert "$x_2$ 50% &amp; #1 \\alpha" in render(KINDS["fct-cdf"], rows, ".svg").decode()


def test_the_gallery_has_every_kind() -> None:
    gallery = Path(__file__).parents[1] / "docs/gallery"
    page = (gallery / "README.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `([a-z-]+)`[^\n]*\n(.*?)(?=^## |\Z)", page, re.M | re.S))
    assert set(sections) == set(KINDS)
    for kind, section in sections.items():
        assert f"]({kind}.svg)" in section
        assert (gallery / f"{kind}.svg").is_file()
        assert re.search(rf"^linkpool plot results/\w+ {kind} ", section, re.M)


def names_of(axes: Any) -> list[str]:
    return list(axes.get_legend_handles_labels()[1])


@pytest.mark.parametrize("kind", ["fct-cdf", "slowdown"])
def test_arms_at_several_settings_have_a_panel_for_each(tmp_path: Path, kind: str) -> None:
    arms = []
    for arm in ("a", "b"):
        for load in (0.2, 0.5):
            flows = [finished(load * i, size=1000 * i, slowdown=1 + load * i) for i in range(1, 4)]
            place = result(tmp_path / f"{arm}{load}", flows)
            keys = {"arm": arm, "workload.poisson.0.load": load}
            arms.append(Arm(f"{arm}, poisson load {load}", arms_of([place])[0].results, keys))
    rows = KINDS[kind].data(Request(arms))
    low, high = drawn(kind, rows).axes
    assert [axes.get_title("left") for axes in (low, high)] == [
        "poisson load 0.2",
        "poisson load 0.5",
    ]
    assert names_of(low) == names_of(high) == ["a", "b"]
    colours = [[line.get_color() for line in axes.lines] for axes in (low, high)]
    assert colours[0] == colours[1]
    assert set(look.COLOURS[:2]) <= set(colours[0])
    assert (low.get_ylim(), low.get_xlim()) == (high.get_ylim(), high.get_xlim())
    # What is drawn in a panel is the data of its setting.
    column = "share" if kind == "fct-cdf" else "p50"
    for axes, load in ((low, 0.2), (high, 0.5)):
        of = rows.filter(series=f"b, poisson load {load}")[column].to_list()
        line = next(line for line in axes.lines if line.get_label() == "b")
        assert np.asarray(line.get_ydata()).tolist()[-3:] == of
    # One arm at several settings is a line each, and so are more settings than fit.
    assert len(drawn(kind, KINDS[kind].data(Request(arms[:2]))).axes) == 1
    names = [f"{arm}, load {n}" for arm in "ab" for n in range(look.MOST_PANELS + 1)]
    assert list(look.facets(pl.Series(names))) == [""]
    assert list(look.facets(pl.Series(["a", "b, load 1"]))) == [""]


def test_a_sweep_names_the_settings_without_a_value() -> None:
    known = {"series": ["a", "a", "b", "b"], "key": "queue.mark", "setting": [5, 10] * 2}
    rest = {"name": "fct.p99@all", "unit": "s", "seeds": 3, "low": None, "high": None}
    counts = {"at_least": False, "unfinished": 0, "flows": 30}
    few = "p99 needs 100 values"
    both = {"mean": [None, 1.0, None, 2.0], "why": [few, None, few, None]}
    (axes,) = (figure := drawn("sweep", pl.DataFrame({**known, **rest, **counts, **both}))).axes
    (legend,) = figure.legends
    assert legend.get_title().get_text() == f"none at marking threshold K 5: {few}"
    assert names_of(axes) == ["a", "b"]
    one = {"mean": [None, 1.0, 3.0, 2.0], "why": [few, None, None, None]}
    (legend,) = drawn("sweep", pl.DataFrame({**known, **rest, **counts, **one})).legends
    assert legend.get_title().get_text() == f"none at marking threshold K 5, a: {few}"


def test_a_label_of_an_axis_is_within_the_figure() -> None:
    known = {"series": ["a", "b"], "key": "queue.mark", "setting": 5, "at_least": False}
    rest = {"unit": "s", "seeds": 3, "low": None, "high": None, "unfinished": 0, "flows": 30}
    rows = pl.DataFrame({**known, **rest, "name": "fct.p99@up to 100 KB", "mean": 1.0, "why": None})
    figure = Figure(figsize=(look.COLUMN, look.COLUMN * HEIGHT), layout="constrained")
    with look.context():
        KINDS["sweep"].draw(figure, rows)
        figure.draw_without_rendering()
    (axes,) = figure.axes
    label = axes.yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= figure.bbox.height
    assert axes.get_ylabel().replace("\n", " ") == "99th percentile of FCT, flows up to 100 KB, s"
